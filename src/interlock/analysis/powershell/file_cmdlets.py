"""Cmdlets on files and registry keys, and their effects."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from interlock.analysis.facts import hole, known
from interlock.analysis.powershell.parameters import Bound
from interlock.analysis.powershell.values import Items, PsReading, Value, combine, plain, spread, texts
from interlock.analysis.windows import download_mark, is_nothing, plain_holes, suffix, wildcard

Cmdlet = Callable[[PsReading, Bound, list[Value]], list[Value]]

_REGISTRY = ("hklm:", "hkcu:", "hkcr:", "hku:", "registry::", "microsoft.powershell.core\\registry::")
_NAMES_ONLY = ("env:", "variable:", "function:", "alias:")


def _targets(bound: Bound, piped: Sequence[Value]) -> list[tuple[str, frozenset[str]]]:
    """The target paths of a cmdlet, from its words or from the pipe."""
    given = bound.given.get("path", bound.given.get("literalpath"))
    found: list[tuple[str, frozenset[str]]] = []
    for value in [given] if given is not None else piped:
        for item in spread(value):
            traits = set[str]()
            if isinstance(item, Items):
                traits |= {"recursive"} if item.recursive else set()
                traits |= {"bulk"} if item.bulk else set()
            elif isinstance(item, str) and not known(item) and given is None:
                traits.add("bulk")
            found += [(path, frozenset(traits)) for text in texts(item) for path in _narrowed(text, bound)]
    return found


def _narrowed(path: str, bound: Bound) -> list[str]:
    """A path with each filter that picks files in it."""
    base = path.rstrip("*").rstrip("\\/")
    patterns = bound.texts("filter") or bound.texts("include")
    return [path if pattern == "*" else f"{base}\\{pattern}" if base else pattern for pattern in patterns] or [path]


def _marked(path: str, traits: frozenset[str]) -> list[str]:
    return sorted(traits | ({"bulk"} if wildcard(path) else set()))


def remove_item(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Remove-Item: registry keys go to `reg`, names of the session are nothing, files are deleted."""
    for path, traits in _targets(bound, piped):
        session.out.step()
        if path.lower().startswith(_NAMES_ONLY) or _remove_key(session, bound, path):
            continue
        if bound.has("whatif"):
            session.out.effect("read", plain_holes(path))
        else:
            deep = traits | ({"recursive"} if bound.has("recurse") else set())
            session.out.effect("delete", plain_holes(path), *_marked(path, frozenset(deep)))
    return []


def _remove_key(session: PsReading, bound: Bound, path: str) -> bool:
    """A registry key that is deleted, emptied or moved away; False for any other path."""
    if key := _registry_key(session.out.relocate(path)):
        session.out.run(["reg", "query" if bound.has("whatif") else "delete", key, "/f"])
    return bool(key)


def _registry_key(path: str) -> str:
    """HKLM:Software, HKLM:\\Software, Registry::HKEY_LOCAL_MACHINE\\Software: the key as `reg` has it."""
    if not path.lower().startswith(_REGISTRY):
        return ""
    drive, colon, rest = path.split("::")[-1].partition(":")
    return f"{drive}\\{rest.lstrip(chr(92) + '/')}" if colon else drive


