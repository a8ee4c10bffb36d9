"""Assignments and redirections of a simple command: values of variables, its input, and the target of its output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from interlock.analysis.facts import Effect, hole, hole_of, known, without_holes
from interlock.analysis.places import resolve
from interlock.analysis.shell import NAMED_TAINTS, NOTHING, Job, Stream, Where, command_fact, declarations, expand
from interlock.analysis.shell.arithmetic import evaluate, subscript_of
from interlock.analysis.shell.options import options, valued
from interlock.analysis.shell.syntax.nodes import Assignment, ShellRedirect, SimpleCommand
from interlock.model import Span

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell


_EXECUTED_VARIABLES = frozenset(
    "PROMPT_COMMAND GIT_SSH_COMMAND GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS PAGER MANPAGER "
    "EDITOR VISUAL BROWSER LESSOPEN LESSCLOSE FCEDIT SUDO_ASKPASS RSYNC_RSH CVS_RSH SVN_SSH PS4 PERL5DB GIT_PROXY_COMMAND DOCKER_SSH".split()
)
_STARTUP_FILES = frozenset({"BASH_ENV", "ENV", "PYTHONSTARTUP", "RUBYOPT", "PERL5OPT", "NODE_OPTIONS", "ZDOTDIR"})


def assign_read(shell: Shell, words: Sequence[str], stdin: Stream | None, env: Sequence[tuple[str, str]] = ()) -> None:
    """read [-r] [-d X] NAME…: each name holds a part of one line; read -a NAME: an array of all parts."""
    found = options(words, valued("-d -n -N -t -p -u -i -a"))
    names = found.operands or (["REPLY"] if not found.all("-a") else [])
    lines = stdin.text.splitlines() if stdin is not None and stdin.text else []
    own = shell.variables.get("IFS")
    between = dict(env).get("IFS", own[0] if own else None)
    if len(lines) != 1:
        values = [hole()] * len(names)
    else:
        parts = _split(lines[0], between, len(names) - 1) if len(names) > 1 else lines
        values = [*parts, *[""] * (len(names) - len(parts))]
    for name, value in zip(names, values, strict=False):
        evaluate(subscript_of(name), shell)
        shell.assign(name.partition("[")[0], [value])
    for name in found.all("-a"):
        shell.variables[name] = _split(lines[0], between, -1) if len(lines) == 1 else [hole()]


def _split(line: str, between: str | None, most: int) -> list[str]:
    """A line at what separates its words: space unless IFS is set."""
    if between is None or (between and not between.strip()):
        return line.split(None, most)
    if not between or not known(between):
        return [line if not between else hole()]
    return re.split(f"[{re.escape(between)}]", line, maxsplit=max(most, 0))


def assign_all(shell: Shell, assigns: Sequence[Assignment]) -> None:
    for item in assigns:
        value = _value(shell, item)
        if item.index:
            evaluate(item.index, shell)
        if item.name == "BASH_ALIASES" and item.index:
            shell.aliases[item.index] = expand.text(item.value, shell)
        shell.assign(item.name, value)
        _assign_keys(shell, item)
        if item.name in _EXECUTED_VARIABLES or item.name in _STARTUP_FILES:
            run_variables(shell, ((item.name, value[0] if value else ""),), shell.where)


def _assign_keys(shell: Shell, item: Assignment) -> None:
    """An associative array's values, each under its own name."""
    if item.index and not item.index.isdigit():
        shell.variables[f"{item.name}[{item.index}]"] = [expand.text(item.value, shell)]
    for key, word in zip(item.keys, item.items or (), strict=False):
        if key:
            evaluate(key, shell)
            shell.variables[f"{item.name}[{key}]"] = [expand.text(word, shell)]


def _value(shell: Shell, item: Assignment) -> list[str]:
    if item.items is not None:
        value = [field for word in item.items for field in expand.fields(word, shell)]
        return [*(shell.lookup(item.name) or []), *value] if item.append else value
    value_text = expand.text(item.value, shell)
    before = shell.lookup(item.name) or [""]
    if item.index:
        return _with_item(shell, before, item.index, value_text)
    return [before[0] + value_text] if item.append else [value_text]


def _with_item(shell: Shell, items: list[str], index: str, value: str) -> list[str]:
    number = expand.calculate(index, shell)
    if number is None or not 0 <= number < 64:
        return [value]
    padded = [*items, *[""] * (number + 1 - len(items))]
    padded[number] = value
    return padded


