"""The docs say what is there: commands that parse, keys that exist, all of them, links that lead somewhere, tests that are run."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tools.docs import settings_page
from tools.site import assemble, commands_page, navigation, paths_page, policy_tables

from cases import each
from interlock import agents
from interlock.cli.main import COMMANDS, main
from interlock.config import config_of
from interlock.engine import preview
from interlock.engine.statistics import figure_shapes
from interlock.error_codes import codes
from interlock.policy import policy as form
from interlock.policy.registry import Pattern
from interlock.server.app import documented_app
from interlock.server.routes import document
from pages import DOCS, INLINE, documented, fenced, prose, rows, text
from repository import ROOT

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(DOCS.rglob("*.md")),
]
_TAGGED = re.compile(r"<code>(interlock [^<{]+)</code>")
CONSOLE = [
    path
    for path in sorted((ROOT / "src/interlock/console/templates").rglob("*.html"))
    if _TAGGED.search(path.read_text(encoding="utf-8"))
]
_LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
_RUNS = re.compile(r"(?:^|[|;&] *)(?:\S*/)?interlock ")
_NO_EFFECT = "°"


def command_lines(page: str) -> Iterator[list[str]]:
    """Every `interlock …` that a page of the docs or of the console shows: in a shell block or in the running text."""
    shown = [line.removeprefix("$ ") for block in fenced(page, "sh") for line in block.splitlines()]
    shown += [line[2:] for block in fenced(page, "console") for line in block.splitlines() if line.startswith("$ ")]
    shown += [code for code in INLINE.findall(prose(page)) if code.startswith(("interlock ", ".venv/bin/interlock "))]
    shown += _TAGGED.findall(page)
    for line in shown:
        if _RUNS.search(line):
            yield from _commands(line)


def _commands(line: str) -> Iterator[list[str]]:
    """The interlock commands of one line of shell, without pipes and redirections."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split, words.commenters = True, "#"
    command: list[str] = []
    skip = False
    for word in [*words, ";"]:
        if word in (";", "|", "&&", "||", "&"):
            if command and command[0].rpartition("/")[2] == "interlock" and len(command) > 1:
                yield command[1:]
            command = []
        elif word in (">", "<", ">>"):
            skip = True
        elif not skip:
            command.append(word)
        else:
            skip = False


class Parsed(BaseException):
    """The words were understood; nothing has to be done."""


