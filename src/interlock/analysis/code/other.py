"""Languages without a reader of their own: finds calls that delete files, run commands or drop data, with constant words."""

from __future__ import annotations

import re
from collections.abc import Iterator

from interlock.analysis.facts import Report

_TEXT = r""""((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'"""
_GAP = r"""[^"'`\n;]{0,30}?"""  # between a call's name and its first constant
_TREE = r"(?i:remove_?all|remove-all|deltree|rm_?rf?|rm_r|rmtree|recurs\w*|tree|dir(?:ectory|ectories)?(?:_?r|/files)?|folder|forcibly)"
_DELETES = (  # names of calls that delete, in some language or other
    r"(?i:delete|remove|rm|del|erase|unlink)[-_]?(?i:file|dir|directory|tree|folder|path|item|all)\w*(?:[-_/]\w+)*",
    r"(?i:rmdir|unlink|rmtree|rm_rf|rm_r|rmSync|recursive_rm|deltree)\w*",
    r"deleteSync|os\.remove|Sys\.remove|os\.remove\.all|Directory\.Delete|Files\.delete(?:IfExists)?",
    r"(?i:file)[.-](?i:delete)(?:IfExists)?|file:del\w*|rm!|rm(?=\(|\s+[\"'])",
)
_DELETE = re.compile(rf"(?<![\w-])(?:{'|'.join(_DELETES)})(?![\w-])({_GAP})(?:{_TEXT})")
_DELETE_OF = re.compile(
    rf"(?i:file|dir|directory|path|path\.of|paths\.get|fs::path)\(\s*(?:{_TEXT})\s*\)\s*\.\s*((?:delete|remove|unlink|rmtree)\w*)\("
)
_DELETE_BARE = re.compile(
    r"\b(?:delete_directory\w*|delete_file|remove-all|file\(REMOVE(?:_RECURSE)?)[(\s]\s*\"?([\w./~$-][\w./~${}-]*)\"?\s*\)?"
)
_DELETE_AFTER = re.compile(r"""(?:s"\s+([^"\n]+)"|\(([^()\n]+)\))\s+delete-?file\b""")
_RUNS = (  # names of calls that run a command
    r"system\w*|popen\w*|shell\w*|exec\w*|spawn\w*|os:cmd|cmd|command|callCommand|rawSystem|readProcess\w*|sh!?(?!\w)|e?syscmd|unix",
    r"Command::new|ProcessBuilder|Process\.\w+|⎕SH|2!:0",
)
_MAY_RUN = r"run\w*|call\w*|launch\w*|start\w*|open\w*|do|%"
_FURTHER = rf"[\s,\])}}(\[{{]{{0,12}}(?:(?:\.?args?\(|\(?list\s|nil\b|new\b)\s?){{0,4}}[\s,(\[&{{]{{0,12}}(?:{_TEXT})"  # one more word
_RUN = re.compile(
    rf"(?<![\w-])(?:({'|'.join(_RUNS)})|({_MAY_RUN}))[\w/-]*(?![\w-])({_GAP})(?:{_TEXT})((?:{_FURTHER})*)"
)
_LOOKS_RUN = re.compile(r"\S+\s+(?:-|/|~|\.|\$|\*)")  # rm -rf, chmod ~/x
_BACKTICK = re.compile(r"`([^`\n]+)`")
_BANG = re.compile(rf"(?:{_TEXT})\s*\.?!!?")
_ESCAPE = re.compile(r"(?m)^\s*(?:!|\\!|\.sy\s|\.pso\s|\.shell\s|shell\s|system\s+(?![\"'(]))(.+)$")
_UNQUOTED = re.compile(
    r"(?:\b(?:e?syscmd\(|write18\s*\{|execute_process\(\s*COMMAND\s|run\s*\(?\s*<)|%sh\{|%pipe%)`?([^`'\"(){}<>\n]+)"
)
_SQL = re.compile(
    rf"\b(?:sql|query|execute|exec\w*|run_sql)\b{_GAP}(?:\"|')\s*((?:drop|truncate|delete\s+from|alter)\s[^\"'\n]+)",
    re.IGNORECASE,
)
_DROP = re.compile(
    r"\b_?drop(?:Database|Schema|Collection|Table|_all|_database|_schema|_table|_collection)\w*\s*\(\s*[\"']?(\w*)"
)
_HELD = r"\b(?i:collection|table|database|index|bucket|keyspace|topic|by_?name)\w*"  # what data is in
_DROP_OF = re.compile(
    rf"(?:{_HELD}\(\s*(?:{_TEXT})\s*\)[!?]?|\bg\.[VE]\(\))\s*\.\s*_?(?:drop|delete|remove|truncate|clear)\w*!?\(|\._drop\(\s*(?:{_TEXT})"
)
_EVALUATES = r"include|eval\w*|load\w*|source|exec\w*|require|dofile|run\w*"
_FETCHES = r"[\w.:]*(?:download|fetch|get|open|read)\w*"
_RUN_FETCHED = re.compile(rf"\b(?:{_EVALUATES})\s*\(\s*(?:[\w.:]+\()*(?:{_FETCHES})\s*\(\s*[\"'](https?://[^\"']+)")
_ABSENT = re.compile(r"\bfile\s*\{\s*[\"']([^\"']+)[\"']\s*:[^}]*ensure\s*=>\s*[\"']?absent")  # Puppet
_DELETED = re.compile(  # Chef
    r"\b(?:file|directory)\s*\(?\s*[\"']([^\"']+)[\"']\s*\)?\s*(?:do|\{)[^}]*\baction\s*\(?:(?:delete|nothing_but_delete)"
)
_ONE_TEXT = re.compile(_TEXT)
_COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL)


