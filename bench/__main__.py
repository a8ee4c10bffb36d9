"""Measures judgements in one run on one core, and prints a table."""

from __future__ import annotations

import json
import resource
import shlex
import statistics
import subprocess
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from interlock import assess
from interlock.analysis import lexicon, places
from interlock.analysis.assess import judge
from interlock.analysis.operations import effects, name_patterns, params, payloads, settings, tools
from interlock.analysis.rules import Rule, Rulebook
from interlock.analysis.rules.load import load
from interlock.model import Action, command, intent, operation, tool

CORPUS = Path(__file__).parent.parent / "tests" / "corpus"
ROUNDS = 7  # each figure is the best of these, so that what else the machine does matters less


def main() -> None:
    actions = list(corpus())
    book = load()
    single = judgement(actions, book)
    tenfold = judgement(actions, ten_times(book))
    print(f"{len(actions)} commands of the sample corpus, {len(book.rules)} rules, best of {ROUNDS}\n")
    row("judgement, uncached", f"p50 {single[0]:6.0f} µs", f"p99 {single[1]:6.0f} µs", "aim 120 and 1,000")
    row("judgement, cached", f"p50 {cached(actions):6.2f} µs", "", "aim 5")
    row(
        "with ten times the rules",
        f"p50 x{tenfold[0] / single[0]:.2f}",
        f"p99 x{tenfold[1] / single[1]:.2f}",
        "aim x1.1",
    )
    for name, aim, others in announced():
        p50, p99 = judgement(others, book)
        row(name, f"p50 {p50:6.0f} µs", f"p99 {p99:6.0f} µs", aim)
    p50, p99 = judgement(next(announced())[2], book, forget_paths)
    row("an operation, words known", f"p50 {p50:6.0f} µs", f"p99 {p99:6.0f} µs", "aim 50")
    for language in ("python", "javascript", "ruby", "perl"):
        p50, p99 = judgement(list(inline(language)), book)
        row(f"inline code, {language}", f"p50 {p50:6.0f} µs", f"p99 {p99:6.0f} µs", "")
    slowest = max((first_use(language), language) for language in GRAMMARS)
    row("first use of a grammar", f"{slowest[0]:6.1f} ms CPU", slowest[1], "aim 30")
    longest = max((growth(language, book), language) for language in LANGUAGES)
    row("96 KB of code, beside 24 KB", f"x{longest[0]:.1f} CPU", longest[1], "aim 5")
    row("import of interlock", f"{import_cpu():6.0f} ms CPU", "", "aim 120")
    row("resident memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:6.0f} MB", "", "")
    print("\nlabelled commands in tests/corpus\n")
    accuracy(book, "commands")
    accuracy(book, "wide")
    for name in ("operations", "intents", "wide_operations", "wide_intents"):
        announced_accuracy(book, name)
    for name in ("unseen_operations", "unseen_intents"):
        for part in sorted({item["set"] for item in rows(name)}):
            announced_accuracy(book, name, part)
    print("\nTime by length, in milliseconds; linear means that ten times the text takes about ten times as long.\n")
    print(f"{'form':<28}{'1 KB':>10}{'10 KB':>10}{'100 KB':>10}{'x10':>8}{'x100':>8}")
    for name, make in FORMS.items():
        times = [
            best(partial(judge, command(make(size), "/home/dev/app"), book), 2) for size in (1_000, 10_000, 100_000)
        ]
        print(
            f"{name:<28}"
            + "".join(f"{t * 1000:10.2f}" for t in times)
            + f"{times[1] / times[0]:8.1f}{times[2] / times[0]:8.1f}"
        )


def row(name: str, first: str, second: str, aim: str) -> None:
    print(f"{name:<28}{first:>16}{second:>16}    {aim}")


def corpus() -> Iterator[Action]:
    """The labelled commands, harmful and benign."""
    for name in ("commands_bad", "commands_ok"):
        for item in rows(name):
            yield command(item["command"], item.get("cwd") or "")


def accuracy(book: Rulebook, name: str) -> None:
    """How a corpus is judged: caught is level 2 or more for a harmful line; false is a benign line that would interrupt."""
    harmful = rows(f"{name}_bad")
    benign = [item for item in rows(f"{name}_ok") if not str(item.get("why", "")).startswith("seed_conflict")]
    seen = {
        item["id"]: judge(command(item["command"], item.get("cwd") or ""), book).assessment
        for item in [*harmful, *benign]
    }
    caught = sum(seen[item["id"]].level >= 2 for item in harmful)
    labelled = sum(seen[item["id"]].level >= item["min_level"] for item in harmful)
    false = sum(seen[item["id"]].level >= (2 if item["max_level"] <= 1 else 3) for item in benign)
    known = [item for item in harmful if item.get("irreversible") is not None]
    undo = sum(seen[item["id"]].irreversible == item["irreversible"] for item in known)
    print(
        f"{name:<17}{caught} of {len(harmful)} harmful caught, {labelled} at their label or above, "
        f"{false} of {len(benign)} benign interrupted, undo right for {undo} of {len(known)}"
    )


