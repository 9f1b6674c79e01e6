"""The server of the Model Context Protocol, on the official SDK: over standard input and output, or over HTTP with a token.

Nothing else imports the SDK. Tools run in a thread, one after the other, so that the server answers, tells progress and hears
of cancellation meanwhile.
"""

from __future__ import annotations

import hmac
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
import mcp.types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError

from doctor.agents import library
from doctor.agents.desk import Desk, StoppedError
from doctor.agents.reach import RefusedError
from doctor.agents.tools import TOOLS, Call, call_tool
from doctor.base.words import word
from doctor.version import __version__

Context = ServerRequestContext[Any, Any]
EVERY_S = 0.5  # between two words of progress
LOOPBACK = ("127.0.0.1", "::1", "localhost")


def server(desk: Desk) -> Server[Any]:
    """The handlers, for whatever carries the messages."""
    served = _Served(desk)
    return Server(
        "npu-doctor", version=__version__, instructions=word("agents.instructions", desk.lang),
        on_list_tools=served.tools, on_call_tool=served.call,
        on_list_resources=served.resources, on_list_resource_templates=served.templates, on_read_resource=served.read,
        on_list_prompts=served.prompts, on_get_prompt=served.prompt,
    )  # fmt: skip


class _Served:
    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._one = anyio.CapacityLimiter(1)

    async def tools(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        hints = types.ToolAnnotations(read_only_hint=True)
        return types.ListToolsResult(tools=[types.Tool(name=t.name, description=t.about, input_schema=t.wants, annotations=hints) for t in TOOLS])

    async def call(self, context: Context, asked: types.CallToolRequestParams) -> types.CallToolResult:
        gone = False
        last = 0.0

        def progress(read: float, total: float) -> None:
            nonlocal last
            if not gone and time.monotonic() - last >= EVERY_S:
                last = time.monotonic()
                anyio.from_thread.run(context.session.report_progress, read, total)

        work = Call(self._desk, progress, lambda: gone)
        try:
            told = await self._in_thread(lambda: call_tool(asked.name, asked.arguments, work))
        except RefusedError as error:
            return types.CallToolResult(content=[types.TextContent(type="text", text=self._desk.hidden(str(error)))], is_error=True)
        finally:
            gone = True
        return types.CallToolResult(content=[types.TextContent(type="text", text=told)])

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        """What goes wrong inside is told in one line: never a stack, which would name places of this machine."""

        def guarded() -> Any:
            try:
                return work()
            except (RefusedError, StoppedError):
                raise
            except Exception as error:
                told = self._desk.hidden(f"{type(error).__name__}: {error}")
                raise RefusedError(f"internal error: {told[:300]}") from error

        return await anyio.to_thread.run_sync(guarded, abandon_on_cancel=True, limiter=self._one)

    async def _asked(self, work: Callable[[], Any]) -> Any:
        try:
            return await self._in_thread(work)
        except RefusedError as error:
            raise MCPError(code=types.INVALID_PARAMS, message=self._desk.hidden(str(error))) from error

    async def resources(self, _: Context, asked: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        found, more = await self._asked(lambda: library.page(self._desk, asked.cursor if asked else None))
        return types.ListResourcesResult(resources=[types.Resource(uri=i.uri, name=i.uri.removeprefix(library.SCHEME), description=i.title, mime_type=i.form) for i in found], next_cursor=more)

    async def templates(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
        made = [types.ResourceTemplate(uri_template=i.uri, name=i.title, mime_type=i.form) for i in library.TEMPLATES]
        return types.ListResourceTemplatesResult(resource_templates=made)

    async def read(self, _: Context, asked: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        told, form = await self._asked(lambda: library.read(self._desk, str(asked.uri)))
        return types.ReadResourceResult(contents=[types.TextResourceContents(uri=asked.uri, mime_type=form, text=told)])

    async def prompts(self, _: Context, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        lang = self._desk.lang
        return types.ListPromptsResult(prompts=[
            types.Prompt(name=q.name, description=word(f"agents.prompt:{q.name}", lang), arguments=[types.PromptArgument(name=n, required=True) for n in q.wants])
            for q in library.QUESTIONS
        ])  # fmt: skip

    async def prompt(self, _: Context, asked: types.GetPromptRequestParams) -> types.GetPromptResult:
        told = await self._asked(lambda: library.ask(self._desk, asked.name, asked.arguments))
        return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=types.TextContent(type="text", text=told))])


def over_stdio(desk: Desk) -> None:
    """Until standard input ends, or an interrupt: whoever reads from a terminal would keep the loop from ending by itself."""
    _quiet()
    end_at_once()
    if sys.stdin.isatty():
        sys.stderr.write(f"npu-doctor: {word('agents.waiting', desk.lang)}\n")

    async def main() -> None:
        made = server(desk)
        async with stdio_server() as (read, write):
            await made.run(read, write, made.create_initialization_options())

    anyio.run(main)


def end_at_once() -> None:
    """From here on an interrupt ends the server, whatever loop is just being built: one that comes between two handlers is lost."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)


def _end(number: int, _: FrameType | None) -> None:
    """Nothing is half written: a server only reads."""
    os._exit(128 + number)


def over_http(desk: Desk, at: socket.socket, token: str) -> None:
    """Until an interrupt. Who does not bring the token learns nothing."""
    import uvicorn

    class WithoutHandlers(uvicorn.Server):
        """Interrupts are ours."""

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield

    _quiet()
    host = at.getsockname()[0]
    local = TransportSecuritySettings(
        enable_dns_rebinding_protection=host in LOOPBACK,
        allowed_hosts=["127.0.0.1:*", "localhost:*", "[::1]:*"],
        allowed_origins=["http://127.0.0.1:*", "http://localhost:*", "http://[::1]:*"],
    )
    made = server(desk).streamable_http_app(host=host, transport_security=local)
    config = uvicorn.Config(_guarded(made, token), log_level="error", access_log=False, lifespan="on", server_header=False)
    anyio.run(WithoutHandlers(config).serve, [at])


def _guarded(inner: Any, token: str) -> Any:
    """The application behind the token."""
    expected = f"Bearer {token}".encode()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            brought = dict(scope["headers"]).get(b"authorization", b"")
            if not hmac.compare_digest(brought, expected):
                await send({"type": "http.response.start", "status": 401, "headers": [(b"www-authenticate", b"Bearer"), (b"content-length", b"0")]})
                await send({"type": "http.response.body", "body": b""})
                return
        await inner(scope, receive, send)

    return app


def _quiet() -> None:
    """Standard error carries our own words alone."""
    logging.basicConfig(stream=sys.stderr, level=logging.ERROR)
