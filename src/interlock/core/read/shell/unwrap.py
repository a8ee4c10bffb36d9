"""A wrapper -> the command that it runs, which is read in its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from interlock.core.read.places import resolve
from interlock.core.read.shell.assign import run_variables
from interlock.core.read.shell.options import Options, options
from interlock.core.read.shell.session import NOTHING, UNKNOWN, Job, Stream
from interlock.core.read.shell.wrappers import PREFIXES, SUBCOMMANDS, Prefix

ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# Programs that fetch the package they run; from a registry as a matter of course, from an address only when it is named.
_FETCHERS = frozenset(
    {"npx", "bunx", "pnpx", "uvx", "npm exec", "npm x", "pnpm dlx", "yarn dlx", "bun x", "pipx run", "uv x"}
)
_REMOTE = re.compile(r"(git\+|git:|git@|https?:|github:|gitlab:|bitbucket:|gist:)")


def unwrap(job: Job) -> Stream | None:
    """Read what a wrapper runs; None when this program is no wrapper."""
    prefix = PREFIXES.get(job.program)
    if prefix is not None:
        return _unwrap(job, prefix, job.words, job.program)
    subs = SUBCOMMANDS.get(job.program)
    if subs is not None:
        found = options(job.words, stop_at_operand=True)
        if found.operands and found.operands[0] in subs:
            name = found.operands[0]
            return _unwrap(job, subs[name], found.operands[1:], f"{job.program} {name}")
    return None


def _unwrap(job: Job, prefix: Prefix, words: Sequence[str], via: str) -> Stream:
    job.step(len(words) // 4)
    found = options(words, prefix.values, stop_at_operand=True)
    for name in prefix.text_flags:
        for text in found.all(name):
            job.shell_text(text, f"{via} {name}", *prefix.traits)
    rest = found.operands[prefix.skip :]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if via in _FETCHERS and (address := _address([*rest[:1], *found.all("-p", "--package", "--from", "--spec")])):
        job.effect("run_download", address)
    env: list[tuple[str, str]] = []
    if prefix.assigns:
        while rest and ASSIGNMENT.match(rest[0]):
            name, _, value = rest.pop(0).partition("=")
            env.append((name, value))
    if (
        len(rest) == 1 and " " in rest[0] and "remote" in prefix.traits
    ):  # heroku run 'rm -rf x': a shell there takes it apart
        return job.shell_text(rest[0], via, *prefix.traits)
    return run_words(job, rest, via, prefix.traits, env, found)


def _address(specs: Sequence[str]) -> str:
    """The package that comes from an address instead of a registry; none for most."""
    return next((spec for spec in specs if _REMOTE.match(spec)), "")


def run_words(
    job: Job,
    rest: list[str],
    via: str,
    traits: Sequence[str],
    env: Sequence[tuple[str, str]] = (),
    found: Options | None = None,
    mounts: Mapping[str, str] | None = None,
) -> Stream:
    """Read the command that a wrapper runs, with what flows into the wrapper flowing into it."""
    job.step(len(rest) // 4)
    if not rest:
        if (
            job.program in ("sudo", "doas", "run0")
            and found is not None
            and found.has("-s", "-i", "--login", "--shell")
        ):
            return _shell_stdin(job, via)
        return UNKNOWN if job.program != "exec" else NOTHING
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


def _shell_stdin(job: Job, via: str) -> Stream:
    if job.stdin is not None:
        return job.shell_text(job.stdin.text, via, "privileged")
    return UNKNOWN
