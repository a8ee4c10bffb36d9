"""A named operation with its parameters -> its effects (R-8, C-01, DL-04, DL-11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from interlock.analysis.facts import Report
from interlock.analysis.lexicon import (
    REACH,
    is_plural,
    names_production,
    split_name,
)
from interlock.analysis.lexicon.load import WordLists, WordMaps
from interlock.analysis.operations.effects import (
    CHANGE,
    HARMLESS,
    READ,
    by_params,
    deed,
    is_broadcast,
    is_harm,
    with_object,
)
from interlock.analysis.operations.files import content_deeds, file_act
from interlock.analysis.operations.name_patterns import (
    BUILT_IN_PATTERNS,
    NamePatterns,
    PatternMatch,
    exemption,
    is_safe,
    matches,
)
from interlock.analysis.operations.names import NamedAct, Words, parse_name
from interlock.analysis.operations.nested import read_calls, read_job, read_nested, read_order
from interlock.analysis.operations.params import (
    PLAIN,
    Entry,
    Keys,
    ParamScope,
    first_spellings,
    scope_of,
    short_keys,
    spelled_twice,
    walk,
)
from interlock.analysis.operations.payloads import is_statement, read_payloads, run_named, text_of
from interlock.analysis.operations.requests import attaches_data, read_click, read_confirmation, sends_secret
from interlock.analysis.operations.settings import out_of_bounds, settings_of
from interlock.analysis.operations.tools import built_in, read_tool_call, tool_reader
from interlock.analysis.shell import Job

_LISTS = WordLists("operation")
_MAPS = WordMaps("operation")

_EXPLAINED = ("sql", "query", "statement")
_DEEPEST = 4  # operations named inside operations
_NOTHING = NamedAct("", "", (), "", "")
_NO_PATTERNS = NamePatterns((), (), ())  # what a job is called is no name of an operation
_REACHING = frozenset().union(*REACH.values())
_SEVERAL = frozenset({"all", "bulk"})
_NO_PARAMS: Mapping[str, Any] = MappingProxyType({})
_Found = tuple[str, NamedAct, tuple[str, ...]]  # the effect, the act that has it, and traits


def read_operation(
    name: str, params: Mapping[str, Any], crude: str, out: Report, patterns: NamePatterns | None = None, depth: int = 0
) -> None:
    """Reports what an operation of this name, with these parameters and in this CRUDE category, would do.

    The name patterns are those of the reading (R-19) where none are given.
    """
    out.step()
    globs: NamePatterns = patterns if patterns is not None else getattr(out, "patterns", BUILT_IN_PATTERNS)
    if depth > _DEEPEST:
        out.unreadable("operations nested too deeply", "nesting")
        return
    crude = (crude or "").strip().lower()
    params = params if isinstance(params, (dict, Mapping)) else {}
    entries = walk(params) if params else []
    keys: Keys = {key: value for key, _, value, level, _ in entries if not level}
    if spelled_twice(params, keys):
        out.unreadable("a parameter in two spellings with different values", "syntax")
        if len(keys) < len(params):
            read_operation(name, first_spellings(params), crude, out, patterns, depth + 1)
    if keys and (reader := built_in(name, keys, crude)):
        read_tool_call(reader, name, keys, partial(_announced, out), out)
        return
    segments = split_name(name)
    words, named_acts = parse_name(segments)
    acts = [with_object(act, keys) for act in named_acts] or [_NOTHING]
    if not depth:
        out_of_bounds(name, keys, out)
    scope = scope_of(entries)
    scope.dry_run = scope.dry_run or (crude == "read" and words[-1:] == ("preview",))
    if scope.too_much:
        out.unreadable(scope.too_much, "budget")
    if scope.dry_run:  # a database only explains a statement then; a shell would run its command all the same
        keys = {key: text for key, text in keys.items() if key not in _EXPLAINED or not is_statement(str(text))}
    call = _Call(name, words, segments, acts, params, keys, entries, crude, scope, globs, out)

    def inner(
        inner_name: str, its: Mapping[str, Any] = _NO_PARAMS, its_crude: str = "", own: NamePatterns = globs
    ) -> None:
        read_operation(inner_name, its, its_crude, out, own, depth + 1)

    ran = bool(keys) and _payloads(call, inner)
    if not ran and not scope.dry_run and not _LISTS.executes.isdisjoint(words) and _LISTS.trials.isdisjoint(words):
        _loose_texts(entries, out)
    _effects(call, ran)


def _announced(out: Report, name: str) -> None:
    """Reads an operation that only its name tells."""
    read_operation(name, {}, "update", out, depth=1)


def read_tool(name: str, input: Mapping[str, Any], out: Report, crude: str = "") -> None:
    """Reports what a call of this tool would do; a tool that nobody knows is judged as an operation of its name and category."""
    out.step()
    input = input if isinstance(input, Mapping) else {}
    keys = short_keys(input)
    reader = tool_reader(name, keys)
    if not reader:
        read_operation(name, input, crude, out)
        return
    twice = spelled_twice(input, keys)
    if twice:
        out.unreadable("a parameter in two spellings with different values", "syntax")
    for given in (short_keys(first_spellings(input)), keys) if twice else (keys,):
        read_tool_call(reader, name, given, partial(_announced, out), out)
    if reader == "agent":
        inner = {key: value for key, value in input.items() if not isinstance(value, PLAIN)}
        read_calls(inner, lambda name, its: read_operation(name, its, "", out, depth=1))


class _Call(Struct, frozen=True):
    """A call with its name parsed and its parameters at hand."""

    name: str
    words: Words
    segments: Sequence[Words]
    acts: list[NamedAct]
    params: Mapping[str, Any]
    keys: Keys
    entries: list[Entry]
    crude: str
    scope: ParamScope
    patterns: NamePatterns
    out: Report


def _payloads(call: _Call, inner: Callable[..., None]) -> bool:
    """Reads what the parameters run, and the operations they name; True when there was something."""
    words, segments, act, keys, out = call.words, call.segments, call.acts[0], call.keys, call.out
    verb = act.verb or (words[0] if words else "")
    # the server of a tool often is the program or the database that is meant: mcp__docker__run_command
    spoken = (*segments[1], *words) if len(segments) > 2 and segments[0] == ("mcp",) else words
    field, job = partial(inner, its_crude="update"), partial(inner, its_crude="update", own=_NO_PATTERNS)
    ran = read_payloads(spoken, verb, keys, field, out)
    ran = read_click(verb, words, keys, field) or ran
    ran = read_confirmation((*spoken, verb), keys, field) or ran
    ran = read_order(words, keys, out) or read_job(words, verb, keys, job) or ran
    if sends_secret(verb, words, keys, call.entries):
        out.effect("act_leak", "a secret")
    elif attaches_data(act.kind, words, keys):
        out.effect("send", "whoever gets the message", "content")
    return read_nested(act, call.params, keys, inner) or ran


def _effects(call: _Call, ran: bool) -> None:
    """Reports what the name announces and the parameters set; something has run already where `ran` is true."""
    words, act, keys, entries, out = call.words, call.acts[0], call.keys, call.entries, call.out
    settings = chain(settings_of(words, act, call.params, entries), content_deeds(words, act, keys, entries))
    by_settings = [(verb, act, own) for verb, own in filter(is_harm, settings)] if entries else []
    if exemption(call.name, call.patterns):  # the name is the operator's to lower, what the parameters do is not
        _report(by_settings, set(), call.name, out)
        out.effect(READ, call.name[:200], "exempt")
        return
    named = _matches(words, call.acts, call.crude, call.patterns)
    if not call.scope.dry_run:
        if file_act(words, act, keys, out) and not named:
            return
        run_named(call.segments, call.params, out)
    traits = _reach(call)
    found = _harmful(call, traits, named, ran) + by_settings
    if found and call.scope.dry_run and not ran:
        out.effect(READ, _target(act, call.name), "dry_run")
    elif found:
        marks = {"named", f"pattern_{'forbidden' if any(match.forbidden for match in named) else 'dangerous'}"}
        _report(found, traits - {"unfiltered"} | (marks if named else set()), call.name, out)
    elif not ran:
        _harmless(call, traits)


def _report(found: Iterable[_Found], traits: set[str], name: str, out: Report) -> None:
    for verb, act, own in found:
        every = traits.union(own)
        out.effect(verb, _target(act, name), *sorted(every if every.isdisjoint(_SEVERAL) else every - {"one"}))


def _loose_texts(entries: Iterable[Entry], out: Report) -> None:
    """Texts of an operation that runs something, whatever their keys: one that begins with a program and does harm counts."""
    from interlock.analysis.shell.loose_text import add_harm, is_data, is_program

    for key, _, value, _, _ in entries:
        text = text_of(value)
        if text and isinstance(out, Job) and not is_data(f"--{key}") and is_program(text.split(" ")[0]):
            add_harm(out, text, key)


def _reach(call: _Call) -> set[str]:
    """How far it reaches, from the name and from the parameters."""
    words, act, scope = call.words, call.acts[0], call.scope
    traits = scope.traits - {"many"}
    if not _REACHING.isdisjoint(words):
        traits.update(trait for trait, vocabulary in REACH.items() if not vocabulary.isdisjoint(words))
    if names_production(words):
        traits.add("production")
    several = is_plural(act.noun) and act.verb not in _LISTS.tidies and not scope.single
    if ("many" in scope.traits or several) and not scope.filtered:
        traits.add("bulk")
    if act.verb == "purge" or (act.kind == "send" and act.noun in _LISTS.mailings) or is_broadcast(act, words):
        traits.add("bulk")  # seed 003 calls every purge severe, `queue.purge` too
    if traits.isdisjoint(_SEVERAL):
        traits.add("one")
    holds = act.object == "project" or (act.object in ("account", "organization") and act.kind in _LISTS.ends)
    if holds and not all(
        map(_LISTS.clouds.isdisjoint, call.segments)
    ):  # of a cloud: it holds everything, one of a task list does not
        traits.update(("all", "project") if act.object != "project" else ("all",))
    return traits


# -- the specified patterns -------------------------------------------------------------------------------


def _matches(words: Words, acts: list[NamedAct], crude: str, patterns: NamePatterns) -> list[PatternMatch]:
    """R-8: a leading reader outranks later patterns; the noun phrase of a creating verb holds no match."""
    found = matches(words, patterns)
    if not found:
        return []
    lead = acts[0]
    if lead.verb in _LISTS.trials and crude != "delete":
        return []
    if lead.kind == "read" and crude in ("", "read") and len(acts) == 1:
        return [match for match in found if match.at < lead.at]
    if lead.kind in _LISTS.putting and len(acts) == 1:
        ends = lead.kind != "create"  # deploy_production is a mutation; create_backup_production is a copy
        return [match for match in found if match.at <= lead.at or (ends and match.glob.startswith("*"))]
    return found


def _of_pattern(act: NamedAct, verb: str, named: list[PatternMatch]) -> str:
    globs = " ".join(match.glob for match in named)
    if "force" in globs and "push" in (act.verb, act.noun, *act.phrase):
        return "act_rewrite"
    found = (f"act_{effect}" for word, effect in _MAPS.by_pattern.items() if word in globs)
    return next(found, CHANGE if verb == READ else verb)


# -- what is reported -------------------------------------------------------------------------------------


def _harmful(call: _Call, traits: set[str], named: list[PatternMatch], ran: bool) -> list[_Found]:
    """The acts that do harm, by name, by parameters, by a pattern or by the category."""
    found: list[_Found] = []
    lead = call.acts[0]
    for act in call.acts:
        verb, own = by_params(act, deed(act, frozenset(traits)), call.keys, traits)
        if named and act is lead and verb in HARMLESS:
            verb = _of_pattern(act, verb, named)
        elif not is_harm((verb, own)) or (call.crude == "read" and verb in HARMLESS):
            continue
        found.append((verb, act, own))
    if not found and call.crude == "delete" and lead.kind != "restore" and not ran:  # DL-04
        kind = lead.object if lead.object != "light" else "data"
        found.append((deed(NamedAct("delete", "delete", lead.phrase, kind, lead.noun))[0], lead, ()))
    return found


def _harmless(call: _Call, traits: set[str]) -> None:
    """C-01: safe only when the category and the name agree; everything else is at least reversible (DL-05)."""
    act, out = call.acts[0], call.out
    verb = deed(act, frozenset(traits))[0]
    target = _target(act, call.name)
    if verb == "act_send" or is_broadcast(act, call.words):
        out.effect("act_send", target, *sorted(traits & {"all", "bulk", "one", "production"}))
    elif verb == READ or is_safe(call.words, call.patterns):
        out.effect(READ, target, *(() if call.crude == "read" else ("unlabelled",)))
    else:
        out.effect(CHANGE, target)


def _target(act: NamedAct, name: str) -> str:
    """The object in words."""
    if act.noun and act.noun not in act.phrase:
        return act.noun[:200]
    return " ".join(act.phrase)[:200] or name[:200]
