"""Dispatches one command to its readers: its fact, aliases, what it runs, effects on files and stores, output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from msgspec import Struct

from interlock.analysis.facts import HOLE, taints_in
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs import Payload, Program, whole_words
from interlock.analysis.programs.load import UNDESCRIBED, describe, described_program, dialect_of, program_set, word_set
from interlock.analysis.programs.net import NET
from interlock.analysis.programs.options import NO_VALUES, asks_for_help, may_hold, program_name
from interlock.analysis.shell import (
    FACT_STEPS,
    UNKNOWN,
    Job,
    Reader,
    Stream,
    build_files,
    builtins,
    command_fact,
    data_clients,
    file_programs,
    interpreters,
    item_runners,
    network,
    payloads,
    windows_programs,
)
from interlock.analysis.shell.file_programs import apply_paths, write_outputs
from interlock.analysis.shell.loose_text import harm_of_words, is_program, read_loose_variable, read_loose_words
from interlock.analysis.shell.output import output
from interlock.analysis.targets import carried

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

_ALIAS = "alias."
_HOOKS = "core.hookspath"


def aliases(job: Job) -> Stream | None:
    """-c alias.x='!…' x, config alias.x …"""
    found = job.options(stop_at_operand=True)
    own = f"{job.program} "
    named = {name.removeprefix(own): value for name, value in job.host.aliases.items() if name.startswith(own)}
    for setting in found.all("-c"):
        name, _, value = setting.partition("=")
        if name.lower().startswith(_ALIAS):
            named[name[len(_ALIAS) :]] = value
        elif name.lower() == _HOOKS:
            _read_hooks(job, value)
        elif name.lower() == "include.path" or value.startswith(("/", "~")):
            read_loose_variable(job, "GIT_CONFIG", value)
    words = found.operands
    plain = [word for word in words[1:] if not word.startswith("-")]
    if words[:1] == ["config"] and len(plain) > 1:
        name, value = plain[:2]
        if name.lower() == _HOOKS:
            _read_hooks(job, value)
        if name.lower().startswith(_ALIAS):
            job.host.aliases[own + name[len(_ALIAS) :]] = value
            if value.startswith("!"):  # what it will run
                job.shell_text(value[1:], f"{own}{name}")
    if not words:
        return None
    program = job.described
    is_own = (
        words[0] in program.dashed or words[0] in program.neutral or any(path[0] == words[0] for path in program.ruled)
    )
    if words[0] not in named and not is_own:
        named |= _configured_aliases(job, found.value("-C") or "")
    if words[0] not in named:
        return None
    text, via = named[words[0]], f"{own}alias {words[0]}"
    if text.startswith("!"):
        job.shell_text(" ".join([text[1:], *words[1:]]), via)
    else:
        job.host.run([job.program, *text.split(), *words[1:]], job.where.inside(via), job.stdin)
    return UNKNOWN


def _read_hooks(job: Job, folder: str) -> None:
    """Those that this action wrote, which run unasked from then on."""
    for path, text in list(job.session.files.items()):
        if path.startswith(f"{job.full(folder).rstrip('/')}/"):
            job.shell_text(text, f"{job.program} hook")


def _configured_aliases(job: Job, folder: str) -> dict[str, str]:
    """Of the user and the repository, which the working folder may be deep inside of."""
    above = [job.full(folder or ".")]
    while len(above) < 12 and "/" in above[-1].rstrip("/"):
        above.append(above[-1].rpartition("/")[0] or "/")
    own = job.first_text(f"{one.rstrip('/')}/.git/config" for one in above if one.startswith("/"))
    found: dict[str, str] = {}
    for text in (job.file_text("~/.gitconfig"), job.file_text("~/.config/git/config"), own):
        section = ""
        for line in (text or "").replace("\\\n", " ").splitlines()[:2000]:
            if head := re.match(r"[ \t]*\[[ \t]*([\w.-]+)", line):
                section = head[1].lower()
            elif section == "alias" and (named := re.match(r"[ \t]*([\w-]+)[ \t]*=[ \t]*(.*?)[ \t]*$", line)):
                found[named[1]] = named[2].strip('"').replace('\\"', '"')
    return found


def saved_plan(job: Job) -> Stream | None:
    """plan -destroy -out=F, then apply F: the plan is what is run."""
    found = job.options()
    files, out = job.session.files, found.value("--out")
    if found.operands[:1] == ["plan"] and found.has("--destroy") and out:
        files[f"plan#{out}"] = "destroy"
    elif found.operands[:1] == ["apply"] and any(f"plan#{word}" in files for word in found.operands[1:]):
        return job.run([job.program, "destroy", "-auto-approve"], f"{job.program} apply")
    return None


def line_editor(job: Job) -> None:
    """ed, ex: a line that begins with ! is a command; all lines deleted and written empties a file."""
    lines = [line.strip().lstrip(":") for line in job.stdin.text.splitlines()] if job.piped else []
    for line in lines:
        if line.startswith("!"):
            job.shell_text(line[1:], job.program)
    report_emptied(job, lines, job.options().operands)


_ALL_LINES = lazy_regex(r"(?:%|,|1\s*,\s*\$|g/[.^$]?/)\s*d(?:elete)?!?")
_WRITES = lazy_regex(r"(?:w|wq|x|wall|wqa|xa)!?")


def report_emptied(job: Job, lines: Sequence[str], files: Sequence[str]) -> None:
    if any(map(_ALL_LINES.fullmatch, lines)) and any(map(_WRITES.fullmatch, lines)):
        for path in files:
            job.effect("truncate", path)


def vim(job: Job) -> None:
    found = job.options()
    texts = [*found.all("-c", "--cmd"), *(word[1:] for word in job.words if word.startswith("+"))]
    for text in texts:
        job.code("vim", text, f"{job.program} -c")
    for path in found.all("-S"):
        if path in ("/dev/stdin", "-") and job.piped:
            job.code("vim", job.text_to_run() or job.stdin.text, f"{job.program} -S")
        else:
            job.effect("run_script", path)
    lines = [part.strip().lstrip(":") for text in texts for part in text.split("|")]
    report_emptied(job, lines, [word for word in found.operands if not word.startswith("+")])


HANDLERS = builtins.HANDLERS  # of the shell's own commands
READERS: dict[str, Reader] = {
    **builtins.READERS,
    **item_runners.READERS,
    **payloads.READERS,
    **network.READERS,
    **build_files.READERS,
    "aliases": aliases,
    "saved_plan": saved_plan,
    "line_editor": line_editor,
    "vim": vim,
    **interpreters.READERS,
    **windows_programs.READERS,
    **data_clients.READERS,
    **file_programs.READERS,
}


class _Dispatch(Struct, frozen=True):
    program: Program
    readers: tuple[tuple[Reader, frozenset[str]], ...]  # each with the words of which it needs one, if it needs any
    each_word: bool  # all of them: they are files, or nothing that is run
    runs: tuple[Payload, ...]  # of what it carries, what its reader does not read itself
    packs: bool
    prints: bool  # something that is known, or what flows in
    sends: bool  # it is told elsewhere what leaves


def _dispatch(name: str) -> _Dispatch:
    return _dispatch_kept(name if len(name) <= 255 else "")  # no file has a longer name


@lru_cache(maxsize=2048)
def _dispatch_kept(name: str) -> _Dispatch:
    program, builtin = described_program(name) or UNDESCRIBED, name in HANDLERS
    readers = [(READERS[one], program.read_at.get(one, NO_VALUES)) for one in program.reader]
    readers += [(data_clients.apply_stores, NO_VALUES)] if program.stores else []
    readers += [(apply_paths, NO_VALUES)] if program.paths else []
    readers += [(HANDLERS[name], NO_VALUES)] if builtin else []
    files_only = bool(program.paths) and not program.carries
    return _Dispatch(
        program,
        tuple(readers),
        each_word=builtin or files_only or not _KNOWN_WORDS.isdisjoint(program.reader),
        runs=program.carries[1:] if "interpreter" in program.reader else program.carries,
        packs=name in program_set("packs"),
        prints=name in program_set("filter") | program_set("encoder")
        or not all(item.starts or item.any_word for item in program.prints),
        sends=builtin or bool(program.sends) or not _SENDING.isdisjoint(program.reader),
    )


_KNOWN_WORDS = frozenset(item_runners.READERS) | {"web", "remote_procedure", "relay"}  # readers that know each word
_LOOSE = lazy_regex(r"[\s(!]|tmp|/shm/|Downloads")  # what text that runs, or a place that code is loaded from, has
_SYSTEM_PROGRAM = lazy_regex(
    r"/(usr|bin|sbin|opt|snap|nix|Applications|Library|System)/|[A-Za-z]:[\\/](Windows|Program)", re.IGNORECASE
)


def original_name(shell: Shell, first: str) -> str:
    """cp /bin/rm /tmp/x; /tmp/x …"""
    if HOLE in first:
        return ""
    copies = shell.session.copies
    origin = copies.get(shell.full(first))
    if origin is None and "/" not in first:  # found by a path that the action itself set, or in a folder of programs
        on_path = "/" if "PATH" in shell.variables else "bin/"
        origin = next((old for new, old in copies.items() if new.endswith(f"{on_path}{first}")), None)
    return program_name(origin) if origin and origin.startswith(("/bin/", "/usr/", "/sbin/")) else ""


def read_program(job: Job, written: str) -> Stream:
    """`written` is its name as it stands in the text."""
    name = job.program
    first, dash, rest = name.partition("-")
    if dash and rest in describe(first).dashed:  # git-push is git push
        return job.host.run([first, rest, *job.words], job.where.inside(name), job.stdin)
    if name.startswith("ld") and re.fullmatch(r"ld-(linux|musl)[\w.-]*|ld\.so[\w.]*|ld-[\d.]+\.so", name):
        name = job.program = "ld.so"
    way = _dispatch(name)
    job.described = program = way.program
    if own := _own_file(job, written, bool(program.name)):
        job.session.facts.append(command_fact(name, job.words, job.where, job.stdin))
        return interpreters.executable(job, own)
    if name in program.aliases:
        name = job.program = program.name
        way = _dispatch(name)
    if program.variables and job.where.env:
        job.words = [*job.words, *_options_from(program.variables, job.where.env)]
    if program.subcommands or program.short:
        job.words = whole_words(program, job.words)
    local = "/" in written and not _SYSTEM_PROGRAM.match(written)
    windows = "windows" in job.where.traits
    mark = "wrapper" if program.wrapper else ""
    if not mark and asks_for_help(UNDESCRIBED if local else program, job.words, NET.switches, windows):
        mark = "help_word" if local else "help"
    where = job.where.marked(mark) if mark else job.where
    session, folder = job.session, job.host.cwds[0]
    session.step(FACT_STEPS)
    session.facts.append(command_fact(name, job.words, where, job.stdin, folder if folder != session.cwd else ""))
    if mark == "help":
        return UNKNOWN
    if mark == "help_word":  # a script may ignore it
        job.where = where
    if program.writes and any(_may_write(program, word) for word in job.words):
        write_outputs(job)
    before = len(session.facts)
    stream, handled = _run(job, written if local else "", way)
    depth = len(job.where.via)
    inside = len(session.facts) > before and any(len(fact.via) > depth for fact in islice(session.facts, before, None))
    if not (program.wrapper or inside):  # its own words were not read as something that it runs
        loose = job.piped or session.changed or _LOOSE.search("\0".join(job.words))
        if loose and set(program.dry_run).isdisjoint(job.words):
            read_loose_words(job, handled, way.each_word)
    return stream


def _may_write(program: Program, word: str) -> bool:
    """As an option that names an output, or its beginning."""
    if word[:2] != "--":
        return word[:1] == "-"  # among other letters, perhaps
    name = word.partition("=")[0].lstrip("-")
    bare = [one.lstrip("-") for one in program.writes]
    return name.startswith(tuple(bare)) or any(one.startswith(name) for one in bare)


def _options_from(names: Sequence[str], env: Sequence[tuple[str, str]]) -> list[str]:
    """TAR_OPTIONS='--remove-files', PIP_INDEX_URL=address."""
    found: list[str] = []
    for name, value in env:
        for known in names:
            if name == known and HOLE not in value:
                found += [word.replace("\\ ", " ") for word in re.split(r"(?<!\\)\s+", value) if word]
            elif known.endswith("*") and name.upper().startswith(known[:-1]):
                found.append(f"--{name[len(known) - 1 :].lower().replace('_', '-')}={value}")
    return found


def _run(job: Job, script: str, way: _Dispatch) -> tuple[Stream, bool]:
    """The output, and whether what it does with its words is known; `script`: the local file it may be."""
    program = way.program
    if program.sends:
        network.apply_sends(job)
    runs = [item for item in way.runs if may_hold(item, job.words)] if way.runs else []
    if runs and (stream := payloads.run_carried(job, runs)) is not None:
        return stream, True
    if way.packs:
        carried.pack(job)
    if program.unpacks:
        carried.unpack(job)
    if not way.readers or _holds_leak(job, way.sends):
        network.send_named(job)
    if not way.readers:
        network.named_request(job)
    for reader, asked in way.readers:
        if not (asked and asked.isdisjoint(job.words)) and (stream := reader(job)) is not None:
            return stream, True
    if way.readers:
        return _output(job, way), True
    has_subcommands = bool(program.ruled or program.does or program.network or program.slash_flags)
    if not program.data and (tail := _handed_on(job, has_subcommands)):
        return payloads.run_words(job, tail, job.program, ()), True
    if program.carries:
        return _output(job, way), True
    return interpreters.executable(job, script) if script else _output(job, way), False


def _output(job: Job, way: _Dispatch) -> Stream:
    if way.prints or job.stdin.taints or any(may_hold(item, job.words) for item in way.program.prints):
        return output(job)
    return UNKNOWN


_SENDING = frozenset(network.READERS)  # readers that tell themselves what is sent


def _holds_leak(job: Job, told: bool) -> bool:
    """Flowing in, or in a word where nothing else tells that it leaves."""
    if not carried.LEAKS.isdisjoint(job.stdin.taints):
        return True
    text = "" if told else " ".join(job.words)
    return HOLE in text and not carried.LEAKS.isdisjoint(taints_in(text))


_PROGRAM_FOLDER = lazy_regex(r"(?:.*/)?\.?s?bin/[^/]+$")


def _own_file(job: Job, written: str, described: bool) -> str:
    """One of the action's own, or a script here that has a program's name."""
    session = job.session
    if "/" in written:
        full = job.full(written)
        if full in session.files or session.fetched(full):
            return written
        installed = _SYSTEM_PROGRAM.match(written) or _PROGRAM_FOLDER.match(written)
        named = (described or job.program in HANDLERS) and not installed
        return written if named and job.file_text(written) is not None else ""
    if not session.changed:
        return ""
    job.step((len(session.downloads) + len(session.files)) // 16)
    for path in (*session.downloads, *session.files):
        if path.endswith(f"/{written}") and (_PROGRAM_FOLDER.match(path) or _on_path(job, path)):
            return path
    return ""


def _on_path(job: Job, path: str) -> bool:
    given = [value for name, value in job.where.env if name == "PATH"] or job.host.variables.get("PATH", [])
    folders = [part or "." for value in given for part in value.split(":") if HOLE not in part]
    return path.rpartition("/")[0] in map(job.full, folders)


_LOOKED_AT = 8  # words of an unknown program in which a command is looked for


def _handed_on(job: Job, own_subcommands: bool) -> list[str]:
    """The command that a program seems to run: what follows its `--` or `exec`, a shell with its -c, or words that destroy.

    The words of a program with subcommands of its own are no such words.
    """
    words = job.words
    for at, word in enumerate(words[:_LOOKED_AT]):
        told = words[at - 1] in word_set("handing_on") if at else not own_subcommands
        if not word[:1].isalpha() or (own_subcommands and not told and not dialect_of(word)):
            continue
        rest = words[at:]
        if len(rest) < 2 or not is_program(word) or words[at - 1 : at] == ["help"]:
            continue
        if dialect_of(word) and any(re.fullmatch(r"-[a-z]*c", one) for one in rest[1:3]):
            return rest
        if (told and words[at - 1 : at] == ["--"]) or harm_of_words(job, rest, told):
            return rest
    return []
