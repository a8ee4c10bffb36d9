"""Statements of SQL and commands of Redis that stand bare in a sentence -> where each begins and ends."""

from __future__ import annotations

import re
from collections.abc import Iterator

_NAME = r"[\w.\"`\[\]$-]+"
_CAPITALS = re.compile(
    rf"\b(?:DROP\s+(?:TABLE|DATABASE|SCHEMA|VIEW|INDEX|USER|ROLE|COLUMN|KEYSPACE|COLLECTION|TRIGGER|FUNCTION|TABLESPACE|OWNED|SEQUENCE|TYPE|PUBLICATION"
    rf"|SUBSCRIPTION|MATERIALIZED\s+VIEW|EXTENSION)\s+(?:IF\s+EXISTS\s+|BY\s+)?{_NAME}"
    rf"|TRUNCATE\s+(?:TABLE\s+)?{_NAME}|DELETE\s+FROM\s+{_NAME}|UPDATE\s+{_NAME}\s+SET\s+\S+\s*=|ALTER\s+(?:TABLE|DATABASE|USER|ROLE|SYSTEM|SCHEMA)\s+(?!\.\.\.\s+ADD\b){_NAME}\s+\w+"
    rf"|GRANT\s+[A-Z, ]+\s+(?:ON|TO)\s+{_NAME}|REVOKE\s+[A-Z, ]+\s+(?:ON|FROM)\s+{_NAME}|INSERT\s+INTO\s+{_NAME}"
    rf"|SELECT\s+[^;]{{1,200}}?\s+FROM\s+{_NAME}|MERGE\s+INTO\s+{_NAME}|SHUTDOWN\s+IMMEDIATE|PURGE\s+BINARY\s+LOGS)"
)
_NO_NAME = r"(?!(?:if|for|from|in|on|and|then|the|a|an|all|our|my|this|that|every|each|with|to|of|or|as|is|names?|rows?|columns?|migrations?|queries|query|layout|headers?|styles?|support|cells?|borders?|captions?|\w+ing)\b)"
# In small letters only what no sentence about tables would say.
_SMALL = re.compile(
    rf"\b(?:drop\s+(?:table|database|schema|keyspace|tablespace)\s+(?:if\s+exists\s+)?{_NO_NAME}\w[\w.]*"
    rf"|drop\s+(?:view|index|user|role|column|sequence|function|trigger|owned\s+by|materialized\s+view)\s+(?:if\s+exists\s+\w[\w.]*|\w*[_.\d]\w*|\w+\s+cascade)"
    rf"|truncate\s+table\s+{_NO_NAME}\w[\w.]*|truncate\s+(?:\w+\.)?\w*_\w+|delete\s+from\s+{_NO_NAME}\w[\w.]*"
    rf"|alter\s+table\s+(?:if\s+exists\s+|only\s+)?{_NO_NAME}\w[\w.]*\s+(?:drop|rename|alter|modify|truncate|detach|disable|add)\s+\w+"
    rf"|alter\s+(?:user|role)\s+\w[\w.]*\s+(?:with\s+)?(?:superuser|createdb|createrole|nologin|password|identified)\b"
    rf"|update\s+{_NO_NAME}\w[\w.]*\s+set\s+\w+\s*=|grant\s+(?:all(?:\s+privileges)?|select|insert|update|delete|usage|execute|create)(?:\s*,\s*\w+){{0,5}}\s+on\s+\S+"
    rf"(?:\s+\S+)?\s+to\s+\w+|revoke\s+(?:all(?:\s+privileges)?|select|insert|update|delete|usage|execute)(?:\s*,\s*\w+){{0,5}}\s+on\s+\S+(?:\s+\S+)?\s+from\s+\w+)"
    r"(?=[\s;.,)'\"@]|$)",
    re.IGNORECASE,
)
_FIRST = frozenset("drop truncate delete update alter grant revoke insert select merge shutdown purge".split())
_ENDS = re.compile(
    r"\s+(?:on|in|via|using|to|because|so|then|before|after|as|against|since|which|while|but|and\s+(?:then|run|restart|re\w+|drop|delete|remove|let|we|i|start|see)|for)\s"
    r"(?=[a-z])(?!\s*[A-Z]{2})|[.!?](?:\s|$)|\s+[—–]\s|\s--?\s"
    r"|,\s+(?=(?:the|then|we|i|it|its|it's|as|since|because|so|and|but|this|that|they|no|which|before|after|once|just|to|now|please|if|you|nobody|there|not)\b)"
)
_SAYS_TO = re.compile(r"\s(?:on|to|from)\s", re.IGNORECASE)
# Redis: what nobody says in a sentence, or a command in capitals with a key behind it.
_REDIS = re.compile(
    r"\b(?:(?i:FLUSHALL|FLUSHDB)(?:\s+(?:A?SYNC|async|sync))?(?![\w(])|(?:DEL|UNLINK|EXPIRE|PEXPIRE|RENAME|XTRIM|LTRIM|SREM|HDEL|ZREM|PERSIST)\s+[\w{}-]*[:*][\w:*{}.-]*(?:\s+\d+)?"
    r"|SHUTDOWN\s+(?:NO)?SAVE|SCRIPT\s+FLUSH|(?:CONFIG|ACL)\s+(?:SET|DELUSER|SETUSER|RESETSTAT|REWRITE)\b(?:\s+\S+){0,2}|CLUSTER\s+(?:RESET|FLUSHSLOTS)(?:\s+HARD)?|DEBUG\s+SEGFAULT)"
)
_REDIS_FIRST = frozenset(
    "flushall flushdb DEL UNLINK EXPIRE PEXPIRE RENAME XTRIM LTRIM SREM HDEL ZREM PERSIST SHUTDOWN SCRIPT CONFIG ACL CLUSTER DEBUG".split()
)
_PUNCTUATION = "`'\"(),.;:"


def statements_in(text: str) -> Iterator[tuple[int, int, str]]:
    """Where statements stand in the text, and the language of each; several with `;` between them are one."""
    words = {word.strip(_PUNCTUATION) for word in text.split()}
    if not _REDIS_FIRST.isdisjoint(words) or {"FLUSHALL", "FLUSHDB", "Flushall", "Flushdb"} & words:
        for redis in _REDIS.finditer(text):
            yield redis.start(), redis.end(), "redis"
    if _FIRST.isdisjoint(word.lower() for word in words):
        return
    start = 0
    while (match := _first(text, start)) is not None:
        said = match.end() if _SAYS_TO.search(match[0]) else match.start() + 12
        end = max(_end(text, said), match.start() + 1)
        yield match.start(), end, "sql"
        start = end


def statement_kind(text: str) -> str:
    """The language of a text that is a statement from its beginning."""
    if _REDIS.match(text):
        return "redis"
    return "sql" if _CAPITALS.match(text) or _SMALL.match(text) else ""


def _first(text: str, start: int) -> re.Match[str] | None:
    found = [match for match in (_CAPITALS.search(text, start), _SMALL.search(text, start)) if match]
    return min(found, key=lambda match: match.start()) if found else None


def _end(text: str, at: int) -> int:
    end = _ENDS.search(text, at)
    return end.start() if end else len(text)
