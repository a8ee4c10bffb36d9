"""`interlock conformance evidence`: drives a real server over stdio and writes the report for the MCP-AQL conformance runner."""

from __future__ import annotations

import asyncio
import os
import sys
from argparse import HelpFormatter
from collections.abc import Sequence

import interlock
from interlock.cli.arguments import Args, make_parser
from interlock.cli.command import OK, CommandError, run, say_json
from interlock.cli.guard.demo import private_daemon
from interlock.client import DaemonClient


def main(argv: Sequence[str]) -> int:
    """Print the evidence bundle; neither reads nor changes this installation's state."""
    about = "Evidence for the public MCP-AQL conformance runner."
    end = "The runner checks envelopes, introspection, parameters and errors. Passing it says nothing about safety."
    parser = make_parser("conformance", about, end, formatter_class=HelpFormatter)
    words = parser.add_subparsers(dest="word", metavar="WORD", required=True)
    help = "drive a server of its own over stdio and print the evidence as JSON"
    words.add_parser("evidence", help=help, allow_abbrev=False)
    return run("conformance", _evidence, parser.parse_args(argv))


def _evidence(args: Args) -> int:
    with private_daemon() as (daemon, token):
        say_json(asyncio.run(_driven(daemon, daemon.on_behalf(token))))
    return OK


async def _driven(daemon: DaemonClient, person: DaemonClient) -> object:
    from mcp import Client, StdioServerParameters  # takes a second

    from interlock.mcp.conformance import gather_evidence

    def approve() -> None:
        for ticket in person.get("/tickets")["tickets"]:
            if ticket["state"] == "pending_approval":
                person.post(f"/tickets/{ticket['id']}/approve")

    words = ["-m", "interlock", "mcp", "--strict-introspection", "--config", str(daemon.path.parent / "interlock.toml")]
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("MCP_AQL_", "MCPAQL_"))}
    server = StdioServerParameters(command=sys.executable, args=words, env=kept)
    try:
        async with Client(server, mode="legacy") as client:
            return await gather_evidence(client, approve, interlock.__version__)
    except KeyError as error:
        raise CommandError(f"the server did not answer as it should: {error}") from None
