"""`interlock policy`: checks, tests and shows policies, and compares two on recorded actions."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any

from interlock.analysis.rules.load import load
from interlock.cli.answer.audit import read_records
from interlock.cli.command import (
    FAILED,
    OK,
    add_operator_option,
    pluralize,
    run,
    say,
    say_json,
    say_table,
    settings,
    words,
)
from interlock.engine.preview import failed_cases
from interlock.engine.replay import Comparison, compare_policies, replay_policy
from interlock.policy.load import load_policy, names
from interlock.policy.policy import Policy, PolicyError
from interlock.policy.rendering import policy_json, policy_lines, policy_warnings

SHOWN = 20  # changed actions
_EXAMPLES = """
interlock policy show
interlock policy check team.toml
interlock policy test team.toml
interlock policy diff default strict --against audit
interlock policy diff default team.toml --against export.jsonl
"""


def main(argv: Sequence[str]) -> int:
    """Run `interlock policy` show, check, test or diff."""
    parser, add = words("policy", "What must happen before an action may run, as data.", _EXAMPLES)
    show = add("show", "what a policy asks for, level by level", "interlock policy show strict")
    show.add_argument("name", nargs="?", metavar="NAME", help="a shipped one or a file (default: the one in force)")
    check = add("check", "every problem of a policy file", "interlock policy check team.toml")
    check.add_argument("file", metavar="FILE", help="TOML, or JSON with deny, requiresApproval and autoApprove")
    test = add("test", "run the cases inside a policy", "interlock policy test team.toml")
    test.add_argument("file", metavar="FILE", help="a file, or the name of a shipped one")
    diff = add(
        "diff",
        "what of the recorded actions two policies answer differently",
        "interlock policy diff default strict --against audit",
    )
    diff.add_argument("one", metavar="A")
    diff.add_argument("other", metavar="B")
    diff.add_argument(
        "--against", metavar="RECORD", default="audit", help="`audit`: the daemon's record; or a file exported as JSONL"
    )
    add_operator_option(diff)
    args = parser.parse_args(list(argv))
    return run("policy", {"show": _show, "check": _check, "test": _test, "diff": _diff}[args.word], args)


def _loaded(name: str) -> Policy:
    return load_policy(name)


def _show(args: argparse.Namespace) -> int:
    policy = _loaded(args.name) if args.name else settings(args).effective_policy()
    if args.json:
        say_json(policy_json(policy))
        return OK
    say(policy_lines(policy))
    where = args.name or settings(args).policy
    cases = f"`interlock policy test {where}` runs its {pluralize(len(policy.cases), 'case')}."
    print(f"\nShipped: {', '.join(names())}. {cases if policy.cases else 'It has no cases of its own.'}")
    return OK


def _check(args: argparse.Namespace) -> int:
    try:
        policy = _loaded(args.file)
    except PolicyError as error:
        problems = [{"place": item.place, "message": item.message} for item in error.problems]
        if args.json:
            say_json({"usable": False, "problems": problems})
        else:
            for item in error.problems:
                print(f"{args.file}: {item.place + ': ' if item.place else ''}{item.message}", file=sys.stderr)
        return FAILED
    warnings = policy_warnings(policy)
    if args.json:
        say_json({"usable": True, "name": policy.name, "cases": len(policy.cases), "warnings": warnings})
        return OK
    for said in warnings:
        print(f"warning: {said}")
    print(f"{args.file}: policy {policy.name!r} can be used, {pluralize(len(policy.cases), 'case')}")
    return OK


def _test(args: argparse.Namespace) -> int:
    policy = _loaded(args.file)
    found = failed_cases(policy, load())
    if args.json:
        say_json({"name": policy.name, "cases": len(policy.cases), "failures": found})
    else:
        for line in found:
            print(line)
        print(f"{policy.name}: {pluralize(len(policy.cases), 'case')}, {pluralize(len(found), 'problem')}")
    return FAILED if found else OK


def _diff(args: argparse.Namespace) -> int:
    one, other = _loaded(args.one), _loaded(args.other)
    rules = replay_policy(settings(args)).rules
    found = compare_policies(read_records(args, args.against), rules, one, other)
    if args.json:
        say_json(_comparison_json(found))
    else:
        _tell(found, one.name, other.name)
    return OK


def _tell(found: Comparison, one: str, other: str) -> None:
    cannot = sum(found.cannot.values())
    print(
        f"{pluralize(found.records, 'recorded action')}: {found.same} answered alike, {sum(found.changed.values())} differently",
        end="",
    )
    print(f", {cannot} that cannot be judged again" if cannot else "")
    if found.changed:
        print()
        rows = [(before, after, str(count)) for (before, after), count in found.changed.most_common()]
        say_table((one, other, "actions"), rows, "")
        print()
        shown = found.changes[-SHOWN:][::-1]
        say_table((one, other, "agent", "action"), [(c.before, c.after, c.agent, c.title) for c in shown], "")
        if len(found.changes) > SHOWN:
            print(f"… the newest {SHOWN}; --json has {len(found.changes)}")
    for why, count in found.cannot.most_common():
        print(f"cannot be judged again: {count}, {why}")


def _comparison_json(found: Comparison) -> dict[str, Any]:
    return {
        "records": found.records,
        "same": found.same,
        "changed": [
            {"before": before, "after": after, "count": count} for (before, after), count in found.changed.most_common()
        ],
        "changes": [
            {
                "writer": c.row.writer, "seq": c.row.seq, "at": c.row.at, "title": c.title, "agent": c.agent,
                "before": c.before, "after": c.after, "why": c.why,
            }
            for c in found.changes
        ],
        "cannot": [{"why": why, "count": count} for why, count in found.cannot.most_common()],
    }  # fmt: skip
