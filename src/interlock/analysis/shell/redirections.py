"""Follows redirections: input, output, descriptors kept by `exec`, and those files' texts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.analysis.facts import APPROXIMATE, Effect, known, taints_in
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import describe, dialect_of, program_set, word_set
from interlock.analysis.shell import DOWNLOADED, MAX_SCRIPT, NAMED_TAINTS, NOTHING, TERMINAL, Job, Stream
from interlock.analysis.shell.syntax.nodes import Node, ShellRedirect, SimpleCommand, Substitution
from interlock.analysis.targets.carried import carries, put
from interlock.analysis.targets.ordering import may_replace_files

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

_NETWORK_FILES = ("/dev/tcp/", "/dev/udp/")
_GLOB = lazy_regex(r"[?*\[]")
_ENDS = lazy_regex(r"[;&\n(){}]|\|\|")  # of a pipeline
_NEAR = 40  # facts of a pipeline that are searched


def keep_redirects(shell: Shell, redirects: Sequence[ShellRedirect], stdin: Stream) -> None:
    """exec < f, exec 3> f, exec > >(cmd): for later commands."""
    for redirect in redirects:
        if redirect.operator == "<>":
            if (path := shell.text(redirect.target)).startswith(_NETWORK_FILES):
                shell.job("exec", [path]).effect("reverse_shell", path)
        elif redirect.operator in _OUTPUTS:
            number = _number(shell, redirect.fd) or "1"
            target = _process(redirect) or shell.text(redirect.target)
            if redirect.operator == ">&" and isinstance(target, str) and target.isdigit():
                target = shell.outputs.get(target, "-")
            if target != "-":
                shell.outputs[number] = target
    if stdin is not TERMINAL:
        shell.inputs["0"] = stdin


def _number(shell: Shell, fd: str) -> str:
    """One that the shell chooses is put into the variable in braces."""
    if not fd.startswith("{"):
        return fd
    number = str(_FIRST_CHOSEN + len(shell.inputs) + len(shell.outputs))
    shell.assign(fd.strip("{}"), [number])
    return number


def _process(redirect: ShellRedirect) -> list[Node]:
    parts = redirect.target.parts if redirect.target is not None else []
    only = parts[0] if len(parts) == 1 else None
    return only.body if isinstance(only, Substitution) and only.direction == ">" else []


def deliver(shell: Shell, sink: str | list[Node], stream: Stream) -> Stream:
    if isinstance(sink, str):
        return _write(shell, sink, ">>", "", stream)
    outer, shell.where = shell.where, shell.where.inside(">( )")
    saved = shell.save()
    shell.outputs.pop("1", None)
    try:
        return shell.walk_list(sink, stream)
    finally:
        shell.restore(saved)
        shell.where = outer


def descriptor_of(path: str) -> str:
    """/dev/stdin, /dev/fd/3, /proc/self/fd/3; empty for other paths."""
    found = _DESCRIPTOR.fullmatch(path)
    return found[1] if found else "0" if path == "/dev/stdin" else ""


_DESCRIPTOR = lazy_regex(r"/(?:dev|proc/[^/]*)/fd/(\d+)")
_FIRST_CHOSEN = 10
_OUTPUTS = frozenset({">", ">>", ">|", "&>", "&>>", ">&"})


def read_input(shell: Shell, redirects: Sequence[ShellRedirect], stdin: Stream = TERMINAL) -> Stream:
    for redirect in redirects:
        if redirect.operator not in {"<", "<>", "<&", "<<", "<<-", "<<<"}:
            continue
        number = _number(shell, redirect.fd)
        found = _input_of(shell, redirect, stdin)
        if number in ("", "0"):
            stdin = found
        elif found is not TERMINAL:
            shell.inputs[number] = found
    return stdin


def file_text_of(shell: Shell, body: Sequence[Node]) -> Stream | None:
    """$(<f); None for other commands."""
    node = body[0] if len(body) == 1 else None
    if not isinstance(node, SimpleCommand) or node.words or node.assigns:
        return None
    found = read_input(shell, node.redirects)
    return found if found is not TERMINAL else None


def _input_of(shell: Shell, redirect: ShellRedirect, stdin: Stream) -> Stream:
    if redirect.operator in ("<<", "<<-"):
        text = shell.text(redirect.body)
        return Stream(text, taints_in(text))
    target = shell.text(redirect.target)
    if redirect.operator == "<<<":
        return Stream(f"{target}\n", taints_in(target))
    if redirect.operator == "<&":
        return NOTHING if target == "-" else shell.inputs.get(target.rstrip("-"), stdin)
    return _from_file(shell, target)


def _from_file(shell: Shell, path: str) -> Stream:
    if path in shell.session.downloads:
        return DOWNLOADED
    if (number := descriptor_of(path)) and number in shell.inputs:
        return shell.inputs[number]
    if path == "/dev/null":
        return NOTHING
    found = data_text(shell, path)  # before the facts say that it is read
    job = shell.job("<", [path])
    job.effect("read", path)
    if path.startswith(_NETWORK_FILES):
        job.effect("fetch", path)
        return DOWNLOADED
    taints = carries(job, path)
    return Stream(found[0], taints | found[1]) if found is not None else Stream.holding(taints)


def redirect_only(shell: Shell, node: SimpleCommand) -> None:
    """`> file` without a command empties it."""
    for redirect in node.redirects:
        if redirect.operator in (">", ">|", "&>", ">&"):
            path = shell.text(redirect.target)
            if redirect.operator == ">&" and (path.isdigit() or path == "-"):
                continue
            cut = shell.dialect == "dash" and redirect.operator == "&>"
            shell.job(">", [path]).effect("write" if cut else "truncate", path)
            shell.session.files[shell.full(path)] = ""


_SILENT = frozenset({"exec", ":", "true"})  # they print nothing: what they redirect is emptied
_NO_BYTES = lazy_regex(r"(?:^|\s)-(?:c|n|-bytes=|-lines=)\s?0(?:\s|$)")


def write_output(
    shell: Shell, redirects: Sequence[ShellRedirect], stream: Stream, program: str = "", words: Sequence[str] = ()
) -> Stream:
    for redirect in redirects:
        operator = redirect.operator
        if operator not in _OUTPUTS:
            continue
        if process := _process(redirect):
            stream = deliver(shell, process, stream)
            continue
        path = shell.text(redirect.target)
        number = path.rstrip("-")
        if operator == ">&" and (number.isdigit() or path == "-"):
            if redirect.fd in ("", "1") and number in shell.outputs:
                stream = deliver(shell, shell.outputs[number], stream)
            continue
        stream = _write(shell, path, operator, redirect.fd, stream, program, words)
    return stream


def _write(
    shell: Shell, path: str, operator: str, fd: str, stream: Stream, program: str = "", words: Sequence[str] = ()
) -> Stream:
    job = shell.job(f"{program} {operator}".strip(), [*words[:6], path])
    if path.startswith(_NETWORK_FILES):
        name = program.rpartition("/")[2]
        job.effect("reverse_shell" if name == "exec" or dialect_of(name) else "send", path, *stream.taints)
        if path.endswith("/6379") and stream.known:
            job.code("redis", re.sub(r"\r|\*\d+|\$\d+", "", stream.text))
        return NOTHING
    if fd not in ("", "1") and operator != "&>":
        if path != "/dev/null":
            job.effect("truncate" if program in _SILENT and operator != ">>" else "write", path)
        return stream
    full = shell.full(path)
    appended = operator in (">>", "&>>")
    empty = stream.known and not stream.text.strip() and (program in ("", "exec") or bool(describe(program).prints))
    empty = empty or (program in program_set("part") and _NO_BYTES.search(" ".join(words)) is not None)
    empty = empty or ("/dev/null" in words and program in program_set("filter"))
    verb = "append" if appended else "truncate" if empty or _is_input(shell, full) else "write"
    bulk = ("bulk",) if verb == "truncate" and _GLOB.search(path) else ()
    job.effect(verb, path, *(stream.taints & NAMED_TAINTS), *bulk)
    if stream.known and stream.text.strip():
        _will_run(job, path, stream.text)
    keep_written(job, path, stream, appended, program in program_set("ended"))
    return NOTHING


def keep_written(job: Job, path: str, stream: Stream, appended: bool, ended: bool = False) -> None:
    """One that is written without end fills the disk."""
    full = job.full(path)
    if "endless" in stream.taints and not ended and not path.startswith("/dev/"):
        job.effect("fill_disk", path)
    if known(path):
        job.session.put_file(full, stream.text, appended)
    if "download" in stream.taints:
        job.session.download(full, stream.text)
    put(job, path, stream.taints)


def _is_input(shell: Shell, full: str) -> bool:
    """`sort f > f`, `cat f | grep x > f`: the shell empties the file before it is read."""
    span = shell.where.span
    if span is None or shell.where.via:
        return False
    near = [fact for fact in shell.session.facts[-_NEAR:] if isinstance(fact, Effect) and fact.verb == "read"]
    spans = [fact.span for fact in near if fact.path == full and fact.span is not None and fact.span[1] <= span[1]]
    # Nothing but pipes stands between: what runs one after the other reads before it writes.
    return any(one == span or not _ENDS.search(shell.session.source, one[1], span[0]) for one in spans)


# Start files that a shell runs; of others, the lines that name a command.
_SHELL_START = lazy_regex(
    r"(?i)(?:^|/)\.(?:bash(?!_history)\w*|zsh(?!_history)\w*|zprofile|zlogin|profile|kshrc|t?cshrc|login|x(?:initrc|profile|session))$|\.fish$"
)
_IN_SETTINGS = lazy_regex(
    r"(?im)^[ \t]*(?:(?:proxy|local|knownhosts)command[ \t=]+|sshcommand[ \t]*=[ \t]*|\w+[ \t]*=[ \t]*\"?!)(.+?)\"?$"
)


def _will_run(job: Job, path: str, text: str) -> None:
    """Text put where every new shell, every commit or the scheduler runs it."""
    places = job.places(path)
    settings, commands = "shell_config" in places, list[str]()
    if "git_hook" in places or path.startswith("/etc/profile") or (settings and _SHELL_START.search(path)):
        commands = [text]
    elif settings and (found := _IN_SETTINGS.findall(text)):
        commands = found[:100]
    elif path.endswith((".service", ".timer", ".desktop")):
        commands = re.findall(r"(?m)^[ \t]*Exec(?:Start|StartPre|Stop)?[ \t]*=[ \t]*(.*?)[ \t]*$", text)
    elif path.startswith(("/etc/cron", "/var/spool/cron")):
        commands = [timed[1] for line in text.splitlines()[:100] if (timed := _SCHEDULED.match(line))]
    for command in commands:
        job.shell_text(command, path)


_SCHEDULED = lazy_regex(r"(?!#)\s*(?:\S+\s+){5}(.*\S)")


def data_text(shell: Shell, path: str) -> tuple[str, frozenset[str]] | None:
    """Approximate where an earlier command may change it; None where it is long or was changed."""
    full = shell.full(path)
    facts = shell.session.facts
    shell.step(len(facts) // 16)
    if full not in shell.session.files and any(
        isinstance(fact, Effect)
        and fact.verb in word_set("changing_effects")
        and f"{full}/".startswith(f"{fact.path}/")
        for fact in facts
    ):
        return None
    text = known_text(shell, path)
    if text is None or len(text) > MAX_SCRIPT:
        return None
    stale = full in shell.session.witnesses and any(map(may_replace_files, facts))
    return text, frozenset({APPROXIMATE}) if stale else frozenset()


def known_text(shell: Shell, path: str) -> str | None:
    if not known(path):
        return None
    if number := descriptor_of(path):
        stream = shell.flow if number == "0" else shell.inputs.get(number, TERMINAL)
        if stream is not TERMINAL:
            return stream.text
    full = shell.full(path)
    for key in (full, path):
        if key in shell.session.files:
            before = _stored(shell, full) if key in shell.session.appended else None
            return (before or "") + shell.session.files[key]
    return _stored(shell, full)


def _stored(shell: Shell, full: str) -> str | None:
    """A file's text before the action runs; it joins the witnesses."""
    session = shell.session
    if session.reader is None or "remote" in shell.where.traits:
        return None
    found = session.witnesses.get(full)
    if found is None:
        home = shell.home if full.startswith("~") else ""
        found = session.reader(f"{home}{full[1:]}" if home else full)
        if found is not None:
            session.witnesses[full] = found
    return found
