"""Languages without a reader of their own: finds calls that delete files or run commands with constant words."""

from __future__ import annotations

import re

from interlock.analysis.facts import Report

_TEXT = r'"((?:[^"\\\n]|\\.)*)"'
_DELETE_TREE = re.compile(
    r"(?:RemoveAll|removeDirectoryRecursive|removePathForcibly|deleteRecursively|remove_dir_all|deleteDirectory|deleteTree|rm_rf|rmtree|"
    rf"remove_all|removeItem|Directory\.Delete)\s*\(?\s*(?:atPath:|Path\.of\(|Paths\.get\(|File\(|fs::path\()?\s*{_TEXT}"
)
_DELETE_FILE = re.compile(
    rf"(?:os\.Remove|Files\.delete(?:IfExists)?|remove_file|unlink|removeFile|DeleteFile|File\.Delete)\s*\(?\s*(?:Path\.of\(|Paths\.get\()?\s*{_TEXT}"
)
_JULIA_DELETE = re.compile(rf"\brm\(\s*{_TEXT}\s*;[^)]*recursive\s*=\s*true")
_TREE_OF = re.compile(
    rf"(?:File|Path\.of|Paths\.get|fs::path)\(\s*{_TEXT}\s*\)\s*\.\s*(?:deleteRecursively|remove_all)\("
)
_RUN_TEXT = re.compile(
    r"(?:\bsystem|os:cmd|\bpopen|callCommand|\bshell|sh!?|Process\.Start|execSync|Exec\.shell|Sys\.command|Unix\.system|\bexeccmd|execShellCmd|"
    rf"getRuntime\(\)\.exec)\s*\(?\s*{_TEXT}"
)
_RUN_WORDS = re.compile(
    r"(?:exec\.Command(?:Context)?\((?:ctx,\s*)?|exec\(\s*new String\[\]\s*\{\s*|ProcessBuilder\(\s*(?:List\.of\(|listOf\()?|clojure\.java\.shell/sh\s+|"
    rf"\(sh\s+|rawSystem\s+|readProcess\s+|execvp\(|spawnProcess\(\[?|Process\.run\()((?:\s*\[?\s*{_TEXT}\s*[,)\]}}]?)+)"
)
_RUST_COMMAND = re.compile(rf"Command::new\(\s*{_TEXT}\s*\)((?:\s*\.args?\([^)]*\))*)")
_SCALA_BANG = re.compile(rf"{_TEXT}\s*\.?!!?")
_JULIA_RUN = re.compile(r"\brun\(\s*`([^`\n]*)`")
_ONE_TEXT = re.compile(_TEXT)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def read_other(source: str, out: Report) -> None:
    """Report deletes and runs by the names that Go, Rust, Java, Scala, Haskell, Erlang, Lisp, Julia and C give them."""
    out.step(len(source) // 200 + 1)
    text = _COMMENT.sub("", source) if "//" in source or "/*" in source else source
    for pattern, traits in (
        (_DELETE_TREE, ("recursive",)),
        (_TREE_OF, ("recursive",)),
        (_JULIA_DELETE, ("recursive",)),
        (_DELETE_FILE, ()),
    ):
        for found in pattern.finditer(text):
            out.step()
            out.effect("delete", _plain(found[1]), *traits)
    for pattern in (_RUN_TEXT, _SCALA_BANG):
        for found in pattern.finditer(text):
            out.step()
            out.shell(_plain(found[1]))
    for found in _JULIA_RUN.finditer(text):
        out.shell(found[1])
    for found in _RUN_WORDS.finditer(text):
        out.step()
        out.run([_plain(word) for word in _ONE_TEXT.findall(found[1])])
    for found in _RUST_COMMAND.finditer(text):
        out.run([_plain(found[1]), *(_plain(word) for word in _ONE_TEXT.findall(found[2]))])


def _plain(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)
