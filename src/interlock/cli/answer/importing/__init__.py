"""`interlock import`: other guards' rules as standing answers, shown first, signed like any other, never weaker in silence."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from interlock.agents import SCOPES, agent, words
from interlock.analysis.assess import judge
from interlock.analysis.display_text import Lines, line, visible
from interlock.analysis.programs.load import describe
from interlock.analysis.rules import Rulebook
from interlock.cli.answer.importing.formats import ALLOW, ASK, WRITERS, ForeignRule, UnknownFormat, read_file
from interlock.cli.command import OK, Args, UsageError, command, list_of, settings, wrong_usage
from interlock.cli.output import pluralize, report, say, say_json, typed_name
from interlock.cli.sign_in import confirm, operator_session
from interlock.client import ApiError
from interlock.config import Config
from interlock.model import Level, tool
from interlock.model import command as command_action
from interlock.policy.match_names import match_names
from interlock.policy.patterns import Glob, PatternSyntax, covers
from interlock.runtime import rules_of

_SOURCE = 90  # characters


class ImportedFile(Struct, frozen=True):
    path: str
    guard: str
    rules: tuple[ForeignRule, ...]


@command()
def import_main(args: Args) -> int:
    config = settings(args)
    files = [_checked(Path(name), config) for name in args.files]
    if args.json and not args.save:
        say_json({"files": to_builtins(files)})
        return OK
    say(_lines(files), to_errors=args.json)
    rules = (rule for file in files for rule in file.rules if rule.verdict != ASK)
    wanted = list(dict.fromkeys((rule.verdict, one, rule.why, rule.seconds) for rule in rules for one in rule.patterns))
    if args.save and wanted:
        return _save(args, wanted)
    lead = f"Nothing was saved. With --save you sign {pluralize(len(wanted), 'standing answer')};"
    print(f"{lead} `{typed_name()} allow --list` then shows them." if wanted else "There is nothing to save.")
    return OK


def _checked(path: Path, config: Config) -> ImportedFile:
    with wrong_usage(UnknownFormat):
        guard, rules = read_file(path)
    book = rules_of(config) if any(rule.verdict == ALLOW and rule.patterns for rule in rules) else Rulebook.of((), {})
    return ImportedFile(str(path), guard, tuple(_limited(rule, book, config) for rule in rules))


def _limited(rule: ForeignRule, book: Rulebook, config: Config) -> ForeignRule:
    for pattern in rule.patterns:
        try:
            Glob.of(pattern)
        except PatternSyntax as error:
            return replace(rule, patterns=(), problem=str(error))
        if rule.verdict == ALLOW and (why := why_refused(pattern, book, config)):
            return replace(rule, patterns=(), problem=f"refused: {why}")
    return rule


def _lines(files: Sequence[ImportedFile]) -> Lines:
    for file in files:
        yield line(f"{file.guard}, {file.path}", "heading")
        for rule in (rule for rule in file.rules if rule.patterns and rule.verdict != ASK):
            for pattern in rule.patterns:
                yield line(f"  {rule.verdict:<6}", rule.verdict) + line(pattern, "command")
            yield line(f"         from {_short(rule.source)}", "dim")
        if asks := [f'"{visible(one)}"' for rule in file.rules if rule.verdict == ASK for one in rule.patterns]:
            yield ()
            yield line("Always asked about there. For the same here, in a policy of your own (docs/guide/policies.md):")
            yield line(f"  patterns.approve = [{', '.join(asks)}]", "command")
        problems = [rule for rule in file.rules if rule.problem]
        if problems:
            yield ()
            yield line(f"Not carried over ({len(problems)} of {len(file.rules)}):")
        for rule in problems:
            yield line(f"  {rule.verdict:<6}", "dim") + line(_short(rule.source), "command")
            yield line(f"         {rule.problem}", "dim")
        yield ()


def _short(text: str) -> str:
    text = visible(" ".join(text.split()))
    return text if len(text) <= _SOURCE else f"{text[: _SOURCE - 1]}…"


def _save(args: Args, wanted: Sequence[tuple[str, str, str, int]]) -> int:
    with operator_session(args) as operator:
        there = {(row.get("verdict"), row.get("pattern")) for row in list_of(operator, "standing")}
        new = [one for one in wanted if one[:2] not in there]
        if not new:
            print("All of it is saved already.")
            return OK
        if not confirm(f"Sign {pluralize(len(new), 'standing answer')}?"):
            raise UsageError("nothing was saved")
        made, refused = [], []
        for verdict, pattern, why, seconds in new:
            body = {"verdict": verdict, "pattern": pattern, "why": why or "imported", "seconds": seconds}
            try:
                made.append(operator.post("/standing", body))
            except ApiError as error:
                refused.append(f"{verdict} {visible(pattern)}: {error}")
    ways = f"`{typed_name()} revoke ID` takes one back, `allow --list` shows them."
    lines = [f"Saved: {pluralize(len(made), 'standing answer')}. {ways}", *(f"Refused: {words}" for words in refused)]
    return report(args, {"saved": made, "refused": refused}, "\n".join(lines), not refused)


_TEXTS = tomllib.loads(Path(__file__).with_name("probes.toml").read_text("utf-8"))


def why_refused(pattern: str, rules: Rulebook, config: Config) -> str:
    """The action that an allow must not cover, in a sentence; empty where it covers none."""
    glob = Glob.of(pattern)
    program = glob.body.split()[0]
    if "*" in glob.body and glob.is_command and describe(program).wrapper:
        return f"what {program} runs is judged by itself, so that this would allow nothing or anything"
    for path in _own_paths(config):
        for name in WRITERS:
            action = tool(name, {"file_path": str(path)})
            if covers((glob,), match_names(action, ())):
                return f"it would let an agent change {path}, which belongs to the guard"
    for text in _texts(glob):
        action = command_action(text, "/home/user/project")
        judgement = judge(action, rules)
        assessment = judgement.assessment
        guard = any(finding.rule.startswith("self_protection.") for finding in assessment.findings)
        if (assessment.level >= Level.FORBIDDEN or guard) and covers((glob,), match_names(action, judgement.facts)):
            what = "acts against the guard itself" if guard else "is forbidden"
            return f"it would cover `{text}`, which {what}"
    return ""


def _texts(glob: Glob) -> Iterator[str]:
    if glob.tool and glob.tool.casefold() != "bash":
        return
    yield from _TEXTS["probes"]
    if glob.tool or glob.is_command:
        for fill in _TEXTS["fills"][: None if "*" in glob.body else 1]:
            yield " ".join(glob.body.replace("*", fill).split())


def _own_paths(config: Config) -> Iterator[Path]:
    home = Path.home()
    yield config.folder / "state.db"
    yield Path(config.path) if config.path else home / ".config" / "interlock" / "interlock.toml"
    for word, scope in product(words(), SCOPES):
        for place in agent(word).places(scope, home, home / "project"):
            yield place.path
