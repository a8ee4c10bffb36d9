"""What JavaScript's names, members and those of its calls give that no table describes: modules, code as text, lists, `call`."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from urllib.parse import unquote

from interlock.analysis.code.clients import run_client
from interlock.analysis.code.library import flattened, library
from interlock.analysis.code.program.expressions import narrow
from interlock.analysis.code.program.functions import follow, takes_this
from interlock.analysis.code.program.objects import Class, LibraryCall, Partial, ProgramFunction, ProgramScope
from interlock.analysis.code.program.results import result
from interlock.analysis.code.program.values import MAX_ITEMS, UNKNOWN, Sym, Value, either, index, text_of, traits_of
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.facts import hole, known, without_holes

GLOBALS = frozenset({"globalThis", "global", "window", "self", "top"})
_TRANSPARENT = frozenset({"default", "promises", "posix", "win32", "prototype", "__proto__"})
_APPLY = frozenset({"call", "apply", "bind"})
_CONNECTIONS = frozenset({"<response>", "socket", "web_server", "web_socket"})
_FUNCTIONS = (ProgramFunction, Partial, Class, Sym)


def member(walk: ProgramWalk, owner: Value, name: str) -> Value:
    """`owner.name`, where JavaScript has its own idea of it; UNKNOWN elsewhere."""
    if name == "constructor":
        maker = isinstance(owner, (ProgramFunction, Class)) or (
            isinstance(owner, Sym) and owner.path in ("constructor", "?")
        )
        return Sym("Function" if maker else "constructor", owner)
    if not isinstance(owner, Sym):
        return UNKNOWN
    path = f"{owner.path}.{name}"
    if owner.path in GLOBALS:
        return walk.language.look_up(walk, name)
    if owner.path in library("javascript").environment and path not in library("javascript").calls:
        return "~" if name in ("HOME", "USERPROFILE") else hole(name if known(name) else "")
    if name in _TRANSPARENT:
        return owner
    if name.lower() == "prisma":
        return Sym("prisma")
    if name in _APPLY:
        return Sym(path, owner, traits=owner.traits)
    if name.endswith("Sync") and path not in library("javascript").calls:
        return walk.language.attribute(walk, owner, name.removesuffix("Sync"))
    return UNKNOWN


def item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    """`owner[key]`: a place in a list, else a member."""
    named = isinstance(key, str) and known(key)
    if isinstance(owner, Sym) and owner.path in library("javascript").environment and not named:
        return hole()
    if isinstance(owner, (list, str)) and named and key.isdecimal() and len(key) < 7:
        return index(owner, int(key))
    member = named and (isinstance(owner, (list, str)) or (isinstance(owner, dict) and key in owner))
    return walk.language.attribute(walk, owner, key) if member else UNKNOWN


def handed(given: Value) -> list[list[Value]]:
    """What the functions get that a call is given: a connection, else an error and then the result."""
    connection = isinstance(given, Sym) and given.path in _CONNECTIONS
    return [[given, given] if connection else [None, given, given]]


# -- modules and code


def module(walk: ProgramWalk, given: Value) -> Value:
    """What `require` or `import` of this name gives, after telling what runs by it."""
    name = text_of(given)
    if isinstance(given, Sym) and any(trait.startswith("file:") for trait in given.traits):
        return Sym("?")
    if name.startswith("data:") and "," in name:
        head, _, body = name.partition(",")
        walk.world.execute(result("base64", [body]) if head.endswith("base64") else unquote(body))
    elif name.startswith((".", "/", "~")):
        if not name.endswith(".json"):
            walk.world.effect("run_script", walk.world.located(name))
    elif not without_holes(name):
        walk.world.unreadable("a module that is chosen at run time", "payload")
    elif name.startswith(("http:", "https:")):
        walk.world.effect("run_download", name)
    else:
        for prefix in ("node:", "npm:", "bun:", "@aws-sdk/client-"):
            name = name.removeprefix(prefix) if prefix[0] != "@" else name.replace(prefix, "aws-sdk.", 1)
        return Sym(library("javascript").canonical(name))
    return Sym("?")


def _worker(walk: ProgramWalk, call: LibraryCall) -> Value:
    if call.named.get("eval") is True:
        walk.world.execute(call.get(0))
    elif known(call.text(0)):
        module(walk, call.get(0))
    return Sym("?")


_PATH = re.compile(r"(?:return\s+)?([A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*){0,5});?", re.ASCII)
_REQUIRE = re.compile(r"""(?:return\s+)?require\(['"]([\w:/@.-]{1,80})['"]\);?""", re.ASCII)


def _function(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`Function("a", "b", "return …")`, whose last argument is the code."""
    return Sym("<made>", _run(walk, call.args[-1])) if call.args else UNKNOWN


def _run(walk: ProgramWalk, given: Value) -> Value:
    """Text is run as code; where it only names something, that is what comes of it."""
    if given is None or isinstance(given, (list, dict, int, float)):
        return given
    walk.world.execute(given)
    text = text_of(given).strip()
    required, named = _REQUIRE.fullmatch(text), _PATH.fullmatch(text)
    if required:
        return module(walk, required[1])
    if not named:
        return Sym("?")
    first, *rest = named[1].split(".")
    value = walk.language.look_up(walk, "globalThis" if first == "this" else first)
    for name in rest:
        value = walk.language.attribute(walk, value, name)
    return value


def _timer(walk: ProgramWalk, call: LibraryCall) -> Value:
    given = call.get(0)
    if isinstance(given, str):
        walk.world.execute(given)
    elif isinstance(given, _FUNCTIONS):
        walk.call(given, call.args[2:], {})
    return Sym("?")


def chosen_late(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A method whose name only a run would tell."""
    walk.world.unreadable("a method that is chosen at run time", "command")
    return Sym("?")


# -- functions, objects and lists


def _new(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`new f(…)`: an object that the function fills, unless it gives another."""
    made, *args = call.args
    if not isinstance(made, ProgramFunction) or not takes_this(made):
        return walk.call(made, args, {})
    thing: dict[str, Value] = {}
    given = follow(walk, ProgramFunction(made.node, made.scope, thing), args, {})
    return thing if given is None else given


def _default(walk: ProgramWalk, call: LibraryCall) -> Value:
    value, default = call.args
    return default if value is None or (isinstance(value, Sym) and value.path == "?" and not value.traits) else value


def _apply(walk: ProgramWalk, call: LibraryCall) -> Value:
    """f.call(this, …), f.apply(this, […]) and f.bind(this, …)."""
    if not isinstance(call.owner, _FUNCTIONS):
        return UNKNOWN
    if call.name == "call":
        return walk.call(call.owner, call.args[1:], {})
    if call.name == "apply":
        given = call.get(1, default=[])
        return walk.call(call.owner, list(given) if isinstance(given, (list, tuple)) else [given], {})
    return Partial(call.owner, call.args[1:], {}) if call.args[1:] else call.owner


def _over(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A function is called with each item of a list, or of what stands for one."""
    work = call.get(0)
    if not isinstance(work, _FUNCTIONS):
        return UNKNOWN
    items = walk.items(call.owner)[:MAX_ITEMS]
    if call.name == "filter":
        return [_passing(walk, work, one) for one in items if walk.call(work, [one], {}) is not False]
    if call.name == "reduce":
        total = call.args[1] if len(call.args) > 1 else items.pop(0) if items else UNKNOWN
        for at, one in enumerate(items):
            total = walk.call(work, [total, one, at, call.owner], {})
        return total
    made = [walk.call(work, [one, at, call.owner], {}) for at, one in enumerate(items)]
    if call.name == "flatMap":
        return flattened(made)
    if call.name == "find" and items:
        return either(*items)
    return made if call.name == "map" else Sym("?", traits=traits_of(items))


def _passing(walk: ProgramWalk, test: Value, value: Value) -> Value:
    """A value that passes a test, as far as a pattern can say that."""
    node = test.node if isinstance(test, ProgramFunction) else None
    returned = node.body[0] if isinstance(node, ast.FunctionDef) and len(node.body) == 1 else None
    params = node.args.args if node is not None else []
    if not isinstance(returned, ast.Return) or returned.value is None or not params:
        return value
    with walk.inside(ProgramScope(test.scope, {params[0].arg: value})) as scope:
        narrow(walk, returned.value)
        return scope.names[params[0].arg]


def _array(walk: ProgramWalk, call: LibraryCall) -> Value:
    """Array.from(list, function)."""
    given = call.get(0, default=[])
    length = given.get("length") if isinstance(given, dict) else None
    items = walk.items([UNKNOWN] * min(length, 1000) if isinstance(length, int) else given)
    work = call.get(1, default=None)
    return [walk.call(work, [one, at], {}) for at, one in enumerate(items)] if isinstance(work, _FUNCTIONS) else items


# -- clouds


def _cloud(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A call of Amazon's clients, as the command that does the same."""
    _, service, *rest = call.path.split(".")
    command = not rest[1:] and rest[-1:] and rest[0].endswith("Command")
    method = rest and not command and any(part.endswith("()") for part in (service, *rest[:-1])) and rest[-1] != "send"
    if not (command or method) or call.path.count("()") > 1:
        return UNKNOWN
    service = service.removesuffix("()").lower()
    service = _CLOUD.get(service, service)
    return run_client(walk, "aws", service, rest[-1].removesuffix("Command"), call)


_CLOUD = {
    "s3": "s3api", "cloudwatch-logs": "logs", "cloudwatchlogs": "logs", "cognito-identity-provider": "cognito-idp",
    "cognitoidentityserviceprovider": "cognito-idp", "elastic-load-balancing-v2": "elbv2", "sfn": "stepfunctions",
    "secrets-manager": "secretsmanager", "auto-scaling": "autoscaling", "route-53": "route53", "eventbridge": "events",
}  # fmt: skip


_CHOOSABLE = ("fs", "child_process", "globalThis", "Bun", "Deno", "shelljs", "process")
_EACH = ("forEach", "map", "filter", "flatMap", "some", "every", "find", "findIndex", "reduce")
ANSWERS: Mapping[str, Answer] = {
    "require": lambda walk, call: module(walk, call.args[0]) if call.args else UNKNOWN,
    "worker_threads.Worker": _worker,
    **dict.fromkeys(
        ["eval", "vm.runInThisContext", "vm.runInNewContext", "vm.runInContext", "vm.Script"],
        lambda walk, call: _run(walk, call.get(0, default=None)),
    ),
    **dict.fromkeys(["Function", "GeneratorFunction", "AsyncFunction"], _function),
    "<made>": lambda walk, call: call.owner,
    **dict.fromkeys(["setTimeout", "setInterval", "setImmediate", "process.nextTick", "queueMicrotask"], _timer),
    **dict.fromkeys([f"{root}.[]" for root in _CHOOSABLE], chosen_late),
    "<new>": _new,
    "<default>": _default,
    **dict.fromkeys([f"<any>.{name}" for name in _APPLY], _apply),
    **dict.fromkeys(
        ["Reflect.get", "Object.getOwnPropertyDescriptor"],
        lambda walk, call: walk.language.item(walk, call.get(0), call.get(1)),
    ),
    **dict.fromkeys([f"<{kind}>.{name}" for kind in ("list", "any") for name in _EACH], _over),
    "Array.from": _array,
    "aws-sdk.*": _cloud,
}
