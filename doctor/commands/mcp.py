"""`npu-doctor mcp`: a server that assistants ask, over standard input and output or over HTTP. It only reads."""

from __future__ import annotations

import argparse
import gc
import importlib.util
import os
import secrets
import socket
import sys

from doctor.base import exits, interrupts
from doctor.base.errors import UsageError
from doctor.base.words import word
from doctor.commands import common
from doctor.read import discover

TOKEN = "NPU_DOCTOR_MCP_TOKEN"  # noqa: S105 - the name of a variable
SHORTEST_TOKEN = 16


def arguments() -> common.Parser:
    made = common.parser(
        "mcp",
        "A server of the Model Context Protocol: assistants scan logs, ask for evidence and look things up. It reads the folders that are "
        "named and nothing else, writes nothing and runs nothing. Over standard input and output unless --http is given.",
    )
    made.add_argument(
        "--root", action="append", default=[], metavar="FOLDER",
        help="a folder that may be read (repeatable; default: the usual log folders, else this folder)",
    )  # fmt: skip
    made.add_argument("--http", type=int, metavar="PORT", help="over HTTP at this port of the loopback (0: any free port), with a token")
    made.add_argument("--host", default="127.0.0.1", metavar="ADDRESS", help="with --http: another address than the loopback; whoever reaches it needs the token")
    made.add_argument("--no-redact", action="store_true", help="leave addresses, names and tokens as they stand in the logs")
    common.redact_words_option(made)
    return made


def main(argv: list[str]) -> int:
    args = arguments().parse_args(argv)
    if args.no_redact and args.redact_words:
        raise UsageError("--redact-words tells what to redact, and --no-redact redacts nothing", "leave one of them out")
    folders = args.root or discover.usual_places() or [os.getcwd()]
    for folder in folders:
        if not os.path.isdir(folder):
            raise UsageError(f"--root: there is no folder '{folder}'", "give a folder that exists")
    if importlib.util.find_spec("mcp") is None:
        raise UsageError("the server needs the package mcp", "pip install 'npu-doctor[agents]'")
    from doctor.agents.desk import Desk
    from doctor.agents.reach import Reach

    desk = Desk(Reach(folders), common.language(args), args.kb, not args.no_redact, args.redact_words)
    gc.enable()  # a server lives longer than one answer
    interrupts.leave()
    if args.http is None:
        from doctor.agents import server

        server.over_stdio(desk)
        return exits.CLEAN
    return _over_http(args, desk)


def _over_http(args: argparse.Namespace, desk: object) -> int:
    from doctor.agents import server
    from doctor.agents.desk import Desk

    assert isinstance(desk, Desk)
    token = os.environ.get(TOKEN, "")
    if token and len(token) < SHORTEST_TOKEN:
        raise UsageError(f"the token in {TOKEN} is too short", f"give {SHORTEST_TOKEN} characters or more, or unset it: one is made up then")
    told = "" if token else secrets.token_urlsafe(24)
    try:
        family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
        at = socket.create_server((args.host, args.http), family=family)
    except (OSError, OverflowError) as error:
        raise UsageError(f"cannot listen on {args.host}:{args.http}: {error}", "choose another port, or 0 for any free one") from error
    host = f"[{args.host}]" if ":" in args.host else args.host
    language = common.language(args)
    server.end_at_once()
    sys.stderr.write(word("agents.listening", language, url=f"http://{host}:{at.getsockname()[1]}/mcp", folders=desk.reach.told()) + "\n")
    if told:
        sys.stderr.write(word("agents.token", language, token=told) + "\n")
    sys.stderr.flush()
    server.over_http(desk, at, token or told)
    return exits.CLEAN
