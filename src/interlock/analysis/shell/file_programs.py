"""Applies a program's effects on files, by its description; and the readers of sed and of signals."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.facts import HOLE, hole, names_only
from interlock.analysis.file_modes import mode_traits
from interlock.analysis.places import is_folder, named_in
from interlock.analysis.programs import PathEffect
from interlock.analysis.programs.options import CommandOptions, holding, parse, settings
from interlock.analysis.shell import NOTHING, Job, Reader, Stream
from interlock.analysis.shell.network import exchange, is_away
from interlock.analysis.shell.redirections import keep_written
from interlock.analysis.targets.carried import copy_to, origin_of

_GLOB = re.compile(r"[*?\[]")
_NOISE = frozenset({"/dev/null", "/dev/zero", "/dev/urandom", "/dev/random"})
_NO_FILE = _NOISE | {"-", "/dev/stdin"}
_NOWHERE = "/dev/null"


def apply_paths(job: Job) -> Stream | None:
    found = _parse_mode(job) if job.described.paths[0].mode else job.options()
    if job.described.dry_run and found.has(*job.described.dry_run):
        return None
    for item, operands in holding(job.described.paths, found):
        _apply(job, item, found, operands[item.skip :])
    return NOTHING if job.described.quiet else None


def write_outputs(job: Job) -> None:
    for path in job.options().all(*job.described.writes):
        job.effect(_output_verb(job, path), path, "output")


def _output_verb(job: Job, path: str) -> str:
    """A program that reads nothing empties its output file."""
    empty = "/dev/null" in job.words or (job.stdin.known and not job.stdin.text.strip())
    return "truncate" if empty and path != _NOWHERE else "write"


def _apply(job: Job, item: PathEffect, found: CommandOptions, operands: list[str]) -> None:
    into = found.value(*item.into)
    sources, target = (operands[:-1], "".join(operands[1:][-1:])) if into is None else (operands, into)
    kinds = {"target": [target] if target else [], "sources": sources, "operands": operands, "first": operands[:1]}
    paths = kinds.get(item.of, [])
    if item.of == "setting":
        given = [word for text in found.all(*item.option) for word in text.split()] if item.option else operands
        paths = settings(item.setting, given)
        sources = settings(item.source, operands)
        if item.into:
            target = "".join(settings(item.into, operands)[-1:]) or "/dev/stdout"
    if item.hosts:
        target = f"{target}." if target.endswith(":") else target  # the folder of its user there; `h:` is no drive here
        away = is_away(target)
        paths = [path for path in paths if not away and not is_away(path)] if item.effect == "read" else paths
        paths = [target] if item.of == "target" and target else paths
    inside = bool(item.contents) and paths == [target] and not (item.hosts and is_away(target))
    inside = inside and (into is not None or is_folder(target, job.host.cwds[0], job.host.home))
    named = named_in(target, sources, "/:" if item.hosts else "/") if inside else []
    if item.path:
        paths = [item.path]
    elif not paths and item.listed and job.piped:
        paths = [hole()]
    traits = [trait for trait in _traits(item, found) if not inside or trait != "forced"]  # it makes something in it
    if "shown" in traits and not _shows(job, paths):
        traits.remove("shown")
    for source, path in zip(sources, named):
        _effect(job, item, path, [source], target, traits)
    for path in [] if named else paths:
        _effect(job, item, path, sources, target, traits)


def _traits(item: PathEffect, found: CommandOptions) -> list[str]:
    """An option that nobody knows may be any of them."""
    unknown = HOLE in "".join(found.flags)
    traits = [trait for trait in item.traits if not found.has(*item.traits_but.get(trait, ()))]
    traits += [trait for trait, flags in item.traits_by.items() if unknown or found.has(*flags)]
    if item.mode:
        by_operand = item.mode == ("operand",)
        traits += mode_traits("".join(found.operands[:1]) if by_operand else found.value(*item.mode) or "")
    return traits


def _effect(job: Job, item: PathEffect, path: str, sources: Sequence[str], target: str, traits: list[str]) -> None:
    verb = item.effect
    if verb == "read":
        if path not in _NO_FILE and not path.startswith(("http:", "https:")):
            shown = ("shown",) if target in {"/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1"} else ()
            job.effect(verb, origin_of(job, path.removeprefix("@")), *traits, *shown)
        return
    marks = _marks(path, job)
    if "output" in traits:
        verb = _output_verb(job, path)
    if verb == "move" and target == _NOWHERE:
        job.effect("delete", path, *["recursive"] * ("." not in path.rpartition("/")[2]), *marks)
        return
    if item.contents and path.startswith("/dev/") and "replaces" in traits:
        job.effect("delete", path)
    if item.contents and path == _NOWHERE:
        return
    if item.contents == "stdin" or (item.of == "setting" and item.contents and not sources):
        stream = job.stdin
        if verb == "write" and stream.known and not stream.text.strip():
            verb = "truncate"
        job.effect(verb, path, *traits, *stream.taints)
        if job.piped:
            keep_written(job, path, stream, verb == "append")
        return
    if item.contents and not _NOISE.isdisjoint(sources):
        verb = "write" if item.creates and re.search(item.creates, path) else "truncate"
    job.effect(verb, path, *traits, *(() if item.contents else marks))
    if item.hosts and item.contents:
        exchange(job, sources, path)
    elif item.contents:
        _carry_over(job, item.contents, sources, path)
        if "symbolic" in traits:
            job.session.links[job.full(path)] = job.full(sources[0])


def _marks(path: str, job: Job) -> tuple[str, ...]:
    return ("bulk",) if _GLOB.search(path) or "bulk" in job.where.traits or path == hole() else ()


def _carry_over(job: Job, how: str, sources: Sequence[str], target: str) -> None:
    session = job.session
    if not sources and job.piped:
        job.keep_file(target, job.stdin.text)
    if len(sources) > 1:
        copy_to(job, sources, target)
        target += "/"
    inside = target.endswith("/") or target in (".", "..")
    for source in sources:
        old = job.full(source)
        new = job.full(f"{target.rstrip('/')}/{source.rpartition('/')[2]}" if inside else target)
        if old in session.files:
            session.files[new] = session.files[old]
        elif source == "/dev/stdin" and job.piped:
            session.files[new] = job.stdin.text
        if old in session.downloads:
            session.downloads[new] = session.downloads[old]
        session.copies[new] = old
        if how == "move":
            session.origins[new] = old


_MODE = re.compile(r"-[rwxXst]+")


def _parse_mode(job: Job) -> CommandOptions:
    """chmod -x FILE: rights taken away are the mode, and no options."""
    modes = list(filter(_MODE.fullmatch, job.words))
    found = parse(job.described, [word for word in job.words if word not in modes])
    found.operands[:0] = [word for word in modes if word != "-r"]
    return found


def sed(job: Job) -> Stream | None:
    from interlock.analysis.code.sed import read_sed

    found = job.options()
    in_place = any(re.match(r"-i|--in-place|-[nEerzs]*i[^=]*$", word) for word in job.words)
    scripts, files, operands = found.all("-e", "--expression"), found.all("-f", "--file"), list(found.operands)
    if operands and not (scripts or files):
        scripts = [operands.pop(0)]
    scripts += [text for path in files if (text := job.file_text(path)) is not None]
    for script in scripts:
        read_sed(script, job.at(job.where.inside("sed")))
    if not in_place:
        read_files(job, operands)
        return None
    deletes_all = any(re.fullmatch(r"(1,\$|\$!?)?\s*d", script.strip()) for script in scripts)
    kept = any(re.search(r"^-i.+|--in-place=.+", word) for word in job.words)
    for path in operands:
        job.effect("truncate" if deletes_all else "write", path, "edit", *["kept"] * kept, *_marks(path, job))
    return NOTHING


def read_files(job: Job, paths: Sequence[str]) -> None:
    shown = ["shown"] * _shows(job, paths)
    for path in paths:
        job.effect("read", path, *shown)


def _shows(job: Job, paths: Sequence[str]) -> bool:
    """Whether more of them is shown than the names in them."""
    return not names_only(job.program, [word for word in job.words if word not in paths])


def kill(job: Job) -> Stream:
    """-1 reaches every process."""
    words = list(job.words)
    if not {"-l", "-L", "-0"}.isdisjoint(words):
        return NOTHING
    at = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    if words[at:] != ["-1"] and words[at : at + 1] != ["--"]:
        del words[at : at + 1 + (words[at : at + 1] in (["-s"], ["-n"], ["--signal"]))]
    targets = [word for word in words if word != "--"]
    job.effect("kill", " ".join(targets), *["all"] * ("-1" in targets))
    return NOTHING


def kill_all(job: Job) -> Stream:
    job.effect("kill", "", "all")
    return NOTHING


READERS: dict[str, Reader] = {"sed": sed, "signals": kill, "signal_all": kill_all}
