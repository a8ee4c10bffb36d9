"""`interlock proxy adopt FILE`: routes a client's MCP servers through proxies; `--undo` restores the file."""

from __future__ import annotations

import difflib
import sys
from pathlib import Path

from interlock.adapters.trust import HIGHEST_CLAIM
from interlock.agents.jsonc import EditError
from interlock.cli.arguments import Args, argument, flag
from interlock.cli.command import FAILED, OK, CommandError, command, pluralize
from interlock.cli.guard.installation import DRY_RUN, YES, confirm_changes
from interlock.install.changes import stamp
from interlock.install.files import FileProblem, back_up, read_state, replace_file
from interlock.model import TRUSTS
from interlock.proxy.adoption import ProxyCommand, adopt_json, adopt_toml

_EPILOG = """\
files: Claude Code .mcp.json and ~/.claude.json, Claude Desktop claude_desktop_config.json, Cursor mcp.json, VS Code mcp.json,
  Gemini CLI settings.json, Codex CLI config.toml, and others that name servers in the same way

examples:
  interlock proxy adopt .mcp.json --dry-run
  interlock proxy adopt ~/.codex/config.toml
  interlock proxy adopt --undo ~/.codex/config.toml
"""


CLAIMS = tuple(word for word, trust in TRUSTS.items() if trust <= HIGHEST_CLAIM)


@command(
    "proxy adopt",
    "Rewrites a client's MCP configuration so that each of its servers is started behind a proxy.",
    "",
    argument("file", "FILE", "the client's configuration", type=Path),
    flag("--undo", "take the proxies out again"),
    DRY_RUN,
    YES,
    argument(
        "--trust", "LEVEL", f"{', '.join(CLAIMS)}; default {HIGHEST_CLAIM.word}", HIGHEST_CLAIM.word, choices=CLAIMS
    ),
    argument("--config", "FILE", "the daemon's configuration, where it is not the default", type=Path),
    epilog=_EPILOG,
    shared=(),
)
def main(args: Args) -> int:
    """Show the change, ask, save a backup and write; returns 1 for a file that cannot be changed."""
    config = str(args.config.absolute()) if args.config else ""
    proxying = None if args.undo else ProxyCommand(sys.executable, args.trust, config)
    try:
        seen = read_state(args.file)
        if seen.text is None:
            raise CommandError(f"{args.file}: there is no such file")
        work = adopt_toml if args.file.suffix == ".toml" else adopt_json
        found = work(seen.text, proxying)
    except EditError as error:
        raise CommandError(f"{args.file}: {error}; nothing was changed") from None
    except FileProblem as error:
        raise CommandError(str(error)) from None
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
        raise CommandError(str(error)) from None
    way = "as before" if args.undo else "through the gate"
    print(f"{pluralize(len(found.changed), 'server')} of {args.file} run {way}; the file before: {backup}")
    print("Start the client again for it to count.")
    return OK


def _diff(name: str, before: str, after: str) -> list[str]:
    lines = difflib.unified_diff(before.splitlines(True), after.splitlines(True), name, name, n=1)
    return [line if line.endswith("\n") else f"{line}\n" for line in lines]
