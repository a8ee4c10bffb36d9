"""The shell's own commands: changes to its state, and the text that `eval`, `source` or `bash -c` runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import zip_longest

from interlock.analysis.facts import APPROXIMATE, Command, Effect, hole, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.places import is_system_folder, resolve
from interlock.analysis.programs.load import describe, program_set, word_set
from interlock.analysis.programs.options import CommandOptions
from interlock.analysis.shell import NOTHING, UNKNOWN, Job, Reader, Stream, command_fact, control
from interlock.analysis.shell.assignments import assign_read, declare_words
from interlock.analysis.shell.expand import is_unknown
from interlock.analysis.shell.output import printf
from interlock.analysis.shell.payloads import run_words
from interlock.analysis.shell.redirections import descriptor_of
from interlock.analysis.shell.syntax import DECLARING
from interlock.analysis.shell.variables import evaluate as run_arithmetic
from interlock.analysis.shell.variables import evaluate_test, subscript_of

_LONGEST_PATH = 4_096
_OFTEN_UNSET = frozenset({"TMPDIR", "TMP", "TEMP"})  # variables that are read as /tmp, and that many shells do not set


def change_directory(job: Job) -> Stream:
    host, before = job.host, list(job.host.cwds)
    targets = [word for word in job.words if not word.startswith("-") or word == "-"]
    target = (targets or ["~"])[0]
    emptied = host.if_empty(target)
    host.emptied = []
    if emptied != target and (emptied or host.bare):
        host.emptied = [resolve(emptied, before[0]) if emptied else "~"]
    elif host.bare in _OFTEN_UNSET and host.lookup(host.bare) is None and host.bare not in host.filled:
        host.emptied = ["~"]  # `cd` without a word
    if target in ("..", "-"):
        host.cwds = host.cwds[:1]  # back from where a `cd` led, if it did
    if target == "-":
        target = (host.lookup("OLDPWD") or [hole("OLDPWD")])[0]
    elif target.startswith("+"):
        target = hole()
    if f"{target}/".startswith("~/") and host.home:
        target = host.home + target[1:]
    host.variables["OLDPWD"] = [before[0]]
    host.left = None
    if len(host.cwds[0]) + len(target) > _LONGEST_PATH and target.isidentifier():  # deeper than there can be
        return NOTHING
    reached = [resolve(target, cwd) if cwd or known(target) else target for cwd in host.cwds]
    if all(len(path) <= _LONGEST_PATH for path in reached):  # a longer one cannot be changed to
        host.cwds = list(dict.fromkeys(reached))
    if not _surely_exists(job, host.cwds[0], before[0]):
        host.missed = before
    return NOTHING


def _surely_exists(job: Job, path: str, before: str) -> bool:
    near = job.session.facts[-60:]  # the one that made it stands right before
    return (
        before.startswith(f"{path.rstrip('/')}/")
        or path in ("/", "/tmp", "~", before, job.host.home)
        or is_system_folder(path)
        or any(isinstance(fact, Effect) and "create" in fact.traits and fact.path == path for fact in near)
    )


def go_back(job: Job) -> Stream:
    job.host.cwds, job.host.left = list(job.host.lookup("OLDPWD") or [hole("OLDPWD")]), None
    return NOTHING


def evaluate(job: Job) -> Stream:
    text = " ".join(word for word in job.words if word != "--")
    if is_unknown(text.strip()) and _is_setup(job, "$( )"):
        return NOTHING
    return UNKNOWN if job.hides(text) else job.host.read(text, job.where.inside("eval"), job.stdin)


def _is_setup(job: Job, through: str) -> bool:
    """eval "$(ssh-agent -s)", source <(kubectl completion bash): a program's own shell set-up."""
    evaluated = through == "$( )"
    for fact in reversed(job.session.facts):
        if isinstance(fact, Command) and fact.via[-1:] == (through,):
            # What prints a file, what flows in or the answer of a host prints what others wrote.
            printed = describe(fact.program)
            foreign = fact.program in program_set("filter") or fact.program in program_set("encoder")
            named = not (foreign or printed.http or printed.sends) and not word_set("setup").isdisjoint(fact.words)
            return named or (fact.program in program_set("shell_setup") and (evaluated or fact.program != "perl"))
        if evaluated and not (isinstance(fact, Command) and fact.program == "eval"):
            break
    return False


def source(job: Job) -> Stream:
    words = [word for word in job.words if word != "--"]
    if not words:
        return NOTHING
    path = words[0]
    if (path == "-" or descriptor_of(path) == "0") and job.piped:
        return job.host.read(job.stdin.text, job.where.inside("source"))
    return run_script(job, path, words[1:], "source")


def run_script(job: Job, path: str, args: list[str], via: str, dialect: str = "bash") -> Stream:
    is_setup = via == "source" and (is_unknown(path) or _is_setup(job, "<( )"))
    found = job.script(path, quiet=is_setup)
    if found is None:
        return UNKNOWN
    if is_unknown(found[1].strip()):
        if not is_setup:
            job.unreadable("a script made at run time is run", "payload")
        return UNKNOWN
    where = job.where.inside(f"{via} {path}" if not path.startswith("/dev/fd/") else f"{via} <( )")
    if via == "source":
        return job.host.read(found[1], where, job.stdin)
    return job.host.nested(found[1], where, [path, *args], dialect, job.stdin)