@pytest.mark.parametrize("page", [*PAGES, *CONSOLE], ids=lambda page: page.name)
def test_every_command_that_is_shown_is_one(page: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    parse = argparse.ArgumentParser.parse_args

    def only_parse(parser: argparse.ArgumentParser, *given: Any) -> argparse.Namespace:
        parse(parser, *given)
        raise Parsed

    monkeypatch.setattr(argparse.ArgumentParser, "parse_args", only_parse)
    for words in command_lines(page.read_text(encoding="utf-8")):
        if words[0] in ("COMMAND", "--help", "--version"):
            continue
        assert words[0] in COMMANDS, f"{page.name}: no command {words[0]!r}"
        if len(words) == 1:  # only named
            continue
        try:
            code = main(words)
        except Parsed:
            continue
        raise AssertionError(f"{page.name}: interlock {' '.join(words)}: {code}, {capsys.readouterr().err}")


def test_every_command_is_in_the_list() -> None:
    shown = {words[0] for words in command_lines(text("commands.md"))}
    assert shown >= set(COMMANDS)
    assert {line.removeprefix("## ") for line in commands_page().splitlines() if line.startswith("## ")} == set(
        COMMANDS
    )


def test_the_page_of_settings_is_current() -> None:
    assert text("settings.md") == settings_page(), "run `make docs`"


def test_a_registry_pattern_is_documented_key_by_key() -> None:
    known = set(Pattern("x", "x", *_some_kind()).wire)
    assert documented("configuration.md", "key of a pattern") == known


def _some_kind() -> tuple[Any, Any]:
    from interlock.model import Category
    from interlock.policy.registry import Severity

    return Category.DATA_DELETION, Severity.LOW


POLICY_TABLES = {
    "key of a level": form._CONTROL_KEYS,
    "key of a case": preview._KEYS,
    "key of the JSON": form._SEED_TOP,
    "key of the restrictions": {"allowPatterns", "confirmPatterns", "denyPatterns", "approvalPolicy"},
}


@pytest.mark.parametrize("heading", POLICY_TABLES)
def test_every_policy_key_is_documented(heading: str) -> None:
    page = text("policies.md") if heading.startswith("key of the ") else policy_tables()
    assert {key for row in rows(page, heading) for key in INLINE.findall(row[0])} == set(POLICY_TABLES[heading])


def test_policies_and_configurations_that_are_shown_can_be_used() -> None:
    first, *_ = (tomllib.loads(block) for block in fenced(text("policies.md"), "toml"))
    policy = form.policy_of(first, "shown")
    from interlock.analysis.rules.load import load

    assert preview.failed_cases(policy, load()) == []
    for block in fenced(text("configuration.md"), "toml"):
        assert config_of(tomllib.loads(block), environ={"XDG_STATE_HOME": "/state"}).warnings == ()
    for block in fenced(text("policies.md"), "json"):
        assert form.policy_of(json.loads(block), "shown", base=policy).name == "shown"


def test_every_path_of_the_api_is_documented() -> None:
    paths = document(documented_app())["paths"]
    known = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert documented("http-api.md", "path") <= known
    assert {key for row in rows(paths_page(), "path") for key in INLINE.findall(row[0])} == known
    statuses = {status for methods in paths.values() for one in methods.values() for status in one["responses"]}
    assert {row[0] for row in rows(text("http-api.md"), "status")} >= statuses
    assert documented("http-api.md", "code") == set(codes())


def test_every_figure_is_documented() -> None:
    said = {name for row in rows(text("record.md"), "figure") for name in INLINE.findall(row[1])}
    assert said == {f"interlock_{name}" for name in figure_shapes()}


def test_every_mark_of_no_effect_is_explained() -> None:
    for name in ("configuration.md", "policies.md"):
        marked = f"` {_NO_EFFECT} |" in text(name)
        assert (f"Keys marked {_NO_EFFECT} are read and checked, and have no effect" in text(name)) is marked, name


@each("page", PAGES, ids=lambda page: page.name)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in _LINK.findall(prose(page.read_text(encoding="utf-8"))):
        if link.startswith(("http://", "https://")):
            continue
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.is_file(), f"{page.name}: {link}"
        assert not anchor or anchor in _anchors(target.read_text(encoding="utf-8")), f"{page.name}: {link}"


def _anchors(page: str) -> set[str]:
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@each("page", PAGES, ids=lambda page: page.name)
def test_every_test_that_a_claim_cites_is_run(page: Path) -> None:
    code = INLINE.findall(prose(page.read_text(encoding="utf-8")))
    tests = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for name in (word for word in code if re.fullmatch(r"test_\w+", word)):
        assert f"def {name}(" in tests, f"{page.name}: {name}"
    for path in (word for word in code if re.fullmatch(r"(?:tests|docs|src|bench|tools|examples)/[\w./-]+\w", word)):
        assert (ROOT / path).exists(), f"{page.name}: {path}"


def test_every_page_is_reached_from_the_readme() -> None:
    seen, waiting = set(), [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        seen.add(page.resolve())
        links = _LINK.findall(prose(page.read_text(encoding="utf-8")))
        found = {(page.parent / link.partition("#")[0]).resolve() for link in links if not link.startswith("http")}
        waiting += [path for path in found if path.suffix == ".md" and path not in seen]
    assert {path.resolve() for path in DOCS.rglob("*.md")} <= seen


_FILE = re.compile(r"[a-z_]+(?:/[a-z_<>]+)*(?:/|\.py|\.toml|\.c)")


def source_files(page: str) -> list[str]:
    """Files and folders of the package that a page names in code."""
    return [
        word
        for word in INLINE.findall(prose(page))
        if _FILE.fullmatch(word) and not word.startswith(("tests/", "src/", "docs/"))
    ]


def test_every_file_that_tells_where_things_are_exists() -> None:
    package = ROOT / "src" / "interlock"
    for name in ("CONTRIBUTING.md", "docs/internals/architecture.md"):
        found = source_files((ROOT / name).read_text(encoding="utf-8"))
        assert len(found) > 15, name
        for path in (word.split("<")[0] for word in found if "/" in word):
            assert (package / path).exists(), f"{name}: {path}"


CHANGES = rows(text("internals/architecture.md"), "to change")


@pytest.mark.parametrize("row", CHANGES, ids=[row[0] for row in CHANGES])
def test_somebody_new_finds_the_file_for_each_kind_of_change(row: list[str]) -> None:
    package = ROOT / "src" / "interlock"
    assert source_files(row[1]), row[1]
    for cell in row[1:]:
        folder = package
        for path in source_files(cell):
            if "/" in path:  # names that follow are of files beside it
                folder = package / path if path.endswith("/") else (package / path).parent
            assert (package / path).exists() or (folder / path).exists(), path


def test_the_picture_of_the_tree_shows_every_package() -> None:
    picture = fenced(text("internals/architecture.md"), "")[0]
    packages = {path.parent.name for path in (ROOT / "src" / "interlock").glob("*/__init__.py")}
    assert {name for name in packages if f"{name}/" not in picture} == set()


def test_links_of_the_site_lead_somewhere_on_its_generated_pages_too(tmp_path: Path) -> None:
    assemble(tmp_path / "pages")
    pages = sorted((tmp_path / "pages").rglob("*.md"))
    assert {"rules.md", *(f"{word}.md" for word in agents.words())} <= {page.name for page in pages}
    for page in pages:
        for link in _LINK.findall(prose(page.read_text(encoding="utf-8"))):
            path = link.partition("#")[0]
            if path and not link.startswith(("http://", "https://")):
                assert (page.parent / path).is_file(), f"{page.name}: {link}"


def test_the_site_has_the_three_shelves_in_the_order_of_the_start_page(tmp_path: Path) -> None:
    assemble(tmp_path / "pages")
    _, *shelves = navigation(tmp_path / "pages")
    assert [title for shelf in shelves for title in shelf] == ["Guide", "Reference", "Internals"]
    guide = [page for page in shelves[0]["Guide"] if isinstance(page, str)]
    first = ["install", "reading", "gate", "operators", "undo", "policies", "teams", "troubleshooting"]
    assert [Path(page).stem for page in guide if Path(page).stem in first] == first
    listed = json.dumps(shelves)
    assert all(json.dumps(path.relative_to(tmp_path / "pages").as_posix()) in listed
               for path in (tmp_path / "pages").rglob("*.md") if path.name != "index.md")  # fmt: skip


def test_the_docs_can_be_read_in_an_afternoon() -> None:
    written = [page for page in DOCS.rglob("*.md") if page.name != "settings.md"]  # which is generated
    assert sum(len(page.read_text(encoding="utf-8").split()) for page in written) <= 30_000
