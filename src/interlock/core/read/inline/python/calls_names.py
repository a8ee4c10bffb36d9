"""Functions that find something by its name: modules, attributes, environment variables."""

from __future__ import annotations

from collections.abc import Mapping

from interlock.core.read.facts import hole, known
from interlock.core.read.inline.python.modules import canonical, environment
from interlock.core.read.inline.python.names import attribute
from interlock.core.read.inline.python.objects import Call, Partial
from interlock.core.read.inline.python.values import Sym, Value, either, made_from, text_of
from interlock.core.read.inline.python.walk import Answer, Walk


def _import(walk: Walk, call: Call) -> Value:
    name = call.text(0, "name")
    head = name if call.path.endswith("import_module") else name.partition(".")[0]
    return Sym(canonical(head)) if known(name) else Sym("?")


def _getattr(walk: Walk, call: Call) -> Value:
    owner, name = call.get(0), call.get(1)
    if isinstance(name, str) and known(name):
        return attribute(walk, owner, name)
    if isinstance(owner, Sym) and owner.path in ("os", "shutil", "subprocess", ""):
        return Sym("<chosen>")
    return made_from(owner)


def _chosen(walk: Walk, call: Call) -> Value:
    walk.world.unreadable("a function chosen at run time", "payload")
    return Sym("?")


def _call_method(walk: Walk, call: Call) -> Value:
    """What operator.methodcaller made: its arguments come first, as one list, then the object."""
    name, *args = call.args[0]
    return walk.call(attribute(walk, call.get(1), text_of(name)), args, {})


def _variable(walk: Walk, call: Call) -> Value:
    name = call.get(0, "key")
    value = environment(name) if isinstance(name, str) and known(name) else hole()
    default = call.get(1, "default", None)
    return either(value, default) if isinstance(default, str) and not known(value) else value


CALLS: Mapping[str, Answer] = {
    **dict.fromkeys(["__import__", "importlib.import_module"], _import),
    **dict.fromkeys(["getattr", "object.__getattribute__"], _getattr),
    "<chosen>": _chosen,
    "operator.attrgetter": lambda walk, call: Partial(Sym("<attrgetter>"), call.args, {}),
    "<attrgetter>": lambda walk, call: attribute(walk, call.get(1), call.text(0)),
    "operator.methodcaller": lambda walk, call: Partial(Sym("<methodcaller>"), [call.args or [""]], {}),
    "<methodcaller>": _call_method,
    **dict.fromkeys(["os.getenv", "os.environ.get", "os.environ.pop", "os.environ.setdefault"], _variable),
    "globals": lambda walk, call: Sym("globals()"),
}
METHODS: Mapping[str, Answer] = {
    "__getattribute__": lambda walk, call: attribute(walk, call.owner, call.text(0)),
}
