"""`--serve`: the app over a websocket of this machine, and who is refused."""

from __future__ import annotations

import asyncio
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from c2s_tui import main as tui
from c2s_tui import parser
from c2s_tui.serve import command

aiohttp = pytest.importorskip("aiohttp", reason="comes with textual-serve")
pytest.importorskip("textual_serve", reason="needs the extra: pip install -e '.[web]'")


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.fixture
def served(root: Path, runner_of) -> Iterator[int]:
    """The port of a server over the runs, `part` of which has a runner."""
    runner_of("part")
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "c2s_tui", str(root / "part"), "--serve", str(port)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    line = process.stderr.readline().decode()
    assert f"http://127.0.0.1:{port}" in line, line
    yield port
    process.terminate()
    process.communicate(timeout=20)


async def press_p(port: int) -> tuple[bytes, bytes]:
    """What a browser window receives until the run is shown, and then, once the key was pressed, until the answer to it is."""
    url, origin = f"ws://127.0.0.1:{port}/ws?width=90&height=24", f"http://127.0.0.1:{port}"
    async with aiohttp.ClientSession() as session, session.ws_connect(url, origin=origin) as ws:
        before = await received(ws, b"running")
        await ws.send_json(["stdin", "p"])
        return before, await received(ws, b"read-only")


async def received(ws, until: bytes, seconds: float = 30.0) -> bytes:
    found, start = b"", time.monotonic()
    while until not in found and time.monotonic() - start < seconds:
        try:
            message = await ws.receive(timeout=1)
        except TimeoutError:
            continue
        found += message.data if isinstance(message.data, bytes) else b""
    return found


def test_a_browser_sees_the_screen_and_cannot_pause_the_run(served: int, root: Path):
    before, after = asyncio.run(press_p(served))
    assert b"running" in before and b"sim:oracle" in before
    assert b"read-only" in after and not (root / "part/control.json").exists()


def test_strangers_are_refused(served: int):
    async def ask() -> None:
        url = f"http://127.0.0.1:{served}/"
        async with aiohttp.ClientSession() as session:
            async with session.get(url) as answer:
                assert answer.status == 200
                policy = answer.headers["Content-Security-Policy"]
                assert "default-src 'self'" in policy and "google" not in policy
                assert f"ws://127.0.0.1:{served}/ws" in await answer.text()
            for headers in (
                {"Host": "evil.example"},
                {"Host": f"evil.example:{served}"},
                {"Origin": "http://evil.example"},
                {"Origin": "null"},
            ):
                async with session.get(url, headers=headers) as answer:
                    assert answer.status == 403
            with pytest.raises(aiohttp.WSServerHandshakeError):
                await session.ws_connect(f"ws://127.0.0.1:{served}/ws", origin="http://evil.example")

    asyncio.run(ask())


def test_only_the_loopback_address_is_bound(served: int):
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    bound = [row[1].split(":")[0] for row in listening if row[3] == "0A" and int(row[1].split(":")[1], 16) == served]
    assert bound == ["0100007F"]


def test_a_window_runs_the_same_command_quoted_and_read_only():
    typed = ["a b; rm -rf", "--screen", "items", "--filter", "t:lost $(x)", "--with=-other", "--serve"]
    words = shlex.split(command(parser().parse_args(typed)))
    assert words[1:3] == ["-m", "c2s_tui"]
    again = parser().parse_args(words[3:])
    assert (again.path, again.screen, again.filter, again.other, again.read_only, again.serve) == (
        "a b; rm -rf",
        "items",
        "t:lost $(x)",
        "-other",
        True,
        None,
    )
    assert not parser().parse_args(shlex.split(command(parser().parse_args(["--serve", "--allow-control"])))[3:]).read_only


def test_a_port_that_is_taken_and_one_that_is_none(root: Path, capsys: pytest.CaptureFixture[str]):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = subprocess.run(
            [sys.executable, "-m", "c2s_tui", str(root), "--serve", str(taken.getsockname()[1])], capture_output=True, text=True, timeout=30
        )
    assert done.returncode == 2 and "cannot be used" in done.stderr.splitlines()[-1]
    assert tui([str(root), "--serve", "99999"]) == 2 and "port" in capsys.readouterr().err
