"""Names of a Python source: imports, aliases and constants of the standard library, attributes and items."""

from __future__ import annotations

import ast
import stat
import string
from collections.abc import Mapping

from interlock.analysis.code.program.objects import MAX_PATH, Class, Instance, Partial, ProgramFunction, member_of
from interlock.analysis.code.program.values import (
    NOTHING,
    PATH_ATTRIBUTES,
    UNKNOWN,
    Sym,
    Value,
    index,
    text_of,
    traits_of,
)
from interlock.analysis.code.program.walk import ProgramWalk, Statement
from interlock.analysis.facts import hole

_ALIASES = {
    "posix": "os",
    "nt": "os",
    "posixpath": "os.path",
    "ntpath": "os.path",
    "builtins": "",
    "__builtins__": "",
    "__builtin__": "",
    "io.open": "open",
    "codecs.open": "open",
    "pathlib.PosixPath": "pathlib.Path",
    "pathlib.WindowsPath": "pathlib.Path",
    "pathlib.PurePath": "pathlib.Path",
    "Path": "pathlib.Path",
    "urllib2": "urllib.request",
    "importlib.__import__": "__import__",
    "os.getcwdb": "os.getcwd",
    "os.environb": "os.environ",
    "cPickle": "pickle",
    "dill": "pickle",
    "cloudpickle": "pickle",
    "_posixsubprocess": "subprocess",
    "tqdm": "tqdm.tqdm",
}

_CONSTANTS: Mapping[str, Value] = {
    "os.sep": "/",
    "os.path.sep": "/",
    "os.curdir": ".",
    "os.pardir": "..",
    "os.devnull": "/dev/null",
    "os.linesep": "\n",
    "os.O_RDONLY": 0,
    "os.O_WRONLY": 1,
    "os.O_RDWR": 2,
    "os.O_CREAT": 64,
    "os.O_TRUNC": 512,
    "os.O_APPEND": 1024,
    "signal.SIGKILL": 9,
    "signal.SIGTERM": 15,
    "signal.SIGINT": 2,
    "sys.executable": "python3",
    "string.ascii_lowercase": string.ascii_lowercase,
    "string.ascii_uppercase": string.ascii_uppercase,
    "string.ascii_letters": string.ascii_letters,
    "string.digits": string.digits,
    "string.printable": string.printable,
    "string.punctuation": string.punctuation,
    "True": True,
}
_VARIABLES = {"HOME": "~", "USERPROFILE": "~", "PWD": "."}


def canonical(path: str) -> str:
    """The one name of what goes by several."""
    if path in _ALIASES:
        return _ALIASES[path]
    head, dot, rest = path.partition(".")
    return f"{_ALIASES[head]}.{rest}".lstrip(".") if dot and head in _ALIASES and head != "Path" else path[-MAX_PATH:]


def environment(name: str) -> str:
    """What an environment variable stands for."""
    return _VARIABLES.get(name, hole(name))


def reach(path: str, owner: Sym | None = None) -> Value:
    """What is found at this path: a constant of the standard library, or a value known by the path alone."""
    fixed = _stat_bits(path) if path.startswith("stat.S_I") else _CONSTANTS.get(path, UNKNOWN)
    if fixed is not UNKNOWN:
        return fixed
    if path.endswith(".__call__") and owner is not None:
        return owner
    traits = frozenset({"environment"}) if path == "os.environ" else owner.traits if owner else NOTHING
    return Sym(path, owner, traits=traits)


def _stat_bits(path: str) -> Value:
    bits = getattr(stat, path[5:], UNKNOWN)
    return bits if isinstance(bits, int) else UNKNOWN


_UNBOUND = Sym("?")


def look_up(walk: ProgramWalk, name: str) -> Value:
    """A name, as the source or else the language defines it."""
    found = walk.scope.find(name, _UNBOUND)
    if found is not _UNBOUND:
        return found
    if name == "__name__":
        return "__main__"
    stars = (f"{module}.{name}" for module in walk.stars)
    return Sym(next((path for path in stars if path in walk.language.handled), canonical(name)))


def attribute(walk: ProgramWalk, owner: Value, name: str) -> Value:
    """`owner.name`."""
    if isinstance(owner, (Instance, Class)):
        return member_of(owner, name)
    if isinstance(owner, Sym):
        path = canonical(f"{owner.path}.{name}" if owner.path else name)
        return walk.attributes[path] if path in walk.attributes else reach(path, owner)
    if isinstance(owner, str) and name in PATH_ATTRIBUTES:
        return PATH_ATTRIBUTES[name](owner)
    if isinstance(owner, (ProgramFunction, Partial)) and name == "__call__":
        return owner
    return Sym(f".{name}", owner, traits=traits_of(owner))


def item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    """`owner[key]`."""
    if not isinstance(owner, Sym):
        return index(owner, key)
    if owner.path.startswith("plumbum."):
        return _program(owner, key)
    if not isinstance(key, str):
        return Sym(f"{owner.path}.[]"[-MAX_PATH:], owner, traits=owner.traits)
    if owner.path == "os.environ":
        return environment(key)
    if owner.path == "sys.modules":
        return Sym(canonical(key))
    if owner.path in ("globals()", "locals()", "vars()", "") and not owner.args:
        return look_up(walk, key)
    if owner.path.endswith((".__dict__", ".__globals__")):
        return attribute(walk, owner.owner, key)
    if owner.path == "vars()":
        return attribute(walk, owner.args[0], key)
    return Sym(f"{owner.path}.{key if key.isidentifier() else '[]'}"[-MAX_PATH:], owner, traits=owner.traits)


def _program(owner: Sym, key: Value) -> Sym:
    """plumbum's `local["rm"]` is a program, and `rm["-rf"]` that program with a word."""
    if owner.path == "plumbum.local":
        return Sym(f"plumbum.cmd.{text_of(key)}")
    return Sym(owner.path, owner, (*owner.args, *(key if isinstance(key, tuple) else (key,))))


def _import(walk: ProgramWalk, node: ast.Import) -> None:
    for alias in node.names:
        name = alias.name if alias.asname else alias.name.partition(".")[0]
        walk.scope.set(alias.asname or name, Sym(canonical(name)))


def _import_from(walk: ProgramWalk, node: ast.ImportFrom) -> None:
    for alias in node.names:
        if alias.name == "*":
            walk.stars.append(canonical(node.module or ""))
        else:
            walk.scope.set(alias.asname or alias.name, reach(canonical(f"{node.module or ''}.{alias.name}")))


IMPORTS: Mapping[type[ast.stmt], Statement] = {ast.Import: _import, ast.ImportFrom: _import_from}
