"""`interlock proxy adopt FILE`: routes a client's MCP servers through proxies; `--undo` restores the file."""

from __future__ import annotations

import sys
from difflib import unified_diff

from interlock.adapters.trust import CLAIMS
from interlock.agents.jsonc import EditError
from interlock.cli.command import FAILED, OK, Args, CommandError, command
from interlock.cli.guard.install import confirm_changes
from interlock.cli.output import pluralize
from interlock.install.changes import stamp
from interlock.install.files import back_up, read_state, replace_file
from interlock.proxy.adoption import ProxyCommand, adopt_json, adopt_toml

_TRUST = {"claims": ", ".join(CLAIMS), "highest": CLAIMS[-1]}


@command(_TRUST, word="proxy adopt", trust={"choices": CLAIMS, "default": CLAIMS[-1]})
def main(args: Args) -> int:
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
    for name, why in found.left.items():
        print(f"{name}: left as it is, for {why}")
    if not found.changed:
        print("Nothing to change.")
        return OK
    before, after, name = seen.text.splitlines(True), found.text.splitlines(True), str(args.file)
    for line in unified_diff(before, after, name, name, n=1):
        print(line.rstrip("\n"))
    if args.dry_run:
        return OK
    if not confirm_changes(args, 1, "Rewrite"):
        return FAILED
    backup = back_up(seen, stamp())
    replace_file(seen, found.text.encode(), seen.mode)
    way = "as before" if args.undo else "through the gate"
    print(f"{pluralize(len(found.changed), 'server')} of {args.file} run {way}; the file before: {backup}")
    print("Start the client again for it to count.")
    return OK
