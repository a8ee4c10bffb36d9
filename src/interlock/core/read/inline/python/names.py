"""What a name, an attribute or a subscript stands for."""

from __future__ import annotations

from interlock.core.read.inline.python.modules import MAX_PATH, canonical, environment, reach
from interlock.core.read.inline.python.objects import Class, Func, Instance, Partial, member
from interlock.core.read.inline.python.operators import index
from interlock.core.read.inline.python.paths import PATH_ATTRIBUTES
from interlock.core.read.inline.python.values import Sym, Value, text_of, traits_of
from interlock.core.read.inline.python.walk import Walk

_UNBOUND = Sym("?")


def look_up(walk: Walk, name: str) -> Value:
    """A name, as the source or else the language defines it."""
    found = walk.scope.find(name, _UNBOUND)
    if found is not _UNBOUND:
        return found
    if name == "__name__":
        return "__main__"
    stars = (f"{module}.{name}" for module in walk.stars)
    return Sym(next((path for path in stars if path in walk.language.handled), canonical(name)))


def attribute(walk: Walk, owner: Value, name: str) -> Value:
    """`owner.name`."""
    if isinstance(owner, (Instance, Class)):
        return member(owner, name)
    if isinstance(owner, Sym):
        path = canonical(f"{owner.path}.{name}" if owner.path else name)
        return walk.attributes[path] if path in walk.attributes else reach(path, owner)
    if isinstance(owner, str) and name in PATH_ATTRIBUTES:
        return PATH_ATTRIBUTES[name](owner)
    if isinstance(owner, (Func, Partial)) and name == "__call__":
        return owner
    return Sym(f".{name}", owner, traits=traits_of(owner))


def item(walk: Walk, owner: Value, key: Value) -> Value:
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
