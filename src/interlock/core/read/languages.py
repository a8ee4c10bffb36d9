"""Code in another language -> the reader of that language, imported when first met."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from importlib import import_module

from interlock.core.read.facts import Report
from interlock.core.read.shell.expand import is_unknown
from interlock.core.read.shell.session import MAX_NESTING, Job

MAX_CODE = 200_000

_READERS = {
    "python": ("inline.python", "read_python"),
    "javascript": ("inline.javascript", "read_javascript"),
    "mongo": ("inline.mongo", "read_mongo"),
    "perl": ("inline.perl", "read_perl"),
    "ruby": ("inline.ruby", "read_ruby"),
    "php": ("inline.php", "read_php"),
    "lua": ("inline.lua", "read_lua"),
    "awk": ("inline.awk", "read_awk"),
    "vim": ("inline.vim", "read_vim"),
    "r": ("inline.r", "read_r"),
    "tcl": ("inline.tcl", "read_tcl"),
    "groovy": ("inline.groovy", "read_groovy"),
    "elixir": ("inline.elixir", "read_elixir"),
    "prose": ("prose", "read_prose"),
    "other": ("inline.other", "read_other"),
    "sql": ("sql", "read_sql"),
    "redis": ("stores", "read_redis_text"),
    "cql": ("stores", "read_cql"),
    "cypher": ("stores", "read_cypher"),
    "memcached": ("stores", "read_memcached"),
    "powershell": ("powershell", "read_powershell"),
    "cmd": ("cmd", "read_cmd"),
}


@cache
def _reader(language: str) -> Callable[[str, Report], None]:
    module, name = _READERS[language]
    found: Callable[[str, Report], None] = getattr(import_module(f"interlock.core.read.{module}"), name)
    return found


def read_code(language: str, text: str, job: Job) -> None:
    """Read code in a language by name; what is unknown, too long or nested too deeply is reported as such."""
    session = job.host.session
    session.step(10)
    if language in ("shell", "sh", "bash"):
        job.shell(text)
        return
    if not text.strip():
        return
    if is_unknown(text.strip()):
        job.unreadable(f"{language} made at run time is run", "payload")
        return
    if session.nesting >= MAX_NESTING:
        job.unreadable("code nested too deeply", "nesting")
        return
    if len(text) > MAX_CODE:
        job.unreadable(f"more {language} than is read", "budget")
        return
    language = language if language in _READERS else "other"
    session.nesting += 1
    try:
        _reader(language)(text, job)
    except RecursionError:
        job.unreadable(f"{language} nested too deeply", "nesting")
    finally:
        session.nesting -= 1
