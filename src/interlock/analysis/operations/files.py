"""File tools of any server or agent -> effects on paths; reports content that is emptied, replaced or would run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from interlock.analysis.facts import PIPELINE, Report
from interlock.analysis.lexicon import objects, split_name
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations.effects import Deed
from interlock.analysis.operations.names import NamedAct, Words
from interlock.analysis.operations.params import MAX_TEXT, Entry, Keys, each, parse_json, short_keys, squash, truth

_PATTERNS = Patterns("operation_files")
_LISTS = WordLists("operation_files")
_MAPS = WordMaps("operation_files")


def paths(keys: Keys, named: Iterable[str] = ()) -> list[str]:
    named = named or _LISTS.paths
    given = [item for key, value in keys.items() if key in named for item in each(value)]
    said = (item.get("path") if isinstance(item, Mapping) else item for item in given)
    texts = (text for text in said if isinstance(text, str) and "\n" not in text)
    return [text.removeprefix("file://") for text in texts if text.strip()]


def content(keys: Keys) -> str | None:
    texts = keys.texts(filter(_LISTS.content.__contains__, keys))
    return texts[0][:MAX_TEXT] if texts else None


def write(path: str, text: str | None, out: Report, verb: str = "write", *traits: str) -> None:
    """A file is written; what it holds is read where a shell will run it later."""
    emptied = text == "" and verb == "write" and "edit" not in traits and is_valued(path)
    out.effect("truncate" if emptied else verb, path, *traits)
    if text and _PATTERNS.runs.search(path):
        if "cron" in path:
            text = "\n".join(filter(None, map(scheduled, text.splitlines())))
        out.shell(text)
    elif text and _PATTERNS.pipelines.search(path):  # its steps are commands; a secret of it is one of theirs
        for line in _PATTERNS.step.findall(text[:MAX_TEXT]):
            line = line.strip().removeprefix("run:").removeprefix("script:")
            if not _PATTERNS.setting.match(line):
                out.shell(_PATTERNS.hole.sub(r"$\1", line.strip().strip("'\"}] ")), PIPELINE)
    elif text and _PATTERNS.agents.search(path) and _PATTERNS.lets_all.search(text):
        out.effect("act_override", "permissions of the agent")


def scheduled(line: str) -> str:
    found = _PATTERNS.cron.match(line)
    return found[1] if found else ""


def act_on_files(does: str, keys: Keys, out: Report) -> bool:
    """Reports what is done to the files that the parameters name; False when they name none."""
    named, targets = paths(keys), paths(keys, _LISTS.targets) if does in ("move", "copy") else []
    parts = [short_keys(part) for part in each(keys.get("edits")) if does == "edit" and isinstance(part, Mapping)]
    for part in parts:
        for path in paths(part):
            write(path, content(part), out, "write", "edit")
    text = "\n".join(content(part) or "" for part in (keys, *parts))[:MAX_TEXT] if does == "edit" else content(keys)
    deep = does == "delete_tree" or any(truth(keys[key]) for key in _LISTS.deep & keys.keys())
    for path in named:
        if does == "write" and goes_over(keys) and _PATTERNS.settled.search(path[:500]):
            out.effect("act_delete", path)
        if does in ("write", "append", "edit"):
            write(path, text, out, *(("write", "edit") if does == "edit" else (does,)))
        elif does in ("delete", "delete_tree"):
            bulk = len(named) > 3 or _PATTERNS.glob.search(path)
            out.effect("delete", path, *(["bulk"] if bulk else ()), *(["recursive"] if deep else ()))
        else:
            out.effect({"copy": "read", "move": "delete" if "/dev/null" in targets else "move"}.get(does, does), path)
    for path in targets:
        out.effect("write", path)
        if does == "move" and goes_over(keys) and is_valued(path):
            out.effect("act_delete", path)
    return bool(named) or any(map(paths, parts))


def patch(text: str, out: Report) -> bool:
    """A patch envelope or a unified diff: which files it deletes, changes and adds; False when it is neither."""
    last, touched, added = "", list[tuple[str, str]](), dict[int, list[str]]()
    for line in text[:MAX_TEXT].splitlines():
        out.step()
        mark = _PATTERNS.patched.match(line)
        if mark is None:
            added.setdefault(len(touched) - 1, []).extend([line[1:]] if line[:1] == "+" and touched else ())
        elif mark[1] == "+++":  # what a diff goes over to
            touched.append(
                ("Delete", last) if mark[2] == "/dev/null" else ("Update" if last != "/dev/null" else "Add", mark[2])
            )
        elif mark[1] == "*** Move to:":
            touched += [("Move", last), ("Add", mark[2])] if last else ()
        else:
            last = mark[2]
            touched += [(mark[1].split(" ")[1], last)] if mark[1] != "---" else ()
    for number, (kind, path) in enumerate(touched):
        if kind in ("Delete", "Move"):
            out.effect(kind.lower(), path)
        else:
            write(path, "\n".join(added.get(number, ())), out, "write", *(("edit",) if kind == "Update" else ()))
    return bool(touched)


def file_act(words: Words, act: NamedAct, keys: Keys, out: Report) -> bool:
    """An operation on files that names their paths is judged by them, as a shell command would be; False for any other."""
    octal = (
        "mode" in keys
        and act.kind in ("", "change", "grant")
        and _PATTERNS.octal.fullmatch(str(keys.get("mode"))) is not None
    )
    if octal or (
        act.kind != "read" and not _LISTS.modes.isdisjoint(words)
    ):  # chmod, chown, set_permissions {path, mode}: the mode tells
        program, said = ("chown", ["owner"]) if "chown" in words else ("chmod", ["mode", "permissions"])
        mode = str(next((keys[key] for key in said if key in keys), ""))
        named = paths(keys) if mode else []
        for path in named:
            out.run([program, *(["-R"] if truth(keys.get("recursive")) else []), mode[:40], path])
        if named:
            return True
    of_files = act.noun in _LISTS.nouns
    if not (of_files or not _LISTS.servers.isdisjoint(words[:2]) or act.verb in _LISTS.removers):
        return False
    if of_files and act.noun not in act.phrase and not any("/" in path or "\\" in path for path in paths(keys)):
        return False
    does = _MAPS.does.get(act.verb, act.kind)
    if does == "overwrite" and content(keys) == "":
        does = "truncate"
    elif does == "delete" and act.noun.startswith(("dir", "folder", "path")) and act.verb != "rmdir":
        does = "delete_tree"
    return does in _LISTS.does and act_on_files(does, keys, out)


def is_valued(path: str) -> bool:
    """True for a path where something of worth most likely stands already."""
    return _PATTERNS.valued.search(path[:500]) is not None


def goes_over(keys: Keys) -> bool:
    return any(truth(keys[key]) for key in _LISTS.over & keys.keys()) or any(
        str(keys[key]).lower()[:9] in ("overwrite", "replace") for key in _LISTS.conflicts & keys.keys()
    )


def content_deeds(words: Words, act: NamedAct, keys: Keys, entries: Iterable[Entry]) -> Iterator[Deed]:
    if act.verb in _LISTS.puts or not act.kind:
        yield from _emptied(words, act, keys, entries)
    if any(value == "/dev/null" and key in _LISTS.sources for key, value in keys.items()):
        yield "act_delete", ()
    elif act.verb in _LISTS.copies and goes_over(keys):  # to where something of worth stands
        settled = filter(_PATTERNS.settled.search, keys.texts(("path", "filepath")))
        for target in (*settled, *filter(is_valued, keys.texts(_LISTS.in_order("destinations")))):
            yield "act_delete", ("forced",) if "prod" in target.lower() or "backup" in target.lower() else ()
    yield from _put_out(keys.get("pipeline") or keys.get("stages") or keys.get("aggregation"))


def _emptied(words: Words, act: NamedAct, keys: Keys, entries: Iterable[Entry]) -> Iterator[Deed]:
    """The deeds of a change that leaves nothing: a page without text, a zone without records."""
    if not _LISTS.documents.isdisjoint(words) and _LISTS.snippets.isdisjoint(keys):
        for key, value in keys.items():
            empty = (isinstance(value, str) and not value.strip()) or (act.verb == "replace" and value in ({}, []))
            if empty and key in _LISTS.new_content and (key not in _LISTS.notes or act.noun not in _LISTS.notes):
                yield "act_delete", ()
    if act.verb not in _LISTS.whole and not goes_over(keys) and "all" not in words and "replace" not in words:
        return
    listed = (key for key, _, value, _, _ in entries if value == [] and key in _LISTS.lists)
    if any(objects().get(key, "") != "light" for key in listed):
        yield "act_unconfigure", ("all",)
    elif act.verb in ("set", "put", "replace") and keys.get("path") in ("/", "") and keys.get("value", 0) is None:
        yield "act_delete", ("all",)


def _put_out(stages: object) -> Iterator[Deed]:
    """An aggregation whose last stage writes: `$out` replaces a whole collection, `$merge` the documents it matches."""
    if isinstance(stages, str) and ("$out" in stages or "$merge" in stages):
        stages = parse_json(stages)
        if stages is None:
            yield "act_delete", ()
    for stage in stages if isinstance(stages, (list, tuple)) else ():
        for kind, into in stage.items() if isinstance(stage, Mapping) else ():
            kept = isinstance(into, Mapping) and squash(str(into.get("whenMatched", ""))) in ("keepexisting", "fail")
            while isinstance(into, Mapping):
                into = into.get("into", into.get("coll", ""))
            made = any(not _LISTS.made.isdisjoint(words) for words in split_name(str(into)))  # by aggregations
            if not made and (kind == "$out" or (kind == "$merge" and not kept)):
                yield "act_delete", ("table",) if kind == "$out" else ()