def command_env(shell: Shell, assigns: Sequence[Assignment]) -> tuple[tuple[str, str], ...]:
    return tuple((item.name, " ".join(_value(shell, item))) for item in assigns)


def declare(shell: Shell, words: Sequence[str], assigns: Sequence[Assignment]) -> None:
    """Assign what a declaration spells as assignments, one after the other."""
    program, rest = words[0], words[1:]
    for item in assigns:
        declarations.begin(shell, program, item.name, rest)
        if "n" in declarations.letters_of(program, rest)[0]:
            declarations.refer(shell, item.name, expand.text(item.value, shell))
        else:
            assign_all(shell, [item])
        declarations.end(shell, program, item.name, rest)


def run_variables(shell: Shell, env: Sequence[tuple[str, str]], where: Where) -> None:
    """Variables whose value some program runs."""
    for name, value in env:
        if name in _EXECUTED_VARIABLES and value and not expand.is_unknown(value):
            shell.nested(value.lstrip("|").replace("%s", ""), where.inside(f"{name}="))
        elif name == "LD_PRELOAD" or name == "DYLD_INSERT_LIBRARIES":
            shell.session.facts.append(command_fact("ld_preload", [value], where, None))
        elif name in ("BASH_ENV", "ENV") and value:
            shell.run(["source", value], where.inside(f"{name}="), None)
        elif name in ("NODE_OPTIONS", "RUBYOPT", "PERL5OPT") and re.search(r"--?(require|import|r|e|M)", value):
            Job(shell, name, [value], where, None).effect("run_script", value, "carried")


_NETWORK_FILES = ("/dev/tcp/", "/dev/udp/")
_GLOB = re.compile(r"[?*\[]")
_ENDS = re.compile(r"[;&\n(){}]|\|\|")  # of a pipeline
_NEAR = 40  # facts of a pipeline that are searched


def exec_redirects(shell: Shell, redirects: Sequence[ShellRedirect]) -> None:
    """exec 5<>/dev/tcp/host/port: this very shell talks to the network."""
    for redirect in redirects:
        path = expand.text(redirect.target, shell) if redirect.operator in ("<", "<>") else ""
        if path.startswith(_NETWORK_FILES):
            Job(shell, "exec", [path], shell.where, None).effect("reverse_shell", path)


def read_input(shell: Shell, redirects: Sequence[ShellRedirect], stdin: Stream | None) -> Stream | None:
    """What a command reads: a here-document, a here-string, a file, or what flowed in before."""
    for redirect in redirects:
        if redirect.operator in ("<<", "<<-"):
            stdin = Stream(expand.text(redirect.body, shell))
        elif redirect.operator == "<<<":
            stdin = Stream(expand.text(redirect.target, shell) + "\n")
        elif redirect.operator in ("<", "<>"):
            stdin = _from_file(shell, expand.text(redirect.target, shell))
    return stdin


def _from_file(shell: Shell, path: str) -> Stream:
    if path in shell.session.downloads:
        return Stream(hole_of({"download"}), frozenset({"download"}))
    text = shell.session.files.get(resolve(path, shell.cwds[0]), shell.session.files.get(path))
    job = Job(shell, "<", [path], shell.where, None)
    if path != "/dev/null":
        job.effect("read", path)
    if path.startswith(_NETWORK_FILES):
        job.effect("fetch", path)
        return Stream(hole_of({"download"}), frozenset({"download"}))
    taints = frozenset({"secret"}) if job.places(path)[0] == "secret" else frozenset()
    if path == "/dev/null":
        return Stream("")
    return Stream(text if text is not None else hole_of(taints), taints)


def redirect_only(shell: Shell, node: SimpleCommand) -> None:
    """`> file` without a command: the file is emptied."""
    for redirect in node.redirects:
        if redirect.operator in (">", ">|", "&>", ">&") and redirect.fd in ("", "1"):
            path = expand.text(redirect.target, shell)
            cut = shell.dialect == "dash" and redirect.operator == "&>"
            Job(shell, ">", [path], shell.where, None).effect("write" if cut else "truncate", path)
            shell.session.files[resolve(path, shell.cwds[0])] = ""


_NO_BYTES = re.compile(r"(?:^|\s)-(?:c|n|-bytes=|-lines=)\s?0(?:\s|$)")


