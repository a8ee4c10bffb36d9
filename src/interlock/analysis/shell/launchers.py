"""The words of env: another command, behind variables and options, one of which is a text that is split into words."""

from __future__ import annotations

from collections.abc import Sequence
from shlex import quote

from interlock.analysis.programs import Program
from interlock.analysis.shell import Job, Reader, Stream
from interlock.analysis.shell.payloads import run_words

_ENV_LONG = ("--unset", "--chdir", "--argv0", "--split-string", "--ignore-environment", "--null", "--debug")
_ENV_VALUED = frozenset("-u -C -P -a -S --unset --chdir --argv0 --split-string".split())


def _env(job: Job, program: Program) -> Stream | None:
    """env [-i] [-u NAME] [NAME=value] command; env -S 'text', whose words come before the ones that follow."""
    rest, text = _env_words(job.words)
    if text is not None:
        return job.shell_text(" ".join([job.program, text.replace("\\_", " "), *map(quote, rest)]), f"{job.program} -S")
    env: list[tuple[str, str]] = []
    while rest and "=" in rest[0]:
        name, _, value = rest.pop(0).partition("=")
        env.append((name, value))
    if not rest:
        return None
    return run_words(job, rest, job.program, (), env)


def _env_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    """The words behind env's own options, and the text of its -S, behind which no option is its own any more."""
    at = 0
    while at < len(words) and words[at].startswith("-"):
        word = words[at]
        at += 1
        if word == "--":
            break
        option, value = _env_long(word) if word.startswith("--") else _env_short(word)
        if option and value is None:
            value, at = "".join(words[at : at + 1]), at + 1
        if option in ("-S", "--split-string"):
            return list(words[at:]), value
    return list(words[at:]), None


def _env_long(word: str) -> tuple[str, str | None]:
    """The option that takes a value, also when it is abbreviated as getopt allows, and its value where it is attached."""
    name, equals, value = word.partition("=")
    full = [known for known in _ENV_LONG if known.startswith(name)]
    option = full[0] if len(full) == 1 and full[0] in _ENV_VALUED else ""
    return option, value if equals else None


def _env_short(word: str) -> tuple[str, str | None]:
    for at in range(1, len(word)):
        if f"-{word[at]}" in _ENV_VALUED:
            return f"-{word[at]}", word[at + 1 :] or None
    return "", None


READERS: dict[str, Reader] = {"assignments": _env}
