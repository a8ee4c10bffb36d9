"""What `interlock audit verify` says of a record that was touched, in words."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.cli.answer.audit import _verdict

FAULT = {"writer": "w1", "seq": 3, "what": "altered", "words": "its content is not what was chained"}


UNSIGNED = {"faults": [], "notes": [], "unproved": 5, "touches": 0, "provedUntil": None, "touchedUntil": None}


def spoken(found: dict[str, Any]) -> str:
    return "\n".join("".join(part.text for part in line) for line in _verdict(UNSIGNED | found))


def test_a_whole_record_without_a_signature_says_that_one_will_come() -> None:
    assert "Not signed yet" in spoken({"ok": True, "records": 5})


@pytest.mark.parametrize("faults", [[FAULT], [FAULT, {**FAULT, "seq": 4}]])
def test_a_touched_record_never_sounds_as_if_only_a_signature_were_missing(faults: list[dict[str, Any]]) -> None:
    said = spoken({"ok": False, "records": 5, "faults": faults})
    assert "Not signed yet" not in said and "No signature proves any of it" in said and "Altered: w1/3" in said
