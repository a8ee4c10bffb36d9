"""Clients of databases, stores and file servers: statements, code and commands that they carry."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.facts import Report
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs import Program, StoreEffect
from interlock.analysis.programs.load import word_set
from interlock.analysis.programs.options import CommandOptions, holding, parse, settings
from interlock.analysis.shell import Job, Reader, is_production
from interlock.analysis.shell.network import of_the_machine
from interlock.analysis.targets.carried import LEAKS, carries, leaks_of


def inside(job: Job, via: str = "", traits: Sequence[str] = ()) -> Job:
    """Production where the command's words or surroundings name it."""
    where = job.where.inside(via or job.program, *traits)
    context = [*job.words, *(value for _, value in job.where.env)]
    for name in word_set("selecting_variables"):
        context += job.host.variables.get(name, [])
    return job.at(where.marked("production") if any(map(is_production, context)) else where)


_OUTPUT = lazy_regex(
    r"(?im)^\s*(?:\.output|\.once|\\o)\s+([\w./~-]+)\s*$|\bcopy\b[^;]*?\bto\s+'([^']+)'|\binto\s+(?:outfile|dumpfile)\s+'([^']+)'"
)
# A file of this machine that the client sends to the server.
_SENT = lazy_regex(r"(?i)(?:\\copy\s[^;]*?\sfrom|load\s+data\s+local\s+infile|\\lo_import)\s+'?([\w./~-]+)")
_ELSEWHERE = lazy_regex(r"(?im)\battach\b|^\s*\.(?:open|restore)\b")  # another database than the one that is opened


def read_statements(job: Job, text: str, dialect: str) -> None:
    from interlock.analysis.sql import read_sql

    job.step(10)
    for path in re.findall(r"(?m)^\s*(?:\.read|\\ir?|\\include|source|\\\.|@@?|!run|:r)\s*([\w./~-]+)\s*;?\s*$", text):
        if (included := job.file_text(path)) is not None:
            read_sql(included, job, dialect)
    for path in map("".join, _OUTPUT.findall(text)):
        job.effect("write", path, "output")
    for path in _SENT.findall(text):
        host = job.options("-h --host -U -u -p -d").value("-h", "--host") or ""
        if of_the_machine(host) and (leaks := carries(job, path) & LEAKS):
            job.effect("send", host, *leaks)
    files = job.options("-cmd -init -c -s -f").operands if dialect in ("sqlite", "duckdb") else ["/"]
    scratch = not files or files[0] in (":memory:", "") or re.match(r"/tmp/|/var/tmp/|/dev/shm/", job.full(files[0]))
    if scratch and not any(map(_ELSEWHERE.search, (text, *job.words))):
        job = ScratchJob(job.host, job.program, job.words, job.where, job.stdin)
    try:
        read_sql(text, job, dialect)
    except RecursionError:
        job.unreadable("SQL nested too deeply", "nesting")


class ScratchJob(Job):
    """A statement in a scratch database: only effects outside it count."""

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        within = verb.startswith("sql_") and verb != "sql_shell"
        super().effect("sql_read" if within else verb, target, *(() if within else traits))


def redis(job: Job) -> None:
    from interlock.analysis.datastores import read_redis, read_redis_text

    inner = inside(job)
    read_redis(job.words, inner, job.described.value_flags)
    if not job.options().operands and job.piped:
        read_redis_text(job.stdin.text, inner)
    for path in job.options("--eval").all("--eval"):
        for call in re.findall(r"redis\.p?call\s*\(([^()]{1,300})", job.file_text(path) or "")[:200]:
            read_redis([word.strip(" '\"") for word in call.split(",")], inner)


def apply_stores(job: Job) -> None:
    read_store(job.described, job.words, inside(job))


_STATEMENT = lazy_regex(
    r"(drop (\w+)|truncate table|delete from|alter (table|database|schema)) .+", re.IGNORECASE | re.DOTALL
)


def statement(job: Job) -> None:
    """DROP TABLE users, where a shell is expected: what it does in the console it was meant for."""
    text = " ".join([job.program, *job.words])
    found = _STATEMENT.fullmatch(text)
    if found and (found[2] or "table").lower() in word_set("dropped_objects"):
        inside(job).code("sql", text)


def read_transfer(job: Job, text: str, via: str, traits: Sequence[str]) -> None:
    for line in re.split(r"[;\n]|&&|\|\|", text):
        name, *words = line.replace('"', "").replace("'", "").split() or [""]
        if name.startswith("!"):
            job.shell_text(line.strip()[1:], f"{job.program} !")
        elif name:
            _command(job, name.lstrip("-").lower(), words)


def _command(job: Job, name: str, words: Sequence[str]) -> None:
    """`glob rm x*` and `rm -rf x` alike; `mirror --delete` makes the target what the source is."""
    if name == "glob" and words:
        name, words = words[0], words[1:]
    names = [word for word in words if not word.startswith("-")]
    flags = {letter for word in words if re.fullmatch(r"-\w+", word) for letter in word[1:]}
    reverse = "R" in flags or "--reverse" in words
    if name == "mirror" and ("e" in flags or any(word.startswith("--delete") for word in words)):
        job.effect("delete", [".", *names][-1], "recursive", "bulk", "mirror", *["remote"] * reverse)
    elif name in word_set("transfer_puts") and (name != "mirror" or reverse):
        if leaks := leaks_of(job, names):
            job.effect("send", job.program, *leaks)
    elif name in word_set("transfer_deletes"):
        many = "r" in flags or name in ("mdelete", "mrm", "mdel") or any(set("*?[") & set(word) for word in names)
        for path in names:
            job.effect("delete", path, "remote", *["recursive", "bulk"] * many)


READERS: dict[str, Reader] = {"statement": statement, "redis": redis}


def read_store(program: Program, words: Sequence[str], out: Report) -> None:
    """The first entry that holds; what none speaks of only reads."""
    out.step()
    found = parse(program, words)
    for item, _ in holding(program.stores, found):
        name = _object(item, found)
        more = [trait for trait, pattern in item.traits_for.items() if re.fullmatch(pattern, name)]
        out.effect(item.effect, name, *item.traits, *more)
        return
    out.effect("store_read", "".join(found.operands[1:2]))


def _object(item: StoreEffect, found: CommandOptions) -> str:
    if item.option:
        return found.value(*item.option) or ""
    if item.setting:
        return next(iter(settings(item.setting, found.operands)), "")
    return "".join(found.operands[item.at : item.at + 1])
