"""`interlock proxy`: relays MCP servers through the gate; `accept` pins changed tools anew, `adopt` rewrites a client's file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from interlock.adapters.trust import HIGHEST_CLAIM, TRUSTS
from interlock.cli.command import add_common_options, add_operator_option, report, run
from interlock.cli.guard.mcp import agent_token
from interlock.cli.sign_in import operator_session
from interlock.client import path_segment
from interlock.config import ConfigError, load_config
from interlock.proxy.multiplexer import run_many, servers_in_file
from interlock.proxy.running import ProxyOptions, ProxySettingError, ServerAddress, server_address
from interlock.proxy.running import run as relay

FAILED, USAGE = 1, 2
CLAIMS = tuple(word for word, trust in TRUSTS.items() if trust <= HIGHEST_CLAIM)
_EPILOG = """\
`tools/call` is judged by the daemon; what is held waits for a person. Everything else passes as it came.
A server is untested until somebody vouches for it: it lists its tools, and one that is started here has those called that
only read, by its own word and by their names.
  --trust untested             it lists its tools and can do nothing else
  --trust generated            it may do what is certainly safe: little more than read files
  --trust validated            it may change what can be undone, and is held before it destroys
  interlock adapter trust …    an operator's word, for more than that, and for less

examples:
  interlock proxy --trust validated -- npx -y @modelcontextprotocol/server-memory
  interlock proxy --name crm --trust validated --url https://crm.example/mcp
  interlock proxy --config servers.json
  interlock proxy adopt ~/.cursor/mcp.json
"""


def main(argv: Sequence[str]) -> int:
    """Relay until the client or the server ends; returns 2 for invalid settings."""
    words = list(argv)
    if words[:1] == ["adopt"]:
        from interlock.cli.guard.proxy_adopt import main as adopt  # tomlkit takes longer to load than a proxy

        return adopt(words[1:])
    if words[:1] == ["accept"]:
        return accept_main(words[1:])
    return _main(*_split_command(words))


def _split_command(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Split the arguments into the proxy's own and the command behind `--`."""
    at = words.index("--") if "--" in words else len(words)
    parser = _parser()
    given, command = parser.parse_args(words[:at]), words[at + 1 :]
    given.servers = next((path for path in given.config if path.suffix == ".json"), None)
    given.config = next((path for path in given.config if path.suffix != ".json"), None)
    kinds = [
        kind
        for kind, said in (("-- COMMAND", command), ("--url", given.url), ("--config FILE.json", given.servers))
        if said
    ]
    if len(kinds) != 1:
        parser.error(f"expected one of -- COMMAND, --url and --config FILE.json, got {' and '.join(kinds) or 'none'}")
    return given, command


def _main(given: argparse.Namespace, command: list[str]) -> int:
    try:
        config = load_config(given.config)
        setting = ProxyOptions(config, given.config, agent_token(given.token_file) if given.token_file else "")
        if given.servers is not None:
            return run_many(servers_in_file(given.servers, given.trust), setting)
        return relay(_place(given, command), setting)
    except (ConfigError, ProxySettingError, OSError, ValueError) as error:
        print(f"interlock proxy: {error}", file=sys.stderr)
        return USAGE


def _place(given: argparse.Namespace, command: list[str]) -> ServerAddress:
    return server_address(given.name, given.trust, command=command, url=given.url, header_files=given.header_file)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock proxy",
        usage="interlock proxy [--name NAME] [--trust LEVEL] (-- COMMAND ARGS… | --url URL | --config FILE.json)\n"
        "       interlock proxy adopt [--undo] [--dry-run] [--trust LEVEL] FILE\n"
        "       interlock proxy accept NAME --reason WORDS",
        description="Puts the gate in front of an MCP server, which stays as it is.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--name", metavar="NAME", default="", help="what the server is called in tickets and the record"
    )
    parser.add_argument(
        "--trust",
        metavar="LEVEL",
        choices=CLAIMS,
        default="",
        help=f"who vouches for it: {', '.join(CLAIMS)}; more takes an operator",
    )
    parser.add_argument("--url", metavar="URL", default="", help="a server that speaks streamable HTTP")
    parser.add_argument(
        "--header-file",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="headers for --url, one `Name: value` a line; no argument shows them",
    )
    parser.add_argument(
        "--config",
        metavar="FILE",
        type=Path,
        action="append",
        default=[],
        help="a .json file: many servers in one, as clients write them; else the daemon's configuration",
    )
    parser.add_argument(
        "--token-file", metavar="FILE", type=Path, help="the agent's own token; else it is known by its user id"
    )
    return parser


def accept_main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="interlock proxy accept",
        description="Pins the tools of a server anew: what it lists next counts as what it is. Its proxy has to be started again.",
        allow_abbrev=False,
    )
    add_common_options(parser)
    add_operator_option(parser)
    parser.add_argument("name", metavar="NAME", help="as `interlock adapter list` shows it")
    parser.add_argument("--reason", metavar="WORDS", required=True, help="goes on the record")
    parser.add_argument("--mark", metavar="MARK", default="", help="which of several servers of one name is meant")
    return run("proxy", _accept, parser.parse_args(list(argv)))


def _accept(args: argparse.Namespace) -> int:
    with operator_session(args) as operator:
        body = {"reason": args.reason, "mark": args.mark}
        after = operator.call("POST", f"/servers/{path_segment(args.name)}/accept", body)
    return report(args, after, f"The tools of server {args.name} are pinned as it lists them next.")
