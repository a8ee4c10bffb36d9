"""`interlock explain` and `prompt`: say in words what a command would do, and whether it should run."""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from interlock.analysis.display_text import Lines, labelled
from interlock.analysis.wire import assessment_json, error_json, step_json
from interlock.cli.arguments import NOTHING, declared_parser
from interlock.cli.output import error_text, say
from interlock.config import ConfigError, load_config
from interlock.engine.assessment import Unjudged
from interlock.engine.explain import DENY, explain
from interlock.engine.preview import local_policy, preview
from interlock.impact.files import decode, find_project_files, read_text
from interlock.model import Action, command, intent, operation, requirement_json, tool
from interlock.policy.circumstances import AdapterContext, Circumstances
from interlock.policy.impact import Impact, impact_json
from interlock.policy.load import ProjectFile
from interlock.runtime import InForce

PATIENCE = 5_000  # milliseconds of an inspection
DAEMON_PATIENCE = 2.0  # seconds
MAX_INPUT = 4 * 1024 * 1024  # what is longer than this was never a command


_GO_WITH = {"adapter": "operation", "params": "operation", "crude": "operation", "input": "tool"}


class Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        hint = ""
        if message.startswith("unrecognized arguments"):
            hint = f"\nQuote the command, or put -- before it: {self.prog} 'rm -rf build'"
        self.exit(2, f"{self.prog}: {message}{hint}\nTry `{self.prog} --help`.\n")


def main(argv: Sequence[str]) -> int:
    parser = declared_parser(__name__, "explain", kind=Parser)
    args = parser.parse_args(list(argv))
    cwd = os.path.abspath(args.cwd) if args.cwd else ""
    with contextlib.suppress(OSError):  # the directory was deleted under us
        cwd = cwd or os.getcwd()
    given = [name for name in ("operation", "tool", "intent") if getattr(args, name) is not None]
    if len(given) > 1 or (given and args.command):
        parser.error("give one of a command, --operation, --tool and --intent")
    for option, kind in _GO_WITH.items():
        if getattr(args, option) is not None and given != [kind]:
            parser.error(f"--{option} goes with --{kind}")
    text = getattr(args, given[0]) if given else _text(args.command)
    if not text.strip():
        what = f"--{given[0]} is empty" if given else "no command given"
        return _refuse(f"{what}\nTry `interlock explain 'ls -l'`.")
    named = text.encode("utf-8", "replace").decode()
    if given == ["operation"]:
        action = operation(named, _object(args.params, "--params", parser), args.crude or "", cwd)
    elif given == ["tool"]:
        action = tool(named, _object(args.input, "--input", parser), cwd)
    else:
        action = intent(named, cwd) if given else command(named, cwd)
    try:
        by = local_policy(args.policy, args.config)
    except ValueError as error:  # a configuration, a policy or a rule that must not be used
        return _refuse(error)
    if args.adapter is not None:
        return _show_adapter_operation(args, action, by)
    return show(action, by, args)


def _show_adapter_operation(args: argparse.Namespace, asked: Action, by: InForce) -> int:
    from interlock.adapters import AdapterError  # with what reads operations, which no command needs
    from interlock.cli.judge.adapter_operation import operation_lines, resolve_operation

    try:
        action, context, said, claimed = resolve_operation(args.adapter, asked)
    except (AdapterError, OSError) as error:
        return _refuse(error)
    args.look = False
    code = show(action, by, args, {"adapter": said}, context)
    if not args.json:
        say(operation_lines(said, claimed))
    return code


def _refuse(words: object, name: str = "explain") -> int:
    print(f"interlock {name}: {error_text(words)}", file=sys.stderr)
    return 2


def _object(text: str | None, option: str, parser: argparse.ArgumentParser) -> dict[str, Any]:
    try:
        found = json.loads(text) if text else {}
    except ValueError as error:
        parser.error(f"{option} is no JSON: {error}")
    if not isinstance(found, dict):
        parser.error(f"{option} is a {type(found).__name__}, expected an object")
    return found


_PLAIN = argparse.Namespace(json=False, no_files=False, look=False)


