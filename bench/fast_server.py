"""A System One server that answers at once with fixed bytes, for load benchmarks: `python fast_server.py` prints its port.

It counts requests; `GET /count` gives the number. It serves 127.0.0.1 alone and ends with its standard input.
"""

from __future__ import annotations

import asyncio
import sys

ANSWER = (
    b'{"model":"jev-1.13.0","answers":{"answer":{"type":"choice","choice":"%s","confidence":0.9,"probabilities":{"%s":0.91}}},'
    b'"usage":{"input_tokens":120,"output_tokens":2}}'
)


CHAT = (
    b'{"id":"1","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"a"},'
    b'"finish_reason":"stop"}],"usage":{"prompt_tokens":90,"completion_tokens":1,"total_tokens":91}}'
)


class Protocol(asyncio.Protocol):
    served = 0

    def connection_made(self, transport):
        self.transport, self.buffer = transport, b""

    def data_received(self, data):
        self.buffer += data
        while True:
            end = self.buffer.find(b"\r\n\r\n")
            if end < 0:
                return
            head = self.buffer[:end].lower()
            at = head.find(b"content-length:")
            length = int(head[at + 15 :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            if len(self.buffer) < end + 4 + length:
                return
            body, self.buffer = self.buffer[end + 4 : end + 4 + length], self.buffer[end + 4 + length :]
            if head.startswith(b"get"):
                answer = b'{"count":%d}' % Protocol.served
            else:
                Protocol.served += 1
                answer = CHAT
            if b"/v1/systemone" in head.split(b"\r\n", 1)[0]:
                first = body.split(b'"criteria":{"', 1)[-1].split(b'"', 1)[0]  # the first option shown
                answer = ANSWER % (first, first)
            self.transport.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(answer) + answer)


async def main():
    server = await asyncio.get_running_loop().create_server(Protocol, "127.0.0.1", 0, backlog=200)
    print(server.sockets[0].getsockname()[1], flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)


asyncio.run(main())
