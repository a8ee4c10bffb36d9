"""`interlock adapter`: checks adapter files, lists and changes their trust, and serves them over MCP."""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from msgspec import Struct

import interlock
from interlock.adapters import Adapter, AdapterOperationSpec, AdapterProblem, AdapterReading, read_file
from interlock.adapters.levels import EffectiveLevel, Named, effective_level
from interlock.adapters.name_levels import level_from_name
from interlock.adapters.trust import HIGHEST_CLAIM, TRUSTS, Trust, current_trust
from interlock.analysis.display_text import Line, StyledText, visible
from interlock.cli.command import (
    OK,
    add_common_options,
    add_operator_option,
    daemon,
    list_rows,
    run,
    say_json,
    say_table,
)
from interlock.cli.guard.mcp import safety_mode
from interlock.cli.output import paint, print_table
from interlock.cli.sign_in import operator_session
from interlock.client import path_segment
from interlock.config import ConfigError, load_config
from interlock.loop.protocol.tools import SurfaceSettingError, ToolNaming
from interlock.mcp.adapters.catalog import AdapterFiles
from interlock.mcp.adapters.requests import AdapterUnusable
from interlock.policy.policy import MODES
from interlock.policy.trust_matrix import gate

if TYPE_CHECKING:
    Words = argparse._SubParsersAction[argparse.ArgumentParser]


_EPILOG = """\
examples:
  interlock adapter check examples/github-adapter.md
  interlock adapter check adapters/*.yaml --json
  interlock adapter list
  interlock adapter trust github community_reviewed --reason 'read by ana and bo'

exit code: 0 if every file can be used, 1 if one has errors, 2 on wrong usage, 3 if no daemon answers
"""


class CheckedOperation(Struct, frozen=True):
    """One operation, judged."""

    operation: AdapterOperationSpec
    found: EffectiveLevel
    passes: str  # what the matrix says of it at the adapter's trust

    @property
    def raised(self) -> str:
        """The level its parameters can raise it to, if they can."""
        block = self.operation.danger
        return block.highest.word if block and block.highest > self.found.level else ""


def main(argv: Sequence[str]) -> int:
    """Check the files named; 1 if any of them must not be used."""
    if argv and argv[0] == "serve":
        return serve_main(argv[1:])
    parser = _parser()
    args = parser.parse_args(list(argv))
    if args.word is None:
        parser.print_help()
        return 0
    if args.word in ("list", "trust"):
        return trust_main(args)
    readings = [(name, _read(Path(name))) for name in args.files]
    now = time.time()
    if args.json:
        print(json.dumps([_json(name, reading, now) for name, reading in readings], indent=2))
    else:
        for at, (name, reading) in enumerate(readings):
            if at:
                print()
            _print(name, reading, now)
    return 0 if all(reading.usable for _, reading in readings) else 1


def _read(path: Path) -> AdapterReading:
    try:
        return read_file(path)
    except OSError as error:
        return AdapterReading(None, (AdapterProblem(0, "", f"cannot be read: {error.strerror or error}", True),))


def _rows(adapter: Adapter, now: float) -> list[CheckedOperation]:
    named = _named()
    trust, _ = current_trust(adapter.trust, now)
    rows = []
    for operation in adapter.operations:
        found = effective_level(operation.claims, named, trust)
        word = "allow" if operation.name == "introspect" else gate(found.level, trust)
        rows.append(CheckedOperation(operation, found, word))
    return rows


def _named() -> Named:
    return level_from_name


def _print(name: str, reading: AdapterReading, now: float) -> None:
    rows = _rows(reading.adapter, now) if reading.adapter else []
    if reading.adapter:
        paint(_head(name, reading.adapter, now), sys.stdout)
        cells = [
            (visible(row.operation.name), row.operation.category, row.found.level.word, row.passes, _source(row))
            for row in rows
        ]
        print_table(("operation", "family", "level", "passes", "level from"), cells, sys.stdout)
    paint(_problem_lines(name, reading, rows), sys.stdout)


def _head(name: str, adapter: Adapter, now: float) -> Iterator[Line]:
    trust, why = current_trust(adapter.trust, now)
    less = f" ({why})" if why else ""
    said = f"  {visible(adapter.name)} {visible(adapter.version)}, trust {trust.word}{less}"
    yield StyledText(visible(name), "heading"), StyledText(said)
    if trust > HIGHEST_CLAIM:
        words = f"A daemon counts it as {HIGHEST_CLAIM.word} until an operator says more: `interlock adapter trust`."
        yield (StyledText(words, "dim"),)
    if trust is Trust.UNTESTED:
        yield (StyledText("An untested adapter may only be introspected; see docs/reference/adapters.md.", "dim"),)
    yield ()


