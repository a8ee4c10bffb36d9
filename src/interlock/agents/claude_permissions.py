"""Claude Code's permission rules, as far as files tell them: whether a shell call would run, be asked about or be refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from interlock.agents.hook_files import is_ours
from interlock.agents.rewriting import ASKED, LEAVE, SILENT, ShellCall, folders_above, matches_glob, read_tables

_TOOLS = ("Bash", "Monitor")
_RULE = re.compile(r"([\w*]+)(?:\((.*)\))?", re.DOTALL)
_PATH_TOOLS = frozenset(
    "Read Edit Write MultiEdit NotebookEdit Glob Grep LS".split()
)  # their paths count for commands too
_UNSURE = re.compile(r"[`$<>(){}\\]")  # Claude Code looks further into these than at the words
_GUARDED = re.compile(
    r"\.(?:git|claude|vscode|idea|husky|devcontainer)(?![\w-])"
)  # it asks about these whatever rules and modes say
_PARTS = re.compile(r"&&|\|\||[;|&\n]")
_EDITS = frozenset("mkdir touch rm rmdir mv cp sed cd".split())  # acceptEdits accepts some of these in some places
_KNOWN_MODES = frozenset({"default", "acceptEdits", "dontAsk"})


class PermissionRules(Struct):
    """The rules of all settings files together."""

    allow: list[str] = field(default_factory=list)
    ask: list[str] = field(default_factory=list)
    deny: list[str] = field(default_factory=list)
    unknown: bool = False  # something else may decide: a sandbox, another hook that can rewrite


def passage(call: ShellCall) -> str:
    """What Claude Code's own rules and mode do with the original."""
    rules = read_rules(call)
    mode = call.event.mode
    if rules is None or rules.unknown or any(_restricts(rule, call) for rule in (*rules.deny, *rules.ask)):
        return LEAVE
    guarded = _GUARDED.search(call.text) is not None
    if mode == "bypassPermissions":
        return LEAVE if guarded else SILENT
    if mode not in _KNOWN_MODES:
        return LEAVE
    if _is_allowed(call.text, rules.allow) and not guarded:
        return SILENT
    accepted = mode == "acceptEdits" and all(words[0] in _EDITS for words in call.commands)
    return LEAVE if accepted or mode == "dontAsk" else ASKED


def read_rules(call: ShellCall) -> PermissionRules | None:
    """The rules that count for a call; None where a file of them cannot be read."""
    home, folders = call.home, folders_above(call.event.cwd)
    root = _project(call)
    found = PermissionRules()
    for folder in folders:  # of those above the project nobody knows whether they count: only what restricts does
        tables = read_tables([folder / ".claude/settings.json", folder / ".claude/settings.local.json"])
        if tables is None:
            return None
        for table in tables:
            _add(found, table, allows=folder == root)
    tables = read_tables([home / ".claude/settings.json", *_managed()])
    if tables is None:
        return None
    for table in tables:
        _add(found, table, allows=True)
    return found


def _project(call: ShellCall) -> Path | None:
    """The project's folder: its transcripts are named after it."""
    name = Path(call.event.transcript).parent.name
    return next((one for one in folders_above(call.event.cwd) if re.sub(r"[^A-Za-z0-9]", "-", str(one)) == name), None)


def _managed() -> list[Path]:
    folder = Path("/etc/claude-code")
    return [folder / "managed-settings.json", *sorted(folder.glob("managed-settings.d/*.json"))]


def _add(found: PermissionRules, table: Mapping[str, Any], allows: bool) -> None:
    rules = table.get("permissions", {})
    sandbox = table.get("sandbox", {})
    if not isinstance(rules, Mapping) or not isinstance(sandbox, Mapping):
        found.unknown = True
        return
    for name, into in (("deny", found.deny), ("ask", found.ask), ("allow", found.allow if allows else [])):
        given = rules.get(name, [])
        if not isinstance(given, list) or not all(isinstance(rule, str) for rule in given):
            found.unknown = True
            return
        into += given
    found.unknown |= bool(sandbox.get("enabled")) or any(map(_rewrites, _hooks(table)))


def _hooks(table: Mapping[str, Any]) -> Iterator[Any]:
    """The hooks that run before a shell call."""
    hooks = table.get("hooks")
    groups = hooks.get("PreToolUse") if isinstance(hooks, Mapping) else None
    for group in groups if isinstance(groups, list) else ():
        if isinstance(group, Mapping) and _may_match(group.get("matcher")):
            inner = group.get("hooks")
            yield from inner if isinstance(inner, list) else ()


def _may_match(matcher: object) -> bool:
    if not isinstance(matcher, str) or matcher in ("", "*"):
        return True
    try:
        return any(re.search(matcher, tool) for tool in _TOOLS)
    except re.error:
        return True


def _rewrites(hook: object) -> bool:
    """Whether a hook of somebody else could change the call as well."""
    return not is_ours(hook)


def _restricts(rule: str, call: ShellCall) -> bool:
    """Whether a rule that denies or asks may mean this call; in doubt it does."""
    parsed = _RULE.fullmatch(rule.strip())
    if parsed is None:
        return True
    tool, inside = parsed[1], parsed[2]
    if tool in _PATH_TOOLS and inside:
        names = [name for name in inside.split("/") if name.strip("*~.") and not set("*?[") & set(name)]
        return not names or names[-1] in call.text
    if tool not in _TOOLS and tool != "*":
        return tool in _PATH_TOOLS
    if not inside or not inside.strip("*: "):
        return True
    start = inside.removesuffix(":*").removesuffix(" *")
    return matches_glob(f"{start}*" if start != inside else inside, call.parts)


def _is_allowed(text: str, rules: Sequence[str]) -> bool:
    """Whether rules allow every part of a text, for certain."""
    parsed = [found[2] for rule in rules if (found := _RULE.fullmatch(rule.strip())) and found[1] == "Bash"]
    if any(inside is None or inside in ("*", ":*") for inside in parsed):
        return True
    parts = [part.strip() for part in _PARTS.split(text)]
    return not _UNSURE.search(text) and all(part and any(_covers(inside, part) for inside in parsed) for part in parts)


def _covers(inside: str, part: str) -> bool:
    if inside.endswith(":*"):
        start = inside.removesuffix(":*")
        return part == start or part.startswith(f"{start} ")
    return matches_glob(inside, [part])