def show(
    action: Action,
    by: InForce,
    args: argparse.Namespace = _PLAIN,
    extra: Mapping[str, Any] = NOTHING,
    adapter: AdapterContext | None = None,
) -> int:
    reached = _reached(args.config) if args.look else []
    points = max((int(one.get("points") or 0) for one in reached), default=0)
    with _inspector() if args.look else contextlib.nullcontext() as inspect:
        project = () if args.no_files else find_project_files(action.cwd)
        at = Circumstances(adapter_context=adapter, cumulative=points)
        answer = preview(action, by, None if args.no_files else read_text, at=at, look=inspect, project=project)
    if isinstance(answer, Unjudged):
        body = json.dumps({"verdict": DENY.word, **error_json(answer.error)}, indent=2)
        words = f"{DENY.lead}: this command {answer.error}. Write it more simply, or report it."
        print(body if args.json else words)
        return DENY.exit_code
    assessment = answer.assessment
    if args.json:
        report: dict[str, Any] = {
            "verdict": answer.verdict.word,
            "decision": answer.outcome,
            "policy": answer.policy,
            "mode": answer.mode,
            "requirement": requirement_json(answer.weighed.requirement),
            "weighed": list(answer.weighed.factors),
            **{key: value for key, value in action.fields.items() if value},
            "cwd": action.cwd,
            **assessment_json(assessment),
            "steps": [step_json(step) for step in assessment.steps],
        }
        if answer.seen is not None:
            report["looked"] = {**impact_json(answer.seen), "words": answer.seen.words}
        report |= extra
        if project:
            report["project"] = [{"path": one.path, "problems": list(one.problems)} for one in project]
        report |= {"raised": reached} if args.look else {}
        del report["id"]
        print(json.dumps(report, indent=2, default=dict))
    else:
        say([*explain(action, answer), *_project_lines(project)])
        for one in reached:
            say([labelled("Raised", f"for {one.get('name') or one['principal']} now: {one['words']}", "ask")])
    return answer.verdict.exit_code


def _reached(config: str | None) -> list[dict[str, Any]]:
    from interlock.client import ApiError, NoDaemon, find_daemon  # 60 modules, for --look alone

    try:
        status = find_daemon(load_config(Path(config) if config else None)).get("/status", DAEMON_PATIENCE)
    except (ConfigError, NoDaemon, ApiError):
        return []
    return list(status.get("raised") or ())


def _project_lines(files: Sequence[ProjectFile]) -> Lines:
    for one in files:
        wrong = "; ".join(one.problems)
        words = f"cannot be used, so everything is asked about: {wrong}" if wrong else "counts here"
        yield labelled("Project", f"{one.path} {words}", "deny" if wrong else "")


@contextlib.contextmanager
def _inspector() -> Iterator[Callable[[Mapping[str, Any]], Impact]]:
    """Looks in a child process; a person waits longer than an agent."""
    from interlock.impact.warm_child import WarmInspector  # subprocess and socket, for --look alone

    with contextlib.closing(WarmInspector()) as found:
        yield lambda question: found({**question, "ms": PATIENCE})


def _text(words: Sequence[str]) -> str:
    """One argument verbatim, several joined with quoting, else standard input."""
    if words and words != ["-"]:
        return shlex.join(words) if len(words) > 1 else words[0]
    if not words and sys.stdin.isatty():
        return ""
    return decode(sys.stdin.buffer.read(MAX_INPUT)).removesuffix("\n")


def prompt_main(argv: Sequence[str]) -> int:
    usage = Path(__file__).with_name("prompt.txt").read_text("utf-8")
    if argv:
        known = argv[0] in ("-h", "--help")
        print(usage if known else f"interlock prompt: takes no {argv[0]!r}\n", end="")
        return 0 if known else 2
    try:
        by = local_policy()
    except ValueError as error:  # as for `explain`
        return _refuse(error, "prompt")
    asks, cwd = sys.stdin.isatty(), os.path.realpath(".")
    if asks:
        with contextlib.suppress(ImportError):
            import readline  # editing and history, in memory only

            readline.set_history_length(1000)
        print("Interlock explains commands and runs none. Type one, or `help`; Ctrl-D ends.\n")
    while True:
        line = _next(cwd if asks else "")
        if line is None or line.strip() in ("exit", "quit"):
            return 0
        if line.strip() == "help":
            print(usage, end="")
        elif (folder := _cd(line)) is not None:
            path = os.path.normpath(os.path.join(cwd, os.path.expanduser(folder)))
            if os.path.isdir(path):
                cwd = path
            else:
                print(f"no directory {path!r}; still in {cwd!r}")
        elif line.strip():
            if not asks:
                print(f"$ {line}")
            show(command(line, cwd), by)
            print(flush=True)


def _next(cwd: str) -> str | None:
    try:
        if cwd:
            home = os.path.expanduser("~")
            return input(f"{'~' + cwd.removeprefix(home) if f'{cwd}/'.startswith(f'{home}/') else cwd} > ")
        line = sys.stdin.readline()
    except EOFError:
        print()
        return None
    except KeyboardInterrupt:  # gives up this line, as in a shell
        print()
        return ""
    return line.rstrip("\n") if line else None


def _cd(line: str) -> str | None:
    try:
        words = shlex.split(line)
    except ValueError:
        return None
    if words[:1] != ["cd"] or len(words) > 2 or set(line) & set(";&|$`<>"):
        return None
    return words[1] if len(words) == 2 else "~"
