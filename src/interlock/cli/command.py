"""Shared frame of the operator commands: options, the daemon's client, expected errors as one line, exit codes."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from interlock.analysis.display_text import Line, visible
from interlock.analysis.packs import PackError
from interlock.cli.output import paint, print_table
from interlock.client import ApiError, DaemonClient, NoDaemon, find_daemon
from interlock.config import Config, ConfigError, load_config
from interlock.identity.terminal import EnrolmentError, TerminalError
from interlock.policy.policy import PolicyError

OK, FAILED, USAGE, NO_DAEMON = 0, 1, 2, 3
ASKS, DENIED = 10, 20  # 2.13, where an exit code stands for an answer
EXITS = "exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no daemon answers"

Work = Callable[[argparse.Namespace], int]


class CommandError(Exception):
    """Ends a command with a message and an exit code; an expected failure, not a defect."""

    def __init__(self, words: str, code: int = FAILED) -> None:
        self.code = code
        super().__init__(words)


def typed_name() -> str:
    """How this program is typed here: by its name where the shell finds it, by its path elsewhere."""
    own = Path(sys.argv[0])
    if own.name != "interlock" or not own.exists():
        return "interlock"
    found = shutil.which("interlock")
    if found is not None and own.samefile(found):
        return "interlock"
    return str(own.relative_to(Path.cwd()) if own.is_relative_to(Path.cwd()) else own)


def command(word: str, description: str, examples: str, exits: str = EXITS) -> argparse.ArgumentParser:
    """The parser of one command, with the options that all commands share."""
    parser = argparse.ArgumentParser(
        prog=f"interlock {word}",
        description=description,
        epilog=_epilog(examples, exits),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add_common_options(parser)
    return parser


def words(
    word: str, description: str, examples: str, exits: str = EXITS
) -> tuple[argparse.ArgumentParser, Callable[..., argparse.ArgumentParser]]:
    """The parser of a command with subcommands, and the function that adds one."""
    parser = argparse.ArgumentParser(
        prog=f"interlock {word}",
        description=description,
        epilog=_epilog(examples, exits),
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    inner = parser.add_subparsers(dest="word", metavar="WORD", required=True)

    def add(name: str, help: str, example: str) -> argparse.ArgumentParser:
        made: argparse.ArgumentParser = inner.add_parser(
            name,
            help=help,
            description=help[:1].upper() + help[1:] + ".",
            epilog=f"example:\n  {example}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        add_common_options(made)
        return made

    return parser, add


def add_common_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config", metavar="FILE", help="the daemon's configuration (default: `interlock config path`)"
    )
    parser.add_argument("--json", action="store_true", help="as JSON")


def add_operator_option(parser: argparse.ArgumentParser) -> None:
    """Add the option of a command that signs in."""
    parser.add_argument("--operator", metavar="NAME", help="sign in as this operator (default: asks)")


def with_default_word(argv: Sequence[str], word: str) -> list[str]:
    """The arguments, with the subcommand `word` first where none was given."""
    given = list(argv)
    bare = not given or (given[0].startswith("-") and given[0] not in ("-h", "--help"))
    return [word, *given] if bare else given


def run(name: str, work: Work, args: argparse.Namespace) -> int:
    """Run the work and return its exit code; an expected error becomes one line on stderr."""
    try:
        return work(args)
    except CommandError as end:
        return _fail(name, str(end), end.code)
    except NoDaemon as error:
        return _fail(name, str(error), NO_DAEMON)
    except ApiError as error:
        return _fail(name, str(error))
    except (ConfigError, PolicyError, PackError, TerminalError, EnrolmentError) as error:
        return _fail(name, str(error))
    except BrokenPipeError:
        raise
    except OSError as error:
        return _fail(name, str(error))


def settings(args: argparse.Namespace) -> Config:
    """Load the configuration of `--config`, or the default one."""
    return load_config(Path(args.config) if args.config else None)


def daemon(args: argparse.Namespace) -> DaemonClient:
    """The client of the configuration's daemon; raises NoDaemon where none answers."""
    return find_daemon(settings(args))


def say_json(value: object) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=True))


def say(lines: Iterable[Line], to_errors: bool = False) -> None:
    """Print styled lines; on stderr where stdout is for JSON."""
    paint(lines, sys.stderr if to_errors else sys.stdout)


def report(args: argparse.Namespace, found: object, words: str | Iterable[Line]) -> int:
    """Print what was found or done: as JSON where that is asked for, else in words."""
    if args.json:
        say_json(found)
    elif isinstance(words, str):
        print(words)
    else:
        say(words)
    return OK


def say_table(columns: Sequence[str], rows: Sequence[Sequence[str]], empty: str) -> None:
    """Print a table, or the sentence `empty` where it has no rows."""
    if not rows:
        print(empty)
        return
    print_table(columns, [[visible(str(cell)) for cell in row] for row in rows], sys.stdout)


def pluralize(number: int, noun: str) -> str:
    """`1 case`, `2 cases`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def list_rows(body: Any, key: str) -> list[Mapping[str, Any]]:
    """The rows of a listing."""
    rows = body.get(key, []) if isinstance(body, Mapping) else body
    return [row for row in rows or [] if isinstance(row, Mapping)]


def _epilog(examples: str, exits: str) -> str:
    inner = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    return f"examples:\n{inner}\n\n{exits}"


def _fail(name: str, message: str, code: int = FAILED) -> int:
    print(f"interlock {name}: {message}", file=sys.stderr)
    return code
