"""File tools of any server or agent -> effects on paths; reports content that is emptied, replaced or would run."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping
from functools import partial
from typing import Any

from interlock.analysis.facts import PIPELINE, Report
from interlock.analysis.lexicon import objects, split_name
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.lexicon.named_effects import NamedAct
from interlock.analysis.operations.effects import Deed
from interlock.analysis.operations.names import Words
from interlock.analysis.operations.params import MAX_TEXT, squash, truth, walk

_PATTERNS = Patterns("operation_files")
_LISTS = WordLists("operation_files")
_MAPS = WordMaps("operation_files")

_STEP = re.compile(r"(?:\brun:|\bscript:|^\s+-|^\s{6,}(?![\w-]+:\s))[ \t]*([^\n|>-][^\n]{3,2000})", re.MULTILINE)
_SETTING = re.compile(r"[\w-]+:(?:\s|$)")
_HOLE = re.compile(r"\$\{\{\s*(?:secrets|env|github|inputs)\.(\w{1,60})\s*\}\}")
_CRON = re.compile(r"^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(?:root\s+)?(.+)$")


def paths(params: Mapping[str, Any], keys: Container[str] = ()) -> list[str]:
    """The paths that the parameters name."""
    found: list[str] = []
    for key, value in list(params.items())[:200]:
        if squash(key) not in (keys or _LISTS.paths):
            continue
        for item in value[:200] if isinstance(value, (list, tuple)) else (value,):
            text = item.get("path") if isinstance(item, Mapping) else item
            if isinstance(text, str) and text.strip() and "\n" not in text:
                found.append(text.removeprefix("file://"))
    return found


def targets(params: Mapping[str, Any]) -> list[str]:
    """Where something is moved or copied to."""
    return paths(params, _LISTS.targets)


def content(params: Mapping[str, Any]) -> str | None:
    """The text that would be written, where there is one."""
    for key, value in list(params.items())[:200]:
        if isinstance(value, str) and squash(key) in _LISTS.content:
            return value[:MAX_TEXT]
    return None


def write(path: str, text: str | None, out: Report, verb: str = "write", *traits: str) -> None:
    """A file is written; what it holds is read where a shell will run it later."""
    emptied = text == "" and verb == "write" and "edit" not in traits and is_valued(path)
    out.effect("truncate" if emptied else verb, path, *traits)
    if text and _PATTERNS.runs.search(path):
        if "cron" in path:
            text = "\n".join(found[1] for line in text.splitlines()[:500] if (found := _CRON.match(line)))
        out.shell(text)
    elif text and _PATTERNS.pipelines.search(path):
        _pipeline(text, out)
    elif text and _PATTERNS.agents.search(path) and _PATTERNS.lets_all.search(text):
        out.effect("act_override", "permissions of the agent")


def each(verb: str, params: Mapping[str, Any], out: Report, *traits: str) -> bool:
    """Something is done to every file; True when paths were named."""
    named = paths(params)
    for path in named:
        if verb in ("write", "append"):
            write(path, content(params), out, verb, *traits)
        else:
            out.effect(verb, path, *traits)
    return bool(named)


def _pipeline(text: str, out: Report) -> None:
    """The steps of a pipeline are commands; a secret of it is one of theirs."""
    for line in _STEP.findall(text[:MAX_TEXT])[:200]:
        line = line.strip().removeprefix("run:").removeprefix("script:")
        if not _SETTING.match(line):
            out.shell(_HOLE.sub(r"$\1", line.strip().strip("'\"}] ")), PIPELINE)


def delete(params: Mapping[str, Any], out: Report, recursive: bool = False) -> bool:
    """Files are deleted; True when paths were named."""
    named = paths(params)
    tree = recursive or any(squash(key) in _LISTS.deep and truth(value) for key, value in list(params.items())[:200])
    for path in named:
        bulk = len(named) > 3 or re.search(r"[*?\[]", path)
        out.effect("delete", path, *(["bulk"] if bulk else ()), *(["recursive"] if tree else ()))
    return bool(named)


def move(params: Mapping[str, Any], out: Report) -> bool:
    """Files are moved or renamed; True when paths were named."""
    named = paths(params)
    gone = "/dev/null" in targets(params)
    for path in named:
        out.effect("delete" if gone else "move", path)
    over = goes_over(params)
    for path in targets(params):
        out.effect("write", path)
        if over and is_valued(path):
            out.effect("act_delete", path)
    return bool(named)


def copy(params: Mapping[str, Any], out: Report) -> bool:
    """Files are copied: what is copied is read; True when paths were named."""
    for path in targets(params):
        out.effect("write", path)
    return each("read", params, out)


def edit(params: Mapping[str, Any], out: Report) -> bool:
    """Parts of files are replaced; True when paths were named."""
    edits = params.get("edits")
    parts = [part for part in edits[:500] if isinstance(part, Mapping)] if isinstance(edits, (list, tuple)) else []
    for part in parts:
        each("write", part, out, "edit")
    text = "\n".join(content(part) or "" for part in (params, *parts))[:MAX_TEXT]
    for path in paths(params):
        write(path, text, out, "write", "edit")
    return bool(paths(params))


_MARK = re.compile(r"^\*\*\* (Delete|Update|Add) File: (.+)$")
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$")


def patch(text: str, out: Report) -> bool:
    """A patch envelope or a unified diff: which files it deletes, changes and adds; False when it is neither."""
    last = ""
    touched: list[tuple[str, str]] = []
    added: dict[int, list[str]] = {}
    for line in text[:MAX_TEXT].splitlines():
        out.step()
        if mark := _MARK.match(line):
            last = mark[2].strip()
            touched.append((mark[1], last))
        elif (moved := _MOVED.match(line)) and last:
            touched += [("Move", last), ("Add", moved[1].strip())]
        elif line.startswith("--- "):
            last = _diff_path(line)
        elif line.startswith("+++ "):
            new = _diff_path(line)
            kind = "Add" if last == "/dev/null" else "Update"
            touched.append(("Delete", last) if new == "/dev/null" else (kind, new))
        elif line.startswith("+") and touched:
            added.setdefault(len(touched) - 1, []).append(line[1:])
    for number, (kind, path) in enumerate(touched):
        if kind in ("Delete", "Move"):
            out.effect(kind.lower(), path)
        else:
            write(path, "\n".join(added.get(number, ())), out, "write", *(("edit",) if kind == "Update" else ()))
    return bool(touched)


def _diff_path(line: str) -> str:
    path = line[4:].split("\t")[0].strip()
    return path[2:] if path[:2] in ("a/", "b/") else path


def _chmod(words: Words, params: Mapping[str, Any], out: Report) -> bool:
    """chmod, chown, set_permissions {path, mode}: the mode tells."""
    if _LISTS.modes.isdisjoint(words):
        return False
    program = "chown" if "chown" in words else "chmod"
    mode = str(params.get("owner", "") if program == "chown" else params.get("mode", params.get("permissions", "")))
    named = paths(params) if mode else []
    for path in named:
        out.run([program, *(["-R"] if truth(params.get("recursive")) else []), mode[:40], path])
    return bool(named)


# What is done to files -> how; each is True when paths were named.
DOES: Mapping[str, Callable[[Mapping[str, Any], Report], bool]] = {
    **{verb: partial(each, verb) for verb in ("write", "append", "read", "truncate", "overwrite")},
    "edit": edit,
    "delete": delete,
    "delete_tree": partial(delete, recursive=True),
    "move": move,
    "copy": copy,
}


def file_act(words: Words, act: NamedAct, params: Mapping[str, Any], out: Report) -> bool:
    """An operation on files that names their paths is judged by them, as a shell command would be; False for any other."""
    if _chmod(words, params, out):
        return True
    of_files = act.noun in _LISTS.nouns
    if not (of_files or not _LISTS.servers.isdisjoint(words[:2]) or act.verb in _LISTS.removers):
        return False
    named = paths(params)
    if of_files and act.noun not in act.phrase and not any("/" in path or "\\" in path for path in named):
        return False
    does = _MAPS.does.get(act.verb, act.kind)
    if does == "overwrite" and content(params) == "":
        does = "truncate"
    elif does == "delete" and act.noun.startswith(("dir", "folder", "path")) and act.verb != "rmdir":
        does = "delete_tree"
    return does in DOES and does != "copy" and DOES[does](params, out)


def is_valued(path: str) -> bool:
    """True for a path where something of worth most likely stands already."""
    return _PATTERNS.valued.search(path[:500]) is not None


def goes_over(params: Mapping[str, Any]) -> bool:
    """True when the parameters say that what is there is replaced."""
    for key, value in list(params.items())[:100]:
        short = squash(key)
        if short in _LISTS.over and truth(value):
            return True
        if short in _LISTS.conflicts and str(value).lower()[:9] in ("overwrite", "replace"):
            return True
    return False


def emptied(words: Words, act: NamedAct, keys: Mapping[str, Any], params: Mapping[str, Any]) -> list[Deed]:
    """The deeds of a change that leaves nothing: a page without text, a zone without records."""
    if act.verb not in _LISTS.puts and act.kind:
        return []
    if not _LISTS.documents.isdisjoint(words) and _LISTS.snippets.isdisjoint(keys):
        for key in _LISTS.new_content & keys.keys():
            empty = keys[key] == "" or (act.verb == "replace" and keys[key] in ({}, []))
            if empty and (key not in _LISTS.notes or act.noun not in _LISTS.notes):
                return [("act_delete", ())]
    if act.verb not in _LISTS.whole and not goes_over(params) and "all" not in words and "replace" not in words:
        return []
    for key, value, _, _ in walk(params):
        if value == [] and squash(key) in _LISTS.lists and objects().get(squash(key), "") != "light":
            return [("act_unconfigure", ("all",))]
    if act.verb in ("set", "put", "replace") and keys.get("path") in ("/", "") and keys.get("value", 0) is None:
        return [("act_delete", ("all",))]
    return []


_KEEPS = frozenset({"keepexisting", "fail"})


def put_out(keys: Mapping[str, Any]) -> list[Deed]:
    """An aggregation whose last stage writes: `$out` replaces a whole collection, `$merge` the documents it matches."""
    stages = keys.get("pipeline") or keys.get("stages") or keys.get("aggregation") or ()
    if isinstance(stages, str) and ("$out" in stages or "$merge" in stages):
        try:
            stages = json.loads(stages[:200_000])
        except (ValueError, RecursionError):
            return [("act_delete", ())]
    for stage in stages[:500] if isinstance(stages, (list, tuple)) else ():
        for kind, into in stage.items() if isinstance(stage, Mapping) else ():
            if kind == "$out" and not _is_made(into):
                return [("act_delete", ("table",))]
            kept = isinstance(into, Mapping) and squash(str(into.get("whenMatched", ""))) in _KEEPS
            if kind == "$merge" and not _is_made(into) and not kept:
                return [("act_delete", ())]
    return []


def _is_made(target: object) -> bool:
    """True for a collection whose name says that it is made by aggregations."""
    while isinstance(target, Mapping):
        target = target.get("into", target.get("coll", ""))
    words = {word for words in split_name(str(target)) for word in words}
    return not words.isdisjoint(_LISTS.made)


def copied_over(act: NamedAct, keys: Mapping[str, Any], params: Mapping[str, Any]) -> list[Deed]:
    """copy, move, upload or put with overwrite, to where something of worth stands."""
    if any(keys[key] == "/dev/null" for key in _LISTS.sources & keys.keys()):
        return [("act_delete", ())]
    if act.verb not in _LISTS.copies or not goes_over(params):
        return []
    for key in _LISTS.in_order("destinations"):
        value = keys.get(key)
        if isinstance(value, str) and is_valued(value):
            return [("act_delete", ("forced",) if "prod" in value.lower() or "backup" in value.lower() else ())]
    return []
