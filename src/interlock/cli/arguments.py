"""Builds a command's parser from a table of the TOML file beside its module; imports nothing that takes time."""

from __future__ import annotations

import tomllib
from argparse import ArgumentParser, ArgumentTypeError, HelpFormatter, RawDescriptionHelpFormatter
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

Table = Mapping[str, Any]
NOTHING: Mapping[str, Any] = MappingProxyType({})
EXITS = "0 done, 1 refused or failed, 2 wrong usage, 3 no daemon answers"


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"expected a whole number from 1 on, got {text!r:.20}")
    return int(text)


_TYPES = {"count": _count, "path": Path, "upper": str.upper}
# Keys of a declaration that are about the command itself.
_ABOUT = frozenset(
    "about help example examples exits epilog usage metavar wrapped abbreviates shared default words".split()
)


@cache
def declarations(module: str) -> Mapping[str, Table]:
    path = Path(__file__).parent.joinpath(*module.split(".")[2:]).with_suffix(".toml")
    return tomllib.loads(path.read_text("utf-8"))


def declared_parser(
    module: str,
    word: str,
    fills: Mapping[str, str] = NOTHING,
    more: Mapping[str, Table] = NOTHING,
    kind: type[ArgumentParser] = ArgumentParser,
) -> ArgumentParser:
    """The parser of a command; `args.fail` reports wrong usage."""
    table = declarations(module)[word]
    about, end = table["about"].strip(), table.get("epilog")
    if end is None:
        examples = "\n".join(f"  {line}" for line in table["examples"].strip().splitlines())
        end = f"examples:\n{examples}\n\nexit codes: {table.get('exits', EXITS)}"
    if fills:
        about, end = about.format_map(fills), end.format_map(fills)
    parser = kind(prog=f"interlock {word}", usage=table.get("usage"), description=about, epilog=end, **_form(table))
    add_arguments(parser, table, fills, more)
    parser.set_defaults(fail=parser.error)
    return parser


def declared_word(parsers: Any, name: str, table: Table) -> ArgumentParser:
    help = table["help"]
    end = table.get("epilog", f"example:\n  {table['example']}" if "example" in table else None)
    made: ArgumentParser = parsers.add_parser(
        name, help=help, description=table.get("about", f"{help[:1].upper()}{help[1:]}."), epilog=end, **_form(table)
    )
    add_arguments(made, table)
    return made


def add_arguments(
    parser: ArgumentParser, table: Table, fills: Mapping[str, str] = NOTHING, more: Mapping[str, Table] = NOTHING
) -> None:
    """The arguments of a declaration, `"--names METAVAR" = "help"`; refuses a positional one without a metavar or choices.

    `fills` are filled into help texts, `more` are settings of an argument that no file can state, by its first name.
    """
    shared = ("@config", "@json") if table.get("shared", True) and "metavar" not in table else ()
    for key in (*shared, *table):
        if key == "@scope":
            _add_scope(parser)
        elif key.startswith("@"):
            add_arguments(parser, {"shared": False, **declarations(__name__)[key]})
        elif key not in _ABOUT:
            _add_argument(parser, key, table[key], fills, more)


def _add_scope(parser: ArgumentParser) -> None:
    choice = parser.add_mutually_exclusive_group()
    for name, said in declarations(__name__)["@scope"].items():
        choice.add_argument(name, dest="scope", action="store_const", const=name[2:], help=said)
    parser.set_defaults(scope="user")


def _add_argument(
    parser: ArgumentParser, key: str, how: Table | str, fills: Mapping[str, str], more: Mapping[str, Table]
) -> None:
    words = key.split()
    count = sum(word.startswith("-") for word in words) if key.startswith("-") else 1
    names, metavar = words[:count], " ".join(words[count:])
    given = {**({"help": how} if isinstance(how, str) else how), **more.get(names[0].lstrip("-"), {})}
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
    parser.add_argument(*names, **given)


def _form(table: Table) -> dict[str, Any]:
    form = HelpFormatter if table.get("wrapped") else RawDescriptionHelpFormatter
    return {"formatter_class": form, "allow_abbrev": table.get("abbreviates", False)}