def announced_accuracy(book: Rulebook, name: str, part: str = "") -> None:
    """The same for operations and intents, which stand harmful and benign in one file; vague ones are left out."""
    items = [item for item in rows(name) if not str(item.get("why", "")).startswith("seed_conflict")]
    items = [item for item in items if item.get("set", "") == part]
    seen = [(item, judge(announced_action(item), book).assessment.level) for item in items]
    harmful = [(item, level) for item, level in seen if item.get("min_level", 0) >= 2]
    benign = [(item, level) for item, level in seen if item.get("min_level", 0) < 2 and "max_level" in item]
    caught = sum(level >= 2 for _, level in harmful)
    labelled = sum(level >= item["min_level"] for item, level in harmful)
    false = sum(level >= (2 if item["max_level"] <= 1 else 3) for item, level in benign)
    print(
        f"{name:<17} {part:<9}{caught} of {len(harmful)} harmful caught, {labelled} at their label or above, "
        f"{false} of {len(benign)} benign interrupted"
    )


def announced_action(item: dict[str, Any]) -> Action:
    if "hint" in item:
        return intent(item["hint"])
    return operation(item["operation"], item.get("params") or {}, item.get("crude") or "")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text().splitlines()]


def announced() -> Iterator[tuple[str, str, list[Action]]]:
    """The other kinds of action: named operations, sentences, and a tool that is given SQL."""
    calls = [
        operation(item["operation"], item.get("params") or {}, item.get("crude") or "") for item in rows("operations")
    ]
    yield "an operation", "", calls
    yield "an intent", "aim 200", [intent(item["hint"]) for item in rows("intents")]
    statements = ("SELECT 1", "DELETE FROM users", "UPDATE t SET a = 1 WHERE b = 2 OR c = 3", "DROP TABLE x; SELECT 1")
    yield "a tool call with SQL", "aim 1,000", [tool("execute_sql", {"query": text}) for text in statements]


def inline(language: str) -> Iterator[Action]:
    """The deeds of the contract test in a language, as commands."""
    deeds = tomllib.loads((CORPUS.parent / "analysis" / "code" / "deeds.toml").read_text())[language]
    for name, code in deeds.items():
        if name not in ("comment", "way", "absent"):
            text = code.replace("{}", "/etc/x")
            way = deeds["way"]
            yield command(way.replace("%", text if "EOF" in way else shlex.quote(text)), "/home/dev/app")


