"""Runs what a program is given to run, by its description: commands, shell text, code, statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from interlock.analysis.facts import hole, known, without_holes
from interlock.analysis.places import resolve
from interlock.analysis.programs import Payload, Program
from interlock.analysis.programs.options import CommandOptions, options
from interlock.analysis.shell import UNKNOWN, Job, Stream
from interlock.analysis.shell.data_clients import inside, read_statements
from interlock.analysis.shell.simple_commands import run_variables

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ESCAPE = re.compile(
    r"\s*(?:\\?!|(?:shell|system|sh)\s|\.(?:shell|system)\s)"
)  # to a shell, from a prompt of another language
_FILE_NAME = re.compile(r"[\w./~-]+\.(?:rb|js|sql|php|py|cql|cypher)")
_ADDRESS = re.compile(r"(git\+|git:|git@|https?:|github:|gitlab:|bitbucket:|gist:)")


def run_carried(job: Job, program: Program) -> Stream | None:
    """Read what this command runs; the stream of the command that it passes its own streams to, if there is one."""
    stream: Stream | None = None
    for item in program.carries[1:] if "interpreter" in program.reader else program.carries:
        words, via = _behind_subcommand(job, program, item)
        if words is None:
            continue
        found = _split(job, program, item, words)
        if (item.any_flag and not found.has(*item.any_flag)) or (item.no_flag and found.has(*item.no_flag)):
            continue
        texts = [(language, text, via) for language, text in _texts(job, item, found)]
        rest = _command_words(item, found, words)
        if item.packages and (address := _address([*rest[:1], *found.all(*item.packages)])):
            job.effect("run_download", address)
        for language, text, source in texts:
            read_carried(job, language, text, source, item.traits)
        if rest:
            stream = _run_command(job, item, rest, via)
        elif item.stdin and job.stdin is not None and not texts and stream is None and not found.all(*item.files):
            _read_stdin(job, job.stdin, item, via)
        if item.opens and found.operands:
            job.effect("read", found.operands[0])
        if stream is None and _is_sql(item):
            stream = _printed([text for _, text, _ in texts])
    return stream


def _is_sql(item: Payload) -> bool:
    return item.stdin.startswith("sql")


def _printed(texts: Sequence[str]) -> Stream:
    """Statements that statements print, for the client that they are piped into."""
    from interlock.analysis.sql.dynamic import generated_sql

    made = [text for text in map(generated_sql, filter(known, texts)) if text]
    return Stream("\n".join(made), frozenset({"sql"})) if made else UNKNOWN


def _read_stdin(job: Job, stream: Stream, item: Payload, via: str) -> None:
    if "download" in stream.taints:
        job.effect("run_download", "the network")
    elif _is_sql(item) and not stream.known and not without_holes(stream.text).strip():
        inside(job).effect("run_script", hole(), "sql")
    else:
        read_carried(job, item.stdin, stream.text, via, item.traits)


def _behind_subcommand(job: Job, program: Program, item: Payload) -> tuple[list[str] | None, str]:
    """The words behind the subcommand that an entry is for, and the way there for a person."""
    if not item.subcommand:
        return _behind(item, job.words), job.program
    for path in item.subcommand:
        words: list[str] = job.words
        for name in path:
            operands = options(words, program.value_flags, stop_at_operand=True).operands
            if operands[:1] != [name]:
                break
            words = operands[1:]
        else:
            return _behind(item, words), f"{job.program} {' '.join(path)}"
    return None, ""


def _behind(item: Payload, words: list[str]) -> list[str] | None:
    if not item.behind:
        return words
    return words[words.index(item.behind) + 1 :] if item.behind in words else None


def _split(job: Job, program: Program, item: Payload, words: Sequence[str]) -> CommandOptions:
    """Options and operands; a command among the operands ends the program's own options."""
    job.step(len(words) // 4)
    values = program.value_flags | item.value_flags
    if not item.words:
        return options(words, values)
    found = options(words, values, stop_at_operand=True)
    rest = found.operands[item.skip :]
    if item.skip and rest[:1] and rest[0].startswith("-") and rest[0] != "-":  # flock FILE -c text
        more = options(rest, values, stop_at_operand=True)
        found.flags |= more.flags
        for name, given in more.values.items():
            found.values.setdefault(name, []).extend(given)
        found.operands[item.skip :] = more.operands
    return found


def _command_words(item: Payload, found: CommandOptions, words: Sequence[str]) -> list[str]:
    if not item.words:
        return []
    if item.behind:
        return list(words)
    rest = found.operands[item.skip :]
    return rest[1:] if rest[:1] == ["--"] else rest


def _texts(job: Job, item: Payload, found: CommandOptions) -> Iterator[tuple[str, str]]:
    """The texts in options, operands and files, each with its language."""
    for name, language in item.options.items():
        yield from ((language, text) for text in found.all(name))
    if item.operands:
        for text in found.operands[item.skip :]:
            if _FILE_NAME.fullmatch(text):
                yield from _file_texts(job, text, item.operands)
            elif not (item.subcommand and item.operands.startswith("sql")) or " " in text:
                yield item.operands, text
    for name, language in item.files.items():
        for path in found.all(name):
            yield from _file_texts(job, path, language)
    if item.file:
        for path in found.operands[item.skip : item.skip + 1]:
            yield from _file_texts(job, path, item.file)


def _script_text(job: Job, path: str, language: str) -> str | None:
    """The text of a script; Python also goes by a module's name."""
    text = job.file_text(path)
    return text if text is not None or language != "python" else job.file_text(f"{path}.py")


def _file_texts(job: Job, path: str, language: str) -> Iterator[tuple[str, str]]:
    if path in ("-", "/dev/stdin") and job.stdin is not None:
        yield language, job.stdin.text
    elif (text := _script_text(job, path, language)) is not None:
        yield language, text
    elif language.startswith("sql"):
        inside(job).effect("run_script", path, "sql")
    elif language != "data":
        job.effect("run_script", path)


def read_carried(job: Job, language: str, text: str, via: str, traits: Sequence[str] = ()) -> None:
    """Read shell text, statements or code that a program runs; text that is only data is not read."""
    if language == "shell":
        job.shell_text(text, via, *traits)
    elif language.startswith("sql"):
        read_statements(inside(job, via, traits), text, language[4:])
    elif language == "program":
        job.effect("run_script", text, "carried")
    elif language == "prompt":
        for line in text.splitlines():
            if found := _ESCAPE.match(line):
                job.shell_text(line[found.end() :], via, *traits)
    elif language != "data":
        inside(job, via, traits).code(language, text, via)


def _run_command(job: Job, item: Payload, rest: list[str], via: str) -> Stream | None:
    if item.words != "command":
        read_carried(job, item.words, " ".join(rest), via, item.traits)
        return UNKNOWN
    env: list[tuple[str, str]] = []
    while item.assigns and rest and ASSIGNMENT.match(rest[0]):
        name, _, value = rest.pop(0).partition("=")
        env.append((name, value))
    if rest and " " in rest[0] and (len(rest) == 1 or "remote" in item.traits):
        return job.shell_text(" ".join(rest), via, *item.traits)  # xterm -e 'rm -rf x': a shell takes it apart
    return run_words(job, rest, via, item.traits, env)


def _address(specs: Sequence[str]) -> str:
    """The package that comes from an address instead of a registry; none for most."""
    return next((spec for spec in specs if _ADDRESS.match(spec)), "")


def run_words(
    job: Job,
    rest: list[str],
    via: str,
    traits: Sequence[str],
    env: Sequence[tuple[str, str]] = (),
    mounts: Mapping[str, str] | None = None,
) -> Stream:
    """Read the command that a wrapper runs, with what flows into the wrapper flowing into it."""
    job.step(len(rest) // 4)
    if not rest:
        return UNKNOWN
    where = job.inside(via, traits)
    host = job.host
    if {"remote", "container"}.intersection(traits) and not {"remote", "container"}.intersection(job.where.traits):
        outside = host.cwds[0]
        host = host.child()
        host.elsewhere({inside: resolve(path, outside) for inside, path in (mounts or {}).items()})
        host.where = where
    if env:
        where = replace(where, env=where.env + tuple(env))
        run_variables(host, env, where)
    return host.run(rest, where, job.stdin, wrapped=True)