def _source(row: CheckedOperation) -> str:
    raised = f", by its parameters up to {row.raised}" if row.raised else ""
    return row.found.source + raised


def _problem_lines(name: str, reading: AdapterReading, rows: Sequence[CheckedOperation]) -> Iterator[Line]:
    shown = visible(name)
    if reading.problems or any(row.found.warnings for row in rows):
        yield ()
    for problem in reading.problems:
        where = f"{shown}:{problem.line}: " if problem.line else f"{shown}: "
        place = f"  [{visible(problem.place)}]" if problem.place else ""
        yield (
            StyledText(where),
            StyledText(problem.word, "deny" if problem.error else "ask"),
            StyledText(f": {visible(problem.message)}"),
            StyledText(place, "dim"),
        )
    for row in rows:
        for notice in row.found.warnings:
            yield (
                StyledText(f"{shown}:{row.operation.line}: "),
                StyledText("notice", "dim"),
                StyledText(f": {visible(notice.message)}"),
            )
    errors = sum(problem.error for problem in reading.problems)
    warnings = len(reading.problems) - errors
    verdict = "can be used" if reading.usable else "must not be used"
    yield ()
    yield (StyledText(f"{len(rows)} operations, {_count(errors, 'error')}, {_count(warnings, 'warning')}: {verdict}"),)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _json(name: str, reading: AdapterReading, now: float) -> dict[str, Any]:
    adapter = reading.adapter
    return {
        "file": name,
        "usable": reading.usable,
        "name": adapter.name if adapter else None,
        "version": adapter.version if adapter else None,
        "trust": current_trust(adapter.trust, now)[0].word if adapter else None,
        "operations": [_row_json(row) for row in _rows(adapter, now)] if adapter else [],
        "problems": [
            {"line": item.line, "severity": item.word, "place": item.place, "message": item.message}
            for item in reading.problems
        ],
    }


def _row_json(row: CheckedOperation) -> dict[str, Any]:
    return {
        "name": row.operation.name,
        "category": row.operation.category,
        "line": row.operation.line,
        "level": int(row.found.level),
        "level_name": row.found.level.word,
        "source": row.found.source,
        "highest": row.raised or row.found.level.word,
        "passes": row.passes,
        "warnings": [notice.as_json() for notice in row.found.warnings],
    }


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock adapter",
        description="Adapter files: what their operations may do, and how far the daemon trusts them.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    words = parser.add_subparsers(dest="word", metavar="WORD")
    check = words.add_parser(
        "check",
        help="every operation with its level, every problem with its line",
        description="Every operation with its level and where it came from, every problem with its line.",
    )
    check.add_argument("files", nargs="+", metavar="FILE", help="YAML, or Markdown with YAML front matter")
    check.add_argument("--json", action="store_true", help="as JSON")
    add_trust_words(words)
    words.add_parser("serve", help="an MCP-AQL server of adapter files", add_help=False)
    return parser


_LIST = "the adapters that the daemon has loaded, the servers behind proxies, and how far each is trusted"
_TRUST = "another level of trust for an adapter, or for a server behind a proxy: one step up (takes an admin), or down"
_LEVELS = """\
levels, lowest first:
  untested            may only be introspected
  generated           reads
  validated           changes what can be undone; asks before it destroys
  community_reviewed  the same, and what is dangerous after a verification
  certified           everything that the matrix has; takes a certification in the adapter's file

The same level again says that somebody reviewed it anew: due after a week for validated, a month for community_reviewed.

example:
  interlock adapter trust github community_reviewed --reason 'read by ana and bo'
"""


