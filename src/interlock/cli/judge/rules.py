"""`interlock rules`: lists, shows, tests and documents the rules from their packs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

from interlock.analysis.packs import PackError
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import SHIPPED, example_failures, load_files
from interlock.analysis.rules.rendering import rule_json, rule_lines, rules_markdown
from interlock.cli.arguments import JSON, Args, argument, make_parser
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
    parser = make_parser("rules", "The rules that commands are judged by.", _EPILOG, allow_abbrev=True)
    words = parser.add_subparsers(dest="word", metavar=" | ".join(_WORDS))
    for word, (work, help, about, arguments) in _WORDS.items():
        made = words.add_parser(word, help=help, description=about)
        for add in arguments:
            add(made)
        made.set_defaults(work=work)
    args = parser.parse_args(list(argv))
    if args.word is None:
        parser.print_help()
        return 0
    try:
        code: int = args.work(args)
    except BrokenPipeError:
        raise
    except (PackError, OSError) as error:
        print(f"interlock rules: {error}", file=sys.stderr)
        return 1
    return code


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


def _docs(args: Args) -> int:
    print(rules_markdown({pack: list(book.rules.values()) for pack, book in _packs().items()}), end="")
    return 0


_WORDS = {
    "list": (
        _list,
        "all rules, or those of one pack",
        "All rules, or those of one pack.",
        (argument("--pack", "NAME", "only this pack, such as git"), JSON),
    ),
    "show": (
        _show,
        "one rule, with its examples",
        "One rule: when it fires, and its examples.",
        (argument("id", "RULE", "such as git.force_push"), JSON),
    ),
    "test": (
        _test,
        "run the examples inside the rules",
        "Run the examples inside the rules.",
        (argument("files", "FILE", "packs of your own (default: those shipped)", nargs="*"),),
    ),
    "docs": (_docs, "all rules as Markdown", "All rules as Markdown.", ()),
}


def _shipped_files() -> list[Path]:
    return sorted(SHIPPED.glob("*.toml"))


def _packs() -> Packs:
    return {path.stem: load_files([path]) for path in _shipped_files()}


def _unknown(what: str, word: str, known: Sequence[str]) -> int:
    near = get_close_matches(word, known, 3, 0.5) or [name for name in known if word in name][:3]
    hint = f"did you mean {' or '.join(near)}?" if near else "see `interlock rules list`"
    print(f"interlock rules: no {what} {word!r}; {hint}", file=sys.stderr)
    return 2
