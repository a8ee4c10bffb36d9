"""A named operation or a tool call with its parameters -> its effects (R-8, C-01, DL-04, DL-11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import apart, deed_nouns, is_plural, objects, reach_of, split_name, verb_forms, verbs
from interlock.analysis.lexicon.load import WordLists, WordMaps
from interlock.analysis.operations import effects, name_patterns, nested, payloads, requests, tools
from interlock.analysis.operations import params as parameters
from interlock.analysis.operations.effects import CHANGE, READ, deed, is_broadcast, is_harm
from interlock.analysis.operations.files import content_deeds, file_act
from interlock.analysis.operations.name_patterns import BUILT_IN_PATTERNS, NamePatterns, PatternMatch, exemption
from interlock.analysis.operations.names import NamedAct, Words, parse_name
from interlock.analysis.operations.settings import OperationSettings, out_of_bounds
from interlock.analysis.shell import Job
from interlock.analysis.shell.loose_text import add_harm, is_data, is_program
from interlock.model import NOTHING

_LISTS = WordLists("operation")
_MAPS = WordMaps("operation")

_EXPLAINED = ("sql", "query", "statement")
_DEEPEST = 4  # operations named inside operations
_NO_PATTERNS = NamePatterns((), (), ())
_SEVERAL = frozenset({"all", "bulk"})
_Found = tuple[str, NamedAct, tuple[str, ...]]  # the effect, the act that has it, and traits


def read_tool(name: str, input: Mapping[str, Any], out: Report, crude: str = "") -> None:
    """Reports what a call of this tool would do; a tool that nobody knows is judged as an operation of its name and category."""
    read_operation(name, input, crude, out, tool=True)


def read_operation(
    name: str,
    params: Mapping[str, Any],
    crude: str,
    out: Report,
    patterns: NamePatterns | None = None,
    depth: int = 0,
    tool: bool = False,
) -> None:
    """Reports what an operation of this name, with these parameters and in this CRUDE category, would do.

    The name patterns are those of the reading (R-19) where none are given.
    """
    out.step()
    if depth > _DEEPEST:
        out.unreadable("operations nested too deeply", "nesting")
        return
    crude = (crude or "").strip().lower()
    params = params if isinstance(params, (dict, Mapping)) else {}
    keys = parameters.short_keys(params)
    if parameters.spelled_twice(params, keys):
        out.unreadable("a parameter in two spellings with different values", "syntax")
        if len(keys) < len(params):
            firsts = {parameters.squash(key): (key, value) for key, value in [*params.items()][::-1]}
            read_operation(name, dict(firsts.values()), crude, out, patterns, depth + 1, tool)
    if reader := tools.tool_reader(name, keys) if tool else keys and tools.built_in(name, keys, crude):
        tools.read_tool_call(reader, name, keys, partial(read_operation, crude="update", out=out, depth=1), out)
        if reader == "agent":
            held = {key: value for key, value in params.items() if not isinstance(value, parameters.PLAIN)}
            for named, its in nested.calls_inside(held):
                read_operation(named, its, "", out, depth=1)
        return
    segments = split_name(name)
    words, acts = parse_name(segments)
    entries = parameters.walk(params) if params else []
    scope = parameters.scope_of(entries)
    ends = words[-1] if words else ""
    tried = ends in _LISTS.tried and len(words) > 2 and parameters.truth(keys.get("live")) is False
    tries = ends == "preview" or any(key in _LISTS.only and parameters.truth(value) for key, value in keys.items())
    scope.dry_run = scope.dry_run or tried or (crude == "read" and tries)
    if not depth:
        out_of_bounds(name, keys, out)
    if entries and entries[-1][3] < 0:
        out.unreadable("more parameters, or deeper ones, than are read", "budget")
    if scope.dry_run:  # a database only explains a statement then; a shell would run its command all the same
        ran = (one for one in keys.items() if one[0] not in _EXPLAINED or not payloads.is_statement(str(one[1])))
        keys = parameters.Keys(ran)
    found = [effects.with_object(act, keys) for act in acts] or [NamedAct()]
    if crude == "read" and words and _is_told(segments[-1], words, keys):
        found = [replace(found[0], kind="read", at=-1)]
    globs: NamePatterns = patterns if patterns is not None else getattr(out, "patterns", BUILT_IN_PATTERNS)
    _Call(name, words, segments, found, params, keys, entries, crude, scope, globs, depth, out).read()


class _Call(Struct, frozen=True):
    name: str
    words: Words
    segments: tuple[Words, ...]
    acts: list[NamedAct]
    params: Mapping[str, Any]
    keys: parameters.Keys
    entries: list[parameters.Entry]
    crude: str
    scope: parameters.ParamScope
    patterns: NamePatterns
    depth: int
    out: Report

    def read(self) -> None:
        act, out, scope = self.acts[0], self.out, self.scope
        ran = bool(self.keys) and self._payloads()
        program = payloads.run_program(self.segments, self.params, self.keys, out) if self.keys else ""
        ran = ran or program == "words"
        if not ran and not scope.dry_run and not _LISTS.executes.isdisjoint(self.words):
            self._loose_texts()
        does = "" if act.kind else self.keys.text("verb", "action", "operation", "httpmethod", "method").lower()
        # {"verb": "list", "archived": true}
        looks = self.crude == "read" and (does == "get" or verbs().get(does) == "read")
        read = self.entries and not looks
        settings = OperationSettings(self.words, act).read(self.params, self.entries) if read else ()
        deeds = filter(is_harm, chain(settings, content_deeds(self.words, act, self.keys, self.entries)))
        by_settings = [(verb, act, own) for verb, own in deeds]
        if exemption(self.name, self.patterns):
            # the name is the operator's to lower, what the parameters do is not
            self._report(by_settings, set())
            out.effect(READ, self.name[:200], "exempt")
            return
        named = self._matches()
        if not scope.dry_run:
            if file_act(self.words, act, self.keys, out) and not named and not by_settings:
                return
            if act.at >= 0:
                payloads.run_named(self.segments, self.params, self.keys, out)
        traits = self._reach()
        # what the words do decides, unless the name is a verb of harm to people as well, or something else is given
        own = act.verb in _LISTS.programs or act.verb not in verb_forms()
        alone = payloads.names_tool(self.segments) or (own and _LISTS.line.issuperset(self.keys))
        line = program == "words" and alone
        found = [] if line else self._harmful(traits, named, ran)
        found += by_settings
        if found and scope.dry_run and (not ran or payloads.named_program(self.segments)):
            out.effect(READ, self._target(act), "dry_run")
        elif found:
            marks = {"named", f"pattern_{'forbidden' if any(match.forbidden for match in named) else 'dangerous'}"}
            self._report(found, traits - {"unfiltered"} | (marks if named else set()))
        elif not (ran or program):
            self._harmless(traits)

    def _inner(self, name: str, params: Mapping[str, Any] = NOTHING, crude: str = "") -> None:
        read_operation(name, params, crude, self.out, self.patterns, self.depth + 1)

    def _payloads(self) -> bool:
        """Reads what the parameters run, and the operations they name; True when there was something."""
        words, segments, act, keys, out = self.words, self.segments, self.acts[0], self.keys, self.out
        verb = act.verb or (words[0] if words else "")
        # the server of a tool often is the program or the database that is meant: mcp__docker__run_command
        spoken = (*segments[1], *words) if len(segments) > 2 and segments[0] == ("mcp",) else words
        field = partial(self._inner, crude="update")
        ran = payloads.read_payloads(spoken, verb, keys, field, out)
        deletions = act.kind not in _LISTS.telling and act.noun not in _LISTS.notes
        depth = 0 if self.scope.dry_run else self.entries[-1][3]  # then a statement is only explained
        ran = payloads.read_texts(spoken, self.entries, depth, not act.kind, deletions, out) or ran
        confirmed = next(filter(None, requests.confirmations((*spoken, verb), keys)), "")
        ran = requests.read_acts([*requests.clicked(verb, words, keys), confirmed], field) or ran
        ordered = nested.read_order(words, keys, out)
        jobs = [] if ordered else nested.started_jobs(words, verb, keys)
        for job in jobs:  # which are called so, and not operations
            read_operation(job, NOTHING, "update", self.out, _NO_PATTERNS, self.depth + 1)
        if requests.sends_secret(act.verb or (words or ("",))[-1], words, keys, self.entries):
            out.effect("act_leak", "a secret")
        elif requests.attaches_data(act.kind, words, keys):
            out.effect("send", "whoever gets the message", "content")
        calls = nested.nested_calls(act, self.params, keys)
        for name, its in calls:
            self._inner(name, its)
        return ran or ordered or bool(jobs or calls)

    def _loose_texts(self) -> None:
        """Texts of an operation that runs something, whatever their keys: one that begins with a program and does harm counts."""
        for key, _, value, _, _ in self.entries if _LISTS.trials.isdisjoint(self.words) else ():
            text = payloads.text_of(value)
            if text and isinstance(self.out, Job) and not is_data(f"--{key}") and is_program(text.split(" ")[0]):
                add_harm(self.out, text, key)

    def _reach(self) -> set[str]:
        words, act, scope = self.words, self.acts[0], self.scope
        traits = scope.traits - {"many"} | reach_of(words)
        several = is_plural(act.noun) and act.verb not in _LISTS.tidies and not scope.single
        if ("many" in scope.traits or several) and not scope.filtered:
            traits.add("bulk")
        if act.verb == "purge" or (act.kind == "send" and act.noun in _LISTS.mailings) or is_broadcast(act, words):
            traits.add("bulk")  # seed 003 calls every purge severe, `queue.purge` too
        if traits.isdisjoint(_SEVERAL):
            traits.add("one")
        holds = act.object == "project" or (act.object in ("account", "organization") and act.kind in _LISTS.ends)
        if holds and not all(map(_LISTS.clouds.isdisjoint, self.segments)):
            traits.update(("all",) if act.object == "project" else ("all", "project"))
        return traits

    def _matches(self) -> Sequence[PatternMatch]:
        """R-8: a leading reader outranks later patterns; the noun phrase of a creating verb holds no match."""
        found, lead = name_patterns.matches(self.words, self.patterns), self.acts[0]
        if not found or (lead.verb in _LISTS.trials and self.crude != "delete"):
            return []
        if lead.kind == "read" and self.crude in ("", "read") and len(self.acts) == 1:
            return [match for match in found if match.at < lead.at]
        if lead.kind in _LISTS.putting and len(self.acts) == 1:
            ends = lead.kind != "create"  # deploy_production is a mutation; create_backup_production is a copy
            return [match for match in found if match.at <= lead.at or (ends and match.glob.startswith("*"))]
        return found

    def _harmful(self, traits: set[str], named: Sequence[PatternMatch], ran: bool) -> list[_Found]:
        found: list[_Found] = []
        lead = self.acts[0]
        for act in self.acts if lead.at >= 0 else ():
            verb, own = effects.by_params(act, deed(act, frozenset(traits)), self.keys, traits)
            if named and act is lead and verb in effects.HARMLESS:
                globs = " ".join(match.glob for match in named)
                by_glob = (f"act_{effect}" for word, effect in _MAPS.by_pattern.items() if word in globs)
                pushes = "force" in globs and "push" in (act.verb, act.noun, *act.phrase)
                verb = "act_rewrite" if pushes else next(by_glob, CHANGE if verb == READ else verb)
            elif not is_harm((verb, own)) or (self.crude == "read" and verb in effects.HARMLESS):
                continue
            found.append((verb, act, own))
        undoes = lead.kind == "restore" or (lead.kind == "cancel" and lead.noun in deed_nouns())
        if not found and self.crude == "delete" and not undoes and not ran:  # DL-04
            kind = lead.object if lead.object != "light" else "data"
            found.append((deed(NamedAct("delete", "delete", lead.phrase, kind, lead.noun))[0], lead, ()))
        return found

    def _harmless(self, traits: set[str]) -> None:
        """C-01: safe only when the category and the name agree; everything else is at least reversible (DL-05)."""
        act, out = self.acts[0], self.out
        verb, target = deed(act, frozenset(traits))[0], self._target(act)
        if verb == "act_send" or is_broadcast(act, self.words):
            out.effect("act_send", target, *sorted(traits & {"all", "bulk", "one", "production"}))
        elif verb == READ or name_patterns.is_safe(self.words, self.patterns):
            out.effect(READ, target, *(() if self.crude == "read" else ("unlabelled",)))
        else:
            rest = [apart().get(word, word) for at, word in enumerate(self.words) if at != act.at]
            # `mcp__crm__merge_users` as "merge the users"; empty where no verb is known, or nothing that it is done to
            said = f"{act.verb} the {' '.join(rest)}"[:200] if rest and act.verb else ""
            is_open = self.crude != "read" and (said or self.params)
            out.effect(CHANGE, said or target, *(("open_call", "outermost")[: 2 - bool(self.depth)] if is_open else ()))

    def _report(self, found: Iterable[_Found], traits: set[str]) -> None:
        for verb, act, own in found:
            every = traits.union(own)
            self.out.effect(verb, self._target(act), *sorted(every if every.isdisjoint(_SEVERAL) else every - {"one"}))

    def _target(self, act: NamedAct) -> str:
        return (act.noun if act.noun not in ("", *act.phrase) else " ".join(act.phrase) or self.name)[:200]


def _is_told(tail: Words, words: Words, keys: parameters.Keys) -> bool:
    """True for a name that ends in what is told of a thing, `abort_reason`, `process_kill_history`, `jobs.describe`; not for `delete_report`."""
    last, kinds, nouns = tail[-1], verbs(), objects()
    own = {"id", "ids", last, *(f"{noun}{ids}" for noun in (last, last.removesuffix("s")) for ids in ("id", "ids"))}
    if "all" in reach_of(words):
        return False
    if last not in _LISTS.records or len(tail) == 1:
        latest = len(tail) == 2 and tail[0] in _LISTS.latest and last in nouns
        told = last in _LISTS.told and (len(words) > 2 or own.isdisjoint(keys))
        return latest or told or (len(tail) == 1 and last in _LISTS.asks)
    harmless = all(kinds.get(word, "read") in _LISTS.tame for word in words[:-1])
    owned = tail[0] in nouns and tail[0] not in kinds and _MAPS.by_pattern.keys().isdisjoint(tail)
    return harmless or owned or (own.isdisjoint(keys) and not _LISTS.asked.isdisjoint(keys))  # or deleted itself