def _each_path(verb: str) -> Cmdlet:
    def act(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
        for path, traits in _targets(bound, piped):
            if _remove_key(session, bound, path):
                continue
            session.out.effect("read" if bound.has("whatif") else verb, plain_holes(path), *_marked(path, traits))
        return []

    return act


def get_content(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Get-Content: the text is known when it was written here."""
    made: list[Value] = []
    for path, _ in _targets(bound, piped):
        session.out.effect("read", plain_holes(path))
        url, text = session.files.url(path), session.files.text(path)
        made.append(
            download_mark(url) if url else text if text is not None else hole(plain_holes(path).replace("\ufffc", ""))
        )
    return made


def write_file(session: PsReading, path: str, content: Sequence[Value], append: bool) -> None:
    """Reports a written file, and remembers its text."""
    if not path or is_nothing(path) or path.lower().startswith(_NAMES_ONLY):
        return
    lines = [text for value in content for text in texts(value)]
    empty = not any(lines)
    verb = "append" if append else "truncate" if empty else "write"
    session.out.effect(verb, plain_holes(path))
    session.files.write(path, "\n".join(lines), append)


def _writer(append: bool) -> Cmdlet:
    def act(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
        content = [bound.given["value"]] if "value" in bound.given else piped
        if not content and not bound.given.get("value", ""):
            content = [] if "value" in bound.given else [hole()]
        for path in bound.texts("path", "filepath", "literalpath"):
            if bound.has("whatif"):
                session.out.effect("read", plain_holes(path))
            else:
                write_file(session, path, content, append or bound.has("append"))
        return list(piped) if bound.name == "tee-object" else []

    return act


def new_item(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """New-Item: creates a file, directory or link; under the registry, a key."""
    paths = bound.texts("path") or [""]
    if name := bound.text("name"):
        paths = [plain(combine([path, "\\" if path else "", name])) for path in paths]
    for path in paths:
        if key := _registry_key(session.out.relocate(path)):
            session.out.run(["reg", "add", key])
        elif path and not path.lower().startswith(_NAMES_ONLY):
            session.out.effect("write", plain_holes(path))
            if "value" in bound.given:
                session.files.write(path, bound.text("value"))
    return [Items(tuple(paths))]


def move_item(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Move-Item and Rename-Item: gone from one place, written at the other."""
    destination = bound.text("destination", "newname")
    if destination.lower().startswith(_NAMES_ONLY):
        return []
    for path, traits in _targets(bound, piped):
        if bound.has("whatif"):
            session.out.effect("read", plain_holes(path))
            continue
        if is_nothing(destination):
            session.out.effect("delete", plain_holes(path), *_marked(path, traits | {"recursive"}))
        elif not _remove_key(session, bound, path):
            session.out.effect("move", plain_holes(path), *_marked(path, traits))
            _carry(session, path, destination)
    if destination and not is_nothing(destination) and not bound.has("whatif"):
        session.out.effect("overwrite" if bound.has("force") else "write", plain_holes(destination))
    return []


def copy_item(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Copy-Item: read at one place, written at the other."""
    destination = bound.text("destination") or "."
    if destination.lower().startswith(_NAMES_ONLY):
        return []
    for path, _ in _targets(bound, piped):
        session.out.effect("read", plain_holes(path))
        _carry(session, path, destination)
    if not bound.has("whatif"):
        session.out.effect("write", plain_holes(destination))
    return []


def _carry(session: PsReading, source: str, destination: str) -> None:
    if (url := session.files.url(source)) is not None:
        session.files.download(destination, url)
    if (text := session.files.text(source)) is not None:
        session.files.write(destination, text.rstrip("\n"))


def list_items(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Get-ChildItem, Get-Item, Resolve-Path: files, by the path that names them."""
    session.out.run([plain_holes(word) for word in bound.argv()])
    whole = bound.name == "get-childitem"
    if "path" not in bound.given and "literalpath" not in bound.given and not piped and whole:
        bound.given["path"] = "."
    paths, recursive = [], bound.has("recurse") or "depth" in bound.given
    for path, traits in _targets(bound, piped):
        inside = whole and not recursive and not wildcard(path) and not suffix(path).strip("\\/.")
        paths.append(path.rstrip("\\/") + "\\*" if inside and path != "." else "*" if inside else path)
        recursive = recursive or "recursive" in traits
    bulk = whole or any(wildcard(path) for path in paths)
    return [Items(tuple(paths), recursive, bulk)] if paths else []


FILE_CMDLETS: dict[str, Cmdlet] = {
    "remove-item": remove_item,
    "clear-content": _each_path("truncate"),
    "clear-item": _each_path("truncate"),
    "get-content": get_content,
    "import-csv": get_content,
    "set-content": _writer(append=False),
    "out-file": _writer(append=False),
    "tee-object": _writer(append=False),
    "export-csv": _writer(append=False),
    "add-content": _writer(append=True),
    "new-item": new_item,
    "move-item": move_item,
    "rename-item": move_item,
    "copy-item": copy_item,
    "get-childitem": list_items,
    "get-item": list_items,
    "resolve-path": list_items,
    "convert-path": list_items,
}
