"""Matches facts with the rules of their program, or of their effect and place -> findings; neither number nor order matters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from itertools import pairwise

import re2
from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import PIPELINE, Command, Effect, Fact, show_command
from interlock.analysis.packs import Words
from interlock.analysis.programs import Program
from interlock.analysis.programs.load import UNDESCRIBED
from interlock.analysis.programs.net import NET, Harm, harm_of, is_suspect, only_reads
from interlock.analysis.programs.options import CommandOptions, holds, may_be_value, options
from interlock.analysis.rules import ANY, Clause, Entry, Index, Rule, Rulebook
from interlock.model import Category, Finding, Level

_SAFE, _REVERSIBLE, _DESTRUCTIVE, _DANGEROUS = Level.SAFE, Level.REVERSIBLE, Level.DESTRUCTIVE, Level.DANGEROUS
_READS = frozenset({"read", "sql_read", "store_read"})
_DISPOSABLE = frozenset({"build", "cache", "log", "temp"})
# One of these is destructive; a list of them, known only at run time, is bulk and so dangerous.
_BULK = frozenset({
    Category.DATA_DELETION, Category.RESOURCE_TERMINATION, Category.ACCESS_REVOCATION, Category.CREDENTIAL_INVALIDATION,
    Category.ACCOUNT_ACTION, Category.COMMUNICATION_BLOCK, Category.FINANCIAL_ACTION, Category.CONFIG_DESTRUCTION,
})  # fmt: skip


class Classified(Struct):
    findings: list[Finding] = []
    floor: Level = _SAFE


class _View:
    """A command's words, sorted once for all clauses."""

    __slots__ = ("command", "found", "lines", "words")

    def __init__(self, command: Command, program: Program) -> None:
        self.command = command
        words = list(command.words)
        if program.slash_flags or _is_cmdlet(command):
            slashes = program.slash_flags
            for at, word in enumerate(words):
                if word[:1] == "-" or (slashes and word[:1] == "/" and word.rfind("/") < 1 < len(word)):
                    words[at] = word.lower()
        self.words = words
        lines = "\n".join(words)  # one line a word, for the patterns
        if lines.count("\n") >= len(words) > 0:
            lines = "\n".join([word.replace("\n", " ") for word in words])
        self.lines = lines
        self.found: CommandOptions = options(words, program.value_flags, program.options_first, program.behind)

    def has(self, flag: str) -> bool:
        if "=" not in flag:
            return self.found.has(flag)
        name, _, value = flag.partition("=")
        return value in self.found.values.get(name, ()) or flag in self.words or (name, value) in pairwise(self.words)

    def has_exactly(self, flag: str) -> bool:
        """No abbreviations: what spares must be spelled out."""
        if "=" in flag:
            return self.has(flag)
        return (flag in self.found.flags or flag in self.found.values) and not self._negated(flag)

    def is_dry(self, flags: Sequence[str]) -> bool:
        """Really given as an option, and neither switched off by its last value nor by --no-…"""
        for flag in flags:
            name, equals, value = flag.partition("=")
            if not name.startswith(("-", "/")):
                if name in self.found.operands:
                    return True
                continue
            if name not in self.found.flags or self._negated(name):
                continue
            given = self.found.values.get(name, [""])[-1]
            if given == value if equals else given.lower() not in NET.off:
                return True
        return False

    def _negated(self, flag: str) -> bool:
        return flag.startswith("--") and f"--no-{flag[2:]}" in self.found.flags


def classify(facts: Iterable[Fact], book: Rulebook) -> Classified:
    """A fact that no rule knows counts as reversible, one that only reads as safe."""
    out = Classified()
    seen: set[tuple[str, str, object]] = set()
    elevated: list[tuple[Level, Fact]] = []
    for fact in facts:
        found, floor = _of_command(fact, book) if isinstance(fact, Command) else _of_effect(fact, book)
        if floor > out.floor:
            out.floor = floor
        level, subject = floor, ""
        for rule in found:
            subject = subject or _subject(fact)
            key = (rule.id, subject, fact.span)
            if key not in seen:
                seen.add(key)
                finding = _finding(rule, fact, subject)
                level = max(level, finding.level)
                out.findings.append(finding)
        if "privileged" in fact.traits:
            reads = not found and isinstance(fact, Command) and only_reads(fact.words)
            elevated.append((_SAFE if reads else level, fact))
    for effect in _elevations(elevated) if elevated else ():
        out.findings += [_finding(rule, effect, effect.subject) for rule in _of_effect(effect, book)[0]]
    if len(out.findings) > 1:
        out.findings.sort(key=lambda finding: (-finding.level, finding.span or (0, 0), finding.rule))
    return out


