"""`interlock rules`: lists, shows, tests and documents the rules from their packs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import SHIPPED, example_failures, load_files
from interlock.analysis.rules.rendering import rule_json, rule_lines, rules_markdown
from interlock.cli.arguments import Args
from interlock.cli.command import CommandWords
from interlock.cli.output import paint, print_table

Packs = Mapping[str, Rulebook]
main = CommandWords("rules", __name__)


@main.word("list")
def _list(args: Args) -> int:
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


@main.word("show")
def _show(args: Args) -> int:
    rules = {rule.id: (pack, rule) for pack, book in _packs().items() for rule in book.rules.values()}
    if args.id not in rules:
        return _unknown("rule", args.id, list(rules))
    pack, rule = rules[args.id]
    if args.json:
        print(json.dumps(rule_json(pack, rule), indent=2))
        return 0
    paint(rule_lines(pack, rule), sys.stdout)
    return 0


@main.word("test")
def _test(args: Args) -> int:
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


@main.word("docs")
def _docs(args: Args) -> int:
    print(rules_markdown({pack: list(book.rules.values()) for pack, book in _packs().items()}), end="")
    return 0


def _shipped_files() -> list[Path]:
    return sorted(SHIPPED.glob("*.toml"))


def _packs() -> Packs:
    return {path.stem: load_files([path]) for path in _shipped_files()}


def _unknown(what: str, word: str, known: Sequence[str]) -> int:
    near = get_close_matches(word, known, 3, 0.5) or [name for name in known if word in name][:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "see `interlock rules list`"
    print(f"interlock rules: no {what} {word!r}; {hint}", file=sys.stderr)
    return 2
