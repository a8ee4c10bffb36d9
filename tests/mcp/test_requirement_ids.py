"""Every requirement of sections 1.1 to 1.12 has a test here that names it, so that none is forgotten."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

COUNTS = {
    "ESL": 14, "AE": 15, "OOB": 14, "LC": 5, "DL": 14, "GK": 10, "CT": 14, "TL": 8, "ERR": 4, "EP": 14, "INT": 9, "RL": 3,
}  # fmt: skip
IDS = [f"{word}-{number:02d}" for word, count in COUNTS.items() for number in range(1, count + 1)]
NAMED = {
    f"{word.upper()}-{number}"
    for path in Path(__file__).parent.glob("test_*.py")
    for line in path.read_text().splitlines()
    if "def test_" in line or "#" in line or '"""' in line
    for word, number in re.findall(r"(?i)(?<![a-z])(ESL|AE|OOB|LC|DL|GK|CT|TL|ERR|EP|INT|RL)[-_](\d\d)(?!\d)", line)
}


@pytest.mark.parametrize("id", IDS)
def test_a_test_through_a_real_client_names(id: str) -> None:
    assert id in NAMED