def _elevations(used: Sequence[tuple[Level, Fact]]) -> Iterable[Effect]:
    """R-20: other rights raise what they are used for by one level, up to dangerous; the worst at each place."""
    worst: dict[object, tuple[Level, Fact]] = {}
    for level, fact in [(level, fact) for level, fact in used if level or "wrapper" not in fact.traits] or used:
        if level >= worst.get(fact.span, (_SAFE,))[0]:
            worst[fact.span] = (level, fact)
    for level, fact in worst.values():
        raised = frozenset({f"level_{min(level + 1, int(_DANGEROUS))}"})
        yield Effect("elevate", traits=raised, span=fact.span, via=fact.via, subject=_subject(fact))


def _subject(fact: Fact) -> str:
    return show_command(fact.program, fact.words) if isinstance(fact, Command) else fact.subject


def _finding(rule: Rule, fact: Fact, subject: str) -> Finding:
    bulk = rule.level is _DESTRUCTIVE and "bulk" in fact.traits and rule.category in _BULK
    bulk = bulk and not (isinstance(fact, Effect) and fact.place in _DISPOSABLE)
    return Finding(
        rule.id,
        _DANGEROUS if bulk else rule.level,
        rule.irreversible,
        f"{rule.reason} It does so for a whole list." if bulk else rule.reason,
        rule.category,
        fact.span,
        subject,
        rule.instead,
        rule.undo,
        rule.approvable,
        rule.requirement,
    )


@cache
def pattern(texts: Words) -> Callable[[str], object]:
    """A test whether any line matches any of these in full; RE2, so that no rule can hang."""
    options = re2.Options()
    options.log_errors = False
    options.case_sensitive = False
    joined = "|".join(f"(?:{text})" for text in texts)
    lines = re2.Set.SearchSet(options)  # answers which match and not where, in half the time
    lines.Add(f"(?m)^(?:{joined})$")
    lines.Compile()
    found: Callable[[bytes], object] = lines.Match

    def search(text: str) -> object:
        try:
            return found(text.encode())  # in bytes, because positions are not needed
        except UnicodeEncodeError:  # a lone surrogate, which no text has but a hostile one
            return found(text.encode("utf-8", "replace"))

    return search


def clauses_of(book: Rulebook, name: str) -> Index:
    index = book.indexes.get(name)
    if index is None and name in book.by_program:
        made: dict[Words, list[Entry]] = {}
        for rule, clause in book.by_program[name]:
            for sub in clause.subcommand or ((),):
                key = tuple(_filed(word) for word in sub[:2])
                made.setdefault(key, []).append((rule, clause, sub, () if key == sub else sub))
        index = book.indexes[name] = made
    return index or {}


def _filed(word: str) -> str:
    """`delete-*` by its verb, and what begins with a pattern as any."""
    head, dash, _ = word.partition("-")
    return word if "*" not in word else f"{head}-*" if dash and "*" not in head else ANY


def _keys(word: str) -> list[str]:
    more = [f"{word.partition('-')[0]}-*"] if "-" in word else []
    return [ANY, word, *more] if word != ANY else [ANY]


def _entries(index: Index, view: _View) -> Sequence[Entry]:
    operands = view.found.operands
    if not operands or (len(index) == 1 and () in index):
        return index.get((), ())
    first = _keys(operands[0])
    keys: list[Words] = [(), *[(one,) for one in first]]
    if len(operands) > 1:
        second = _keys(operands[1])
        keys += [(one, two) for one in first for two in second]
    return [entry for key in keys if key in index for entry in index[key]]


