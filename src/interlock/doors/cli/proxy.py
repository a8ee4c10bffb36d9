"""`interlock proxy`: the gate in front of an MCP server, or of all servers of a file; `adopt` rewrites a client's configuration."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from interlock.core.trust import CLAIMED, TRUSTS

if TYPE_CHECKING:
    from interlock.doors.proxy.running import Place

FAILED, USAGE = 1, 2
CLAIMS = tuple(word for word, trust in TRUSTS.items() if trust <= CLAIMED)
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
    """Relays until the client or the server ends; 2 for settings nobody can use."""
    words = list(argv)
    if words[:1] == ["adopt"]:
        from interlock.doors.cli.proxy_adopt import main as adopt

        return adopt(words[1:])
    if words[:1] == ["accept"]:
        from interlock.doors.cli.proxy_accept import main as accept

        return accept(words[1:])
    return _main(*_parted(words))


def _parted(words: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """What is for us, and the command behind `--`."""
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
    from interlock.config import ConfigError, load_config
    from interlock.doors.cli.mcp import agent_token
    from interlock.doors.proxy.naming import SettingError
    from interlock.doors.proxy.running import Setting, run

    try:
        config = load_config(given.config)
        setting = Setting(config, given.config, agent_token(given.token_file) if given.token_file else "")
        if given.servers is not None:
            from interlock.doors.proxy.many import places_of, run_many

            return run_many(places_of(given.servers, given.trust), setting)
        return run(_place(given, command), setting)
    except (ConfigError, SettingError, OSError, ValueError) as error:
        print(f"interlock proxy: {error}", file=sys.stderr)
        return USAGE


def _place(given: argparse.Namespace, command: list[str]) -> Place:
    from interlock.doors.proxy.naming import place

    return place(given.name, given.trust, command=command, url=given.url, header_files=given.header_file)


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
