"""`interlock rules`: lists, shows, tests and documents the rules from their packs."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType

from interlock.analysis.packs import PackError
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import SHIPPED, example_failures, load_files
from interlock.analysis.rules.rendering import rule_json, rule_lines, rules_markdown
from interlock.cli.output import paint, print_table

Packs = Mapping[str, Rulebook]
_EPILOG = """\
examples:
  interlock rules list --pack git
  interlock rules show git.force_push
  interlock rules test my-rules.toml
  interlock rules docs > rules.md
"""


def main(argv: Sequence[str]) -> int:
    """Run `interlock rules` list, show, test or docs."""
    parser = _parser()
    args = parser.parse_args(list(argv))
    if args.word is None:
        parser.print_help()
        return 0
    try:
        code: int = _WORDS[args.word](args)
    except (PackError, OSError) as error:
        print(f"interlock rules: {error}", file=sys.stderr)
        return 1
    return code


def _list(args: argparse.Namespace) -> int:
    packs = _packs()
    if args.pack is not None and args.pack not in packs:
        return _unknown("pack", args.pack, list(packs))
    chosen = packs if args.pack is None else {args.pack: packs[args.pack]}
    rules = [(pack, rule) for pack, book in chosen.items() for rule in book.rules.values()]
    if args.json:
        print(json.dumps([rule_json(pack, rule) for pack, rule in rules], indent=2))
        return 0
    rows = [(rule.id, rule.level.word, "no" if rule.irreversible else "yes", rule.reason) for _, rule in rules]
    print_table(("rule", "level", "undo", "reason"), rows, sys.stdout)
    if sys.stdout.isatty():
        print(f"{len(rules)} rules. `interlock rules show RULE` tells all about one.")
    return 0


def _show(args: argparse.Namespace) -> int:
    rules = {rule.id: (pack, rule) for pack, book in _packs().items() for rule in book.rules.values()}
    if args.id not in rules:
        return _unknown("rule", args.id, list(rules))
    pack, rule = rules[args.id]
    if args.json:
        print(json.dumps(rule_json(pack, rule), indent=2))
        return 0
    paint(rule_lines(pack, rule), sys.stdout)
    return 0


def _test(args: argparse.Namespace) -> int:
    """Run the examples of the packs named, or of all that are shipped."""
    paths = [Path(name) for name in args.files] or _shipped_files()
    book = load_files(paths)
    shipped = {path.resolve() for path in _shipped_files()}
    extra = [path for path in paths if path.resolve() not in shipped]
    found = example_failures(book, load_files([*_shipped_files(), *extra]))
    for line in found:
        print(line)
    examples = sum(len(rule.match) + len(rule.spare) for rule in book.rules.values())
    print(f"{len(book.rules)} rules, {examples} examples, {len(found)} problems")
    return 1 if found else 0


def _docs(args: argparse.Namespace) -> int:
    print(rules_markdown({pack: list(book.rules.values()) for pack, book in _packs().items()}), end="")
    return 0


_WORDS: Mapping[str, Callable[[argparse.Namespace], int]] = MappingProxyType(
    {"list": _list, "show": _show, "test": _test, "docs": _docs}
)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock rules",
        description="The rules that commands are judged by.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = parser.add_subparsers(dest="word", metavar="list | show | test | docs")
    listing = words.add_parser(
        "list", help="all rules, or those of one pack", description="All rules, or those of one pack."
    )
    listing.add_argument("--pack", metavar="NAME", help="only this pack, such as git")
    listing.add_argument("--json", action="store_true", help="as JSON")
    show = words.add_parser(
        "show", help="one rule, with its examples", description="One rule: when it fires, and its examples."
    )
    show.add_argument("id", metavar="RULE", help="such as git.force_push")
    show.add_argument("--json", action="store_true", help="as JSON")
    test = words.add_parser(
        "test", help="run the examples inside the rules", description="Run the examples inside the rules."
    )
    test.add_argument("files", nargs="*", metavar="FILE", help="packs of your own (default: those shipped)")
    words.add_parser("docs", help="all rules as Markdown", description="All rules as Markdown.")
    return parser


def _shipped_files() -> list[Path]:
    return sorted(SHIPPED.glob("*.toml"))


def _packs() -> Packs:
    return {path.stem: load_files([path]) for path in _shipped_files()}


def _unknown(what: str, word: str, known: Sequence[str]) -> int:
    near = get_close_matches(word, known, 3, 0.5) or [name for name in known if word in name][:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "see `interlock rules list`"
    print(f"interlock rules: no {what} {word!r}; {hint}", file=sys.stderr)
    return 2
