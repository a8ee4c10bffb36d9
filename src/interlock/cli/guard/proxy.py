"""`interlock proxy`: relays MCP servers through the gate; `accept` pins changed tools anew, `adopt` rewrites a client's file."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.adapters.trust import CLAIMS
from interlock.cli.arguments import declared_parser
from interlock.cli.command import Args, command, run, wrong_usage
from interlock.cli.guard.mcp import agent_token
from interlock.cli.sign_in import operator_change
from interlock.client import path_segment
from interlock.config import load_config
from interlock.proxy.multiplexer import relay_many, servers_in_file
from interlock.proxy.running import ProxyOptions, relay_one, run_relay, server_address


def main(argv: Sequence[str]) -> int:
    words = list(argv)
    if words[:1] == ["adopt"]:
        from interlock.cli.guard.proxy_adopt import main as adopt  # tomlkit takes longer to load than a proxy

        return adopt(words[1:])
    if words[:1] == ["accept"]:
        return _accept(words[1:])
    at = words.index("--") if "--" in words else len(words)
    claims = {"claims": ", ".join(CLAIMS)}
    args = declared_parser(__name__, "proxy", claims, {"trust": {"choices": CLAIMS}}).parse_args(words[:at])
    args.command = words[at + 1 :]
    args.servers = next((path for path in args.config if path.suffix == ".json"), None)
    args.config = next((path for path in args.config if path.suffix != ".json"), None)
    ways = (("-- COMMAND", args.command), ("--url", args.url), ("--config FILE.json", args.servers))
    kinds = [kind for kind, said in ways if said]
    if len(kinds) != 1:
        args.fail(f"expected one of -- COMMAND, --url and --config FILE.json, got {' and '.join(kinds) or 'none'}")
    return run("proxy", _relay, args)


@wrong_usage(OSError, ValueError)
def _relay(args: Args) -> int:
    config = load_config(args.config)
    setting = ProxyOptions(config, args.config, agent_token(args.token_file))
    if args.servers is not None:
        return run_relay(relay_many(servers_in_file(args.servers, args.trust), setting))
    given = {"command": args.command, "url": args.url, "header_files": args.header_file}
    return run_relay(relay_one(server_address(args.name, args.trust, **given), setting))


@command(word="proxy accept")
def _accept(args: Args) -> int:
    body, path = {"reason": args.reason, "mark": args.mark}, f"/servers/{path_segment(args.name)}/accept"
    words = f"The tools of server {args.name} are pinned as it lists them next."
    return operator_change(args, "POST", path, body, words)