def read_other(source: str, out: Report) -> None:
    """Report deletes, runs and dropped data by the names that most languages give such calls."""
    out.step(len(source) // 200 + 1)
    text = _COMMENT.sub("", source) if "//" in source or "/*" in source else source
    for path, recursive in _deleted(text):
        out.step()
        out.effect("delete", path, *(("recursive",) if recursive else ()))
    for words in _run(text):
        out.step()
        if len(words) == 1:
            out.shell(words[0])
        else:
            out.run(words)
    for pattern in (_ESCAPE, _UNQUOTED):
        for found in pattern.finditer(text):
            out.shell(found[1])
    for found in _SQL.finditer(text):
        out.code("sql", found[1])
    for found in _RUN_FETCHED.finditer(text):
        out.effect("run_download", found[1])
    for found in _DROP.finditer(text):
        out.effect("store_drop", found[1], "database")
    for found in _DROP_OF.finditer(text):
        out.effect("store_drop", next(filter(None, found.groups()), "the graph"), "collection")


def _deleted(text: str) -> Iterator[tuple[str, bool]]:
    """Each path that a call deletes, and whether with all that is in it."""
    for found in _DELETE.finditer(text):
        yield (
            _constant(found[2], found[3]),
            re.search(_TREE, found[0][: found.start(1) - found.start() + 40]) is not None,
        )
    for found in _DELETE_OF.finditer(text):
        yield _constant(found[1], found[2]), True
    for pattern in (_DELETE_BARE, _DELETE_AFTER, _ABSENT, _DELETED):
        for found in pattern.finditer(text):
            yield next(filter(None, found.groups())).strip(), pattern is not _DELETE_AFTER


def _run(text: str) -> Iterator[list[str]]:
    """The words of each command that a call runs; one word is text for a shell."""
    for found in _RUN.finditer(text):
        words = [_constant(found[4], found[5]), *(_constant(*pair) for pair in _ONE_TEXT.findall(found[6]))]
        if found[1] or len(words) > 1 or _LOOKS_RUN.match(words[0]):
            yield words
    for found in _BANG.finditer(text):
        yield [_constant(found[1], found[2])]
    for found in _BACKTICK.finditer(text):
        if _LOOKS_RUN.match(found[1]):
            yield [found[1]]


def _constant(double: str | None, single: str | None) -> str:
    return re.sub(r"\\(.)", r"\1", double or single or "")
