"""Install sets `undo.wrap` where a wrapped call works, leaves a value that somebody wrote, and takes its own back byte for byte."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from interlock.agents.jsonc import EditError
from interlock.agents.toml_edit import parse_toml, without_block
from interlock.config import Config, load_config
from interlock.install.checks import check_wrapping
from interlock.install.user_service import add_channel, switch_off, switch_on, with_setting
from journals import built

TEXTS = [
    "",
    "# mine\n[hooks]\nwait_seconds = 0\n",
    "[undo]\ndays = 3\n",
    "[hooks]\nwait_seconds = 0\n\n[undo] # kept\n# long\ndays = 3\n[limits]\n",
    "undo.days = 3\n",
    "[limits]",
]


@pytest.mark.parametrize("text", TEXTS)
def test_the_setting_is_added_and_taken_out_without_a_trace(text: str) -> None:
    after = with_setting(text)
    given = parse_toml(after)
    assert given["undo"].pop("wrap") is True
    assert {key: value for key, value in given.items() if value or key != "undo"} == parse_toml(text)
    assert (without_block(after) or "") == text


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_added_later_stands_beside_the_setting_and_goes_with_it(text: str, tmp_path: Path) -> None:
    config = written(tmp_path, with_setting(text))
    add_channel(config, "ntfys://ntfy.sh/topic")
    now = load_config(Path(config.path), {})
    assert now.undo.wrap and [route.name for route in now.channels.send] == ["me"]
    add_channel(now, "ntfys://ntfy.sh/topic")
    assert load_config(Path(config.path), {}).channels == now.channels
    switch_off(now)
    left = Path(config.path)
    assert (left.read_text() if left.exists() else "") == text


@pytest.mark.parametrize("text", ["undo = {days = 3}\n", "[undo]\r\ndays = 3\r\n"])
def test_a_file_that_nothing_can_be_added_to_is_refused(text: str) -> None:
    with pytest.raises(EditError):
        with_setting(text)


@pytest.fixture(scope="module")
def supervisor(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if sys.platform != "linux" or shutil.which("cc") is None:
        pytest.skip("Linux and a C compiler are needed")
    return built(tmp_path_factory.mktemp("supervisor"))


@pytest.fixture
def config(tmp_path: Path, supervisor: Path) -> Config:
    (tmp_path / "state").mkdir(mode=0o700)
    shutil.copytree(supervisor.parent, tmp_path / "state/bin")
    return written(tmp_path, f'store.url = "sqlite://{tmp_path}/state"\n[undo]\nfree_bytes = 0\n')


def written(folder: Path, text: str) -> Config:
    (folder / "interlock.toml").write_text(text)
    return load_config(folder / "interlock.toml", {})


def test_it_is_on_after_a_try_and_off_again(config: Config) -> None:
    before = Path(config.path).read_bytes()
    assert switch_on(config) == ""
    now = load_config(Path(config.path), {})
    assert now.undo.wrap and now.undo.free_bytes == 0
    assert check_wrapping(now).state == "ok"
    assert switch_on(now) == ""
    switch_off(now)
    assert Path(config.path).read_bytes() == before


def test_a_value_that_somebody_wrote_stays(config: Config, tmp_path: Path) -> None:
    for value in ("false", "true"):
        mine = written(tmp_path, f"undo.wrap = {value}\n")
        assert bool(switch_on(mine)) is (value == "false")
        switch_off(mine)
        assert Path(mine.path).read_text() == f"undo.wrap = {value}\n"


def test_where_a_wrapped_call_does_not_work_it_stays_off_and_doctor_says_why(config: Config, tmp_path: Path) -> None:
    (tmp_path / "state/journal").mkdir()
    (tmp_path / "state/journal/actions").write_text("no folder")
    before = Path(config.path).read_bytes()
    why = switch_on(config)
    assert why and Path(config.path).read_bytes() == before
    check = check_wrapping(config)
    assert check.state == "note" and why in check.words
