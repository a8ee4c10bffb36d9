"""Reads the rule files of other guards: dcg, cc-safety-net, shellfirm, nah, Claude Code's permissions, Codex's execpolicy."""

from __future__ import annotations

import ast
import itertools
import json
import re
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from msgspec import Struct

ALLOW, DENY, ASK = "allow", "deny", "ask"
NO_GLOB = "its regular expression says more than a pattern with `*` can"
_STAR = "\0"
_BLANKS = re.compile(r"\\s[+*]|\[ \]\+| \+|\\ ")
_ANYTHING = re.compile(r"\(\?:\.\*\)|\.\*\??|\.\+\??|\\S[+*]|\[\^ \][+*]|\(\s*\.\*\s*\)\??")
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_LEFT = re.compile(r"[\\^$.|?+()\[\]{}]")


class ForeignRule(Struct, frozen=True):
    """A rule as its file has it, and the patterns that say the same here; none where `problem` says why."""

    verdict: str
    source: str
    patterns: tuple[str, ...] = ()
    why: str = ""
    problem: str = ""
    seconds: int = 0  # that it still lasts; 0 for good


def carried(verdict: str, source: str, patterns: Sequence[str], why: str = "", seconds: int = 0) -> ForeignRule:
    """A rule that these patterns say."""
    return ForeignRule(verdict, source, tuple(dict.fromkeys(patterns)), why, "", seconds)


def left(verdict: str, source: str, problem: str) -> ForeignRule:
    """A rule that cannot be carried over."""
    return ForeignRule(verdict, source, problem=problem)


def built_in(verdict: str, source: str, guard: str) -> ForeignRule:
    """A rule of the guard itself, which is not in the file."""
    words = f"a built-in rule of {guard}, which Interlock judges by rules of its own: `interlock explain` shows how"
    return left(verdict, source, words)


def exact(verdict: str, source: str, command: str, why: str = "", seconds: int = 0) -> ForeignRule:
    """One command; a star in it would stand for anything here, so that only a denial may have one."""
    if "*" in command and verdict == ALLOW:
        return left(verdict, source, "its star is a character, and here a star stands for anything")
    return carried(verdict, source, [as_command(" ".join(command.split()))], why, seconds)


def prefix(verdict: str, source: str, words: str, why: str = "", seconds: int = 0) -> ForeignRule:
    """A command that begins so, alone or with arguments; an allow ends at a word."""
    words = " ".join(words.split())
    if not words.strip("* "):
        return left(verdict, source, _EVERYTHING)
    if verdict == ALLOW:
        return carried(verdict, source, [as_command(words), as_command(f"{words} *")], why, seconds)
    return carried(verdict, source, [f"{words}*" if " " in words else f"{words} *"], why, seconds)


def as_command(text: str) -> str:
    """The pattern for a command; a single word would be taken for the name of an operation."""
    return text if re.search(r"\s", text) else f"Bash:{text}"


def from_regex(verdict: str, source: str, expression: str, why: str = "", seconds: int = 0) -> ForeignRule:
    """The pattern that says the same as a simple regular expression; an allow matches the whole command."""
    text = _ANYTHING.sub(_STAR, _BLANKS.sub(" ", expression.strip()))
    ends = text.endswith("$") and not text.endswith("\\$")
    text = text.removeprefix("^").removesuffix("$" if ends else "").replace(r"\b", "")
    if _LEFT.search(_ESCAPED.sub("", text)) or "*" in text:
        return left(verdict, source, NO_GLOB)
    body = _ESCAPED.sub(r"\1", text).replace(_STAR, "*").strip()
    if not body.strip("* "):
        return left(verdict, source, _EVERYTHING)
    if verdict != ALLOW and not ends:
        body = f"{body.rstrip('*')}*"
    return carried(verdict, source, [as_command(body)], why, seconds)


MOST_BYTES = 1_000_000
MOST_ALTERNATIVES = 24
_EVERYTHING = "a pattern for everything is none"


class UnknownFormat(ValueError):
    """A file of none of the known guards; the message says what was expected."""


