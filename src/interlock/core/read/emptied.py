"""New content that is nothing, and content that goes over what is there -> what is lost by it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from interlock.core.read.lexicon import OBJECTS, split_name
from interlock.core.read.names import Act, Words
from interlock.core.read.params import squash, truth, walk

Deed = tuple[str, tuple[str, ...]]
_PUTS = frozenset("set put replace overwrite write update edit save patch change modify sync apply upsert".split())
_WHOLE = frozenset("set put replace overwrite sync apply".split())
_CONTENT = frozenset(
    "content contents body html markdown newcontent newstr newstring newtext document text pagecontent value data code readme".split()
)
_DOCUMENTS = frozenset(
    """page pages document documents doc docs file files article wiki note notes object blob sheet spreadsheet config configuration template
    content policy readme notebook secret parameter robots workflow pipeline dashboard manifest configmap""".split()
)
_LISTS = frozenset(
    """records rules members bindings entries users permissions roles groups policies rows documents products owners admins collaborators routes
    recordsets nameservers statements grants subjects backends targets hosts keys principals alerts schedules listeners rrsets acls""".split()
)
_SNIPPETS = frozenset("oldstr oldstring oldtext find search selection position insertafter linenumber offset".split())
_NOTES = frozenset({"note", "notes", "value", "text"})
_VALUED = re.compile(
    r"^(?:/(?:etc|srv|var(?!/(?:tmp|cache|log)\b)|opt|data|usr|mnt|boot|root)/|[A-Za-z]:\\(?!Temp))"
    r"|(?:^|[/_.-])(?:prod|production|live|backups?|master)(?:[/_.-]|$)|\.(?:db|sqlite3?|sql|csv|parquet|bak|dump|mdb|ldf|mdf|rdb|kdbx|pem|key|tfstate|xlsx?)$"
    r"|(?:^|/)\.env(?:\.\w+)?$",
    re.IGNORECASE,
)
_OVER = frozenset(
    "overwrite replace replaceexisting force clobber overwriteexisting replaceifexists allowoverwrite".split()
)


def is_valued(path: str) -> bool:
    """True for a path where something of worth most likely stands already."""
    return _VALUED.search(path[:500]) is not None


def goes_over(params: Mapping[str, Any]) -> bool:
    """True when the parameters say that what is there is replaced."""
    for key, value in list(params.items())[:100]:
        short = squash(key)
        if short in _OVER and truth(value):
            return True
        if short in ("conflict", "onconflict", "ifexists", "conflictbehavior", "mode") and str(value).lower()[:9] in (
            "overwrite",
            "replace",
        ):
            return True
    return False


def emptied(words: Words, act: Act, keys: Mapping[str, Any], params: Mapping[str, Any]) -> list[Deed]:
    """The deeds of a change that leaves nothing: a page without text, a zone without records."""
    if act.verb not in _PUTS and act.kind:
        return []
    document = not _DOCUMENTS.isdisjoint(words)
    if document and _SNIPPETS.isdisjoint(keys):
        for key in keys:
            if key in _CONTENT and keys[key] == "" and (key not in _NOTES or act.noun not in _NOTES):
                return [("act_delete", ())]
    if act.verb not in _WHOLE and not goes_over(params) and "all" not in words and "replace" not in words:
        return []
    for key, value, depth, _ in walk(params):
        if depth < 0:
            break
        if value == [] and squash(key) in _LISTS and OBJECTS.get(squash(key), "") != "light":
            return [("act_unconfigure", ("all",))]
    if act.verb in ("set", "put", "replace") and keys.get("path") in ("/", "") and keys.get("value", 0) is None:
        return [("act_delete", ("all",))]
    return []


_MADE = frozenset(
    "tmp temp scratch test report reports summary summaries stats agg aggregate aggregated rollup rollups daily weekly monthly hourly output"
    " outputs result results export exports backup bak copy archive snapshot view mv derived cache materialized".split()
)
_KEEPS = frozenset({"keepexisting", "fail"})


def put_out(keys: Mapping[str, Any]) -> list[Deed]:
    """An aggregation whose last stage writes: `$out` replaces a whole collection, `$merge` the documents it matches."""
    stages = keys.get("pipeline", keys.get("stages", keys.get("aggregation")))
    if isinstance(stages, str) and ("$out" in stages or "$merge" in stages):
        try:
            stages = json.loads(stages[:200_000])
        except (ValueError, RecursionError):
            return [("act_delete", ())]
    for stage in stages[:500] if isinstance(stages, (list, tuple)) else ():
        if not isinstance(stage, Mapping):
            continue
        if "$out" in stage and not _is_made(stage["$out"]):
            return [("act_delete", ("table",))]
        if "$merge" in stage and not _is_made(stage["$merge"]):
            merge = stage["$merge"]
            kept = isinstance(merge, Mapping) and squash(str(merge.get("whenMatched", ""))) in _KEEPS
            return [] if kept else [("act_delete", ())]
    return []


def _is_made(target: object) -> bool:
    """True for a collection whose name says that it is made by aggregations."""
    while isinstance(target, Mapping):
        target = target.get("into", target.get("coll", ""))
    words = {word for words in split_name(str(target)) for word in words}
    return not words.isdisjoint(_MADE)


def copied_over(act: Act, keys: Mapping[str, Any], params: Mapping[str, Any]) -> list[Deed]:
    """copy, move, upload or put with overwrite, to where something of worth stands."""
    if act.verb not in (
        "copy",
        "move",
        "put",
        "upload",
        "rename",
        "clone",
        "import",
        "restore",
        "transfer",
        "sync",
        "write",
    ):
        return []
    if not goes_over(params):
        return []
    for key in (
        "destination",
        "dest",
        "dst",
        "to",
        "target",
        "targetpath",
        "destinationpath",
        "newpath",
        "remote",
        "remotepath",
        "key",
        "destinationkey",
    ):
        value = keys.get(key)
        if isinstance(value, str) and is_valued(value):
            return [("act_delete", ("forced",) if "prod" in value.lower() or "backup" in value.lower() else ())]
    return []
