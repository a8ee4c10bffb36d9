"""Builds a command's parser from its declaration: a table of the TOML file beside its module; imports nothing that takes time."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Args = argparse.Namespace
Argument = Callable[[argparse.ArgumentParser], object]  # adds itself to a parser
Table = Mapping[str, Any]
_TYPES = {"int": int, "path": Path}
_ABOUT = frozenset(
    "about help example examples exits epilog usage wrapped shared default".split()
)  # of the command itself


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
DRY_RUN = flag("--dry-run", "show what would be written, and write nothing")
YES = flag("--yes", "do not ask")
_SCOPES = {
    "user": "for this user, in every project (default)",
    "project": "for this folder, whoever works in it",
    "system": "for every user of this machine; takes root",
}


def _add_scope(parser: argparse.ArgumentParser) -> None:
    """The options for the scope of an installation."""
    choice = parser.add_mutually_exclusive_group()
    for scope, said in _SCOPES.items():
        choice.add_argument(f"--{scope}", dest="scope", action="store_const", const=scope, help=said)
    parser.set_defaults(scope="user")


SHARED: Mapping[str, Argument] = {
    "@config": CONFIG,
    "@dry-run": DRY_RUN,
    "@json": JSON,
    "@operator": OPERATOR,
    "@scope": _add_scope,
    "@yes": YES,
}


def declared_arguments(table: Table, fills: Mapping[str, str], more: Mapping[str, Table]) -> list[Argument]:
    """The arguments of a declaration, `"--names METAVAR" = "help"`; refuses a positional one without a metavar or choices.

    `fills` are filled into help texts, `more` are further settings of an argument, by its first name.
    """
    found = []
    for key, value in table.items():
        if key in SHARED:
            found.append(SHARED[key])
        elif key not in _ABOUT:
            found.append(_declared(key, {"help": value} if isinstance(value, str) else value, fills, more))
    return found


def _declared(key: str, how: Table, fills: Mapping[str, str], more: Mapping[str, Table]) -> Argument:
    words = key.split()
    count = sum(word.startswith("-") for word in words) if key.startswith("-") else 1
    names, metavar = words[:count], " ".join(words[count:])
    given = {**how, **more.get(names[0].lstrip("-"), {})}
    if fills and given.get("help"):
        given["help"] = given["help"].format_map(fills)
    if "type" in given:
        given["type"] = _TYPES.get(given["type"], given["type"])
    if metavar:
        given["metavar"] = metavar
    elif "choices" not in given and not key.startswith("-"):
        raise ValueError(f"{key!r}: neither an argument with a metavar nor a key of a command's declaration")
    elif "choices" not in given:
        given.setdefault("action", "store_true")
    return lambda parser: parser.add_argument(*names, **given)


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
    return f"examples:\n{inner}\n\nexit codes: {exits}"
