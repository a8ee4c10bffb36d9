"""Programs that launch a command: schedulers, terminals, file watchers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from shlex import quote

from interlock.analysis.facts import hole
from interlock.analysis.programs.options import options, valued
from interlock.analysis.shell import Job, Stream
from interlock.analysis.shell.payloads import run_words

COMMON = frozenset("rm dd shred mv cp bash sh zsh python3 perl find truncate chmod chown curl wget git kill".split())
_CRON_LINE = re.compile(r"\s*(?:@\w+|(?:[\d*/,\-a-zA-Z]+\s+){5})(.*)")


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


def _tmux(job: Job) -> Stream | None:
    """tmux send-keys 'text' Enter; new-session 'text'."""
    found = options(job.words, valued("-t -s -n -c -x -y -L -S -f -F -e -l -p"))
    if not found.operands:
        return None
    verb, rest = found.operands[0], found.operands[1:]
    if verb in ("send-keys", "send"):
        keys = [word for word in rest if word not in ("Enter", "C-m", "C-j", "KPEnter", "C-c", "Space", "Escape")]
        if keys:
            job.shell_text(" ".join(keys), "tmux send-keys")
    elif verb in (
        "new-session",
        "new",
        "new-window",
        "neww",
        "split-window",
        "splitw",
        "respawn-pane",
        "run-shell",
        "run",
        "if-shell",
        "popup",
        "display-popup",
    ):
        if rest:
            job.shell_text(" ".join(rest) if verb not in ("if-shell",) else "; ".join(rest), f"tmux {verb}")
    return None


def _screen(job: Job) -> Stream | None:
    found = options(job.words, valued("-S -t -c -h -p -s -T"), stop_at_operand=True)
    if "-X" in job.words and "stuff" in job.words:
        keys = job.words[job.words.index("stuff") + 1 :]
        job.shell_text(re.sub(r"\\n|\\r|\^M|\n", "\n", " ".join(keys)), "screen -X stuff")
    elif found.operands and found.has("-d", "-D", "-m", "-dm", "-dmS"):
        run_words(job, found.operands, "screen", ())
    return None


def _crontab(job: Job) -> Stream | None:
    """crontab: the lines that it is fed, or a file's."""
    text = None
    if job.stdin is not None and ("-" in job.words or not job.words):
        text = job.stdin.text
    else:
        for word in options(job.words, valued("-u")).operands:
            text = job.file_text(word)
    if text is not None:
        for line in text.splitlines()[:200]:
            found = _CRON_LINE.fullmatch(line)
            if found and not line.lstrip().startswith("#"):
                job.shell_text(found[1], "crontab")
    return None


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "env": _env,
    "command": _command,
    "tmux": _tmux,
    "screen": _screen,
    "crontab": _crontab,
}
