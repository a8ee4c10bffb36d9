"""Calls on clients of services -> the commands and the operations that ask for the same."""

from __future__ import annotations

import json
import re

from interlock.analysis.code.library import Entry, chosen, library, words
from interlock.analysis.code.program.objects import LibraryCall, ProgramFunction, links
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, text_of
from interlock.analysis.code.program.walk import ProgramWalk

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FIELD = re.compile(r"\{(\w+)\}")
_LISTS = re.compile(r"^(?:list|get|iter|search)_(?:all_)?")


def command_of(call: LibraryCall, word: str) -> str:
    """A word of a command, `{Bucket}` filled with what `Bucket(…)` or an argument of that name was given; nothing where none was."""
    if "{" not in word:
        return word
    if word == "{call}":
        return call.name
    chain = links(call.owner)
    calls = {link.name.removesuffix("()"): "/".join(map(text_of, link.args)) for link in reversed(chain) if link.args}
    named = {key: text_of(value) for link in reversed(chain) for key, value in link.named.items()}
    given = {**named, **calls}
    if given.keys().isdisjoint(_FIELD.findall(word)):
        return ""
    return _FIELD.sub(lambda found: given.get(found[1], ""), word).rstrip("/")


def ask_client(walk: ProgramWalk, call: LibraryCall, entry: Entry, where: object) -> Value:
    """Tell what a service is asked for; UNKNOWN for what makes a part of the client.

    A method of a client, or a command that it is sent, is one of its program: the service, the operation and its parameters.
    """
    if where == "operation":  # a client whose methods are called what they do
        return _operation(walk, call)
    operation, asks = _snake(call.name.removesuffix("Command")), words("services")
    parts = operation.split("_")
    made = call.name.endswith("Command") or any(link.path.endswith("()") for link in links(call.owner))
    if not made or len(parts) < 2 or not parts[0]:
        return UNKNOWN
    if parts[0] not in asks["reads"] or not asks["secrets"].isdisjoint(parts):
        service = (chosen(call, entry, "of") or [call.path.split(".")[1].removesuffix("()").lower()])[0]
        given = [(key, one) for key, one in call.named.items() if key != "**" and not isinstance(one, ProgramFunction)]
        options = [word for key, value in given for word in _option(_kebab(key), value)]
        walk.world.run([str(where), library("services").canonical(text_of(service)), _kebab(operation), *options])
    return Sym("?")


def _option(name: str, value: Value) -> list[str]:
    """A parameter as the command line spells it."""
    flag = f"--{name}"
    if isinstance(value, bool):
        return [flag if value else f"--no-{name}"]
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list)) for item in value):
        return [flag, " ".join(map(text_of, value))]
    if isinstance(value, (dict, list)):
        return [flag, json.dumps(value, default=text_of)]
    return [flag, text_of(value)]


def _kebab(name: str) -> str:
    """`DeleteBucket` and `delete_bucket` as the command line spells them."""
    return _snake(name).replace("_", "-")


def _snake(name: str) -> str:
    return _HUMP.sub("_", name).lower()


def _operation(walk: ProgramWalk, call: LibraryCall) -> Value:
    """A method that ends, takes away or pays is an operation of that name."""
    if walk.world.idle:
        return UNKNOWN
    asks, noun = words("services"), _noun(call)
    parts = _snake(call.name).removeprefix("begin_").split("_")
    if parts[0] not in asks["ends"] and not (parts[0] == "create" and noun in asks["pays"]):
        return UNKNOWN
    many = "bulk_" if ".[]" in call.path else ""
    name = "_".join(parts) if len(parts) > 1 else f"{parts[0]}_{noun}"
    from interlock.analysis.operations.operation import read_operation

    given = {key: text_of(value) for key, value in call.named.items() if key != "**"}
    read_operation(f"{many}{name}", given, "", walk.world.out)
    return Sym("?")


def _noun(call: LibraryCall) -> str:
    """What the method is called on: `containers.list()[0].remove` is about a container."""
    fillers = words("services")["fillers"]
    for link in links(call.owner):
        name = _LISTS.sub("", link.name.removesuffix("()"))
        filler = name in fillers or name.partition("_")[0] in fillers or name.endswith(("Api", "Client", "Service"))
        if name and name != "[]" and not filler:
            return _snake(name).removesuffix("s")
    return "item"
