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
from msgspec.structs import replace

from interlock.strict_json import list_in, table_in

ALLOW, DENY, ASK = "allow", "deny", "ask"
Table = Mapping[str, Any]
NO_GLOB = "its regular expression says more than a pattern with `*` can"
_STAR = "\0"
_BLANKS = re.compile(r"\\s[+*]|\[ \]\+| \+|\\ ")
_ANYTHING = re.compile(r"\(\?:\.\*\)|\.\*\??|\.\+\??|\\S[+*]|\[\^ \][+*]|\(\s*\.\*\s*\)\??")
_ESCAPED = re.compile(r"\\([^A-Za-z0-9])")
_LEFT = re.compile(r"[\\^$.|?+()\[\]{}]")


class ForeignRule(Struct, frozen=True):
    """A rule of a file, and the patterns that say the same here; none where `problem` says why."""

    verdict: str
    source: str
    patterns: tuple[str, ...] = ()
    why: str = ""
    problem: str = ""
    seconds: int = 0  # that it still lasts; 0 for good

    def carried(self, *patterns: str) -> ForeignRule:
        return replace(self, patterns=tuple(dict.fromkeys(patterns)))

    def left(self, problem: str) -> ForeignRule:
        return ForeignRule(self.verdict, self.source, problem=problem)

    def built_in(self, guard: str) -> ForeignRule:
        words = "which Interlock judges by rules of its own: `interlock explain` shows how"
        return self.left(f"a built-in rule of {guard}, {words}")

    def exact(self, command: str) -> ForeignRule:
        """A star would stand for anything here, so that only a denial may have one."""
        if "*" in command and self.verdict == ALLOW:
            return self.left("its star is a character, and here a star stands for anything")
        return self.carried(as_command(" ".join(command.split())))

    def prefix(self, words: str) -> ForeignRule:
        """A command that begins so, alone or with arguments; an allow ends at a word."""
        words = " ".join(words.split())
        if not words.strip("* "):
            return self.left(_EVERYTHING)
        if self.verdict == ALLOW:
            return self.carried(as_command(words), as_command(f"{words} *"))
        return self.carried(f"{words}*" if " " in words else f"{words} *")

    def from_regex(self, expression: str = "") -> ForeignRule:
        """Its simple regular expression as a pattern; an allow matches the whole command."""
        text = _ANYTHING.sub(_STAR, _BLANKS.sub(" ", (expression or self.source).strip()))
        ends = text.endswith("$") and not text.endswith("\\$")
        text = text.removeprefix("^").removesuffix("$" if ends else "").replace(r"\b", "")
        if _LEFT.search(_ESCAPED.sub("", text)) or "*" in text:
            return self.left(NO_GLOB)
        body = _ESCAPED.sub(r"\1", text).replace(_STAR, "*").strip()
        if not body.strip("* "):
            return self.left(_EVERYTHING)
        if self.verdict != ALLOW and not ends:
            body = f"{body.rstrip('*')}*"
        return self.carried(as_command(body))


def as_command(text: str) -> str:
    return text if re.search(r"\s", text) else f"Bash:{text}"


_SUFFIXES: Mapping[str, tuple[str, Callable[[str], Any]]] = {
    ".toml": ("TOML", tomllib.loads),
    ".yaml": ("YAML", yaml.safe_load),
    ".yml": ("YAML", yaml.safe_load),
}
MOST_BYTES = 1_000_000
MOST_ALTERNATIVES = 24
_EVERYTHING = "a pattern for everything is none"


class UnknownFormat(ValueError):
    """A file of none of the known guards; the message says what was expected."""


