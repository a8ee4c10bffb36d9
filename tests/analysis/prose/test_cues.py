"""Asking for a piece of a wording first, which must never hide the wording itself."""

from __future__ import annotations

import json
import re

import pytest

from interlock.analysis import prose
from interlock.analysis.prose import english
from interlock.analysis.prose.clauses import may_say
from repository import ROOT

ASKED = {
    "not run": (prose.NOT_RUN_CUES, prose._PATTERNS.not_run),
    "no negation": (english.NOT_NEGATIONS_CUES, english._PATTERNS.not_negations),
    "no backup": (english._LISTS.in_order("no_backup_cues"), english._PATTERNS.no_backup),
    "no undo": (english._LISTS.in_order("no_undo_cues"), english._PATTERNS.no_undo),
    "refused": (prose._LISTS.in_order("refuses"), prose._PATTERNS.refused),
    "production": (("prod",), prose._PATTERNS.production),
    "places": (english._LISTS.in_order("place_cues"), english._PATTERNS.places),
    "stack": (prose._LISTS.in_order("stack_cues"), prose._PATTERNS.stack),
    "no copy": (("no ", "only"), prose._PATTERNS.no_copy),
}
SAID = """do not actually run it; don't apply it; dont delete anything; never send it; without executing it; a dry-run; a dry run; dryruns of it
report-only; report only; simulated; a rehearsal; what-if mode; whatif mode; plan only; preview-only; a read-only report; not really dropping it
not only that; don't just look; do not merely read; never mind; nevermind; do not hesitate to ask; don't be shy; no matter; without any further delay
without asking; no confirmation; no questions; no need to ask; no need for approval; why not; can't wait to; cant wait to; no longer; without backup
without taking a final snapshot; no snapshot; skip final snapshot; skip_final_snapshot; skipping the backup; without a copy; for good; no undo
beyond recovery; hard-deleting it; so that nothing can be recovered; so it can't be restored; bypassing the trash; without undo
he asked me to, i declined; they wanted it but i refused; was told to and said no; ordered to, did not; begged me and i won't; tried to get me to, rejected
requested it, decided against; instructed to, turned it down; prod; production; no other copy of it is left; the only copy we have; no backups kept"""


def sentences() -> list[str]:
    files = [
        *(ROOT / "tests" / "corpus").glob("*intents.jsonl"),
        *(ROOT / "tools/train_intents/sentences").glob("*.jsonl"),
    ]
    lines = [line for file in files for line in file.read_text().splitlines() if line]
    return [str(json.loads(line)["hint"]).lower() for line in lines] + [
        said.strip() for said in re.split(r"[;\n]", SAID)
    ]


@pytest.mark.parametrize("name", ASKED)
def test_no_wording_is_without_one_of_its_cues(name: str) -> None:
    cues, pattern = ASKED[name]
    found = [text for text in sentences() if pattern.search(text)]
    assert found
    assert [text for text in found if not may_say(cues, text)] == []
