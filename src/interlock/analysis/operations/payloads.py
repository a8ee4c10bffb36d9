"""Code, statements and requests in parameters, and text typed into a live process, handed to the reader of their language."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import split_name
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations.browser import read_page_script
from interlock.analysis.operations.command_params import is_command, read_commands, shell_text, text_of
from interlock.analysis.operations.params import MAX_TEXT, Keys, each, short_keys, text_at
from interlock.analysis.operations.requests import URL_KEYS, is_request, read_request
from interlock.analysis.programs.load import program_set

_PATTERNS = Patterns("payloads")
_LISTS = WordLists("payloads")
_MAPS = WordMaps("payloads")

_KEY_LANGUAGES = {"cypherquery": "cypher"} | {name: name for name in ("cypher", "cql", "mongo", "redis")}
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
Field = Callable[[str], None]


@cache
def _stated() -> frozenset[str]:
    return _LISTS.sql | _LISTS.query


@cache
def _carrying() -> frozenset[str]:
    """Without one of these keys or a command line, parameters hold nothing that runs."""
    more = URL_KEYS | _LISTS.arguments | _LISTS.language
    return _stated() | _KEY_LANGUAGES.keys() | _LISTS.code | more


def read_payloads(words: Sequence[str], verb: str, keys: Keys, field: Field, out: Report) -> bool:
    """Reads what the parameters would run; True when they held something that runs. `field` gets each GraphQL mutation."""
    if _carrying().isdisjoint(keys) and not any(map(is_command, keys)):
        return False
    if verb in _LISTS.documentary and not is_request(keys):
        if _is_about_text(words, verb):
            return False
        # the query of a search is a text to look for, unless a database is searched and it is a statement
        runs = _LISTS.sql | {key for key in _LISTS.query if _language(words, {}) in _LISTS.databases}
        keys = {
            key: value
            for key, value in keys.items()
            if is_command(key) or (key in runs and (key in _LISTS.sql or is_statement(str(value))))
        }
    language = _language(words, keys)
    found = read_request(words, keys, field, out)
    found = read_commands(words, keys, language, out) or found
    found = _statements(words, keys, field, out) or found
    if language == "javascript":
        _page(keys, field, out)
    return _code(words, verb, keys, language, out) or found


def _is_about_text(words: Sequence[str], verb: str) -> bool:
    """explain_query, lint, save_snippet: the text itself is what is looked at or kept. find_rows {"sql": …} runs what it is given."""
    if verb in _LISTS.of_text:
        return True
    behind = list(words[len(words) - list(reversed(words)).index(verb) :]) if verb in words else []
    return not _LISTS.texts.isdisjoint(behind or words)


def _page(keys: Keys, field: Field, out: Report) -> None:
    """A script for a page may click, and may send away what the page holds."""
    for key in sorted((_LISTS.code | {"script"}) & keys.keys()):
        if text := text_of(keys[key]):
            read_page_script(text, field, out)


def _language(words: Sequence[str], keys: Keys) -> str:
    for key in _LISTS.in_order("language"):
        value = keys.get(key)
        if isinstance(value, str) and value.strip().lower()[:20] in _MAPS.languages:
            return _MAPS.languages[value.strip().lower()[:20]]
    known = [_MAPS.languages[word] for word in reversed(words) if word in _MAPS.languages]
    telling = [language for language in known if language not in ("shell", "sql")]
    return next(iter(telling or sorted(known, reverse=True)), "")


# -- statements -------------------------------------------------------------------------------------------


def _statements(words: Sequence[str], keys: Keys, field: Field, out: Report) -> bool:
    found = False
    for key in sorted((_stated() | _KEY_LANGUAGES.keys()) & keys.keys()):
        for text in each(keys[key]):
            if isinstance(text, Mapping):
                text = text_at(short_keys(text), *sorted(_stated()))
            if isinstance(text, str) and text.strip():
                found = _statement(words, key, text[: MAX_TEXT + 1], field, out) or found
    return found


def _statement(words: Sequence[str], key: str, text: str, field: Field, out: Report) -> bool:
    out.step()
    if kusto := _PATTERNS.kusto.match(text):
        field(f"{kusto[1]}_{kusto[2]}" if kusto[1].lower() != "show" else "show")
        return True
    if _PATTERNS.graphql.match(text):
        for name in _mutations(text):
            field(name)
        return True
    language = _KEY_LANGUAGES.get(key) or ("cypher" if _PATTERNS.cypher.match(text) else _language(words, {}))
    if language in ("cypher", "cql", "redis", "mongo"):
        out.code(language, text)
    elif key in _LISTS.sql or language == "sql" or _PATTERNS.statement.match(text):
        out.code("sql", text)
    else:
        return False
    return True


def is_statement(text: str) -> bool:
    """True for text that begins as a statement of SQL does."""
    return _PATTERNS.statement.match(text[:5000]) is not None


def _mutations(text: str) -> list[str]:
    """The fields that a GraphQL mutation calls, and those of mutations in its strings, to be run in bulk."""
    from interlock.analysis.http import root_fields

    found = [name for inner in _STRINGS.findall(text)[:50] if "mutation" in inner for name in _mutations(inner[1:-1])]
    query = _STRINGS.sub('""', text)
    start = query.find("mutation")
    return [*found, *(root_fields(query[start:]) if start >= 0 else ())][:50]


# -- code ------------------------------------------------------------------------------------------------


def _code(words: Sequence[str], verb: str, keys: Keys, language: str, out: Report) -> bool:
    if not (language or verb in _LISTS.runners or "code" in words):
        return False
    found = False
    said = verb in _LISTS.runners and not _LISTS.language.isdisjoint(keys)
    for key in sorted((_LISTS.code | _LISTS.bodies if said else _LISTS.code) & keys.keys()):
        text = text_of(keys[key])
        if not text.strip() or (key == "program" and " " not in text.strip()):
            continue
        named = language or _MAPS.code_keys.get(key) or _guess(text)
        out.shell(text) if named == "shell" else out.code(named, text)
        found = True
    return found


def _guess(text: str) -> str:
    """Which language code without a name is in."""
    if re.search(r"\b(?:const|let|var|function|await)\b|\brequire\(|=>|;\s*$", text):
        return "javascript"
    return "python" if re.search(r"\b(?:import|def|print|from)\b|^\s*\w+\(|\.\w+\(", text) else "other"


def reader_of(name: str) -> str:
    """The language of the live process that a window or a session is called after; nothing when no word tells."""
    said = (word for words in split_name(name[:200]) for word in words)
    return next((_MAPS.languages[word] for word in said if word in _MAPS.languages), "")


def read_typed(keys: Keys, out: Report, language: str = "") -> None:
    """Text for a live process is read as that process would read it; of an unknown one nothing can be told."""
    pressed = keys.get("keys")
    keyed = " ".join(key for key in pressed if isinstance(key, str)) if isinstance(pressed, (list, tuple)) else ""
    text = text_at(keys, *_LISTS.in_order("typed")) or keyed
    if language:
        type_into(language, keyed or text or text_at(keys, "command"), out)
        return
    if not text.strip("\x03\x04\x1a\x1b\r\n \t") or all(map(_PATTERNS.key.fullmatch, text.split())):
        out.effect("act_change", "a live process")  # polls, interrupts or answers it
        return
    if _PATTERNS.meta.match(text) and "\n" not in text.strip():
        out.effect("act_read", "what a database client shows")
        return
    named = (keys[key] for key in _LISTS.in_order("process") if isinstance(keys.get(key), str))
    language = next(filter(None, map(reader_of, named)), "") or ("sql" if is_statement(text) else "")
    known = text.split(None, 1)[0] in program_set("typed")
    if language:
        type_into(language, text, out)
    elif not known and not any(word in key for key in keys for word in _LISTS.live):
        out.effect("act_change", "a field")  # of a page or a form
    else:
        if not known:
            out.unreadable("text for a process that is not known", "payload")
        if " " in text.strip():  # most often it is a shell
            type_into("shell", text, out)


def type_into(language: str, text: str, out: Report) -> None:
    """Reads keys as the process reads them into which they are typed: Enter ends a line."""
    text = text.replace("\r", "\n").removesuffix("C-m").removesuffix("Enter").removesuffix("<Enter>")
    text = text.replace(" C-m ", "\n").replace(" Enter ", "\n")
    shell_text(text, out) if language == "shell" else out.code(language, text)
