"""`interlock journal -- COMMAND …`: runs a command below the supervisor that keeps what it changes."""

from __future__ import annotations

import os
import subprocess

from interlock.cli.command import Args, CommandError, UsageError, command, command_of, settings
from interlock.journal import CANNOT, JournalError, is_journaled, join
from interlock.journal.build import ready


@command()
def main(args: Args) -> int:
    words = command_of(args)
    if args.probe == bool(words):
        raise UsageError("--probe takes no command" if args.probe else "give a command after --")
    if is_journaled():  # its own settings may be out of reach, as in a jail
        if words:  # else it is a probe
            join()
            try:
                os.execvp(words[0], words)  # the journal around it sees the command
            except OSError as error:
                code = 127 if isinstance(error, FileNotFoundError) else 126
                raise CommandError(f"{words[0]}: {error.strerror}", code) from None
        print("A journal is kept here already.")
        return 0
    try:
        program, store = ready(settings(args))
    except JournalError as error:
        raise CommandError(f"{error}; nothing was run", CANNOT) from None
    if args.probe:
        done = subprocess.run([program, "--probe", store.path])
        print("A journal is possible here." if done.returncode == 0 else "No journal is possible here.")
        return done.returncode
    skipped = [word for folder in args.skip for word in ("--skip", os.path.realpath(folder))]
    return os.execv(program, [program.name, str(store.path), *skipped, "--", *words])
