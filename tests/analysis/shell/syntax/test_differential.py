"""Our parser against two others: bash itself on what is shell at all, mvdan-sh on what counts as a command."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache

import pytest
from msgspec import Struct

from effort import EFFORT
from interlock.analysis.read import looks_like_windows
from interlock.analysis.rules import load
from interlock.analysis.shell.syntax import ShellTooDeep, parse
from interlock.analysis.shell.syntax import nodes as n
from interlock.model import Kind
from repository import TESTS
from shell_generator import Grammar, spoil_text

HERE = TESTS
TIGHT = re.compile(r"\(\)\s*\{(?![\s;&|()<>])")  # `f(){f;}`: zsh reads it, and so do we; bash refuses it
MODULES = HERE.parent / ".venv" / "node_modules"


@cache
def written() -> tuple[str, ...]:
    """Text that people wrote: the corpus and the rules' examples, as far as it is for a POSIX shell."""
    rows = [
        json.loads(line)
        for name in ("commands_bad", "commands_ok")
        for line in (HERE / "corpus" / f"{name}.jsonl").read_text().splitlines()
    ]
    book = load.load_files(sorted(load.SHIPPED.glob("*.toml")))
    bombs = "remote_code.fork_bomb"  # also attempts that bash refuses are read
    actions = [action for rule in book.rules.values() if rule.id != bombs for action in (*rule.match, *rule.spare)]
    examples = [(action.text, action.cwd) for action in actions if action.kind is Kind.COMMAND]
    texts = [(row["command"], row["cwd"]) for row in rows] + examples
    of_zsh = ":(){:|:&};:"  # bash refuses this spelling, zsh runs it
    return tuple(dict.fromkeys(text for text, cwd in texts if text != of_zsh and not looks_like_windows(text, cwd)))


@cache
def made() -> tuple[str, ...]:
    """Text that a grammar made, whole and spoiled."""
    chance = random.Random(11)
    whole = [Grammar(chance).text(3) for _ in range(250 * EFFORT)]
    broken = [spoil_text(chance) for _ in range(250 * EFFORT)]
    return tuple(
        text
        for text in dict.fromkeys([*whole, *broken])
        if ("\0" not in text and text.isprintable()) or ("\n" in text and text.isascii() and "\0" not in text)
    )


def ours(text: str) -> tuple[list[n.Node], bool]:
    """The nodes, and whether the text is refused as no shell text; nesting deeper than ours is a limit of its own."""
    found, errors = parse(text, lambda _count: None)
    return found, any(not isinstance(error, ShellTooDeep) for error in errors)


def refused_by_bash(texts: tuple[str, ...]) -> list[str]:
    """The texts that `bash -n` does not accept; a warning about an open here-document is no refusal."""
    script = 'while IFS= read -r -d "" text; do if printf %s "$text" | bash -O extglob -n 2>/dev/null; then printf 0; else printf 1; fi; done'
    run = subprocess.run(
        ["bash", "-c", script], input="".join(f"{text}\0" for text in texts), capture_output=True, text=True, check=True
    )
    assert len(run.stdout) == len(texts)
    return [text for text, mark in zip(texts, run.stdout, strict=True) if mark == "1"]


READ_ALL_THE_SAME = frozenset({":(){:|:&};:"})  # bash wants a space behind the brace, zsh does not
needs_bash = pytest.mark.skipif(shutil.which("bash") is None and not os.environ.get("CI"), reason="bash is missing")


@needs_bash
def test_what_people_write_is_accepted_and_refused_as_by_bash() -> None:
    plain = [text for text in written() if not TIGHT.search(text)]
    some = tuple(random.Random(5).sample(plain, min(500 * EFFORT, len(plain))))
    refused = set(refused_by_bash(some))
    wrong = [text for text in some if ours(text)[1] != (text in refused) and text not in READ_ALL_THE_SAME]
    assert not wrong, f"{len(wrong)} of {len(some)}: {wrong[:20]}"


@needs_bash
def test_what_bash_accepts_is_never_unreadable_to_us() -> None:
    refused = set(refused_by_bash(made()))
    wrong = [
        text for text in made() if text not in refused and "${}" not in text and ours(text)[1]
    ]  # ${} fails when it is run
    assert not wrong, f"{len(wrong)} of {len(made())}: {wrong[:10]}"


# -- mvdan-sh -------------------------------------------------------------------------------------------


def commands(item: object) -> Iterator[tuple[int, str]]:
    """Every simple command below a node, with where its name begins."""
    if isinstance(item, n.SimpleCommand) and item.words:
        word = item.words[0]
        yield word.start, plain(word)
    if isinstance(item, list):
        for child in item:
            yield from commands(child)
    elif isinstance(item, Struct):
        for name in item.__struct_fields__:
            yield from commands(getattr(item, name))


def plain(word: n.ShellWord) -> str:
    """The name where it stands in the text as such."""
    return word.literal or "?"


def node_is_there() -> bool:
    return shutil.which("node") is not None and (MODULES / "mvdan-sh").is_dir()


@cache
def names_by_mvdan(texts: tuple[str, ...]) -> list[list[str] | None]:
    if not node_is_there():
        if os.environ.get("CI"):
            pytest.fail("node or mvdan-sh is missing; `make test` installs it")
        pytest.skip("node or mvdan-sh is missing; `make test` installs it")
    environment = {**os.environ, "NODE_PATH": str(MODULES)}
    run = subprocess.run(
        ["node", str(HERE / "commands.js")],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        check=True,
        env=environment,
    )
    found: list[list[str] | None] = json.loads(run.stdout)
    return found


DECLARING = frozenset("declare local export readonly typeset nameref let eval".split())


def compared(names: list[str]) -> list[str]:
    """Without the words that mvdan-sh takes for a clause of their own, and names in quotes or with escapes."""
    return [name for name in names if name not in DECLARING and "\\" not in name and name != "?"]


@pytest.mark.parametrize("origin", [written, made])
def test_what_counts_as_a_command_is_what_another_parser_says(origin) -> None:  # type: ignore[no-untyped-def]
    texts = origin()
    wrong = []
    for text, theirs in zip(texts, names_by_mvdan(texts), strict=True):
        found, errors = parse(text, lambda _count: None)
        if theirs is None or errors:
            continue
        mine = [name for _, name in sorted(commands(found))]
        if compared(mine) != compared(theirs):
            wrong.append((text, compared(mine), compared(theirs)))
    assert not wrong, f"{len(wrong)} of {len(texts)}:" + "".join(
        f"\n{text!r}\n  ours   {mine}\n  theirs {theirs}" for text, mine, theirs in wrong[:10]
    )
