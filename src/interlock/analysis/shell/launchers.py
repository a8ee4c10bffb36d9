"""The words of env and of the shell's `command`: another command, behind settings or an option that only looks it up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from shlex import quote

from interlock.analysis.facts import hole
from interlock.analysis.shell import Job, Stream
from interlock.analysis.shell.payloads import run_words

COMMON = frozenset("rm dd shred mv cp bash sh zsh python3 perl find truncate chmod chown curl wget git kill".split())
_ENV_LONG = ("--unset", "--chdir", "--argv0", "--split-string", "--ignore-environment", "--null", "--debug")
_ENV_VALUED = frozenset("-u -C -P -a -S --unset --chdir --argv0 --split-string".split())


def _env(job: Job) -> Stream | None:
    """env [-i] [-u NAME] [NAME=value] command; env -S 'text', whose words come before the ones that follow."""
    rest, text = _env_words(job.words)
    if text is not None:
        return job.shell_text(" ".join(["env", text.replace("\\_", " "), *map(quote, rest)]), "env -S")
    env: list[tuple[str, str]] = []
    while rest and "=" in rest[0]:
        name, _, value = rest.pop(0).partition("=")
        env.append((name, value))
    if not rest:
        return None
    return run_words(job, rest, "env", (), env)


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


def _command(job: Job) -> Stream | None:
    """command -v only looks a name up; otherwise it runs its words."""
    flags = [word for word in job.words[:2] if word.startswith("-") and word != "--"]
    if any("v" in flag or "V" in flag for flag in flags):
        names = [word for word in job.words if not word.startswith("-")]
        found = names[0] if names else hole()
        return Stream(f"/bin/{found}" if "/" not in found and found in COMMON else found)
    rest = [
        word for number, word in enumerate(job.words) if not (number < len(flags) and word in ("-p",)) and word != "--"
    ]
    return run_words(job, rest, "command", ())


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "env": _env,
    "command": _command,
}
