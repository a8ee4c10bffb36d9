"""Declares the arguments and the parser of a command; imports nothing that takes time."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

Args = argparse.Namespace
Argument = Callable[[argparse.ArgumentParser], object]  # adds itself to a parser


def argument(
    names: str, metavar: str | None = None, help: str | None = None, default: object = None, **how: Any
) -> Argument:
    """One argument or option; other spellings of its name stand behind it."""
    return lambda parser: parser.add_argument(*names.split(), metavar=metavar, help=help, default=default, **how)


def flag(names: str, help: str, action: str = "store_true", **how: Any) -> Argument:
    """An option without a value."""
    return lambda parser: parser.add_argument(*names.split(), action=action, help=help, **how)


CONFIG = argument("--config", "FILE", "the daemon's configuration (default: `interlock config path`)")
JSON = flag("--json", "as JSON")
OPERATOR = argument("--operator", "NAME", "sign in as this operator (default: asks)")  # of a command that signs in


def make_parser(
    word: str,
    description: str,
    epilog: str,
    *arguments: Argument,
    kind: type[argparse.ArgumentParser] = argparse.ArgumentParser,
    **how: Any,
) -> argparse.ArgumentParser:
    """The parser of one command; `args.fail` reports wrong usage."""
    how.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
    how.setdefault("allow_abbrev", False)
    parser = kind(prog=f"interlock {word}", description=description, epilog=epilog, **how)
    for add in arguments:
        add(parser)
    parser.set_defaults(fail=parser.error)
    return parser


def help_end(examples: str, exits: str) -> str:
    """The end of a command's help: its examples and its exit codes."""
    inner = "\n".join(f"  {line}" for line in examples.strip().splitlines())
    return f"examples:\n{inner}\n\n{exits}"