def _of_command(command: Command, book: Rulebook) -> tuple[list[Rule], Level]:
    index = clauses_of(book, command.program)
    if not index and "." in command.program:
        index = clauses_of(book, f"{command.program.partition('.')[0]}.*")
    if "help" in command.traits:
        return [], _SAFE
    by_verb = clauses_of(book, f"{command.program.partition('-')[0]}-*") if _is_cmdlet(command) else {}
    program = book.programs.get(command.program, UNDESCRIBED)
    view = _View(command, program)
    entries = _entries(index, view) if index else ()
    fired = _matching(entries, view)
    if not fired and by_verb:  # a cmdlet of which no rule says more than its verb does
        fired = _matching(_entries(by_verb, view), view)
    rules = [entry[0] for entry in fired]
    dry = bool(program.dry_run) and view.is_dry(program.dry_run)
    harmful = [rule for rule in rules if rule.level > _SAFE and not (dry and rule.level >= _DESTRUCTIVE)]
    if not dry and not any(rule.level >= _DESTRUCTIVE for rule in harmful):
        harm = _by_words(view, program, entries, fired, bool(index or by_verb))
        if harm is not None:
            harmful += _generic(harm, command, book)
    judged = harmful or rules or "wrapper" in command.traits
    return harmful, _SAFE if judged else _REVERSIBLE


def _is_cmdlet(command: Command) -> bool:
    return "-" in command.program and "windows" in command.traits


def _by_words(
    view: _View, program: Program, entries: Sequence[Entry], fired: Sequence[Entry], indexed: bool
) -> Harm | None:
    """The harm that the words name, of which neither a rule nor the description speaks."""
    words, skipped = view.words, 0
    if "wrapper" in view.command.traits:
        skipped = _behind_script(view, program)
        if not skipped and (program.operands or (program.wrapper and not program.ruled) or not program.name):
            return None
        words = words[skipped:]
    elif program.operands not in ("", "files"):
        return None
    if not is_suspect(f"{view.command.program}\n{view.lines}"):
        return None
    if not skipped and (carried := _carried_at(view, program)) is not None:
        words = words[:carried]
    whole = bool(skipped) or not (
        program.operands
        # A rule may call a program harmless whatever its operands are.
        or any(rule.level is _SAFE and not sub and not _varies(clause) for rule, clause, sub, _ in fired)
    )

    def settled(at: int, word: str) -> bool:
        return not skipped and _mentions(entries, fired, program, view.found.operands, at, word)

    described = bool(program.name) or indexed
    harm = harm_of(view.command.program, words, program.value_flags, described, whole, settled)
    for flag in NET.in_order("dry_run") if harm is not None else ():  # of any program: it only tries
        if view.is_dry((flag,)) and flag in view.words:
            at = view.words.index(flag)
            return harm if may_be_value(view.words, at, program.value_flags, NET.switches) else None
    return harm


def _carried_at(view: _View, program: Program) -> int | None:
    operands = view.found.operands
    for payload in program.carries:
        if not payload.words or payload.behind or payload.mark or not holds(payload, view.found):
            continue
        for path in payload.subcommand or ((),):
            if _starts(operands, path) and len(operands) > len(path):
                return view.words.index(operands[len(path)])
    return None


def _behind_script(view: _View, program: Program) -> int:
    """How many words stand before those of a script; none where no script file runs."""
    if "interpreter" not in program.reader and (program.carries or program.wrapper):
        return 0
    if not view.found.operands or any(view.found.has(*payload.options) for payload in program.carries):
        return 0
    script = view.found.operands[0]
    if " " in script or not ("/" in script or "." in script):
        return 0
    return view.words.index(script) + 1


def _mentions(
    entries: Sequence[Entry], fired: Sequence[Entry], program: Program, operands: Sequence[str], at: int, word: str
) -> bool:
    """Whether a clause or the description speaks of this operand, or (at -1) option."""
    if at < 0:
        known = word in program.value_flags or word in program.dry_run or (word,) in program.ruled
        if known or any(word in path.any_flag for path in program.paths):
            return True
    elif any(_starts(operands, path) for path in program.ruled) or any(sub for _, _, sub, _ in fired):
        return True
    for rule, clause, sub, _ in entries:
        if not _starts(operands, sub):
            continue
        if at < 0:
            flags = (*clause.any_flag, *clause.all_flags, *clause.no_flag)
            if any(flag.partition("=")[0] == word for flag in flags):
                return True
        elif len(sub) > at and _varies(clause):
            return True
        spoken = (*clause.any_word, *clause.no_word) if rule.level else clause.any_word
        if any(pattern((text,))(word) for text in spoken):
            return True
    return False


