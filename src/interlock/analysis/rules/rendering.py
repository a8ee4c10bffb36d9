"""Renders a rule for a terminal, as JSON, and as Markdown."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import asdict

from interlock.analysis.display_text import Line, StyledText, undo_words, visible
from interlock.analysis.rules import Clause, Rule
from interlock.model import Action

_NAMES = {
    "program": "program",
    "subcommand": "with",
    "any_flag": "any of",
    "all_flags": "all of",
    "no_flag": "without",
    "any_word": "a word like",
    "all_words": "words like",
    "no_word": "no word like",
    "no_line": "but not as",
    "min_words": "at least this many words:",
    "max_words": "at most this many words:",
    "any_env": "with the variable",
    "effect": "effect",
    "place": "on",
    "no_place": "not on",
    "target": "target like",
    "no_target": "target not like",
    "trait": "being",
    "no_trait": "not being",
}
_UNSET = {"min_words": 0, "max_words": -1}
_HEAD = """\
# Rules

Every rule that commands are judged by, generated from the packs by `interlock rules docs`.

"""


def clause_words(clause: Clause) -> str:
    """`program git, with push, any of -f --force`."""
    said = asdict(clause).items()
    return ", ".join(f"{_NAMES[key]} {_value(value)}" for key, value in said if value and value != _UNSET.get(key))


def rule_json(pack: str, rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "pack": pack,
        "level": int(rule.level),
        "level_name": rule.level.word,
        "irreversible": rule.irreversible,
        "category": rule.category.value if rule.category else None,
        **{name: getattr(rule, name) for name in ("reason", "instead", "undo", "approvable", "requirement")},
        "when": [clause_words(clause) for clause in rule.when],
        "examples": {"match": _examples(rule.match), "spare": _examples(rule.spare)},
    }


def rule_lines(pack: str, rule: Rule) -> Iterator[Line]:
    level = StyledText(rule.level.word, f"level{int(rule.level)}")
    category = StyledText(f"  {rule.category.value if rule.category else ''}", "dim")
    yield StyledText(rule.id, "heading"), StyledText("  "), level, category
    yield (StyledText(rule.reason),)
    yield ()
    facts = {
        "Pack": pack,
        "Undo": undo_words(rule.irreversible, [rule.undo]),
        "Instead": rule.instead,
        "Approval": "" if rule.approvable else "nobody can agree to this",
        "Asked by": rule.requirement,
    }
    for name, words in facts.items():
        if words:
            yield StyledText(f"{name:<10}", "dim"), StyledText(words)
    yield ()
    yield (StyledText("Fires on", "heading"),)
    for clause in rule.when:
        yield (StyledText(f"  {visible(clause_words(clause))}"),)
    for name, examples in (("Catches", rule.match), ("Spares", rule.spare)):
        yield ()
        yield (StyledText(name, "heading"),)
        for action in examples:
            yield (StyledText(f"  {visible(example_words(action))}", "command"),)


def example_words(action: Action) -> str:
    params = action.fields.get("params") or action.fields.get("input")
    return f"{action.text} {json.dumps(dict(params), ensure_ascii=False)}" if params else action.text


def rules_markdown(packs: Mapping[str, Sequence[Rule]]) -> str:
    parts = ("".join([f"## {pack}\n\n", *map(_markdown, rules)]) for pack, rules in packs.items())
    return "".join([_HEAD, *parts]).rstrip() + "\n"


def _markdown(rule: Rule) -> str:
    words = [rule.level.word, *([rule.category.value] if rule.category else [])]
    words.append("cannot be undone" if rule.irreversible else "can be undone")
    if not rule.approvable:
        words.append("nobody can approve it")
    lines = [f"### {rule.id}\n", f"{' · '.join(words)}\n", f"{rule.reason}\n"]
    advice = {"Instead": rule.instead, "Recover" if rule.irreversible else "Undo": rule.undo}
    lines += [f"{name}: {text}\n" for name, text in advice.items() if text]
    for name, examples in (("Catches", rule.match), ("Spares", rule.spare)):
        if examples:
            lines += [f"{name}:\n", *(_code(example_words(action)) for action in examples), ""]
    return "\n".join(lines) + "\n"


def _code(text: str) -> str:
    fence, pad = ("``", " ") if "`" in text else ("`", "")
    return f"- {fence}{pad}{visible(text.replace(chr(10), '⏎'))}{pad}{fence}"


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return " | ".join(" ".join(item) if isinstance(item, tuple) else str(item) for item in value)
    return " ".join(sorted(value)) if isinstance(value, frozenset) else str(value)


def _examples(examples: Sequence[Action]) -> list[dict[str, Any]]:
    return [{**{key: value for key, value in action.fields.items() if value}, "cwd": action.cwd} for action in examples]
