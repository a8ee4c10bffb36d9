"""Builtins that run text or load code by one of their options: completions, callbacks, key bindings, history, loadable builtins."""

from __future__ import annotations

from collections.abc import Callable

from interlock.analysis.facts import APPROXIMATE, hole
from interlock.analysis.programs.options import options, valued
from interlock.analysis.shell import NOTHING, UNKNOWN, Job, Stream, calls, command_fact
from interlock.analysis.shell.arithmetic import evaluate, subscript_of

_COMPLETION = valued("-o -A -G -W -F -C -X -P -S")
_LINES = valued("-d -n -O -s -u -C -c")


def complete(job: Job) -> Stream:
    """compgen, complete: -C runs a command, -W expands a text, -F calls a function."""
    found = options(job.words, _COMPLETION)
    for text in found.all("-C"):
        job.host.read(text, job.where.inside(f"{job.program} -C"))
    for text in found.all("-W"):
        job.host.run_in(text)
    for name in found.all("-F"):
        if name in job.host.functions:
            calls.call_function(job.host, name, [hole()], job.where, None)
    return UNKNOWN


def read_array(job: Job) -> Stream:
    """mapfile, readarray: lines into an array; -C runs a text for them."""
    found = options(job.words, _LINES)
    for text in found.all("-C"):
        job.host.read(text, job.where.inside(f"{job.program} -C"))
    lines = job.stdin.text.splitlines() if job.stdin is not None else [hole()]
    if found.has("-d", "-n", "-s", "-O") or (job.stdin is not None and APPROXIMATE in job.stdin.taints):
        job.host.guess()
    job.host.assign(found.operands[-1] if found.operands else "MAPFILE", lines or [hole()])
    return NOTHING


def jobs(job: Job) -> Stream | None:
    """jobs -x: runs the command behind it."""
    if job.words[:1] == ["-x"] and len(job.words) > 1:
        return job.run(job.words[1:], "jobs -x", stdin=job.stdin)
    return None


def bind(job: Job) -> Stream | None:
    """bind -x '"key": command'."""
    for binding in options(job.words, valued("-m -q -u -r -f -x")).all("-x"):
        job.host.read(binding.rpartition('":')[2], job.where.inside("bind -x"))
    return None


def history(job: Job) -> Stream | None:
    """fc: -e runs an editor, -s runs a command of the past again."""
    found = options(job.words, valued("-e"))
    for text in found.all("-e"):
        if text != "-":
            job.shell_text(text, "fc -e")
    if found.has("-s") or "-" in found.all("-e"):
        job.unreadable("a command of the history is run again", "payload")
    return None


def enable(job: Job) -> Stream | None:
    """enable -f: loads a library into the shell."""
    for path in options(job.words, valued("-f")).all("-f"):
        job.host.session.facts.append(command_fact("ld_preload", [path], job.where, None))
    return None


def wait(job: Job) -> Stream | None:
    """wait -p NAME: evaluates the name's subscript."""
    for name in options(job.words, valued("-p")).all("-p"):
        evaluate(subscript_of(name), job.host)
    return None


def remember(job: Job) -> Stream:
    """hash -p PATH NAME: the name stands for that program."""
    found = options(job.words, valued("-p"))
    for path in found.all("-p"):
        job.host.aliases.update(dict.fromkeys(found.operands, path))
    return NOTHING


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "compgen": complete,
    "complete": complete,
    "mapfile": read_array,
    "readarray": read_array,
    "jobs": jobs,
    "bind": bind,
    "fc": history,
    "enable": enable,
    "hash": remember,
    "wait": wait,
}