def add_trust_words(words: Words) -> None:
    """Add the subcommands `list` and `trust`."""
    add_common_options(words.add_parser("list", help=_LIST, description=f"{_LIST[:1].upper()}{_LIST[1:]}."))
    trust = words.add_parser(
        "trust",
        help=_TRUST,
        description=f"{_TRUST[:1].upper()}{_TRUST[1:]}.",
        epilog=_LEVELS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_common_options(trust)
    add_operator_option(trust)
    trust.add_argument("name", metavar="NAME", help="as `interlock adapter list` shows it")
    trust.add_argument("level", metavar="LEVEL", choices=tuple(TRUSTS), help=" | ".join(TRUSTS))
    trust.add_argument(
        "--mark", metavar="MARK", default="", help="which of several proxied servers of one name is meant"
    )
    trust.add_argument("--reason", metavar="WORDS", required=True, help="goes on the record, and into the history")


def trust_main(args: argparse.Namespace) -> int:
    """Run `interlock adapter` list or trust."""
    return run("adapter", {"list": _list_adapters, "trust": _trust}[args.word], args)


def _list_adapters(args: argparse.Namespace) -> int:
    found = list_rows(daemon(args).get("/adapters"), "adapters")
    if args.json:
        say_json({"adapters": found})
        return OK
    empty = "No adapter is loaded: name their files under adapters.files in the configuration. No proxy has asked yet, either."
    say_table(("adapter", "version", "trust", "operations", "why"), [_adapter_row(one) for one in found], empty)
    return OK


def _adapter_row(one: Mapping[str, Any]) -> tuple[str, ...]:
    keys = ("name", "version", "trust", "operations")
    due = f"; a new review is due since {str(one['revalidate_by'])[:10]}" if one.get("overdue") else ""
    if one.get("kind") == "server":
        one = {**one, "version": f"server {str(one.get('mark'))[:8]}", "operations": "-"}
    return (*(str(one.get(key, "")) for key in keys), f"{one.get('why') or _last_change(one)}{due}")


def _last_change(one: Mapping[str, Any]) -> str:
    history = one.get("history") or [{}]
    step = history[-1]
    own = "its proxy" if one.get("kind") == "server" else "its file"
    return f"{step['by']}: {step['reason']}" if step.get("by") else f"{own} says so"


def _trust(args: argparse.Namespace) -> int:
    body = {"level": args.level, "reason": args.reason, **({"mark": args.mark} if args.mark else {})}
    with operator_session(args) as operator:
        after = operator.call("PUT", f"/adapters/{path_segment(args.name)}/trust", body)
    if args.json:
        say_json(after)
    else:
        why = f" ({after['why']})" if after.get("why") else ""
        starts = f": {after['starts']}" if after.get("starts") else ""
        kind = str(after.get("kind", "adapter")).capitalize()
        print(f"{kind} {after.get('name')} is {after.get('trust')} now{why}{starts or '.'}")
    return OK


FAILED, USAGE = 1, 2
_SERVE_EPILOG = """\
environment: the variables that the adapters' auth names, MCP_AQL_ENDPOINT_MODE (semantic, single or all), MCP_AQL_TOOL_PREFIX,
MCPAQL_SAFETY_LOOP

The daemon has to know each file as well (adapters.files in interlock.toml); what it does not know is untested, and may only be
introspected. See docs/reference/adapter-serve.md.
"""


def serve_main(argv: Sequence[str]) -> int:
    """Serve adapters until stdin ends; returns 1 for a file that cannot be served, 2 for invalid settings."""
    given = _serve_parser().parse_args(list(argv))
    try:
        config, naming = load_config(given.config), ToolNaming.of(os.environ)
    except (ConfigError, SurfaceSettingError, OSError, ValueError) as error:
        print(f"interlock adapter serve: {error}", file=sys.stderr)
        return USAGE
    from interlock.mcp.adapters.serving import check_names  # `mcp` takes a second
    from interlock.mcp.adapters.stdio import AdapterServerSettings, run, say
    from interlock.mcp.stdio import ServerOptions

    try:
        shelf = AdapterFiles(given.files, say)
        check_names(naming, [one.name for one in shelf.look()])
    except AdapterUnusable as error:
        print(f"interlock adapter serve: {error}", file=sys.stderr)
        return FAILED
    options = ServerOptions(naming, mode=safety_mode(given.safety_mode))
    return run(
        config, given.config, shelf, AdapterServerSettings(options, given.agent, given.proxy), interlock.__version__
    )


def _serve_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock adapter serve",
        description="Adapter files as an MCP-AQL server over stdio. It asks the daemon, and starts one where none runs.",
        epilog=_SERVE_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="YAML, or Markdown with YAML front matter")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the daemon's configuration")
    parser.add_argument("--agent", default="mcp", metavar="NAME", help="the name that held actions carry (mcp)")
    parser.add_argument(
        "--proxy", metavar="URL", help="an HTTP proxy on the way to the services; the environment's is not used"
    )
    parser.add_argument("--safety-mode", metavar="MODE", help=f"{', '.join(MODES)}; can only tighten")
    return parser
