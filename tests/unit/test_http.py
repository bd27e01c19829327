"""What one attempt came to: Retry-After in all its forms, error texts, and the line between not sent and lost."""

from __future__ import annotations

import socket
import threading
from email.utils import formatdate

import pytest
from support.server import Action, Server, response

from c2s.backends.hosted.http import Endpoint, error_message, retry_after

NOW = 1_800_000_000.0


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "abc"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": ""}, None),
        ({"retry-after": "90"}, 90.0),
        ({"retry-after": "3600"}, 3600.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after": formatdate(NOW + 4, usegmt=True)}, 4.0),
        ({"retry-after": formatdate(NOW - 60, usegmt=True)}, 0.0),
        ({"retry-after": formatdate(NOW + 1004, usegmt=True), "date": formatdate(NOW + 1000, usegmt=True)}, 4.0),  # its clock is ahead
        ({"retry-after": formatdate(NOW + 4, usegmt=True), "date": "yesterday"}, 4.0),
        ({"retry-after": "Fri, 31 Feb 2027 00:00:00 GMT"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers, expected):
    """CASES.md 9."""
    assert retry_after(headers, NOW) == (expected if expected is None else pytest.approx(expected, abs=0.001))


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"detail":{"error_type":"x","message":"bad key"}}', "bad key"),
        (b'{"detail":[{"loc":["body"],"msg":"Field required","type":"missing"}]}', "Field required"),
        (b'{"error":"flat"}', "flat"),
        (b'{"error":{"code":1,"message":"deep","type":"t"}}', "deep"),
        (b"plain text", "plain text"),
        (b"", "no body"),
        (b'{"other":1}', "{'other': 1}"),
        (b"[1,2]", "[1, 2]"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"[" * 5000, "["),
    ],
)
def test_a_message_is_found_in_every_form(body, said):
    assert error_message(body).startswith(said) and len(error_message(body)) <= 300


def post(action, **named):
    with Server(lambda n, body: action) as server:
        endpoint = Endpoint(server.url + "/v1/systemone", **{"timeout": 1.0, **named})
        came = endpoint.post(b'{"state":"","questions":{"answer":{"criteria":{"a":null,"b":null}}}}')
        endpoint.close()
        return came, server


@pytest.mark.parametrize(
    ("status", "headers", "body", "verdict", "cause"),
    [
        (200, {}, None, "ok", None),
        (201, {}, None, "error", None),
        (302, {"location": "https://elsewhere.example/"}, b"", "error", None),
        (400, {}, b'{"error":"bad"}', "error", None),
        (401, {}, b"{}", "error", "refused"),
        (402, {}, b"{}", "not_processed", "quota"),
        (403, {}, b"{}", "error", "refused"),
        (404, {}, b"{}", "error", None),
        (422, {}, b"{}", "error", None),
        (429, {}, b"{}", "not_processed", "busy"),
        (429, {}, b'{"error":{"code":"insufficient_quota"}}', "not_processed", "quota"),
        (500, {}, b"{}", "error", None),
        (502, {}, b"{}", "error", None),
        (503, {}, b"{}", "error", None),
        (503, {"retry-after": "2"}, b"{}", "not_processed", "busy"),
        (504, {}, b"{}", "error", None),
        (529, {}, b"{}", "error", None),
        (529, {"retry-after": "2"}, b"{}", "not_processed", "busy"),
    ],
)
def test_only_what_the_protocol_calls_not_processed_may_leave_again(status, headers, body, verdict, cause):
    came, server = post(Action(status, body, headers))
    assert (came.verdict, came.cause, came.http_status) == (verdict, cause, status) and server.total == 1
    assert came.began <= came.ended


def test_a_redirect_is_named_and_not_followed():
    came, server = post(Action(307, b"", {"location": "/v1/systemone"}))
    assert came.verdict == "error" and "a redirect to /v1/systemone is not followed" in came.message and server.total == 1


@pytest.mark.parametrize(
    "action",
    [
        Action(kind="reset"),
        Action(kind="cut"),
        Action(kind="stall", seconds=3),
        Action(kind="drip", seconds=0.05),
        Action(kind="raw", body=b"garbage\r\n\r\n"),
        Action(kind="raw", body=b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\ncontent-length: 7\r\n\r\nabcde"),
        Action(kind="raw", body=b""),
    ],
)
def test_what_left_and_was_not_answered_whole_is_lost(action):
    came, server = post(action)
    assert came.verdict == "lost" and came.raw is None and server.total == 1


def test_a_drip_ends_at_the_deadline_of_the_whole_exchange():
    came, _ = post(Action(kind="drip", seconds=0.02), timeout=0.5)
    assert came.verdict == "lost" and came.message == "no whole response: not complete within 0.5 s" and came.ended - came.began < 1.0


def test_no_connection_is_not_processed():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    came = Endpoint(f"http://127.0.0.1:{port}/v1/systemone", timeout=1.0).post(b"{}")
    assert (came.verdict, came.cause) == ("not_processed", "connect") and "ConnectError" in came.message


def test_a_response_over_the_limit_is_an_error(monkeypatch):
    monkeypatch.setattr("c2s.backends.hosted.http.MAX_RESPONSE_BYTES", 1000)
    came, _ = post(Action(body=b"x" * 5000))
    assert came.verdict == "error" and came.raw is None and "larger than 1000 bytes" in came.message


def test_a_packed_body_is_not_unpacked():
    came, server = post(Action(body=b"\x1f\x8b" + b"\0" * 100, headers={"content-encoding": "gzip"}))
    assert came.verdict == "error" and "'gzip', which was not asked for" in came.message
    assert b"accept-encoding: identity" in server.heads[0].lower()


def test_endless_headers_end():
    came, _ = post(Action(kind="raw", body=b"HTTP/1.1 200 OK\r\n" + b"".join(b"x-%d: y\r\n" % n for n in range(200_000))))
    assert came.verdict == "lost"


def test_a_key_that_a_server_echoes_stays_out_of_the_exchange():
    came, server = post(Action(400, b'{"error":"bad key sk-01234567"}', {"server": "sk-01234567", "x-request-id": "r"}), key="sk-01234567")
    assert b"authorization: Bearer sk-01234567" in server.heads[0]
    assert b"sk-01234567" not in came.raw and "sk-01234567" not in came.message and "sk-01234567" not in str(came.headers)


BODY = b'{"state":"","questions":{"answer":{"criteria":{"a":null,"b":null}}}}'


def test_a_connection_that_the_server_closed_is_not_used_again():
    """Kept alive, closed by the server between two requests: the second goes out on a new connection."""
    whole = response(200, b"{}", {})
    with Server(lambda n, body: Action(kind="raw", body=whole) if n == 1 else None) as server:
        endpoint = Endpoint(server.url + "/v1/systemone", timeout=2.0)
        assert endpoint.post(BODY).verdict == "ok"
        threading.Event().wait(0.05)
        assert endpoint.post(BODY).verdict == "ok" and server.total == 2
        endpoint.close()


def test_a_server_that_drops_kept_connections_loses_one_request_and_no_more():
    """It reads the second request of every connection and closes: from then on each request has its own connection."""
    closing = {2}
    with Server(lambda n, body: Action(kind="reset") if n in closing else None) as server:
        endpoint = Endpoint(server.url + "/v1/systemone", timeout=2.0)
        assert [endpoint.post(BODY).verdict for _ in range(5)] == ["ok", "lost", "ok", "ok", "ok"]
        assert [b"connection: close" in head for head in server.heads] == [False, False, True, True, True]
        endpoint.close()
