"""The facts of each coding agent, as `agents.toml` states them, and the agent that they make with the code of its dialect."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, convert
from msgspec.structs import replace

from interlock.agents.calls import ToolNames
from interlock.agents.hook_files import (
    MARK,
    SCOPES,
    Hook,
    HookClient,
    HookFile,
    json_or_empty,
    with_hooks,
    without_hooks,
)
from interlock.agents.hook_protocol import (
    GATING,
    SILENT,
    Event,
    Fill,
    HookOutput,
    HookVerdict,
    Json,
    MalformedInput,
    answer,
    outcome_of,
    parse,
    required_text,
    table,
    text,
    tidy,
)
from interlock.agents.jsonc import EditError
from interlock.agents.rewriting import Passage
from interlock.agents.toml_edit import hooks_text, parse_toml, with_block, without_block
from interlock.analysis.packs import load_packs
from interlock.strict_json import list_in

_HOOKED = frozenset({"before", "after", "failed"})
_ABOUT_CALLS = _HOOKED | {"permission"}  # kinds of event that are about a call


def fill_template(value: Any, words: Mapping[str, Any]) -> Any:
    """A template with its `@words` filled in; a key whose word is empty goes."""
    if isinstance(value, dict):
        empty = {name for name, word in words.items() if word is None or word == ""}
        return {
            key: fill_template(item, words)
            for key, item in value.items()
            if not isinstance(item, str) or item not in empty
        }
    if isinstance(value, list):
        return [fill_template(item, words) for item in value]
    return words.get(value, value) if isinstance(value, str) else value


class CallFields(Struct, frozen=True):
    tool: tuple[str, ...] = ("tool_name",)
    input: tuple[str, ...] = ("tool_input",)
    id: tuple[str, ...] = ("tool_use_id",)
    session: tuple[str, ...] = ("session_id",)
    cwd: tuple[str, ...] = ("cwd",)
    cwds: str = ""  # a list of folders, where none is named alone
    transcript: tuple[str, ...] = ()
    mode: tuple[str, ...] = ("permission_mode",)
    subagent: tuple[str, ...] = ()  # of an event in a subagent, whose session is its parent's
    parent: tuple[str, ...] = ()


class AnswerForm(Struct, frozen=True, forbid_unknown_fields=True):
    on: frozenset[str] = frozenset()  # kinds or names of events; all of them, where it names none
    to: frozenset[str] = frozenset({"allow", "ask", "deny"})  # verdicts
    given: tuple[str, ...] = ()  # words, of which the verdict has one
    json: dict[str, Any] | None = None
    exit: int = 0


class DialectCode(Struct, frozen=True):
    calls: Fill | None = None  # adds the calls to an event, where they are not one that has its fields at the top
    places: Callable[[str, Path, Path], tuple[HookFile, ...]] | None = None  # of a scope, in a home and a project
    installed: Callable[[HookFile, str | None, HookClient], str] | None = None
    removed: Callable[[HookFile, str], str | None] | None = None
    disabling: Callable[[Path, Json], Iterable[str]] | None = None  # what disables hooks in a file of its settings
    disabling_home: Callable[[Path], list[str]] | None = None  # and anywhere else
    passage: Passage | None = None


class AgentDialect(Struct, frozen=True, forbid_unknown_fields=True):
    title: str
    events: dict[str, str]
    tools: ToolNames
    answers: tuple[AnswerForm, ...] = ()
    fields: CallFields = CallFields()
    asks: frozenset[str] = frozenset()
    asking_modes: frozenset[str] = frozenset()
    hooked: tuple[str, ...] = ()
    limit_seconds: int = 300
    files: dict[str, str] = {}
    notes: dict[str, str] = {}
    base: dict[str, int | str] = {}
    form: str = "json"
    status_line: bool = False
    entry: dict[str, Any] = {}
    one_list: bool = False
    bare: tuple[str, ...] = ()
    posts: bool = False
    settings: tuple[str, ...] = ()
    switches: dict[str, bool] = {}
    placeholders: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    flags: frozenset[str] = frozenset()
    persistent: bool = False
    keeps_folder: bool = False
    event_fields: tuple[str, ...] = ("hook_event_name", "hookEventName")
    plugin_head: str = ""
    programs: tuple[str, ...] = ()
    word: str = ""
    code: DialectCode = DialectCode()

    def path(self, scope: str) -> str:
        on_macos = self.files.get(f"{scope}_on_macos", "") if sys.platform == "darwin" else ""
        return on_macos or self.files.get(scope, "")

    def places(self, scope: str, home: Path, project: Path) -> tuple[HookFile, ...]:
        if self.code.places is not None:
            return self.code.places(scope, home, project)
        name, user = self.path(scope), scope == "user"
        path, note = (home if user else project) / name, self.notes.get(scope, "")
        form, bare = "toml" if path.suffix == ".toml" else self.form, scope in self.bare
        return (HookFile(path, form, note=note, status=user and self.status_line, bare=bare),) if name else ()

    def settings_files(self, home: Path, project: Path) -> Iterator[Path]:
        for name in self.settings:
            if name in SCOPES:
                yield from (file.path for file in self.places(name, home, project))
            else:
                yield home / name[2:] if name.startswith("~/") else project / name

    def disablers(self, home: Path, project: Path) -> list[str]:
        found = self.code.disabling_home(home) if self.code.disabling_home is not None else []
        for path in self.settings_files(home, project):
            try:
                text = path.read_text("utf-8")
                found += self._disabling(path, parse_toml(text) if path.suffix == ".toml" else json_or_empty(text))
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError, EditError) as error:
                found.append(f"{path}: cannot be read, so its hooks do not run ({error})")
        return found

    def _disabling(self, path: Path, data: Json) -> Iterator[str]:
        for name, off in self.switches.items():
            value: Any = data
            for key in name.split("."):
                value = value.get(key) if isinstance(value, Mapping) else None
            if value is off:
                yield f"{path}: {name} is {str(off).lower()}, so hooks do not run"
        for words in self.code.disabling(path, data) if self.code.disabling is not None else ():
            yield f"{path}: {words}"

    def installed(self, place: HookFile, text: str | None, client: HookClient) -> str:
        """Idempotent, and all else in the file stays; raises `EditError` for one it cannot read."""
        if self.code.installed is not None:
            return self.code.installed(place, text, client)
        if place.form == "plugin":
            if text is not None and text.strip() and MARK not in text:
                raise EditError("the file is another plugin; move it away first", 1, 1)
            return plugin_text(self, self.limit_seconds, client)
        hooks = [self._hook(place, event, client) for event in self.hooked]
        if place.form == "toml":
            return with_block(text, hooks_text(hooks))
        return with_hooks(text, hooks, comments=place.form == "jsonc", base=self.base)

    def _hook(self, place: HookFile, event: str, client: HookClient) -> Hook:
        url = client.post(self.word, event) if client.url else ""
        path, *words = client.argv(self.word, event)
        kind = self.events[event]
        given = {
            "@event": event, "@name": f"interlock-{event}", "@gates": kind == "before",
            "@all": None if kind == "config" else "*", "@shell": client.shell(self.word, event),
            "@type": "http" if url else "command", "@url": url, "@path": "" if url else path, "@words": None if url else words,
            "@seconds": self.limit_seconds, "@milliseconds": self.limit_seconds * 1000,
        }  # fmt: skip
        top = () if place.bare else ("hooks",)
        return Hook(top if self.one_list else (*top, event), fill_template(self.entry, given))

    def removed(self, place: HookFile, text: str) -> str | None:
        if self.code.removed is not None:
            return self.code.removed(place, text)
        if place.form in ("plugin", "script"):
            return None if MARK in text else text
        if place.form == "toml":
            return without_block(text)
        if place.form == "yaml":
            from interlock.agents.yaml_edit import without_entries  # 20 ms that a call does not need

            return without_entries(text)
        return without_hooks(text, comments=place.form == "jsonc", base=self.base)

    @property
    def rewrites(self) -> Passage | None:
        return self.code.passage

    def _fill(self, given: Mapping[str, Any], event: Event) -> Event:
        names = self.fields
        session, mode = text(given, *names.session), text(given, *names.mode)
        event = replace(
            event,
            session=session,
            cwd=text(given, *names.cwd)
            or next((one for one in list_in(given, names.cwds) if isinstance(one, str)), ""),
            parent=session if text(given, *names.subagent) else text(given, *names.parent),
            transcript=text(given, *names.transcript),
            asks=not self.asks.isdisjoint((event.kind, event.name))
            and (not self.asking_modes or mode in self.asking_modes),
            mode=mode,
        )
        if event.kind not in _ABOUT_CALLS:
            return event
        return (self.code.calls or self._one_call)(given, event)

    def _one_call(self, given: Mapping[str, Any], event: Event) -> Event:
        names, tools = self.fields, self.tools
        name, inner = required_text(given, *names.tool), table(given, *names.input)
        if name in tools.inputs:
            inner = {tools.inputs[name].get(key, key): value for key, value in inner.items()}
        calls = self.tools.judged(name, inner, required_text(given, *names.cwd), text(given, *names.id))
        return replace(event, calls=calls)

    def encode(self, event: Event, verdict: HookVerdict) -> HookOutput:
        """The first answer that fits, silence where none does, and nothing else on stdout."""
        verdict = resolve(event, verdict)
        new = verdict.rewrite if event.kind == "before" else None
        at = (event.kind, event.name)
        forms = [form for form in self.answers if verdict.word in form.to and not (form.on and form.on.isdisjoint(at))]
        if new is None and not verdict.context:  # as most are
            forms = [form for form in forms if not form.given]
        if not forms:
            return answer(None)
        words: dict[str, Any] = {
            "@word": verdict.word, "@reason": verdict.reason, "@context": verdict.context, "@notice": verdict.notice,
            "@event": event.name, "@input": new and new.input, "@whole": new and new.whole, "@shown": new and new.reason,
            "@rewritten": new and ("ask" if new.asked else "allow"),
        }  # fmt: skip
        for form in forms:
            if not form.given or any(words[name] for name in form.given):
                said = None if form.json is None else fill_template(form.json, words)
                return answer(said, verdict.reason if form.exit else "", form.exit)
        return answer(None)

    def decode(self, data: bytes, event: str = "") -> Event:
        """Never raises: unreadable input is an event with a problem, of the configured kind, or a gating one."""
        meant = self._own_name(event)
        try:
            given = parse(data)
        except MalformedInput as error:
            return Event(self.events.get(meant, "before"), meant, problem=str(error))
        found = self._event(given, meant)
        if found.problem:
            return found
        try:
            found = self._fill(given, found)
            return replace(found, outcome=outcome_of(given)) if found.kind == "after" else found
        except MalformedInput as error:
            return replace(found, problem=str(error))
        except RecursionError:
            return replace(found, problem="hook input: nested too deeply")

    def broken(self, reason: str) -> HookOutput:
        gate = next(name for name, kind in self.events.items() if kind == "before")
        return self.encode(Event("before", gate), HookVerdict("deny", reason))

    def _own_name(self, name: str) -> str:
        if name in self.events:
            return name
        folded = name.replace("_", "").casefold()
        return next((known for known in self.events if known.replace("_", "").casefold() == folded), name)

    def _event(self, given: Mapping[str, Any], meant: str) -> Event:
        """A hook that was installed to gate does so, whatever the input claims."""
        said, kinds, field = self._own_name(text(given, *self.event_fields)), self.events, self.event_fields[0]
        if not said and not meant:
            return Event("before", "", problem=f"{field}: missing")
        kind = kinds.get(said or meant, "other")
        if meant and said and kinds.get(meant) in GATING and kind != kinds[meant]:
            return Event(kinds[meant], meant, problem=f"{field}: got {said[:60]!r} in a hook for {meant}")
        return Event(kind, said or meant)

    def agent(self, calls: Fill | None = None, **code: Any) -> AgentDialect:
        return replace(self, code=DialectCode(calls, **code))


def resolve(event: Event, verdict: HookVerdict) -> HookVerdict:
    """No event with a problem is allowed, and an ask without a prompt is a deny."""
    word, reason, new = verdict.word, verdict.reason, verdict.rewrite
    if (event.problem and event.kind in GATING) or (word == "ask" and not event.asks):
        word = "deny"
    if not reason and event.problem:
        reason = f"Denied: the hook input could not be judged ({event.problem})."
    return HookVerdict(
        word if word in ("allow", "ask") else "deny",
        (reason and tidy(reason)) or SILENT,
        verdict.context and tidy(verdict.context),
        verdict.notice and tidy(verdict.notice),
        None if new is None else replace(new, reason=tidy(new.reason)),
    )


_SOURCES = Path(__file__).with_name("plugins")
# What a plugin sends, whatever its agent calls it, and what it is told, which is never nothing.
_PLUGIN_FIELDS = CallFields(("tool",), ("args",), ("call_id",))
_PLUGIN_ANSWERS = (
    AnswerForm(to=frozenset({"allow"}), json={"decision": "allow", "context": "@context", "args": "@input"}),
    AnswerForm(json={"decision": "deny", "reason": "@reason", "context": "@context"}, exit=2),
)


def plugin_text(agent: AgentDialect, limit: float, client: HookClient) -> str:
    """The part that consults the client, without whose answer no call passes, and the agent's own."""
    consult = (_SOURCES / "consult.js").read_text("utf-8")
    for key, value in (("CLIENT", client.path), ("WORD", agent.word), ("LIMIT", int(limit * 1000))):
        consult = consult.replace(f"@{key}@", json.dumps(value))
    return f"{agent.plugin_head}// {MARK}\n{consult}\n{(_SOURCES / f'{agent.word}.js').read_text('utf-8')}"


@cache
def all_facts() -> dict[str, AgentDialect]:
    kind = dict[str, AgentDialect]
    found = load_packs(Path(__file__).parent, lambda packs: [convert(packs[0], kind)], "agents.toml", kind)[0]
    plugin = {"fields": _PLUGIN_FIELDS, "answers": _PLUGIN_ANSWERS}
    return {
        word: replace(
            one,
            word=word,
            programs=one.programs or (word,),
            hooked=one.hooked or tuple(name for name, kind in one.events.items() if kind in _HOOKED),
            **(plugin if one.form == "plugin" else {}),
        )
        for word, one in sorted(found.items())
    }