def read_file(path: Path) -> tuple[str, list[ForeignRule]]:
    data = path.read_bytes()
    if len(data) > MOST_BYTES:
        raise UnknownFormat(f"{path}: {len(data)} bytes are too many for a file of rules")
    text = data.decode("utf-8", "replace")
    if path.suffix == ".rules" or re.search(r"^\s*prefix_rule\s*\(", text, re.MULTILINE):
        return "Codex execpolicy", list(_codex(text))
    form, load = _SUFFIXES.get(path.suffix, ("JSON", json.loads))
    try:
        found = load(text)
    except (ValueError, yaml.YAMLError, RecursionError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise UnknownFormat(f"{path}: not {form}, which a file of that name would be: {why}") from None
    for title, fits, read, known in _FORMATS:
        if fits(found):
            return title, [*read(found, path), *_settings(title, found, known)]
    titles = ", ".join(dict.fromkeys(title for title, *_ in _FORMATS))
    raise UnknownFormat(f"{path}: not a file of {titles} or Codex execpolicy")


def _settings(guard: str, found: Any, known: str, at: str = "") -> Iterator[ForeignRule]:
    """The settings of a guard that are no rules, so that none is left out in silence."""
    for key in found if isinstance(found, Mapping) and known else ():
        if key not in known.split():
            problem = f"a setting of {guard} itself; nothing here corresponds to it"
            yield ForeignRule("", f"{at}{key}", problem=problem)


def _has(*keys: str) -> Callable[[Any], bool]:
    return lambda found: isinstance(found, Mapping) and any(key in found for key in keys)


def _rows(found: Any, key: str) -> list[Table]:
    return [row for row in list_in(found, key) if isinstance(row, Mapping)]


def _texts(found: Any, key: str) -> list[str]:
    return [row for row in list_in(found, key) if isinstance(row, str)]


def _rule(verdict: str, row: Table, source: str, *why: str) -> ForeignRule:
    reason = next((str(row[key]) for key in why if row.get(key)), "")
    return ForeignRule(verdict, str(row.get(source) or ""), why=reason)


def _built_in(guard: str, found: Table, verdicts: Mapping[str, str], at: str = "") -> Iterator[ForeignRule]:
    for key, verdict in verdicts.items():
        for name in _texts(found, key) or table_in(found, key):
            yield ForeignRule(verdict, f"{at}{key}: {name}").built_in(guard)


_CLAUDE_RULE = re.compile(r"([\w*-]+)(?:\((.*)\))?", re.DOTALL)
WRITERS, _READERS = ("Edit", "Write", "MultiEdit", "NotebookEdit"), ("Read", "Grep", "Glob")


def _claude(found: Table, path: Path) -> Iterator[ForeignRule]:
    rules = table_in(found, "permissions")
    for verdict in (DENY, ASK, ALLOW):
        for rule in _texts(rules, verdict):
            yield _claude_rule(ForeignRule(verdict, rule), path)
    yield from _settings("Claude Code", rules, "allow ask deny", "permissions.")


def _claude_rule(rule: ForeignRule, path: Path) -> ForeignRule:
    parsed = _CLAUDE_RULE.fullmatch(rule.source.strip())
    if parsed is None:
        return rule.left("it is not written as a rule is: Tool or Tool(what)")
    tool, inside = parsed[1], (parsed[2] or "").strip()
    if tool.startswith("mcp__"):
        return rule.carried(tool if tool.count("__") > 1 else f"{tool}__*")
    if not inside.strip("*: "):
        return rule.left(_EVERYTHING)
    if tool == "Bash":
        for ending in (":*", " *"):
            if inside.endswith(ending) and "*" not in inside.removesuffix(ending):
                return rule.prefix(inside.removesuffix(ending))
        return rule.carried(inside) if "*" in inside else rule.exact(inside)
    if tool == "WebFetch" and inside.startswith("domain:"):
        host = inside.removeprefix("domain:")
        return rule.carried(f"WebFetch:https://{host}/*", f"WebFetch:https://{host}")
    if tool in WRITERS or tool == "Read":
        return _claude_path(rule, WRITERS if tool in WRITERS else _READERS, inside, path)
    return rule.left(f"nothing here says what {tool} means inside its parentheses")


def _claude_path(rule: ForeignRule, tools: Sequence[str], inside: str, path: Path) -> ForeignRule:
    """`//` begins at the root, `~` at home, `/` at the project, all else at any folder."""
    place = re.sub(r"\*+", "*", inside)
    if place.startswith("//"):
        place = place[1:]
    elif place.startswith("~/"):
        place = f"{Path.home()}/{place[2:]}"
    elif place.startswith("/") and path.parent.name == ".claude":
        place = f"{path.resolve().parent.parent}{place}"
    elif rule.verdict == ALLOW:
        return rule.left("it is relative to a folder, and a standing answer counts in every folder")
    else:
        place = f"*/{place.removeprefix('./').lstrip('/')}"
    return rule.carried(*(f"{tool}:{place}" for tool in tools))


_DECISIONS = {"allow": ALLOW, "prompt": ASK, "forbidden": DENY}


def _codex(text: str) -> Iterator[ForeignRule]:
    """`prefix_rule(…)` calls, whose literals are Python's; nothing is run."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise UnknownFormat(f"execpolicy: {error}") from None
    for node in tree.body:
        call = node.value if isinstance(node, ast.Expr) else None
        source = " ".join(ast.unparse(node).split())
        if not isinstance(call, ast.Call) or ast.unparse(call.func) != "prefix_rule":
            yield ForeignRule("", source, problem="only prefix_rule is carried over")
            continue
        try:
            given = {word.arg: ast.literal_eval(word.value) for word in call.keywords if word.arg}
        except ValueError:
            yield ForeignRule("", source, problem="it is computed, and only literals are read")
            continue
        yield _codex_rule(source, given)


def _codex_rule(source: str, given: Table) -> ForeignRule:
    verdict = _DECISIONS.get(str(given.get("decision", "allow")), "")
    rule = ForeignRule(verdict, source)
    parts = (part if isinstance(part, list) else [part] for part in list_in(given, "pattern"))
    words = [[word for word in part if isinstance(word, str)] for part in parts]
    if not (verdict and words and all(words)):
        return rule.left("its decision or its pattern is none that is known")
    chosen = list(itertools.islice(itertools.product(*words), MOST_ALTERNATIVES + 1))
    if len(chosen) > MOST_ALTERNATIVES:
        return rule.left(f"more than {MOST_ALTERNATIVES} alternatives")
    if any(re.search(r"[\s*]", word) for line in chosen for word in line):
        return rule.left("a word of it has a blank or a star in it")
    patterns = (pattern for line in chosen for pattern in rule.prefix(" ".join(line)).patterns)
    return replace(rule.carried(*patterns), why=str(given.get("justification", "")))


_DCG_KINDS: Mapping[str, Callable[[ForeignRule, str], ForeignRule]] = {
    "exact_command": ForeignRule.exact,
    "command_prefix": ForeignRule.prefix,
    "pattern": ForeignRule.from_regex,
}


def _dcg_allowlist(found: Table, path: Path) -> Iterator[ForeignRule]:
    for row in _rows(found, "allow"):
        kind = next((key for key in (*_DCG_KINDS, "rule") if row.get(key)), "")
        rule, seconds = ForeignRule(ALLOW, f"{kind} = {row.get(kind, '')!s}"), _remaining(row.get("expires_at"))
        bound = next((key for key in ("paths", "conditions", "environments", "context") if row.get(key)), "")
        if seconds is None:
            yield rule.left("it has expired")
        elif bound:
            yield rule.left(f"it is bound to {bound}, and a standing answer counts everywhere")
        elif kind in _DCG_KINDS:
            rule = replace(rule, why=str(row.get("reason", "")), seconds=seconds)
            yield _DCG_KINDS[kind](rule, str(row[kind]))
        else:
            yield rule.built_in("dcg")


def _remaining(text: Any) -> int | None:
    """0 where it does not end, None where it has ended or cannot be read."""
    if not text:
        return 0
    try:
        then = text if isinstance(text, datetime) else datetime.fromisoformat(str(text))
    except ValueError:
        return None
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    seconds = int(then.timestamp() - time.time())
    return seconds if seconds > 0 else None


def _dcg_config(found: Table, path: Path) -> Iterator[ForeignRule]:
    for verdict, key in ((DENY, "block"), (ALLOW, "allow")):
        for row in list_in(table_in(found, "overrides"), key):
            given = row if isinstance(row, Mapping) else {"pattern": str(row)}
            rule, bound = _rule(verdict, given, "pattern", "reason"), given.get("when")
            yield rule.left("it has a condition, and a standing answer has none") if bound else rule.from_regex()
    yield from _built_in("dcg", table_in(found, "packs"), {"enabled": DENY, "disabled": ALLOW}, "packs.")
    for name, table in table_in(found, "agents").items():
        for command in _texts(table, "additional_allowlist"):
            yield ForeignRule(ALLOW, command, why=f"for {name}").exact(command)


def _dcg_pack(found: Table, path: Path) -> Iterator[ForeignRule]:
    for key, verdict in (("destructive_patterns", DENY), ("safe_patterns", ALLOW)):
        for row in _rows(found, key):
            yield _rule(verdict, row, "pattern", "description", "name").from_regex()


def _safety_net(found: Table, path: Path) -> Iterator[ForeignRule]:
    for row in _rows(found, "rules"):
        program, sub = str(row.get("command", "")), str(row.get("subcommand") or "")
        start = f"{program} {sub}".strip()
        args = _texts(row, "block_args")
        source = f"{row.get('name', '')}: {start} {' '.join(args)}"
        if not program or not args:
            yield ForeignRule(DENY, source).left("it names no command or no arguments")
            continue
        patterns = (f"{start} {arg}" + ("*" if re.fullmatch(r"[\w-]+", arg) else "") for arg in args)
        yield ForeignRule(DENY, source, why=str(row.get("reason", ""))).carried(*patterns)


def _shellfirm(found: Any, path: Path) -> Iterator[ForeignRule]:
    """The settings, or a list of checks alone."""
    given = {"checks": found} if isinstance(found, list) else found
    for row in _rows(given, "checks"):
        verdict = DENY if str(row.get("challenge", "")).casefold() in ("deny", "block") else ASK
        if row.get("enable") is False:
            continue
        rule = _rule(verdict, row, "test" if row.get("test") else "is", "description")
        if row.get("filters"):
            yield rule.left("it has filters, and a pattern has none")
        elif row.get("method") in ("Contains", "StartWith"):
            yield rule.prefix(rule.source)
        else:
            yield rule.from_regex()
    ids = {"deny_patterns_ids": DENY, "deny": DENY, "ignores_patterns_ids": ALLOW}
    yield from _built_in("shellfirm", given, ids)


_NAH = {"allow": ALLOW, "ask": ASK, "block": DENY}
_NAH_KEYS = ("classify", "actions", "sensitive_paths", "enable-guards")


def _nah(found: Table, path: Path) -> Iterator[ForeignRule]:
    actions, classify = table_in(found, "actions"), table_in(found, "classify")
    for kind in classify:
        for command in _texts(classify, kind):
            rule = ForeignRule(_NAH.get(str(actions.get(kind, "")), ""), f"{kind}: {command}")
            yield rule.prefix(command) if rule.verdict else rule.left(f"the file does not say what is done with {kind}")
    for kind, word in actions.items():
        if kind not in classify:
            yield ForeignRule(_NAH.get(str(word), ""), f"actions: {kind}: {word}").built_in("nah")
    for place, word in table_in(found, "sensitive_paths").items():
        whole = str(Path(str(place)).expanduser())
        patterns = (f"{tool}:{whole}*" for tool in (*_READERS, *WRITERS))
        yield ForeignRule(_NAH.get(str(word), ASK), f"sensitive_paths: {place}").carried(*patterns)
    yield from _built_in("nah", found, dict.fromkeys(("enable-guards", "disabled", "overrides"), ""))


# The guard, how its file is told, what reads it, and the keys that are rules or names; no keys: it may have others of its own.
_FORMATS: tuple[tuple[str, Callable[[Any], bool], Callable[[Any, Path], Iterator[ForeignRule]], str], ...] = (
    ("Claude Code", _has("permissions"), _claude, ""),
    ("dcg", _has("allow"), _dcg_allowlist, "allow"),
    ("dcg", _has("destructive_patterns", "safe_patterns"), _dcg_pack, ""),
    ("nah", _has(*_NAH_KEYS), _nah, f"{' '.join(_NAH_KEYS)} disabled overrides"),
    (
        "shellfirm",
        _has("challenge", "checks", "deny_patterns_ids", "ignores_patterns_ids"),
        _shellfirm,
        "checks deny deny_patterns_ids ignores_patterns_ids version",
    ),
    ("shellfirm", lambda found: isinstance(found, list), _shellfirm, ""),
    ("cc-safety-net", lambda found: _has("rules")(found) and "version" in found, _safety_net, "rules version"),
    ("dcg", _has("overrides", "packs", "agents"), _dcg_config, "overrides packs agents"),
)
