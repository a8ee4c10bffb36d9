"""The path of one action: read, classify, assess. Everything that judges walks it, and nothing else does."""

from __future__ import annotations

from dataclasses import dataclass

from interlock.core.assess import assess
from interlock.core.classify import Rulebook, classify
from interlock.core.model import Action, Assessment, Witness
from interlock.core.read import FileReader, read


@dataclass(frozen=True, slots=True)
class Judgement:
    """An assessment, and the scripts whose content it depends on."""

    assessment: Assessment
    witnesses: tuple[Witness, ...] = ()


def judge(action: Action, rules: Rulebook, files: FileReader | None = None) -> Judgement:
    """What an action would do, by these rules; pure, and the same for the same arguments."""
    reading = read(action, files)
    classified = classify(reading.facts, rules)
    return Judgement(assess(reading.facts, classified, rules.programs), reading.witnesses)