def read_file(path: Path) -> tuple[str, list[ForeignRule]]:
    """The guard that a file is of, and its rules; refuses what it does not know."""
    data = path.read_bytes()
    if len(data) > MOST_BYTES:
        raise UnknownFormat(f"{path}: {len(data)} bytes are too many for a file of rules")
    text = data.decode("utf-8", "replace")
    if path.suffix == ".rules" or re.search(r"^\s*prefix_rule\s*\(", text, re.MULTILINE):
        return "Codex execpolicy", list(_codex(text))
    found = _parse(path, text)
    for title, fits, read, known in _FORMATS:
        if fits(found):
            return title, [*read(found, path), *_settings(title, found, known)]
    titles = ", ".join(dict.fromkeys(title for title, *_ in _FORMATS))
    raise UnknownFormat(f"{path}: not a file of {titles} or Codex execpolicy")


def _settings(guard: str, found: Any, known: str, at: str = "") -> Iterator[ForeignRule]:
    """The settings of a guard that are no rules, so that none is left out in silence."""
    for key in found if isinstance(found, Mapping) and known else ():
        if key not in known.split():
            yield left("", f"{at}{key}", f"a setting of {guard} itself; nothing here corresponds to it")


_SUFFIXES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    ".toml": ("TOML", tomllib.loads),
    ".yaml": ("YAML", yaml.safe_load),
    ".yml": ("YAML", yaml.safe_load),
}


def _parse(path: Path, text: str) -> Any:
    form, load = _SUFFIXES.get(path.suffix, ("JSON", json.loads))
    try:
        return load(text)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise UnknownFormat(f"{path}: not {form}, which a file of that name would be: {why}") from None


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda found: isinstance(found, Mapping) and any(key in found for key in keys)


def _rows(value: Any) -> list[Mapping[str, Any]]:
    return [row for row in value if isinstance(row, Mapping)] if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [row for row in value if isinstance(row, str)] if isinstance(value, list) else []


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# Claude Code


_CLAUDE_RULE = re.compile(r"([\w*-]+)(?:\((.*)\))?", re.DOTALL)
_WRITERS, _READERS = ("Edit", "Write", "MultiEdit", "NotebookEdit"), ("Read", "Grep", "Glob")


def _claude(found: Mapping[str, Any], path: Path) -> Iterator[ForeignRule]:
    rules = _table(found["permissions"])
    for verdict in (DENY, ASK, ALLOW):
        for rule in _texts(rules.get(verdict)):
            yield _claude_rule(verdict, rule, path)
    yield from _settings("Claude Code", rules, "allow ask deny", "permissions.")


def _claude_rule(verdict: str, rule: str, path: Path) -> ForeignRule:
    parsed = _CLAUDE_RULE.fullmatch(rule.strip())
    if parsed is None:
        return left(verdict, rule, "it is not written as a rule is: Tool or Tool(what)")
    tool, inside = parsed[1], (parsed[2] or "").strip()
    if tool.startswith("mcp__"):
        return carried(verdict, rule, [tool if tool.count("__") > 1 else f"{tool}__*"])
    if not inside.strip("*: "):
        return left(verdict, rule, _EVERYTHING)
    if tool == "Bash":
        for ending in (":*", " *"):
            if inside.endswith(ending) and "*" not in inside.removesuffix(ending):
                return prefix(verdict, rule, inside.removesuffix(ending))
        return carried(verdict, rule, [inside]) if "*" in inside else exact(verdict, rule, inside)
    if tool == "WebFetch" and inside.startswith("domain:"):
        host = inside.removeprefix("domain:")
        return carried(verdict, rule, [f"WebFetch:https://{host}/*", f"WebFetch:https://{host}"])
    if tool in _WRITERS or tool == "Read":
        return _claude_path(verdict, rule, _WRITERS if tool in _WRITERS else _READERS, inside, path)
    return left(verdict, rule, f"nothing here says what {tool} means inside its parentheses")


def _claude_path(verdict: str, rule: str, tools: Sequence[str], inside: str, path: Path) -> ForeignRule:
    """`//` begins at the root, `~` at home, `/` at the project; all else is relative to whatever folder the agent is in."""
    place = re.sub(r"\*+", "*", inside)
    if place.startswith("//"):
        place = place[1:]
    elif place.startswith("~/"):
        place = f"{Path.home()}/{place[2:]}"
    elif place.startswith("/") and path.parent.name == ".claude":
        place = f"{path.resolve().parent.parent}{place}"
    elif verdict == ALLOW:
        return left(verdict, rule, "it is relative to a folder, and a standing answer counts in every folder")
    else:
        place = f"*/{place.removeprefix('./').lstrip('/')}"
    return carried(verdict, rule, [f"{tool}:{place}" for tool in tools])