def _varies(clause: Clause) -> bool:
    """Tells harmful forms of a subcommand from others, which are then known to be less."""
    flags = clause.any_flag or clause.all_flags or clause.no_flag
    words = clause.any_word or clause.all_words or clause.no_word or clause.no_line
    return bool(flags or words or clause.no_trait or clause.min_words or clause.max_words >= 0)


def _generic(harm: Harm, command: Command, book: Rulebook) -> list[Rule]:
    marks = {f"word_{harm.kind}"} | ({"word_all"} if harm.everything or "production" in command.traits else set())
    if PIPELINE in command.traits and "word_all" not in marks:
        return []  # it runs elsewhere, after a review; a guess is no reason
    view = _View(replace(command, traits=command.traits | marks), UNDESCRIBED)
    found = [rule for rule, *_ in _matching(clauses_of(book, ANY).get((), ()), view)]
    return [rule for rule in found if rule.level == max(rule.level for rule in found)]


def _matching(entries: Iterable[Entry], view: _View) -> list[Entry]:
    operands = view.found.operands
    found: dict[str, Entry] = {}
    for entry in entries:
        rule, clause, sub, unproved = entry
        if rule.id in found or (unproved and not _starts(operands, unproved)):
            continue
        if _command_matches(clause, len(sub), view):
            found[rule.id] = entry
    return list(found.values())


def _command_matches(clause: Clause, taken: int, view: _View) -> bool:
    command, lines = view.command, view.lines
    words = len(view.found.operands) - taken
    return not (
        not clause.trait <= command.traits
        or not clause.no_trait.isdisjoint(command.traits)
        or words < clause.min_words
        or 0 <= clause.max_words < words
        or (clause.any_flag and not any(map(view.has, clause.any_flag)))
        or (clause.all_flags and not all(map(view.has, clause.all_flags)))
        or (clause.no_flag and any(map(view.has_exactly, clause.no_flag)))
        or (clause.any_word and not pattern(clause.any_word)(lines))
        or (clause.all_words and not all(pattern((text,))(lines) for text in clause.all_words))
        or (clause.no_word and pattern(clause.no_word)(lines))
        or (clause.no_line and "\n" not in (line := " ".join(view.words)) and pattern(clause.no_line)(line))
        or (clause.any_env and not pattern(clause.any_env)("\n".join(map("=".join, command.env))))
    )


def _starts(operands: Sequence[str], words: Words) -> bool:
    if len(operands) < len(words):
        return False
    for have, want in zip(operands, words, strict=False):
        if have == want:
            continue
        head, star, tail = want.partition("*")
        if not star or not have.startswith(head) or not have.endswith(tail) or len(have) < len(head) + len(tail):
            return False
    return True


def _of_effect(effect: Effect, book: Rulebook) -> tuple[list[Rule], Level]:
    rules: dict[str, Rule] = {}
    for place in (effect.place, "") if effect.place else ("",):
        entries = _by_traits(effect.verb, place, effect.traits, book)
        if not entries:
            continue
        asked = book.targets[effect.verb, place]
        named = bool(asked and pattern(asked)(effect.target))  # most targets match no pattern, so one test is enough
        for rule, clause in entries:
            if _effect_matches(clause, effect, named):
                rules[rule.id] = rule
    judged = rules or effect.verb in _READS or effect.place == "sink"
    return [rule for rule in rules.values() if rule.level > _SAFE], _SAFE if judged else _REVERSIBLE


def _by_traits(verb: str, place: str, traits: frozenset[str], book: Rulebook) -> Sequence[tuple[Rule, Clause]]:
    """The clauses for this verb and place that these traits fulfil."""
    key = verb, place, traits
    found = book.by_traits.get(key)
    if found is None:
        entries = book.by_effect.get((verb, place), ())
        found = [one for one in entries if one[1].trait <= traits and one[1].no_trait.isdisjoint(traits)]
        if len(book.by_traits) < _MOST_KEPT:
            book.by_traits[key] = found
    return found


_MOST_KEPT = 4096  # combinations of traits


def _effect_matches(clause: Clause, effect: Effect, named: bool) -> bool:
    """`named`: some clause names its target."""
    return not (
        effect.place in clause.no_place
        or (clause.target and not (named and pattern(clause.target)(effect.target)))
        or (named and clause.no_target and pattern(clause.no_target)(effect.target))
    )