def trap(job: Job) -> Stream:
    text, *signals = [word for word in job.words if word != "--"] or [""]
    if text and signals and not text.startswith("-"):
        host, where = job.host, job.where.inside("trap")
        values = {name: host.variables.get(name) for name in re.findall(r"\$\{?(\w+)", text)}
        host.traps.append((text, where, values))
        if None not in values.values():  # else the text sets it later, or never
            host.read(text, where)
    return NOTHING


def alias(job: Job) -> Stream:
    """zsh's -g puts an alias anywhere in a line, and so runs what stands behind a separator."""
    if "-g" in job.words[:1]:
        for word in job.words[1:]:
            job.host.read(word.partition("=")[2].lstrip(";|& "), job.where.inside("alias -g"))
    for word in job.words:
        name, equals, value = word.partition("=")
        if equals:
            job.host.aliases[name] = value
    return NOTHING


def set_arguments(job: Job) -> Stream | None:
    """Positional arguments; in fish, `set NAME value…` assigns; alone it prints all variables."""
    if not job.words:
        return None
    if job.host.dialect == "fish":
        if len(words := job.plain_words) > 1:
            job.host.assign(words[0], words[1:])
        return NOTHING
    for word, after in zip_longest(job.words, job.words[1:]):
        if re.fullmatch(r"[-+][a-z]+", word):
            named = after if word.endswith("o") else ""
            if "u" in word or named == "nounset":
                job.host.nounset = word[0] == "-"
            if "e" in word or named == "errexit":
                job.host.errexit = word[0] == "-"
    words = job.options("-o +o", stop_at_operand=True).operands
    if words or "--" in job.words:
        job.host.arguments = words
    return NOTHING


def shift(job: Job) -> Stream:
    first = "".join(job.words[:1])
    if job.host.arguments is not None:
        job.host.arguments = job.host.arguments[int(first) if first.isdigit() else 1 :]
    return NOTHING


def read_variable(job: Job) -> Stream:
    assign_read(job.host, job.words, job.stdin, job.where.env)
    return NOTHING


def unset(job: Job) -> Stream:
    for word in job.words:
        run_arithmetic(subscript_of(word), job.host)
        job.host.variables.pop(word, None)
        job.host.functions.pop(word, None)
        job.host.filled.discard(word)
    return NOTHING


def print_formatted(job: Job) -> Stream | None:
    """printf -v NAME, printf -vNAME"""
    found = job.options("-v", stop_at_operand=True)
    name = found.value("-v")
    if not name or not found.operands:
        return None
    run_arithmetic(subscript_of(name), job.host)
    job.host.assign(name, [printf(found.operands)])
    return NOTHING


def declare(job: Job) -> Stream:
    declare_words(job.host, job.program, job.words)
    return UNKNOWN if "-p" in job.words else NOTHING


def calculate(job: Job) -> Stream:
    for word in job.words:
        run_arithmetic(word, job.host)
    return NOTHING


def test(job: Job) -> Stream:
    evaluate_test(job.words, job.host)
    return NOTHING


def read_option(job: Job) -> Stream:
    for name in job.words[1:2]:  # an option's letter is unknown before it runs
        job.host.assign(name, [hole(name)])
    return NOTHING


def look_up_or_run(job: Job) -> Stream:
    """command -v only looks a name up; else its words run."""
    found = job.options(stop_at_operand=True)
    if found.has("-v", "-V"):
        return Stream(next(iter(found.operands), hole()))
    return run_words(job, found.operands, job.program, ())


def _run_callback(job: Job, letters: str) -> CommandOptions:
    found = job.options(letters)
    for text in found.all("-C"):
        job.host.read(text, job.where.inside(f"{job.program} -C"))
    return found


def complete(job: Job) -> Stream:
    found = _run_callback(job, "-o -A -G -W -F -C -X -P -S")
    for text in found.all("-W"):
        job.host.run_in(text)
    for name in found.all("-F"):
        if name in job.host.functions:
            control.call_function(job.host, name, [hole()], job.where)
    return UNKNOWN


def read_array(job: Job) -> Stream:
    found = _run_callback(job, "-d -n -O -s -u -C -c")
    lines = job.stdin.text.splitlines()
    if found.has("-d", "-n", "-s", "-O") or APPROXIMATE in job.stdin.taints:
        job.host.guess()
    job.host.assign(found.operands[-1] if found.operands else "MAPFILE", lines or [hole()])
    return NOTHING


def jobs(job: Job) -> Stream | None:
    return job.run(job.words[1:], "jobs -x", stdin=job.stdin) if job.words[:1] == ["-x"] and job.words[1:] else None


