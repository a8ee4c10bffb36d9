"""What is remembered of a text: its judgement, and what that weighed as long as nothing else is different."""

from __future__ import annotations

from dataclasses import replace

from gate import Gate
from interlock.core.circumstances import Circumstances
from interlock.core.model import command
from interlock.core.weigh import weigh

EVERYDAY = command("npm install", "/home/dev/app")


def test_what_was_weighed_once_is_weighed_anew_when_anything_is_different(gate: Gate) -> None:
    reader, policy = gate.state.reader, gate.state.policy
    judgement, named = reader.read(EVERYDAY)
    stricter = replace(policy, tolerance="conservative")
    cases = [
        (policy, Circumstances()),
        (policy, Circumstances(blocked="enough")),
        (policy, Circumstances(mode="disabled", blocked="enough")),
        (policy, Circumstances(claimed_risk=90)),
        (stricter, Circumstances(claimed_risk=90)),
        (stricter, Circumstances()),
        (policy, Circumstances()),
    ]
    for book, at in cases:
        for _ in range(2):
            weighed = reader.weighed(EVERYDAY, judgement, named, book, at)
            assert weighed == weigh(judgement.assessment, named, book, at)
            assert weighed.parts == weigh(judgement.assessment, named, book, at).parts


def test_a_judgement_that_is_not_the_remembered_one_is_weighed_by_itself(gate: Gate) -> None:
    reader, policy, at = gate.state.reader, gate.state.policy, Circumstances()
    reader.read(EVERYDAY)
    other, named = reader.read(command("rm -rf /srv/data", "/"))
    weighed = reader.weighed(EVERYDAY, other, named, policy, at)
    assert weighed == weigh(other.assessment, named, policy, at)
