"""File tools of any server or agent -> effects on paths, and the content where it will run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from interlock.core.read.emptied import goes_over, is_valued
from interlock.core.read.facts import Report
from interlock.core.read.names import Act, Words
from interlock.core.read.params import MAX_TEXT, squash, truth

_PATHS = frozenset(
    "path paths filepath file files filename filenames targetfile absolutepath notebookpath dirpath directory dir folder directorypath "
    "folderpath relativeworkspacepath target source src oldpath sourcepath from fileabsolutepath uri location filelist relativepath".split()
)
_TARGETS = frozenset("destination dest destinationpath newpath to targetpath newname dst".split())
_CONTENT = frozenset(
    "content contents filetext text data newstring newstr codeedit newsource body newcontent codecontent replacement newtext insertline".split()
)
_RUNS = re.compile(
    r"(?:^|/)(?:\.(?:bashrc|bash_profile|bash_login|bash_logout|profile|zshrc|zprofile|zshenv|zlogin|kshrc|envrc|xinitrc|xprofile|bash_aliases)"
    r"|\.git/hooks/[a-z-]+|\.husky/[\w-]+|crontab|cron\.(?:d|daily|hourly|weekly|monthly)/[^/]+|rc\.local|profile\.d/[^/]+\.sh"
    r"|etc/(?:bash\.bashrc|profile|zsh/zshrc))$"
)
_PIPELINES = re.compile(
    r"(?:^|/)(?:\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.yml|bitbucket-pipelines\.yml|\.circleci/config\.yml|azure-pipelines\.yml)$"
)
_STEP = re.compile(r"(?:\brun:|\bscript:|^\s+-|^\s{6,}(?![\w-]+:\s))[ \t]*([^\n|>-][^\n]{3,2000})", re.MULTILINE)
_SETTING = re.compile(r"[\w-]+:(?:\s|$)")
_HOLE = re.compile(r"\$\{\{\s*(?:secrets|env|github|inputs)\.(\w{1,60})\s*\}\}")
_AGENTS = re.compile(
    r"(?:^|/)(?:\.claude/settings[\w.]*\.json|\.claude\.json|\.codex/config\.toml|\.gemini/settings\.json|\.cursor/[\w-]+\.json|\.vscode/settings\.json"
    r"|\.mcp\.json|opencode\.json|\.interlock[^/]*|interlock\.toml)$"
)
_LETS_ALL = re.compile(
    r"bypassPermissions|danger-full-access|\"allow\"\s*:\s*\[\s*\"(?:\*|Bash(?:\(\*(?::\*)?\))?)\"|approval_policy\s*=\s*\"never\"|autoApprove\"\s*:\s*(?:true|\[\s*\"\*)"
    r"|dangerouslySkip|\"yolo\"\s*:\s*true|\"disableAllHooks\"\s*:\s*true"
)
_CRON = re.compile(r"^\s*(?:@\w+|(?:\S+\s+){4}\S+)\s+(?:root\s+)?(.+)$")


def paths(params: Mapping[str, Any], keys: Iterable[str] = _PATHS) -> list[str]:
    """The paths that the parameters name."""
    found: list[str] = []
    for key, value in list(params.items())[:200]:
        if squash(key) not in keys:
            continue
        for item in value[:200] if isinstance(value, (list, tuple)) else (value,):
            text = item.get("path") if isinstance(item, Mapping) else item
            if isinstance(text, str) and text.strip() and "\n" not in text:
                found.append(text.removeprefix("file://"))
    return found


def targets(params: Mapping[str, Any]) -> list[str]:
    """Where something is moved or copied to."""
    return paths(params, _TARGETS)


def content(params: Mapping[str, Any]) -> str | None:
    """The text that would be written, where there is one."""
    for key, value in list(params.items())[:200]:
        if isinstance(value, str) and squash(key) in _CONTENT:
            return value[:MAX_TEXT]
    return None


def write(path: str, text: str | None, out: Report, verb: str = "write", *traits: str) -> None:
    """A file is written; what it holds is read where a shell will run it later."""
    emptied = text == "" and verb == "write" and "edit" not in traits and is_valued(path)
    out.effect("truncate" if emptied else verb, path, *traits)
    if text and _RUNS.search(path):
        if "cron" in path:
            text = "\n".join(found[1] for line in text.splitlines()[:500] if (found := _CRON.match(line)))
        out.shell(text)
    elif text and _PIPELINES.search(path):
        _pipeline(text, out)
    elif text and _AGENTS.search(path) and _LETS_ALL.search(text):
        out.effect("act_override", "permissions of the agent")


def _pipeline(text: str, out: Report) -> None:
    """The steps of a pipeline are commands; a secret of it is one of theirs."""
    for line in _STEP.findall(text[:MAX_TEXT])[:200]:
        line = line.strip().removeprefix("run:").removeprefix("script:")
        if not _SETTING.match(line):
            out.shell(_HOLE.sub(r"$\1", line.strip().strip("'\"}] ")))


def delete(params: Mapping[str, Any], out: Report, *traits: str) -> bool:
    """Files are deleted; True when paths were named."""
    named = paths(params)
    marks = set(traits)
    for key, value in list(params.items())[:200]:
        if squash(key) in ("recursive", "recurse", "deletecontents") and truth(value):
            marks.add("recursive")
    if len(named) > 3:
        marks.add("bulk")
    for path in named:
        more = {"bulk"} if re.search(r"[*?\[]", path) else set()
        out.effect("delete", path, *sorted(marks | more))
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


_MARK = re.compile(r"^\*\*\* (Delete|Update|Add) File: (.+)$")
_MOVED = re.compile(r"^\*\*\* Move to: (.+)$")


def patch(text: str, out: Report) -> bool:
    """A patch envelope or a unified diff: which files it deletes, changes and adds; False when it is neither."""
    lines = text[:MAX_TEXT].splitlines()
    found = False
    last = ""
    touched: list[tuple[str, str]] = []
    added: dict[int, list[str]] = {}
    for line in lines:
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
            touched.append(
                ("Delete", last) if new == "/dev/null" else ("Add" if last == "/dev/null" else "Update", new)
            )
        elif line.startswith("+") and touched:
            added.setdefault(len(touched) - 1, []).append(line[1:])
    for number, (kind, path) in enumerate(touched):
        found = True
        if kind == "Delete":
            out.effect("delete", path)
        elif kind == "Move":
            out.effect("move", path)
        else:
            write(path, "\n".join(added.get(number, ())), out, "write", *(("edit",) if kind == "Update" else ()))
    return found


def _diff_path(line: str) -> str:
    path = line[4:].split("\t")[0].strip()
    return path[2:] if path[:2] in ("a/", "b/") else path


def _chmod(words: Words, params: Mapping[str, Any], out: Report) -> bool:
    """chmod, chown, set_permissions {path, mode}: the mode tells."""
    if _MODES.isdisjoint(words):
        return False
    program = "chown" if "chown" in words else "chmod"
    mode = str(params.get("owner", "") if program == "chown" else params.get("mode", params.get("permissions", "")))[
        :40
    ]
    named = paths(params)
    if not named or not mode:
        return False
    tree = ["-R"] if truth(params.get("recursive")) else []
    for path in named:
        out.run([program, *tree, mode, path])
    return True


_MODES = frozenset({"chmod", "chown", "permissions"})
_NOUNS = frozenset("file files directory directories dir dirs folder folders path paths".split())
_SERVERS = frozenset("fs filesystem files file editor desktop commander".split())
_REMOVERS = frozenset("rmdir rm unlink rmtree".split())
_EDITS = frozenset("edit update replace patch insert modify".split())
_WRITES = _EDITS | frozenset("write create save append put upload store".split())
_EMPTIES = {"truncate": "truncate", "empty": "truncate", "clear": "truncate", "overwrite": "overwrite"}


def file_act(words: Words, act: Act, params: Mapping[str, Any], out: Report) -> bool:
    """An operation on files that names their paths is judged by them, as a shell command would be; False for any other."""
    if params and _chmod(words, params, out):
        return True
    if not params or not (act.noun in _NOUNS or not _SERVERS.isdisjoint(words[:2]) or act.verb in _REMOVERS):
        return False
    named = paths(params)
    if not named or (
        act.noun in _NOUNS and act.noun not in act.phrase and not any("/" in path or "\\" in path for path in named)
    ):
        return False
    if act.verb in _EMPTIES:
        verb = "truncate" if content(params) == "" else _EMPTIES[act.verb]
        for path in named:
            out.effect(verb, path)
    elif act.kind == "delete":
        tree = act.verb == "rmtree" or (act.noun.startswith(("dir", "folder")) and act.verb != "rmdir")
        delete(params, out, *(("recursive",) if tree else ()))
    elif act.verb in ("move", "rename"):
        move(params, out)
    elif act.verb in _WRITES:
        for path in named:
            made = ("edit",) if act.verb in _EDITS else ()
            write(path, content(params), out, "append" if act.verb == "append" else "write", *made)
    elif act.kind == "read":
        for path in named:
            out.effect("read", path)
    else:
        return False
    return True
