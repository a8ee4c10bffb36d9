"""`interlock rules`: lists, shows, tests and documents the rules from their packs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import SHIPPED, example_failures, load_files
from interlock.analysis.rules.rendering import rule_json, rule_lines, rules_markdown
from interlock.cli.command import FAILED, OK, Args, CommandError, CommandWords, UsageError
from interlock.cli.output import report, report_table

main = CommandWords(__name__)


@main.word
def _list(args: Args) -> None:
    packs = _packs()
    if args.pack is not None and args.pack not in packs:
        raise _unknown("pack", args.pack, list(packs))
    rules = [(pack, rule) for pack in packs if args.pack in (None, pack) for rule in packs[pack].rules.values()]
    rows = [(rule.id, rule.level.word, "no" if rule.irreversible else "yes", rule.reason) for _, rule in rules]
    body = [rule_json(pack, rule) for pack, rule in rules]
    report_table(args, body, ("rule", "level", "undo", "reason"), rows, "")
    if sys.stdout.isatty() and not args.json:
        print(f"{len(rules)} rules. `interlock rules show RULE` tells all about one.")


@main.word
def _show(args: Args) -> int:
    rules = {id: (pack, rule) for pack, book in _packs().items() for id, rule in book.rules.items()}
    if args.id not in rules:
        raise _unknown("rule", args.id, list(rules))
    return report(args, rule_json(*rules[args.id]), rule_lines(*rules[args.id]))


@main.word
def _test(args: Args) -> int:
    shipped = _shipped_files()
    paths = [Path(name) for name in args.files] or shipped
    book = load_files(paths)
    found = example_failures(book, load_files(dict.fromkeys([*shipped, *(path.resolve() for path in paths)])))
    examples = sum(len(rule.match) + len(rule.spare) for rule in book.rules.values())
    print(*found, f"{len(book.rules)} rules, {examples} examples, {len(found)} problems", sep="\n")
    return FAILED if found else OK


@main.word
def _docs(args: Args) -> None:
    print(rules_markdown({pack: list(book.rules.values()) for pack, book in _packs().items()}), end="")


def _shipped_files() -> list[Path]:
    return sorted(SHIPPED.resolve().glob("*.toml"))


def _packs() -> dict[str, Rulebook]:
    return {path.stem: load_files([path]) for path in _shipped_files()}


def _unknown(what: str, word: str, known: Sequence[str]) -> CommandError:
    near = get_close_matches(word, known, 3, 0.5) or [name for name in known if word in name][:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "see `interlock rules list`"
    return UsageError(f"no {what} {word!r}; {hint}")
