"""Claude Code: groups of handlers in settings.json, JSON in, `hookSpecificOutput` out; and its permission rules, as far as files tell them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct, ValidationError, convert
from msgspec.structs import replace

from interlock.agents import STATUS_LINE
from interlock.agents.facts import all_facts
from interlock.agents.hook_files import HookClient, HookFile, is_ours, json_or_empty, with_member, without_member
from interlock.agents.hook_protocol import AgentCall, Event, Json, MalformedInput, required_text, table, text
from interlock.agents.rewriting import ASKED, LEAVE, SILENT, ShellCall, matches_glob, read_tables
from interlock.strict_json import list_in, table_in

FACTS = all_facts()["claude-code"]
_SETTINGS, _MANAGED = FACTS.path("user"), Path(FACTS.path("system"))
_TOOLS = ("Bash", "Monitor")
_RULE = re.compile(r"([\w*]+)(?:\((.*)\))?", re.DOTALL)
# Their paths count for commands too.
_PATH_TOOLS = frozenset("Read Edit Write MultiEdit NotebookEdit Glob Grep LS".split())
_UNSURE = re.compile(r"[`$<>(){}\\]")  # Claude Code looks further into these than at the words
# It asks about these whatever rules and modes say.
_GUARDED = re.compile(r"\.(?:git|claude|vscode|idea|husky|devcontainer)(?![\w-])")
_PARTS = re.compile(r"&&|\|\||[;|&\n]")
_EDITS = frozenset("mkdir touch rm rmdir mv cp sed cd".split())  # acceptEdits accepts some of these in some places
_KNOWN_MODES = frozenset({"default", "acceptEdits", "dontAsk"})


class PermissionRules(Struct):
    allow: list[str] = []
    ask: list[str] = []
    deny: list[str] = []
    unknown: bool = False  # something else may decide: a sandbox, another hook that can rewrite


def passage(call: ShellCall) -> str:
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
    root, found = _project(call), PermissionRules()
    # Of those above the project nobody knows whether they count: only what restricts does.
    files = [([one / _SETTINGS, one / ".claude/settings.local.json"], one == root) for one in call.folders]
    managed = [_MANAGED, *sorted(_MANAGED.parent.glob("managed-settings.d/*.json"))]
    for paths, allows in [*files, ([call.home / _SETTINGS, *managed], True)]:
        if (tables := read_tables(paths)) is None:
            return None
        for settings in tables:
            _add(found, settings, allows)
    return found


def _project(call: ShellCall) -> Path | None:
    """The project's folder: its transcripts are named after it."""
    name = Path(call.event.transcript).parent.name
    return next((one for one in call.folders if re.sub(r"[^A-Za-z0-9]", "-", str(one)) == name), None)


def _add(found: PermissionRules, table: Json, allows: bool) -> None:
    try:
        given = convert(table.get("permissions", {}), PermissionRules)
        sandbox = convert(table.get("sandbox", {}), dict[str, Any])
    except ValidationError:
        found.unknown = True
        return
    found.deny += given.deny
    found.ask += given.ask
    found.allow += given.allow if allows else []
    # A hook of somebody else could change the call as well.
    found.unknown |= bool(sandbox.get("enabled")) or not all(map(is_ours, _hooks(table)))


def _hooks(table: Json) -> Iterator[Any]:
    for group in list_in(table_in(table, "hooks"), "PreToolUse"):
        if isinstance(group, Mapping) and _may_match(group.get("matcher")):
            yield from list_in(group, "hooks")


def _may_match(matcher: object) -> bool:
    if not isinstance(matcher, str) or matcher in ("", "*"):
        return True
    try:
        return any(re.search(matcher, tool) for tool in _TOOLS)
    except re.error:
        return True


def _restricts(rule: str, call: ShellCall) -> bool:
    """Whether a rule that denies or asks may mean this call; in doubt it does."""
    if (parsed := _RULE.fullmatch(rule.strip())) is None:
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


def _write(place: HookFile, text: str | None, client: HookClient) -> str:
    written, line = FACTS.installed(place, text, client), {"type": "command", "command": client.status}
    return with_member(written, "statusLine", line) if place.status and client.status else written


def _erase(place: HookFile, text: str) -> str | None:
    """A status line of ours goes with the hooks, and is none by itself."""
    rest = FACTS.removed(place, text)
    if rest == text or STATUS_LINE not in str(table_in(json_or_empty(text), "statusLine").get("command", "")):
        return rest
    return FACTS.removed(place, without_member(text, "statusLine"))


def _off(path: Path, data: Json) -> Iterator[str]:
    if path == _MANAGED and data.get("allowManagedHooksOnly") is True and not _is_ours_anywhere(data.get("hooks")):
        yield "allowManagedHooksOnly is true, so only hooks in this file run; install --system"


def _is_ours_anywhere(hooks: Any) -> bool:
    inner = hooks.values() if isinstance(hooks, Mapping) else hooks if isinstance(hooks, list) else ()
    return is_ours(hooks) or any(map(_is_ours_anywhere, inner))


def _calls(given: Json, event: Event) -> tuple[AgentCall, ...]:
    cwd = required_text(given, "cwd")
    if event.name == "PostToolBatch":
        batch = given.get("tool_calls")
        if not isinstance(batch, list) or not all(isinstance(entry, dict) for entry in batch):
            raise MalformedInput("tool_calls: expected a list of objects")
        single = replace(event, name="PostToolUse")
        return tuple(call for entry in batch for call in _calls({**entry, "cwd": cwd}, single))
    name, inner = required_text(given, "tool_name"), table(given, "tool_input")
    return FACTS.tools.judged(name, inner, cwd, text(given, "tool_use_id"))


AGENT = FACTS.agent(
    lambda given, event: replace(event, calls=_calls(given, event)),
    installed=_write,
    removed=_erase,
    disabling=_off,
    passage=passage,
)