def _with_values(letters: str, option: str, work: Callable[[Job, str], object]) -> Callable[[Job], None]:
    """One option's values matter; `letters` are the options with values."""

    def handle(job: Job) -> None:
        for text in job.options(letters).all(option):
            work(job, text)

    return handle


def history(job: Job) -> None:
    """fc: -e runs an editor, -s a command of the past."""
    found = job.options("-e")
    for text in found.all("-e"):
        if text != "-":
            job.shell_text(text, "fc -e")
    if found.has("-s") or "-" in found.all("-e"):
        job.unreadable("a command of the history is run again", "payload")


def remember(job: Job) -> Stream:
    """hash -p PATH NAME: the name stands for that program."""
    found = job.options("-p")
    for path in found.all("-p"):
        job.host.aliases.update(dict.fromkeys(found.operands, path))
    return NOTHING


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "command": look_up_or_run,
    **dict.fromkeys(("cd", "pushd", "chdir"), change_directory),
    "popd": go_back,
    "eval": evaluate,
    "source": source,
    ".": source,
    "trap": trap,
    "alias": alias,
    "set": set_arguments,
    "shift": shift,
    "read": read_variable,
    "unset": unset,
    "printf": print_formatted,
    "getopts": read_option,
    "let": calculate,
    "test": test,
    "[": test,
    **dict.fromkeys(DECLARING, declare),
    **dict.fromkeys(("compgen", "complete"), complete),
    **dict.fromkeys(("mapfile", "readarray"), read_array),
    "jobs": jobs,
    "bind": _with_values(  # bind -x '"key": command'
        "-m -q -u -r -f -x",
        "-x",
        lambda job, binding: job.host.read(binding.rpartition('":')[2], job.where.inside("bind -x")),
    ),
    "fc": history,
    "enable": _with_values(  # loads a library into the shell
        "-f", "-f", lambda job, path: job.session.facts.append(command_fact("ld_preload", [path], job.where))
    ),
    "hash": remember,
    "wait": _with_values("-p", "-p", lambda job, name: run_arithmetic(subscript_of(name), job.host)),
}


_GLOB_CODE = lazy_regex(r"""\(\+?\w*e(?::["']|[:'"])(.+?)(?:["']:|[:'"])\)""")  # zsh: *(e:'command':)


def shell(job: Job) -> Stream | None:
    """bash -c 'text' name args…; a script file; or what flows in."""
    text, operands, flags, startup = _shell_words(job.words)
    dialect = job.described.dialect
    if dialect == "fish":
        for first in job.options("-C --init-command -c").all("-C", "--init-command"):
            job.shell_text(first, f"{job.program} -C", dialect=dialect)
    if ("-n" in flags and dialect != "fish") or "noexec" in flags or "--no-execute" in flags:
        return NOTHING
    via = f"{job.program} -c"
    for path in startup:
        run_script(job, path, [], f"{job.program} --rcfile", dialect)
    if text is not None:
        for found in _GLOB_CODE.findall(text) if dialect == "zsh" else ():
            job.shell_text(found, f"{via} (e:…:)", dialect=dialect)
        return job.shell_text(text, via, args=operands, dialect=dialect)
    if not operands or "-s" in flags:
        return from_stdin(job, dialect, [job.program, *operands])
    if operands[0] == "-" or descriptor_of(operands[0]) == "0":
        return from_stdin(job, dialect, operands)
    return run_script(job, operands[0], operands[1:], job.program, dialect)


def _shell_words(words: list[str]) -> tuple[str | None, list[str], set[str], list[str]]:
    flags, startup, wants_text, rest = set[str](), list[str](), False, list(words)
    while rest and (found := re.fullmatch(r"(?s)[-+]([A-Za-z]+)|(--[a-z-]+)(?:=(.*))?", rest[0])):
        word, letters, name, value = rest.pop(0), found[1] or "", found[2], found[3]
        if name == "--command" and value is not None:
            return value, rest, flags, startup
        flags |= {word, *(f"-{letter}" for letter in letters)}
        wants_text = wants_text or name == "--command" or (word[0] == "-" and "c" in letters)
        if value is None and (name in _STARTUP or letters == "C" or letters[-1:] in ("o", "O")):
            value = rest.pop(0) if rest else None
        if value is not None:
            startup.append(value) if name in _STARTUP else flags.add(value)
    rest = rest[1:] if rest[:1] in (["--"], ["-"]) else rest
    if wants_text:
        return "".join(rest[:1]), rest[1:], flags, startup
    return None, rest, flags, startup


_STARTUP = frozenset({"--rcfile", "--init-file"})


def from_stdin(job: Job, dialect: str, args: list[str]) -> Stream | None:
    if not job.piped:
        return None
    if (text := job.text_to_run()) is None:
        return UNKNOWN
    if "bulk" in job.stdin.taints:
        job.unreadable("a list that is only known at run time is run as commands", "payload")
        return UNKNOWN
    return job.host.nested(text, job.where.inside(job.program), args, dialect)


READERS: dict[str, Reader] = {"shell": shell}
