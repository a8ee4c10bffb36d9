"""`interlock proxy adopt FILE`: routes a client's MCP servers through proxies; `--undo` restores the file."""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Sequence
from pathlib import Path

from interlock.adapters.trust import HIGHEST_CLAIM, TRUSTS
from interlock.agents.jsonc import EditError
from interlock.cli.command import FAILED, OK, CommandError, pluralize
from interlock.cli.guard.installation import confirm_changes
from interlock.install.changes import stamp
from interlock.install.files import FileProblem, back_up, read_state, replace_file
from interlock.proxy.adoption import ProxyCommand, adopt_json, adopt_toml

_EPILOG = """\
files: Claude Code .mcp.json and ~/.claude.json, Claude Desktop claude_desktop_config.json, Cursor mcp.json, VS Code mcp.json,
  Gemini CLI settings.json, Codex CLI config.toml, and others that name servers in the same way

examples:
  interlock proxy adopt .mcp.json --dry-run
  interlock proxy adopt ~/.codex/config.toml
  interlock proxy adopt --undo ~/.codex/config.toml
"""


def main(argv: Sequence[str]) -> int:
    """Show the change, ask, save a backup and write; returns 1 for a file that cannot be changed."""
    args = _parser().parse_args(list(argv))
    try:
        return _adopt(args)
    except CommandError as stop:
        print(f"interlock proxy adopt: {stop}", file=sys.stderr)
        return stop.code


def _adopt(args: argparse.Namespace) -> int:
    config = str(args.config.absolute()) if args.config else ""
    proxying = None if args.undo else ProxyCommand(sys.executable, args.trust, config)
    try:
        seen = read_state(args.file)
        if seen.text is None:
            raise CommandError(f"{args.file}: there is no such file", FAILED)
        work = adopt_toml if args.file.suffix == ".toml" else adopt_json
        found = work(seen.text, proxying)
    except EditError as error:
        raise CommandError(f"{args.file}: {error}; nothing was changed", FAILED) from None
    except FileProblem as error:
        raise CommandError(str(error), FAILED) from None
    for name, why in found.left.items():
        print(f"{name}: left as it is, for {why}")
    if not found.changed:
        print("Nothing to change.")
        return OK
    sys.stdout.writelines(_diff(str(args.file), seen.text, found.text))
    if args.dry_run:
        return OK
    if not confirm_changes(args, 1, "Rewrite"):
        return FAILED
    try:
        backup = back_up(seen, stamp())
        replace_file(seen, found.text.encode(), seen.mode)
    except FileProblem as error:
        raise CommandError(str(error), FAILED) from None
    way = "as before" if args.undo else "through the gate"
    print(f"{pluralize(len(found.changed), 'server')} of {args.file} run {way}; the file before: {backup}")
    print("Start the client again for it to count.")
    return OK


def _diff(name: str, before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, name, n=1)
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock proxy adopt",
        description="Rewrites a client's MCP configuration so that each of its servers is started behind a proxy.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the client's configuration")
    parser.add_argument("--undo", action="store_true", help="take the proxies out again")
    parser.add_argument("--dry-run", action="store_true", help="show what would be written, and write nothing")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    claims = [word for word, trust in TRUSTS.items() if trust <= HIGHEST_CLAIM]
    parser.add_argument(
        "--trust",
        choices=claims,
        default=HIGHEST_CLAIM.word,
        metavar="LEVEL",
        help=f"{', '.join(claims)}; default {HIGHEST_CLAIM.word}",
    )
    parser.add_argument(
        "--config", metavar="FILE", type=Path, help="the daemon's configuration, where it is not the default"
    )
    return parser
