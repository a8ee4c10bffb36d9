"""`interlock classify`: every line gets an answer, in order, whatever is in it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import interlock
from interlock.cli.judge import classify
from interlock.cli.main import main

SCHEMA = Draft202012Validator(
    json.loads((Path(interlock.__file__).parent / "analysis" / "schemas" / "assessment.schema.json").read_text())
)
INTERLOCK = [sys.executable, "-m", "interlock"]
Run = Callable[[bytes], list[dict[str, Any]]]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    def answers(data: bytes) -> list[dict[str, Any]]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
        monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO()))
        assert main(["classify"]) == 0
        sys.stdout.flush()
        found = [json.loads(line) for line in sys.stdout.buffer.getvalue().splitlines()]  # type: ignore[attr-defined]
        for answer in found:
            SCHEMA.validate(answer)
        return found

    return answers


def test_answers_come_in_the_order_of_the_lines(run: Run) -> None:
    lines = [{"id": n, "command": text, "cwd": "/home/dev/app"} for n, text in enumerate(["ls", "rm -rf /", "ls"])]
    found = run("".join(json.dumps(line) + "\n" for line in lines).encode())
    assert [(answer["id"], answer["level"] >= 4) for answer in found] == [(0, False), (1, True), (2, False)]


@pytest.mark.parametrize(
    ("line", "id", "error"),
    [
        (b"", None, "not JSON"),
        (b"{", None, "not JSON"),
        (b"[]", None, "expected an object"),
        (b"[" * 100_000, None, "not JSON"),
        (b'{"id": 1}', 1, "command is missing"),
        (b'{"id": 1, "command": null}', 1, "command is missing"),
        (b'{"id": 1, "command": ["ls"]}', 1, "expected a string"),
        (b'{"id": 1, "command": "ls", "cwd": 3}', 1, "cwd is a int"),
        (b'{"id": 1, "hint": 7}', 1, "hint is a int"),
        (b'{"id": 1, "operation": "drop", "params": []}', 1, "params is a list"),
        (b'{"id": 1, "operation": "drop", "crude": 3}', 1, "crude is a int"),
        (b'{"id": 1, "tool": "Bash", "input": "ls"}', 1, "input is a str"),
        (b'{"id": 1, "command": "ls", "tool": "Bash"}', 1, "command and tool in one line"),
        (b'{"id": 1, "command": "rm -rf /", "command": "ls"}', 1, "'command' stands there twice"),
        (b'{"id": 1, "id": 2, "command": "ls"}', None, "'id' stands there twice"),
        (b'{"id": 1, "command": "ls", "x": {"a": 1, "a": 2}}', 1, "twice"),
        (b'{"id": NaN, "command": "ls"}', None, "NaN"),
        (b'{"id": 1e999, "command": "ls"}', None, "id is a float"),
        (b'{"id": true, "command": "ls"}', None, "id is a bool"),
        (b'{"id": {}, "command": "ls"}', None, "id is a dict"),
        (b'{"id": "\\ud800", "command": "ls"}', None, "half a character"),
        (b'{"id": 1, "command": "rm \\ud800"}', 1, "half a character"),
        (b'{"id": 1, "command": "\xff"}', None, "not UTF-8"),
        (b'{"id": ' + b"9" * 5000 + b', "command": "ls"}', None, "not JSON"),
        (b'{"command": "' + b"x" * (1024 * 1024) + b'"}', None, "longer than"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_bad_line_is_forbidden_and_the_stream_goes_on(run: Run, line: bytes, id: object, error: str) -> None:
    bad, good = run(line + b'\n{"id": "next", "command": "ls"}\n')
    assert (bad["id"], bad["level"]) == (id, 4) and error in bad["error"]
    assert good["id"] == "next" and good["level"] < 2


@pytest.mark.parametrize(
    "line",
    [
        b'{"command": "ls"}',
        b'{"command": "ls", "cwd": null, "id": null}',
        b'{"command": "ls", "shoe": 43, "x": {"y": [1.5]}}',
        b'{"command": ""}\r',
        '{"command": "echo \\u00e9 日本"}'.encode(),
        b'  {"command": "ls"}  ',
    ],
)
def test_a_good_line_is_assessed_with_or_without_a_newline(run: Run, line: bytes) -> None:
    assert [("error" in answer, answer["level"] < 2) for answer in run(line)] == [(False, True)]


def test_no_input_gives_no_output(run: Run) -> None:
    assert run(b"") == []


def test_an_unexpected_error_is_an_answer_and_no_pass(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise RuntimeError("odd")

    monkeypatch.setattr("interlock.engine.assessment.assess", broken)
    assert run(b'{"id": 1, "command": "ls"}') == [
        {"id": 1, "level": 4, "error": "could not be judged: RuntimeError: odd"}
    ]


def test_a_line_is_held_once_and_an_endless_one_not_at_all() -> None:
    chunks = iter([b"a\nb", b"b\n", *[b"x" * 65536] * 64, b"\nend"])
    waited: list[int] = []
    assert list(classify.read_lines(lambda size: next(chunks, b""), lambda: waited.append(1))) == [
        b"a",
        b"bb",
        None,
        b"end",
    ]
    assert len(waited) == 68


def test_each_line_is_answered_before_the_next_is_sent() -> None:
    with subprocess.Popen([*INTERLOCK, "classify"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin and process.stdout
        for number in range(3):
            process.stdin.write(b'{"id": %d, "command": "ls"}\n' % number)
            process.stdin.flush()
            assert json.loads(process.stdout.readline())["id"] == number
        process.stdin.close()
        assert process.wait(60) == 0


def test_it_ends_quietly_when_nobody_reads() -> None:
    script = f'yes \'{{"command": "ls"}}\' | head -2000 | {sys.executable} -m interlock classify | head -1'
    done = subprocess.run(["sh", "-c", script], capture_output=True, timeout=60)
    assert done.stderr == b"" and done.stdout.count(b"\n") == 1


@pytest.mark.parametrize(("words", "code"), [(["--help"], 0), (["file.json"], 2)])
def test_it_takes_no_words(words: list[str], code: int) -> None:
    assert main(["classify", *words]) == code


def test_neither_classify_nor_explain_imports_what_it_does_not_need() -> None:
    code = """
import sys
from interlock.cli.main import main
main(["explain", "ls"])
main(["classify"])
print(sorted({name.split(".")[0] for name in sys.modules} & {"rich", "typer", "sqlglot", "tree_sitter"}))
"""
    done = subprocess.run([sys.executable, "-c", code], input=b'{"command": "ls"}\n', capture_output=True, check=True)
    assert done.stdout.splitlines()[-1] == b"[]"