# Codex


_DECISIONS = {"allow": ALLOW, "prompt": ASK, "forbidden": DENY}


def _codex(text: str) -> Iterator[ForeignRule]:
    """`prefix_rule(…)` calls; Starlark's literals and calls are Python's, and nothing of it is run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UnknownFormat(f"execpolicy: {error}") from None
    for node in tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        name = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else ""
        source = " ".join(ast.unparse(node).split())
        if not isinstance(call, ast.Call) or name != "prefix_rule":
            yield left("", source, "only prefix_rule is carried over")
            continue
        try:
            given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        except ValueError:
            yield left("", source, "it is computed, and only literals are read")
            continue
        yield from _codex_rule(source, given)


def _codex_rule(source: str, given: Mapping[str, Any]) -> Iterator[ForeignRule]:
    verdict = _DECISIONS.get(str(given.get("decision", "allow")))
    pattern = given.get("pattern")
    words = [[part] if isinstance(part, str) else _texts(part) for part in pattern] if isinstance(pattern, list) else []
    if verdict is None or not words or not all(words):
        yield left(verdict or "", source, "its decision or its pattern is none that is known")
        return
    chosen = list(itertools.islice(itertools.product(*words), MOST_ALTERNATIVES + 1))
    if len(chosen) > MOST_ALTERNATIVES:
        yield left(verdict, source, f"more than {MOST_ALTERNATIVES} alternatives")
        return
    if any(re.search(r"[\s*]", word) for line in chosen for word in line):
        yield left(verdict, source, "a word of it has a blank or a star in it")
        return
    rules = [prefix(verdict, source, " ".join(line)) for line in chosen]
    patterns = [pattern for rule in rules for pattern in rule.patterns]
    yield carried(verdict, source, patterns, str(given.get("justification", "")))


# dcg


_DCG_KINDS = {"exact_command": exact, "command_prefix": prefix, "pattern": from_regex}


def _dcg_allowlist(found: Mapping[str, Any], path: Path) -> Iterator[ForeignRule]:
    for row in _rows(found.get("allow")):
        kind = next((key for key in (*_DCG_KINDS, "rule") if row.get(key)), "")
        source, seconds = f"{kind} = {row.get(kind, '')!s}", _remaining(row.get("expires_at"))
        bound = next((key for key in ("paths", "conditions", "environments", "context") if row.get(key)), "")
        if seconds is None:
            yield left(ALLOW, source, "it has expired")
        elif bound:
            yield left(ALLOW, source, f"it is bound to {bound}, and a standing answer counts everywhere")
        elif kind in _DCG_KINDS:
            yield _DCG_KINDS[kind](ALLOW, source, str(row[kind]), str(row.get("reason", "")), seconds)
        else:
            yield built_in(ALLOW, source, "dcg")


def _remaining(text: Any) -> int | None:
    """The seconds until then; 0 where it does not end, None where it has ended or cannot be read."""
    if not text:
        return 0
    try:
        then = text if isinstance(text, datetime) else datetime.fromisoformat(str(text))
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    seconds = int(then.timestamp() - time.time())
    return seconds if seconds > 0 else None


def _dcg_config(found: Mapping[str, Any], path: Path) -> Iterator[ForeignRule]:
    for verdict, key in ((DENY, "block"), (ALLOW, "allow")):
        rows = _table(found.get("overrides")).get(key)
        for row in rows if isinstance(rows, list) else ():
            given = row if isinstance(row, Mapping) else {"pattern": str(row)}
            source = str(given.get("pattern", ""))
            if given.get("when"):
                yield left(verdict, source, "it has a condition, and a standing answer has none")
            else:
                yield from_regex(verdict, source, source, str(given.get("reason", "")))
    for verdict, key in ((DENY, "enabled"), (ALLOW, "disabled")):
        for pack in _texts(_table(found.get("packs")).get(key)):
            yield built_in(verdict, f"packs.{key}: {pack}", "dcg")
    for name, table in _table(found.get("agents")).items():
        for command in _texts(_table(table).get("additional_allowlist")):
            yield exact(ALLOW, command, command, f"for {name}")


def _dcg_pack(found: Mapping[str, Any], path: Path) -> Iterator[ForeignRule]:
    for verdict, key in ((DENY, "destructive_patterns"), (ALLOW, "safe_patterns")):
        for row in _rows(found.get(key)):
            source = str(row.get("pattern", ""))
            yield from_regex(verdict, source, source, str(row.get("description") or row.get("name") or ""))


# cc-safety-net


def _safety_net(found: Mapping[str, Any], path: Path) -> Iterator[ForeignRule]:
    for row in _rows(found.get("rules")):
        program, sub = str(row.get("command", "")), str(row.get("subcommand") or "")
        start = f"{program} {sub}".strip()
        args = _texts(row.get("block_args"))
        source = f"{row.get('name', '')}: {start} {' '.join(args)}"
        if not program or not args:
            yield left(DENY, source, "it names no command or no arguments")
            continue
        patterns = [f"{start} {arg}" + ("*" if re.fullmatch(r"[\w-]+", arg) else "") for arg in args]
        yield carried(DENY, source, patterns, str(row.get("reason", "")))


# shellfirm


def _shellfirm_settings(found: Mapping[str, Any], path: Path) -> Iterator[ForeignRule]:
    yield from _shellfirm_checks(found.get("checks"), path)
    for verdict, key in ((DENY, "deny_patterns_ids"), (DENY, "deny"), (ALLOW, "ignores_patterns_ids")):
        for id in _texts(found.get(key)):
            yield built_in(verdict, f"{key}: {id}", "shellfirm")


def _shellfirm_checks(found: Any, path: Path) -> Iterator[ForeignRule]:
    for row in _rows(found):
        source = str(row.get("test") or row.get("is") or "")
        why = str(row.get("description", ""))
        verdict = DENY if str(row.get("challenge", "")).casefold() in ("deny", "block") else ASK
        if row.get("enable") is False:
            continue
        if row.get("filters"):
            yield left(verdict, source, "it has filters, and a pattern has none")
        elif row.get("method") in ("Contains", "StartWith"):
            yield prefix(verdict, source, source, why)
        else:
            yield from_regex(verdict, source, source, why)


# nah


_NAH = {"allow": ALLOW, "ask": ASK, "block": DENY}


def _nah(found: Mapping[str, Any], path: Path) -> Iterator[ForeignRule]:
    actions, classify = _table(found.get("actions")), _table(found.get("classify"))
    for kind, commands in classify.items():
        verdict = _NAH.get(str(actions.get(kind, "")))
        for command in _texts(commands):
            source = f"{kind}: {command}"
            if verdict is None:
                yield left("", source, f"the file does not say what is done with {kind}")
            else:
                yield prefix(verdict, source, command)
    for kind, word in actions.items():
        if kind not in classify:
            yield built_in(_NAH.get(str(word), ""), f"actions: {kind}: {word}", "nah")
    for place, word in _table(found.get("sensitive_paths")).items():
        whole = str(Path(str(place)).expanduser())
        patterns = [f"{tool}:{whole}*" for tool in (*_READERS, *_WRITERS)]
        yield carried(_NAH.get(str(word), ASK), f"sensitive_paths: {place}", patterns)
    for key in ("enable-guards", "disabled", "overrides"):
        for name in _texts(found.get(key)) or list(found.get(key) or {}):
            yield built_in("", f"{key}: {name}", "nah")


# The guard, how its file is told, what reads it, and the keys that are rules or names; no keys: it may have others of its own.
_FORMATS: tuple[tuple[str, Callable[[Any], bool], Callable[[Any, Path], Iterator[ForeignRule]], str], ...] = (
    ("Claude Code", _has("permissions"), _claude, ""),
    ("dcg", _has("allow"), _dcg_allowlist, "allow"),
    ("dcg", _has("destructive_patterns", "safe_patterns"), _dcg_pack, ""),
    (
        "nah",
        _has("classify", "actions", "sensitive_paths", "enable-guards"),
        _nah,
        "classify actions sensitive_paths enable-guards disabled overrides",
    ),
    (
        "shellfirm",
        _has("challenge", "checks", "deny_patterns_ids", "ignores_patterns_ids"),
        _shellfirm_settings,
        "checks deny deny_patterns_ids ignores_patterns_ids version",
    ),
    ("shellfirm", lambda found: isinstance(found, list), _shellfirm_checks, ""),
    ("cc-safety-net", lambda found: _has("rules")(found) and "version" in found, _safety_net, "rules version"),
    ("dcg", _has("overrides", "packs", "agents"), _dcg_config, "overrides packs agents"),
)
