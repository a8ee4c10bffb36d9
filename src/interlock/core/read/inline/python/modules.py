"""What a dotted name of a library stands for."""

from __future__ import annotations

import stat
import string
from collections.abc import Mapping

from interlock.core.read.facts import hole
from interlock.core.read.inline.python.values import NOTHING, UNKNOWN, Sym, Value

MAX_PATH = 400

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
