"""What all tests share: the one PostgreSQL of the group `pg`, and that a missing tool is a failure in CI."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import pytest

import postgres


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


MISSING = re.compile(r"is missing|is not installed")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """With CI=true a test that skips for a missing tool has failed."""
    outcome = yield
    report = outcome.get_result()
    if os.environ.get("CI") and report.skipped and MISSING.search(str(report.longrepr)):
        report.outcome = "failed"
