"""`interlock policy`: checks, tests and shows policies, and compares two on recorded actions."""

from __future__ import annotations

import sys

from interlock.analysis.display_text import line
from interlock.analysis.rules.load import load
from interlock.cli.answer.audit import read_records
from interlock.cli.command import FAILED, Args, CommandWords, settings
from interlock.cli.output import pluralize, report, say_json, say_table
from interlock.engine.preview import failed_cases
from interlock.engine.replay import Comparison, compare_policies, replay_policy
from interlock.policy.load import load_policy, names
from interlock.policy.policy import PolicyError
from interlock.policy.rendering import policy_json, policy_lines, policy_warnings

SHOWN = 20  # changed actions


main = CommandWords(__name__)


@main.word
def _show(args: Args) -> int:
    policy = load_policy(args.name) if args.name else settings(args).effective_policy()
    where = args.name or settings(args).policy
    cases = f"`interlock policy test {where}` runs its {pluralize(len(policy.cases), 'case')}."
    shipped = f"Shipped: {', '.join(names())}. {cases if policy.cases else 'It has no cases of its own.'}"
    return report(args, policy_json(policy), [*policy_lines(policy), (), line(shipped)])


@main.word
def _check(args: Args) -> int:
    try:
        policy = load_policy(args.file)
    except PolicyError as error:
        if args.json:
            problems = [{"place": item.place, "message": item.message} for item in error.problems]
            say_json({"usable": False, "problems": problems})
        else:
            for item in error.problems:
                print(f"{args.file}: {item.place + ': ' if item.place else ''}{item.message}", file=sys.stderr)
        return FAILED
    warnings = policy_warnings(policy)
    count = len(policy.cases)
    found = {"usable": True, "name": policy.name, "cases": count, "warnings": warnings}
    last = f"{args.file}: policy {policy.name!r} can be used, {pluralize(count, 'case')}"
    return report(args, found, "\n".join([*(f"warning: {said}" for said in warnings), last]))


@main.word
def _test(args: Args) -> int:
    policy = load_policy(args.file)
    found = failed_cases(policy, load())
    last = f"{policy.name}: {pluralize(len(policy.cases), 'case')}, {pluralize(len(found), 'problem')}"
    body = {"name": policy.name, "cases": len(policy.cases), "failures": found}
    return report(args, body, "\n".join([*found, last]), not found)


@main.word
def _diff(args: Args) -> int:
    one, other = load_policy(args.one), load_policy(args.other)
    rules = replay_policy(settings(args)).rules
    found = compare_policies(read_records(args, args.against), rules, one, other)
    changed = found.changed.most_common()
    body = {
        "records": found.records,
        "same": found.same,
        "changed": [{"before": before, "after": after, "count": count} for (before, after), count in changed],
        "changes": [
            {
                "writer": c.row.writer, "seq": c.row.seq, "at": c.row.at, "title": c.title, "agent": c.agent,
                "before": c.before, "after": c.after, "why": c.why,
            }
            for c in found.changes
        ],
        "cannot": [{"why": why, "count": count} for why, count in found.cannot.most_common()],
    }  # fmt: skip
    return report(args, body, lambda: _tell(found, one.name, other.name))


def _tell(found: Comparison, one: str, other: str) -> None:
    lead = f"{pluralize(found.records, 'recorded action')}: {found.same} answered alike"
    cannot = f", {found.cannot.total()} that cannot be judged again" if found.cannot else ""
    print(f"{lead}, {found.changed.total()} differently{cannot}")
    if found.changed:
        print()
        say_table((one, other, "actions"), [(*pair, count) for pair, count in found.changed.most_common()])
        print()
        shown = found.changes[-SHOWN:][::-1]
        say_table((one, other, "agent", "action"), [(c.before, c.after, c.agent, c.title) for c in shown])
        if len(found.changes) > SHOWN:
            print(f"… the newest {SHOWN}; --json has {len(found.changes)}")
    for why, count in found.cannot.most_common():
        print(f"cannot be judged again: {count}, {why}")
