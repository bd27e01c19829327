"""`--serve`: the same app in a browser on this machine, through textual-serve. One process of the app a browser window.

Only the loopback address is bound, requests under another host name are refused (so that a name made to point here reaches
nothing), and so are pages of other origins, which a browser would otherwise let open a socket. The page asks nobody else for anything.
"""

from __future__ import annotations

import argparse
import logging
import shlex
import sys
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Protocol

from c2s.errors import MissingDependency, UsageError
from c2s.extras import install_command

if TYPE_CHECKING:
    from aiohttp import web

HOST = "127.0.0.1"


class _Server(Protocol):
    def listen(self) -> None: ...


def command(options: argparse.Namespace) -> str:
    """What a browser window runs, quoted for a shell: the same command without `--serve`, read-only unless control was allowed."""
    words = [sys.executable, "-m", "c2s_tui"]
    for name, value in (("--screen", options.screen), ("--filter", options.filter), ("--item", options.item), ("--with", options.other)):
        words += [f"{name}={value}"] if value else []
    words += [] if options.allow_control else ["--read-only"]
    words += [] if options.path is None else ["--", options.path]
    return shlex.join(words)


def serve(options: argparse.Namespace) -> int:
    """Serve until Ctrl-C. Raises MissingDependency without the extra, UsageError for a port that cannot be had."""
    port = options.serve
    if not 1 <= port <= 65535:
        raise UsageError("--serve takes a port between 1 and 65535")
    try:
        server = _server(command(options), port)
    except ImportError:
        raise MissingDependency(f"--serve needs textual-serve, which is not installed: {install_command('web')}") from None
    try:
        server.listen()
    except OSError as error:
        raise UsageError(f"port {port} cannot be used: {error.strerror or error}; choose another one: --serve PORT") from None
    return 0


def _server(command: str, port: int) -> _Server:
    from aiohttp import web
    from textual_serve.server import Server

    names = {f"{name}:{port}" for name in (HOST, "localhost")}
    policy = (
        "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline';"
        " img-src 'self' data:; font-src 'self' data:;"
        f" connect-src 'self' ws://{HOST}:{port} ws://localhost:{port}; frame-ancestors 'none'"
    )

    @web.middleware
    async def ours_alone(request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]) -> web.StreamResponse:
        origin = request.headers.get("Origin")
        if request.headers.get("Host") not in names or (origin is not None and origin.partition("://")[2] not in names):
            raise web.HTTPForbidden(text="c2s-tui serves this machine's own browser alone\n")
        return await handler(request)

    async def fenced(request: web.Request, response: web.StreamResponse) -> None:
        response.headers["Content-Security-Policy"] = policy
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["X-Content-Type-Options"] = "nosniff"

    class LoopbackServer(Server):  # type: ignore[misc]  # textual-serve has no types
        async def _make_app(self) -> web.Application:
            app: web.Application = await super()._make_app()
            app.middlewares.append(ours_alone)
            app.on_response_prepare.append(fenced)
            return app

        def initialize_logging(self) -> None:
            logging.basicConfig(level="WARNING", format="c2s-tui: %(message)s")

        async def on_startup(self, app: web.Application) -> None:
            """Nothing yet: the port may still be taken."""

        def listen(self) -> None:
            """Until Ctrl-C or SIGTERM; windows that are still open are given a second."""

            def listening(*_: object) -> None:
                print(f"c2s-tui: open http://{HOST}:{port} in a browser on this machine; Ctrl-C ends it", file=sys.stderr, flush=True)

            self.initialize_logging()
            web.run_app(self._make_app(), host=HOST, port=port, shutdown_timeout=1.0, print=listening)

        async def handle_index(self, request: web.Request) -> web.StreamResponse:
            self.public_url = f"http://{request.headers['Host']}"  # scripts and socket under the name the page was asked for by
            page: web.StreamResponse = await super().handle_index(request)
            return page

    server: _Server = LoopbackServer(command, host=HOST, port=port, title="c2s")
    return server