def write_output(
    shell: Shell, redirects: Sequence[ShellRedirect], stream: Stream, program: str, words: Sequence[str]
) -> Stream:
    """Where a command's output goes: a file that is written, a network device, or on down the pipe."""
    for redirect in redirects:
        operator = redirect.operator
        if operator not in (">", ">>", ">|", "&>", "&>>", ">&"):
            continue
        path = expand.text(redirect.target, shell)
        if operator == ">&" and (path.isdigit() or path == "-"):
            continue
        stream = _write(shell, path, operator, redirect.fd, stream, program, words)
    return stream


def _write(
    shell: Shell, path: str, operator: str, fd: str, stream: Stream, program: str, words: Sequence[str]
) -> Stream:
    job = Job(shell, f"{program} {operator}".strip(), [*words[:6], path], shell.where, None)
    if path.startswith(_NETWORK_FILES):
        is_shell = program.rpartition("/")[2] in ("bash", "sh", "zsh", "ksh", "dash", "exec")
        job.effect("reverse_shell" if is_shell else "send", path, *stream.taints)
        if path.endswith("/6379") and stream.known:
            job.code("redis", re.sub(r"\r|\*\d+|\$\d+", "", stream.text))
        return NOTHING
    if fd not in ("", "1") and operator != "&>":
        if path != "/dev/null":
            job.effect("truncate" if program == "exec" and operator != ">>" else "write", path)
        return stream
    full = resolve(path, shell.cwds[0])
    before = shell.session.files.get(full, "")
    appended = operator in (">>", "&>>")
    empty = stream.known and not stream.text.strip() and program in ("", "true", ":", "echo", "printf", "cat", "exec")
    empty = empty or (program in ("head", "tail") and _NO_BYTES.search(" ".join(words)) is not None)
    verb = "append" if appended else "truncate" if empty or _is_input(shell, full) else "write"
    bulk = ("bulk",) if verb == "truncate" and _GLOB.search(path) else ()
    job.effect(verb, path, *(stream.taints & NAMED_TAINTS), *bulk)
    if stream.known and stream.text.strip():
        _will_run(job, path, stream.text)
    if known(path):
        shell.session.files[full] = (before + stream.text) if appended else stream.text
    if "download" in stream.taints:
        shell.session.downloads[full] = without_holes(stream.text) or "the network"
    return NOTHING


def _is_input(shell: Shell, full: str) -> bool:
    """`sort f > f`, `cat f | grep x > f`: the shell empties the file before anything of it is read."""
    span = shell.where.span
    return (
        span is not None
        and not shell.where.via
        and any(
            isinstance(fact, Effect) and fact.verb == "read" and fact.path == full and _piped(shell, fact.span, span)
            for fact in shell.session.facts[-_NEAR:]
        )
    )


def _piped(shell: Shell, earlier: Span | None, span: Span) -> bool:
    """Whether nothing but pipes stands between two commands; what runs one after the other reads before it writes."""
    if earlier is None or earlier[1] > span[1]:
        return False
    return earlier == span or not _ENDS.search(shell.session.source, earlier[1], span[0])


# Start files that a shell runs; of others, the lines that name a command.
_SHELL_START = re.compile(
    r"(?i)(?:^|/)\.(?:bash(?!_history)\w*|zsh(?!_history)\w*|zprofile|zlogin|profile|kshrc|t?cshrc|login|x(?:initrc|profile|session))$|\.fish$"
)
_IN_SETTINGS = re.compile(
    r"(?im)^[ \t]*(?:(?:proxy|local|knownhosts)command[ \t=]+|sshcommand[ \t]*=[ \t]*|\w+[ \t]*=[ \t]*\"?!)(.+?)\"?$"
)


def _will_run(job: Job, path: str, text: str) -> None:
    """Text put where every new shell, every commit or the scheduler runs it: read as what it is."""
    places = job.places(path)
    if (
        "git_hook" in places
        or path.startswith("/etc/profile")
        or ("shell_config" in places and _SHELL_START.search(path))
    ):
        job.shell_text(text, path)
    elif "shell_config" in places and (commands := _IN_SETTINGS.findall(text)):
        for command in commands[:100]:
            job.shell_text(command, path)
    elif path.endswith((".service", ".timer", ".desktop")):
        for line in text.splitlines():
            name, _, command = line.partition("=")
            if name.strip() in ("ExecStart", "ExecStartPre", "ExecStop", "Exec"):
                job.shell_text(command.strip(), path)
    elif path.startswith(("/etc/cron", "/var/spool/cron")):
        for line in text.splitlines()[:100]:
            words = line.split(None, 6)
            if len(words) > 5 and not line.startswith("#"):
                job.shell_text(" ".join(words[5:]), path)
