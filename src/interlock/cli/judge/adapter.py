"""`interlock adapter`: checks adapter files, lists and changes their trust, and serves them over MCP."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

import interlock
from interlock.adapters import Adapter, AdapterOperationSpec, AdapterProblem, AdapterReading, read_file
from interlock.adapters.levels import EffectiveLevel, effective_level, level_from_name
from interlock.adapters.trust import HIGHEST_CLAIM, current_trust
from interlock.analysis.display_text import Lines, line
from interlock.cli.command import (
    FAILED,
    OK,
    USAGE,
    Args,
    CommandError,
    CommandWords,
    command,
    daemon,
    list_of,
    wrong_usage,
)
from interlock.cli.guard.mcp import MODE_WORDS, safety_mode
from interlock.cli.output import pluralize, print_table, report, report_table, say, say_json
from interlock.cli.sign_in import operator_session
from interlock.client import path_segment
from interlock.config import load_config
from interlock.loop.protocol.tools import ToolNaming
from interlock.mcp.adapters.catalog import AdapterFiles
from interlock.mcp.adapters.requests import AdapterUnusable
from interlock.model import Trust
from interlock.policy.trust_matrix import gate


class CheckedOperation(Struct, frozen=True):
    operation: AdapterOperationSpec
    found: EffectiveLevel
    passes: str  # what the matrix says of it at the adapter's trust

    @property
    def raised(self) -> str:
        block = self.operation.danger
        return block.highest.word if block and block.highest > self.found.level else ""


_words = CommandWords(__name__)


def main(argv: Sequence[str]) -> int:
    return _serve(argv[1:]) if argv[:1] == ["serve"] else _words(argv)


@_words.word
def _check(args: Args) -> int:
    found, usable = [], True
    for at, name in enumerate(args.files):
        try:
            reading = read_file(Path(name))
        except OSError as error:
            problem = AdapterProblem(0, "", f"cannot be read: {error.strerror or error}", True)
            reading = AdapterReading(None, (problem,))
        usable = usable and reading.usable
        if args.json:
            found.append(_json(name, reading))
        else:
            print("\n" if at else "", end="")
            _print(name, reading)
    if args.json:
        say_json(found)
    return OK if usable else FAILED


def _trust_of(adapter: Adapter) -> tuple[Trust, str]:
    return current_trust(adapter.trust, time.time())


def _rows(adapter: Adapter) -> Iterator[CheckedOperation]:
    trust, _ = _trust_of(adapter)
    for operation in adapter.operations:
        found = effective_level(operation.claims, level_from_name, trust)
        word = "allow" if operation.name == "introspect" else gate(found.level, trust)
        yield CheckedOperation(operation, found, word)


def _print(name: str, reading: AdapterReading) -> None:
    rows = list(_rows(reading.adapter)) if reading.adapter else []
    if reading.adapter:
        say(_head(name, reading.adapter))
        cells = []
        for row in rows:
            source = row.found.source + (f", by its parameters up to {row.raised}" if row.raised else "")
            cells.append((row.operation.name, row.operation.category, row.found.level.word, row.passes, source))
        print_table(("operation", "family", "level", "passes", "level from"), cells, sys.stdout)
    say(_problem_lines(name, reading, rows))


def _head(name: str, adapter: Adapter) -> Lines:
    trust, why = _trust_of(adapter)
    less = f" ({why})" if why else ""
    yield line(name, "heading") + line(f"  {adapter.name} {adapter.version}, trust {trust.word}{less}")
    if trust > HIGHEST_CLAIM:
        words = f"A daemon counts it as {HIGHEST_CLAIM.word} until an operator says more: `interlock adapter trust`."
        yield line(words, "dim")
    if trust is Trust.UNTESTED:
        yield line("An untested adapter may only be introspected; see docs/reference/adapters.md.", "dim")
    yield ()


def _problem_lines(name: str, reading: AdapterReading, rows: Sequence[CheckedOperation]) -> Lines:
    if reading.problems or any(row.found.warnings for row in rows):
        yield ()
    for problem in reading.problems:
        where = line(f"{name}:{problem.line}: " if problem.line else f"{name}: ")
        word = line(problem.word, "deny" if problem.error else "ask")
        place = line(f"  [{problem.place}]" if problem.place else "", "dim")
        yield where + word + line(f": {problem.message}") + place
    for row in rows:
        for notice in row.found.warnings:
            yield line(f"{name}:{row.operation.line}: ") + line("notice", "dim") + line(f": {notice.message}")
    errors = sum(problem.error for problem in reading.problems)
    warnings = len(reading.problems) - errors
    verdict = "can be used" if reading.usable else "must not be used"
    yield ()
    yield line(f"{len(rows)} operations, {pluralize(errors, 'error')}, {pluralize(warnings, 'warning')}: {verdict}")


def _json(name: str, reading: AdapterReading) -> dict[str, Any]:
    adapter = reading.adapter
    return {
        "file": name,
        "usable": reading.usable,
        "name": adapter and adapter.name,
        "version": adapter and adapter.version,
        "trust": adapter and _trust_of(adapter)[0].word,
        "operations": [_row_json(row) for row in _rows(adapter)] if adapter else [],
        "problems": [
            {"line": item.line, "severity": item.word, "place": item.place, "message": item.message}
            for item in reading.problems
        ],
    }


def _row_json(row: CheckedOperation) -> dict[str, Any]:
    found = row.found
    return {
        **{key: getattr(row.operation, key) for key in ("name", "category", "line")},
        "level": int(found.level),
        "level_name": found.level.word,
        "source": found.source,
        "highest": row.raised or found.level.word,
        "passes": row.passes,
        "warnings": [notice.as_json() for notice in found.warnings],
    }


@_words.word
def _list_adapters(args: Args) -> int:
    found = list_of(daemon(args), "adapters")
    empty = "No adapter is loaded: name their files under adapters.files in the configuration. No proxy has asked yet, either."
    columns = ("adapter", "version", "trust", "operations", "why")
    return report_table(args, {"adapters": found}, columns, [_adapter_row(one) for one in found], empty)


def _adapter_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    due = f"; a new review is due since {one['revalidate_by'][:10]}" if one.get("overdue") else ""
    own, step = "its file says so", (one["history"] or [{}])[-1]
    if one["kind"] == "server":
        own, one = "its proxy says so", {**one, "version": f"server {one['mark'][:8]}", "operations": "-"}
    changed = f"{step['by']}: {step['reason']}" if step.get("by") else own
    cells = [str(one[key]) for key in ("name", "version", "trust", "operations")]
    return (*cells, f"{one['why'] or changed}{due}")


@_words.word
def _trust(args: Args) -> int:
    body = {"level": args.level, "reason": args.reason, **({"mark": args.mark} if args.mark else {})}
    with operator_session(args) as operator:
        after = operator.call("PUT", f"/adapters/{path_segment(args.name)}/trust", body)
    why = f" ({after['why']})" if after["why"] else ""
    starts = f": {after['starts']}" if after.get("starts") else "."
    lead = f"{after['kind'].capitalize()} {after['name']} is {after['trust']} now"
    return report(args, after, f"{lead}{why}{starts}")


@_words.word
def _serve_below(args: Args) -> int:
    """Stands for `serve` in the help; `main` runs it."""
    return USAGE


@command(MODE_WORDS, word="adapter serve")
def _serve(args: Args) -> int:
    with wrong_usage(OSError, ValueError):
        config, naming = load_config(args.config), ToolNaming.of(os.environ)
    from interlock.mcp.adapters.serving import check_names, say, serve_adapters  # `mcp` takes a second
    from interlock.mcp.stdio import ServerOptions, run_quietly

    try:
        shelf = AdapterFiles(args.files, say)
        check_names(naming, [one.name for one in shelf.look()])
    except AdapterUnusable as error:
        raise CommandError(str(error)) from None
    options = ServerOptions(naming, mode=safety_mode(args.safety_mode))
    serving = serve_adapters(config, args.config, shelf, options, args.agent, args.proxy, interlock.__version__)
    return run_quietly(serving)