def growth(language: str, book: Rulebook) -> float:
    """How many times as long the most that is read of a language takes as a quarter of it, in CPU time."""
    deeds = tomllib.loads((CORPUS.parent / "analysis" / "code" / "deeds.toml").read_text())[language]
    said = [text.replace("{}", "/etc/x") for name, text in deeds.items() if name not in ("comment", "way", "absent")]
    code = "\n".join([*said, ""])
    times = []
    for size in (24_000, 96_000):  # more than 100 KB is not read
        whole = code * (size // len(code))
        action = command(
            deeds["way"].replace("%", whole if "EOF" in deeds["way"] else shlex.quote(whole)), "/home/dev/app"
        )
        times.append(best(partial(judge, action, book), rounds=3, clock=time.process_time))
    return times[1] / times[0]


def first_use(language: str) -> float:
    """CPU time of the first command in a language beyond the second, in a process that has read other code, in milliseconds."""
    texts = [action.text for action in inline(language)][:2]
    script = (
        "import sys, time; from interlock import assess; assess(\"python3 -c 'print(open(1))'\"); times = [time.process_time()]\n"
        "for text in sys.argv[1:]: assess(text); times.append(time.process_time())\n"
        "print(times[1] - times[0] - (times[2] - times[1]))"
    )
    started = [sys.executable, "-c", script, *texts]
    times = [float(subprocess.run(started, capture_output=True, text=True, check=True).stdout) for _ in range(ROUNDS)]
    return min(times) * 1000


def best(
    work: Callable[[], object],
    rounds: int = ROUNDS,
    before: Callable[[], None] | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    times = []
    for _ in range(rounds):
        if before:
            before()
        start = clock()
        work()
        times.append(clock() - start)
    return min(times)


def forget_paths() -> None:
    places._place_kept.cache_clear()


def forget() -> None:
    """Empty what judging remembers of paths and words, so that no round profits from the one before."""
    forget_paths()
    of_names = (
        lexicon.split_name,
        lexicon.reach_of,
        effects.act_words,
        effects.deed,
        name_patterns.matches,
        payloads._named_command,
        tools._reader_of,
    )
    for cached in (params._squash, settings.key_senses, params._names_one, *of_names):
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def judgement(actions: Sequence[Action], book: Rulebook, before: Callable[[], None] = forget) -> tuple[float, float]:
    """p50 and p99 of one judgement, in microseconds."""
    for action in actions:
        judge(action, book)
    times = sorted(best(partial(judge, action, book), before=before) * 1e6 for action in actions)
    return statistics.median(times), times[int(len(times) * 0.99)]


def cached(actions: Sequence[Action]) -> float:
    for action in actions:
        assess(action.text, action.cwd)
    return statistics.median(best(partial(assess, action.text, action.cwd)) * 1e6 for action in actions)


def ten_times(book: Rulebook) -> Rulebook:
    """Nine more of each rule: a third for the same programs, the rest for others, as packs for more tools would be."""
    rules: list[Rule] = list(book.rules.values())
    more = [replaced(rule, number) for number in range(9) for rule in rules]
    return Rulebook.of([*rules, *more], book.programs)


def replaced(rule: Rule, number: int) -> Rule:
    same = number % 3 == 0
    clauses = tuple(
        replace(
            clause,
            program=clause.program if same else tuple(f"{name}{number}" for name in clause.program),
            subcommand=tuple((f"{sub[0]}{number}", *sub[1:]) for sub in clause.subcommand)
            if same
            else clause.subcommand,
            place=clause.place,
            trait=clause.trait | {f"never{number}"} if same and not clause.subcommand else clause.trait,
        )
        for clause in rule.when
        if not clause.effect or same
    )
    return replace(rule, id=f"{rule.id}_{number}", when=clauses)


def import_cpu() -> float:
    """CPU time that `import interlock` takes in a new process, in milliseconds."""
    script = "import time; a = time.process_time(); import interlock; print(time.process_time() - a)"
    times = [
        float(subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout)
        for _ in range(5)
    ]
    return min(times) * 1000


GRAMMARS = ("javascript", "ruby", "php", "lua", "elixir", "julia", "java", "go", "csharp")
LANGUAGES = ("python", "perl", "groovy", "r", "awk", "tcl", *GRAMMARS)


def repeated(unit: str, end: str = "") -> Callable[[int], str]:
    return lambda size: (unit * (size // len(unit)))[:size] + end


def nested(opening: str, closing: str) -> Callable[[int], str]:
    def make(size: int) -> str:
        depth = size // (len(opening) + len(closing))
        return opening * depth + "true" + closing * depth

    return make


FORMS: dict[str, Callable[[int], str]] = {
    "commands joined by ;": repeated("git status; ", "true"),
    "commands joined by &&": repeated("ls -la && ", "true"),
    "commands joined by ||": repeated("ls || ", "true"),
    "commands joined by &": repeated("ls & ", "true"),
    "lines": repeated("git status\n"),
    "a pipeline": repeated("cat | ", "cat"),
    "words": repeated("rm a b c ", ""),
    "a long path": lambda size: "rm " + "a/" * (size // 2),
    "redirections": repeated("> a ", ""),
    "here-documents": repeated("cat <<A\nx\nA\n"),
    "<< without an end": repeated("<<a "),
    "single quotes": repeated("'a' "),
    "double quotes": repeated('"a" '),
    "nested $( )": nested("echo $(", ")"),
    "unclosed $(": repeated("$("),
    "nested ( )": nested("( ", " )"),
    "nested { }": nested("{ ", "; }"),
    "nested quotes": nested('"$(echo ', ')"'),
    "backticks": repeated("`a` "),
    "unclosed quotes": repeated("'a\" "),
    "braces": repeated("{a,b}"),
    "variables": repeated("a=1; $a "),
    "if ... fi": nested("if true; then ", "; fi"),
    "case patterns": repeated("case x in a) ls;; esac\n"),
    "functions": repeated("f() { ls; }; f\n"),
    "arithmetic": repeated("$((1+1)) "),
    "padding": repeated(" ", "rm -rf /"),
    "deeper and deeper": repeated("cd a; "),
    "files moved": repeated("mv a b; "),
    "a list, used often": lambda size: "a=(" + "x " * (size // 4) + "); " + "rm ${a[@]}; " * (size // 24),
    "a long value, used often": lambda size: "a=" + "x" * (size // 2) + "; " + "rm $a; " * (size // 14),
    "bash -c in bash -c": nested("bash -c ' ", " '"),
    "python -c": lambda size: "python3 -c '" + repeated("x = f(1)\n", "'")(size - 20),
    "node -e": lambda size: "node -e '" + repeated("x = f(1);\n", "'")(size - 20),
    "ruby -e": lambda size: "ruby -e '" + repeated("x = f(1)\n", "'")(size - 20),
    "perl -e": lambda size: "perl -e '" + repeated("$x = f(1);\n", "'")(size - 20),
}


if __name__ == "__main__":
    main()
