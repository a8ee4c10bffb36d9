"""Extracts the shell text that building and starting an image would run from Dockerfiles."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator

from msgspec import Struct, field

from interlock.analysis.programs.load import reads_posix
from interlock.cli.judge.scan.shell_text import Snippet, in_language, join_snippets, snippet

_INSTRUCTION = re.compile(r"^\s*([A-Za-z]+)\s+(.*)$", re.DOTALL)
_FLAGS = re.compile(r"^(?:--[a-z-]+(?:=\S+)?\s+)+")
_HEREDOC = re.compile(r"<<-?\s*([\"']?)([A-Za-z_]\w*)\1")
_PAIR = re.compile(r"([A-Za-z_]\w*)=(\"(?:[^\"\\]|\\.)*\"|'[^']*'|(?:[^\s\\]|\\.)+)")
_SHEBANG = re.compile(r"#!\s*\S*?(?:env\s+)?([\w.]+)\s*$")
_RUNS = frozenset({"RUN", "CMD", "ENTRYPOINT", "HEALTHCHECK"})


class _Stage(Struct):
    """What holds for the instructions that follow: variables, and the directory."""

    settings: list[Snippet] = field(default_factory=list)
    cwd: str = "/"
    windows: bool = False


def dockerfile(text: str) -> list[Snippet]:
    """RUN, CMD, ENTRYPOINT and HEALTHCHECK, in shell and JSON form, with what ENV and ARG set."""
    found: list[Snippet] = []
    stage = _Stage()
    for number, body, heredocs in _instructions(text):
        instruction = _INSTRUCTION.match(body)
        if not instruction:
            continue
        word, rest = instruction[1].upper(), instruction[2]
        number += body[: instruction.start(2)].count("\n")
        if word == "ONBUILD" and (inner := _INSTRUCTION.match(rest)):
            word, rest = inner[1].upper(), inner[2]
        if word == "FROM":
            stage = _Stage()
        elif word in _RUNS:
            piece = _run(word, rest, number, heredocs)
            if piece is not None:
                found.append(join_snippets([*stage.settings, piece]) if stage.settings else piece)
                found[-1] = Snippet(found[-1].text, found[-1].lines, stage.cwd)
        else:
            _set(stage, word, rest, number)
    return found


def _set(stage: _Stage, word: str, rest: str, number: int) -> None:
    if word in ("ENV", "ARG"):
        pairs = _PAIR.findall(rest)
        if not pairs and word == "ENV" and (old := re.match(r"(\w+)\s+(\S.*)$", rest)):
            pairs = [(old[1], shlex.quote(old[2]))]
        stage.settings += [snippet(f"{name}={value}".replace("\n", " "), number) for name, value in pairs]
    elif word == "WORKDIR" and "$" not in rest:
        folder = rest.strip().strip("\"'")
        stage.cwd = folder if folder.startswith("/") else f"{stage.cwd.rstrip('/')}/{folder}"


def _run(word: str, rest: str, number: int, heredocs: list[Snippet]) -> Snippet | None:
    flags = _FLAGS.match(rest)
    if flags:
        number += flags[0].count("\n")
        rest = rest[flags.end() :]
    if word == "HEALTHCHECK":
        check = re.match(r"(?:\\\n|\s)*CMD\s+(.*)$", rest, re.DOTALL | re.IGNORECASE)
        if not check:
            return None
        number += rest[: check.start(1)].count("\n")
        rest = check[1]
    if rest.lstrip().startswith("["):
        words = _words(rest)
        if words is not None:
            return snippet(shlex.join(words), number)
    if heredocs and _HEREDOC.match(rest.strip()) and not _HEREDOC.sub("", rest).strip():
        return _script(join_snippets(heredocs))
    if heredocs:
        ends = [Snippet(found[2], (number,)) for found in _HEREDOC.finditer(rest)]
        return join_snippets(
            [snippet(rest, number), *(part for pair in zip(heredocs, ends, strict=False) for part in pair)]
        )
    return snippet(rest, number)


def _script(piece: Snippet) -> Snippet:
    """The body of `RUN <<EOF`: shell, unless its first line names another interpreter."""
    shebang = _SHEBANG.match(piece.text.split("\n", 1)[0])
    return in_language(shebang[1], piece) if shebang and not reads_posix(shebang[1]) else piece


def _words(text: str) -> list[str] | None:
    try:
        words = json.loads(text.replace("\\\n", " "))
    except (ValueError, RecursionError):
        return None
    return words if isinstance(words, list) and words and all(isinstance(word, str) for word in words) else None


def _instructions(text: str) -> Iterator[tuple[int, str, list[Snippet]]]:
    """Each instruction with the line it starts on, its continuations kept, and its heredocs."""
    lines = text.replace("\r\n", "\n").split("\n")
    escape = "`" if re.match(r"#\s*escape\s*=\s*`", lines[0]) else "\\"
    at = 0
    while at < len(lines):
        first = at
        if not lines[at].strip() or lines[at].lstrip().startswith("#"):
            at += 1
            continue
        parts: list[str] = []
        while at < len(lines):
            line = lines[at].rstrip()
            at += 1
            if parts and (not line or line.lstrip().startswith("#")):
                parts.append("\\")  # comments and empty lines inside an instruction are as if not there
                continue
            if not line.endswith(escape):
                parts.append(line)
                break
            parts.append(line[: -len(escape)] + "\\")
        body = "\n".join(parts)
        if body.endswith("\\"):
            body = body.rstrip("\\\n")
        heredocs: list[Snippet] = []
        if re.match(r"\s*(RUN|COPY|ADD|ONBUILD)\b", body, re.IGNORECASE):
            for mark in _HEREDOC.finditer(body):
                start = at
                while at < len(lines) and lines[at].strip() != mark[2]:
                    at += 1
                heredocs.append(Snippet("\n".join(lines[start:at]), tuple(range(start + 1, max(at, start + 1) + 1))))
                at += 1
        yield first + 1, body, heredocs
