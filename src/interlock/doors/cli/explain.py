"""`interlock explain`: one command in, what it would do in words, and an exit code that says whether it should run."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from interlock.core.explain import VERDICTS, explain, verdict
from interlock.core.model import Level
from interlock.core.wire import assessment_json, error_json, step_json
from interlock.doors.cli.judging import Unjudged, judge
from interlock.doors.cli.paint import painted, wants_colour

MAX_INPUT = 4 * 1024 * 1024  # what is longer than this was never a command
_EPILOG = """\
exit codes:
  0  allow      10  ask      20  deny      2  usage

examples:
  interlock explain 'find . -name "*.log" -exec rm {} +'
  interlock explain --json 'git push --force'
  interlock explain < deploy.sh
  interlock explain -- -rf
"""


class Parser(argparse.ArgumentParser):
    """Says, where an option is not known, that a command has to be quoted."""

    def error(self, message: str) -> NoReturn:
        hint = ""
        if message.startswith("unrecognized arguments"):
            hint = f"\nQuote the command, or put -- before it: {self.prog} 'rm -rf build'"
        self.exit(2, f"{self.prog}: {message}{hint}\nTry `{self.prog} --help`.\n")


def main(argv: Sequence[str]) -> int:
    """Explain one command; returns the verdict as exit code."""
    args = _parser().parse_args(list(argv))
    text = _text(args.command)
    if text is None:
        print("interlock explain: no command given\nTry `interlock explain 'ls -l'`.", file=sys.stderr)
        return 2
    cwd = os.path.abspath(args.cwd) if args.cwd else _here()
    return show(text, cwd, as_json=args.json, files=not args.no_files)


def show(text: str, cwd: str, as_json: bool = False, files: bool = True) -> int:
    """Print what a command would do when run in `cwd`; returns the verdict as exit code."""
    from interlock.looker.files import read_text

    text = text.encode("utf-8", "replace").decode() if not text.isascii() else text
    found = judge(text, cwd, read_text if files else None)
    if isinstance(found, Unjudged):
        return _unjudged(found, as_json)
    answer = verdict(found)
    if as_json:
        import json

        steps = [step_json(step) for step in found.steps]
        report = {"verdict": answer.word, "command": text, "cwd": cwd, **assessment_json(found), "steps": steps}
        del report["id"]
        print(json.dumps(report, indent=2))
    else:
        print(painted(explain(text, found), wants_colour(sys.stdout)), end="")
    return answer.exit_code


def _unjudged(found: Unjudged, as_json: bool) -> int:
    deny = VERDICTS[Level.FORBIDDEN]
    if as_json:
        import json

        print(json.dumps({"verdict": deny.word, **error_json(found.error)}, indent=2))
    else:
        print(f"{deny.lead}: this command {found.error}. Write it more simply, or report it.")
    return deny.exit_code


def _parser() -> Parser:
    parser = Parser(
        prog="interlock explain",
        description="Say what a shell command would do, whether that can be undone, and what to do instead. Nothing is run.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "command", nargs="*", metavar="COMMAND", help="the command, quoted; - or nothing: from standard input"
    )
    parser.add_argument("--cwd", metavar="DIR", help="where it would run (default: here)")
    parser.add_argument("--json", action="store_true", help="the assessment as JSON")
    parser.add_argument("--no-files", action="store_true", help="do not open the scripts that it would run")
    return parser


def _text(words: Sequence[str]) -> str | None:
    """The command: one word as it stands, several as the shell had split them, else standard input."""
    if len(words) == 1 and words[0] != "-":
        return words[0]
    if len(words) > 1:
        import shlex

        return shlex.join(words)
    if not words and sys.stdin.isatty():
        return None
    from interlock.looker.files import decode

    return decode(sys.stdin.buffer.read(MAX_INPUT)).removesuffix("\n")


def _here() -> str:
    try:
        return os.getcwd()
    except OSError:
        return ""  # the directory was deleted under us
