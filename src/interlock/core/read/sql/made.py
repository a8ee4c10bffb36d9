"""Expressions that build SQL -> the constant skeleton of the statement they build."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.core.read.sql.batch import Statement, split, statement
from interlock.core.read.sql.reading import group
from interlock.core.read.sql.text import Token, cut, flavours

UNKNOWN = "X"  # stands for a part that is not constant
_TRANSPARENT = frozenset({
    "CONCAT", "CONCAT_WS", "GROUP_CONCAT", "STRING_AGG", "LISTAGG", "UPPER", "LOWER", "DISTINCT", "ALL",
    "SEPARATOR", "TRIM", "CAST", "ARRAY_TO_STRING", "ARRAY_AGG", "ARRAY",
})  # fmt: skip
_PATTERNS = frozenset({"FORMAT", "PRINTF"})  # their first argument is the text, with fields
_IGNORED = frozenset({"||", "+", "(", ")", ",", "&"})
_FIELD = re.compile(r"%(?:\d+\$)?[IsLd]|\?")
_VERB = re.compile(
    r"\s*(drop|truncate|delete|update|insert|alter|create|grant|revoke|kill|call|exec|execute|merge|replace|vacuum|analyze|"
    r"select|with|do|begin|rename|reindex|optimize|shutdown|flush|purge|set|copy|comment|detach)\b",
    re.IGNORECASE,
)
_BOUND = 20_000


def skeleton(tokens: Sequence[Token]) -> tuple[str, bool]:
    """The text an expression builds, with X for what is not constant, and whether there was such a part."""
    item = statement(tokens)
    parts: list[str] = []
    unknown = False
    index = 0
    while index < len(item.tokens):
        token = item.tokens[index]
        following = item.tokens[index + 1].text if index + 1 < len(item.tokens) else ""
        index += 1
        if token.word in _PATTERNS and following == "(":
            inner = group(item, index)
            index += len(inner.tokens) + 2
            token = next((part for part in inner.tokens if part.kind == "string"), token)
        if token.kind == "string":
            filled = _FIELD.sub(UNKNOWN, token.text)
            unknown = unknown or filled != token.text
            parts.append(filled)
        elif token.text == "::" and token.kind == "punct":
            index += 1  # a cast changes nothing here
        elif token.word == "AS" or (token.kind == "punct" and token.text in _IGNORED):
            index += token.word == "AS"
        elif token.word not in _TRANSPARENT:
            unknown = True
            if not parts or parts[-1] != UNKNOWN:
                parts.append(UNKNOWN)
            while following == "." and index + 1 < len(item.tokens):
                index += 2
                following = item.tokens[index].text if index < len(item.tokens) else ""
            if following == "(":
                index += len(group(item, index).tokens) + 2
    return "".join(parts)[:_BOUND], unknown


def looks_like_sql(text: str) -> bool:
    """True when a text begins as a statement does."""
    return bool(_VERB.match(text))


def made_by(item: Statement) -> str | None:
    """The statement that a SELECT's rows spell out, or None when they spell none."""
    if item.head not in ("SELECT", "WITH"):
        return None
    start = item.top("SELECT")
    if start < 0:
        return None
    end = item.top("FROM", "INTO", "WHERE", after=start)
    columns: list[list[Token]] = [[]]
    for index in range(start + 1, end if end > 0 else len(item.tokens)):
        token = item.tokens[index]
        if token.text == "," and token.kind == "punct" and item.depths[index] == 0:
            columns.append([])
        else:
            columns[-1].append(token)
    built = " ".join(skeleton(column)[0].strip() for column in columns)
    has_text = any(token.kind == "string" for column in columns for token in column)
    return built if has_text and looks_like_sql(built) else None


def generated_sql(text: str, dialect: str = "") -> str | None:
    """What a batch of SELECTs would print when its rows are statements; None when they are only data."""
    if len(text) > _BOUND * 10:
        return None
    tokens, _ = cut(text, flavours(text, dialect)[0])
    made = [built for item in split(tokens, text, dialect) if (built := made_by(item))]
    return "\n".join(made) if made else None
