"""`make fuzz`: 100,000 generated inputs; no exception, the budget kept, an answer for each."""

from __future__ import annotations

import sys
import time

from interlock.analysis.assess import judge
from interlock.analysis.rules.load import load
from interlock.model import command
from shell_generator import texts

COUNT, SEED = 100_000, 20_260_101


def main() -> int:
    book = load()
    failed = 0
    started = time.monotonic()
    for number, text in enumerate(texts(COUNT, SEED), 1):
        try:
            judge(command(text, "/home/dev/app"), book)
        except Exception as error:
            failed += 1
            print(f"input {number}: {type(error).__name__}: {error}: {text!r}")
        if number % 10_000 == 0:
            print(f"{number} inputs, {failed} failed, {time.monotonic() - started:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
