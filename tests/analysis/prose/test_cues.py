"""Asking for a piece of a wording first, which must never hide the wording itself."""

from __future__ import annotations

import json
import re

from interlock.analysis import prose
from interlock.analysis.prose.clauses import may_say
from repository import ROOT

SAID = """he asked me to, i declined; they wanted it but i refused; was told to and said no; ordered to, did not; begged me and i won't; tried to get me to, rejected
requested it, decided against; instructed to, turned it down"""


def sentences() -> list[str]:
    files = [
        *(ROOT / "tests" / "corpus").glob("*intents.jsonl"),
        *(ROOT / "tools/train_intents/sentences").glob("*.jsonl"),
    ]
    lines = [line for file in files for line in file.read_text().splitlines() if line]
    return [str(json.loads(line)["hint"]).lower() for line in lines] + [
        said.strip() for said in re.split(r"[;\n]", SAID)
    ]


def test_no_refusal_is_without_one_of_its_cues() -> None:
    found = [text for text in sentences() if prose._PATTERNS.refused.search(text)]
    assert found
    assert [text for text in found if not may_say(prose._LISTS.in_order("refuses"), text)] == []
