"""Builds the hook client of a daemon with a user of its own, by the code that is installed for it: `python -m … CONFIGURATION`."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from interlock.agents import words
from interlock.config import load_config
from interlock.doors.hook.wrapper import CannotBuild, build


def main(argv: Sequence[str]) -> int:
    """0 when it is built; it must be there before any file names it."""
    config = load_config(Path(argv[0]), {})
    os.umask(0o022)
    try:
        build(config.folder, config, words()[0])
    except CannotBuild as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
