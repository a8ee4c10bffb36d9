"""What all tests share: the examples of properties, the one PostgreSQL, the end of the one Chromium, and that a missing tool is a failure in CI."""

from __future__ import annotations

import gc
import os
import re
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, settings

import postgres
from effort import EFFORT
from gate import CHEAP, PASSPHRASE, Gate
from interlock.identity import operators
from interlock.identity.keys.passphrases import enrol
from shared_services import Replica, eventually

# Gates and stores that wait for the collector keep their files open, and users may have 1,024 where root has more.
_, _most_files = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (_most_files, _most_files))
# Most of what a worker has lives as long as it does: looking through all of that for garbage takes a tenth of the time.
gc.set_threshold(100_000, 50, 100)
# The same examples in every run, however slow the machine is: a property that fails, fails for everybody. `make fuzz` looks for new ones.
settings.register_profile("suite", deadline=None, derandomize=EFFORT == 1, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
# Daemons that tests start tell nobody at this desk of what they hold.
for _screen in ("DISPLAY", "WAYLAND_DISPLAY"):
    os.environ.pop(_screen, None)


@pytest.fixture(scope="session")
def server() -> Iterator[postgres.Server]:
    with postgres.running() as server:
        yield server


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """The group `browser` has one Chromium, which ends with its last test."""
    if "chromium" in sys.modules and (nextitem is None or not nextitem.fspath.purebasename.endswith("_in_chromium")):
        sys.modules["chromium"].close()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """One whose folder is in memory where there is such a place: a thousand tests do not wait for a disk."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with TemporaryDirectory(prefix="interlock-", dir=memory, ignore_cleanup_errors=True) as folder:
        made = Gate(Path(folder) / "state")
        made.enrol()
        yield made
        made.close()


@pytest.fixture
def url(server: postgres.Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # replicas have one installation's keys
    return server.new_database()


@pytest.fixture
def pair(url: str) -> Iterator[tuple[Replica, Replica]]:
    one = Replica(url)
    row, key = enrol("ann", PASSPHRASE, None, now=one.clock.now(), by="ann", roles=("admin",), kdf=CHEAP)
    operators.enrol_first(one.state, row, key)
    two = Replica(url)
    one.sign_in()
    two.sign_in()
    for replica in (one, two):
        replica.state.catch_up()
        eventually(replica.state.fresh)
    yield one, two
    one.store.close()
    two.store.close()


FIRST = ("browser", "pg", "mcp", "faults", "hostile", "jail", "proxy")  # which wait for servers, and take the longest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A module's tests stay together in their order, so that what they share is started once; the longest groups begin."""
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    marker = item.get_closest_marker("xdist_group")
    group = str(marker.args[0]) if marker is not None else ""
    return FIRST.index(group) if group in FIRST else len(FIRST)


MISSING = re.compile(r"is missing|is not installed")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    """With CI=true a test that skips for a missing tool has failed."""
    outcome = yield
    report = outcome.get_result()
    if os.environ.get("CI") and report.skipped and MISSING.search(str(report.longrepr)):
        report.outcome = "failed"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """One line for all tests that were skipped for a missing tool, with the packages that `make test` found missing."""
    skipped = terminalreporter.stats.get("skipped", ())
    reasons = [str(report.longrepr[2]).removeprefix("Skipped: ") for report in skipped if report.longrepr]
    missing = Counter(reason for reason in reasons if MISSING.search(reason))
    if missing:
        found = Path(sys.prefix, ".missing")
        packages = found.read_text(encoding="utf-8").strip() if found.is_file() else ""
        install = f". Install the packages {packages}" if packages else ""
        terminalreporter.write_line(f"{missing.total()} tests skipped: {'; '.join(sorted(missing))}{install}")
