"""`interlock proxy`: relays MCP servers through the gate; `accept` pins changed tools anew, `adopt` rewrites a client's file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from interlock.adapters.trust import HIGHEST_CLAIM
from interlock.cli.arguments import Args, argument, make_parser
from interlock.cli.command import USAGE, CommandError, command, run
from interlock.cli.guard.mcp import TOKEN_FILE, agent_token
from interlock.cli.sign_in import operator_change
from interlock.client import path_segment
from interlock.config import ConfigError, load_config
from interlock.model import TRUSTS
from interlock.proxy.multiplexer import run_many, servers_in_file
from interlock.proxy.running import ProxyOptions, ProxySettingError, server_address
from interlock.proxy.running import run as relay

CLAIMS = tuple(word for word, trust in TRUSTS.items() if trust <= HIGHEST_CLAIM)
_USAGE = """\
interlock proxy [--name NAME] [--trust LEVEL] (-- COMMAND ARGS… | --url URL | --config FILE.json)
       interlock proxy adopt [--undo] [--dry-run] [--trust LEVEL] FILE
       interlock proxy accept NAME --reason WORDS"""
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


_ARGUMENTS = (
    argument("--name", "NAME", "what the server is called in tickets and the record", ""),
    argument(
        "--trust",
        "LEVEL",
        f"who vouches for it: {', '.join(CLAIMS)}; more takes an operator",
        "",
        choices=CLAIMS,
    ),
    argument("--url", "URL", "a server that speaks streamable HTTP", ""),
    argument(
        "--header-file",
        "FILE",
        "headers for --url, one `Name: value` a line; no argument shows them",
        [],
        type=Path,
        action="append",
    ),
    argument(
        "--config",
        "FILE",
        "a .json file: many servers in one, as clients write them; else the daemon's configuration",
        [],
        type=Path,
        action="append",
    ),
    TOKEN_FILE,
)


def main(argv: Sequence[str]) -> int:
    """Relay until the client or the server ends; returns 2 for invalid settings."""
    words = list(argv)
    if words[:1] == ["adopt"]:
        from interlock.cli.guard.proxy_adopt import main as adopt  # tomlkit takes longer to load than a proxy

        return adopt(words[1:])
    if words[:1] == ["accept"]:
        return _accept(words[1:])
    at = words.index("--") if "--" in words else len(words)
    about = "Puts the gate in front of an MCP server, which stays as it is."
    args = make_parser("proxy", about, _EPILOG, *_ARGUMENTS, usage=_USAGE).parse_args(words[:at])
    args.command = words[at + 1 :]
    args.servers = next((path for path in args.config if path.suffix == ".json"), None)
    args.config = next((path for path in args.config if path.suffix != ".json"), None)
    ways = (("-- COMMAND", args.command), ("--url", args.url), ("--config FILE.json", args.servers))
    kinds = [kind for kind, said in ways if said]
    if len(kinds) != 1:
        args.fail(f"expected one of -- COMMAND, --url and --config FILE.json, got {' and '.join(kinds) or 'none'}")
    return run("proxy", _relay, args)


def _relay(args: Args) -> int:
    try:
        config = load_config(args.config)
        setting = ProxyOptions(config, args.config, agent_token(args.token_file) if args.token_file else "")
        if args.servers is not None:
            return run_many(servers_in_file(args.servers, args.trust), setting)
        given = {"command": args.command, "url": args.url, "header_files": args.header_file}
        return relay(server_address(args.name, args.trust, **given), setting)
    except (ConfigError, ProxySettingError, OSError, ValueError) as error:
        raise CommandError(str(error), USAGE) from None


@command("proxy accept")
def _accept(args: Args) -> int:
    body, path = {"reason": args.reason, "mark": args.mark}, f"/servers/{path_segment(args.name)}/accept"
    words = f"The tools of server {args.name} are pinned as it lists them next."
    return operator_change(args, "POST", path, body, words)
