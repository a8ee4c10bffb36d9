"""Programs that run a command for each item of a list: find -exec, fd -x, xargs, parallel."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise, takewhile

from interlock.analysis.facts import APPROXIMATE, HOLE, hole
from interlock.analysis.programs.load import word_set
from interlock.analysis.programs.options import parse
from interlock.analysis.shell import UNKNOWN, Job, Reader, Stream
from interlock.analysis.shell.expand import bounded, is_unknown
from interlock.analysis.shell.redirections import data_text
from interlock.analysis.shell.syntax.cursor import unescape

_ITEM = re.compile(r"\{[/.#%]*\d*\}")  # where GNU parallel puts each argument


def find_targets(words: Sequence[str], acts: int | None = None) -> list[str]:
    """The paths that a find can reach, as globs; before an action `acts`, only the names that decide about it count."""
    roots, start = _find_roots(words)
    if ("-maxdepth", "0") in pairwise(words):
        return roots
    expression = _Expression(words, start)
    names = expression.before.get(acts) if acts is not None else expression.printed
    if names is None:
        return [root if is_unknown(root) else f"{root.rstrip('/')}/**" for root in roots]
    return [_joined(root, name) for root in roots for name in (names if len(names) <= 16 else ["**"])]


def _joined(root: str, name: str) -> str:
    if name.startswith((root.rstrip("/") + "/", "/", "~")):
        return name.replace("/*/", "/**/")
    return f"{root.rstrip('/')}/**/{name.removeprefix('./').removeprefix('*/')}"


def _find_roots(words: Sequence[str]) -> tuple[list[str], int]:
    start = next((at for at, word in enumerate(words) if word not in ("-H", "-L", "-P")), len(words))
    ends = (at for at, word in enumerate(words) if at >= start and (word[:1] == "-" or word in ("(", "!", "\\(")))
    end = next(ends, len(words))
    return list(words[start:end]) or ["."], end


Names = list[str] | None  # None: no name is asked for


class _Expression:
    def __init__(self, words: Sequence[str], start: int) -> None:
        self.words = words
        self.pos = start
        self.before: dict[int, Names] = {}  # by the index of an action
        self.printed: Names = self._either(None)

    def _either(self, outer: Names) -> Names:
        """Parts joined by -o or a comma: what is found has one of their names, if each asks for one."""
        found: list[str] | None = []
        while self.pos < len(self.words):
            names, prunes = self._all(outer)
            if not prunes:
                found = None if found is None or names is None else [*found, *names]
            if self.words[self.pos : self.pos + 1] not in (["-o"], ["-or"], [","]):
                break
            self.pos += 1
        return found or None

    def _all(self, outer: Names) -> tuple[Names, bool]:
        """Parts that all have to hold: the names asked for, and whether it ends by pruning them."""
        names, negated, prunes = outer, False, False
        while self.pos < len(self.words) and self.words[self.pos] not in ("-o", "-or", ",", ")", "\\)"):
            word, prunes = self.words[self.pos], False
            self.pos += 1
            if word in _FIND_NOT:
                negated = not negated
                continue
            if word in ("(", "\\("):
                inner = self._either(names)
                self.pos += 1  # the parenthesis that closes
                names = inner if inner is not None and not negated else names
            elif word in word_set("find_names"):
                asked = self._name(word)
                names = [asked] if asked is not None and not negated else names
            else:
                self.before[self.pos - 1] = names
                prunes = word == "-prune"
                if word in word_set("find_actions"):
                    while self.pos < len(self.words) and self.words[self.pos] not in (";", "+"):
                        self.pos += 1
                    self.pos += 1
                elif word in word_set("find_takes"):
                    self.pos += 2 if word == "-fprintf" else 1
            negated = False
        return names, prunes

    def _name(self, test: str) -> str | None:
        self.pos += 1
        text = next(iter(self.words[self.pos - 1 :]), None)
        if text is None or not test.endswith("regex"):
            return text
        ending = re.search(r"\\\.\(?\\?\(?([A-Za-z0-9]+)", text)
        return f"*.{ending[1]}" if ending else "*"


def find(job: Job) -> None:
    words = job.words
    job.step(len(words))
    marks = [*["empty_only"] * ("-empty" in words), *_limits(words), *[APPROXIMATE] * _is_loose(words)]
    for index in _Expression(words, _find_roots(words)[1]).before:
        word = words[index]
        if word in ("-delete", "-rm"):
            for target in find_targets(words, index):
                job.effect("delete", target, "recursive", "bulk", *marks)
        elif word in word_set("find_actions"):
            _find_exec(job, words, index)
        elif word in {"-fprint", "-fprintf", "-fls", "-fprint0"} and index + 1 < len(words):
            job.effect("write", words[index + 1], "output")
            if word == "-fprintf" and index + 2 < len(words):
                job.keep_file(words[index + 1], unescape(words[index + 2]))


def _is_loose(words: Sequence[str]) -> bool:
    """Whether targets may be others than their globs: a plain name decides last where it is not."""
    tests = [word for at, word in enumerate(words) if not _only_narrows(words, at)]
    asked = [word for word in tests if word in word_set("find_names")]
    plain = asked[-1:] == ["-name"] and not {"-o", "-or", ","}.intersection(words)
    return bool(word_set("find_loose").intersection(tests)) and not (
        plain and {"-L", "-H", "-follow", "-files0-from"}.isdisjoint(words)
    )


def _only_narrows(words: Sequence[str], at: int) -> bool:
    """A name that leaves files out: fewer targets, never others."""
    negated = [word in _FIND_NOT for word in words[max(0, at - 2) : at]]
    return words[at] in word_set("find_names") and negated in ([True], [False, True])


_FIND_NOT = frozenset({"!", "-not"})


def _limits(words: Sequence[str]) -> tuple[str, ...]:
    return () if word_set("find_limits").isdisjoint(words) else ("filtered",)


def _find_exec(job: Job, words: Sequence[str], index: int) -> None:
    command: list[str] = []
    job.step(len(words) // 4)
    for word in words[index + 1 :]:
        if word == ";" or (word == "+" and command and "{}" in command[-1]):
            break
        command.append(word)
    if not command:
        return
    shell = re.fullmatch(r"(?:.*/)?(ba|z|da|k|fi)?sh", command[0])
    loose = [APPROXIMATE] * (_is_loose(words) or words[index] == "-execdir")
    where = job.where.inside(f"find {words[index]}", "bulk", *_limits(words), *loose)
    for target in find_targets(words, index):
        filled = [target if item == "{}" else item for item in command]
        if not shell or (len(filled) > 2 and "{}" in " ".join(filled)):
            filled = [item.replace("{}", target) for item in filled]
        job.host.run(filled, where)


def fd(job: Job) -> Stream | None:
    own = list(takewhile(lambda word: word not in ("-x", "-X", "--exec", "--exec-batch"), job.words))
    command = [word for word in job.words[len(own) + 1 :] if word != ";"]
    if not command:
        return None
    found = parse(job.described, own)
    pattern, roots = "".join(found.operands[:1]), found.operands[1:] or ["."]
    names = [f"/*.{ending}" for ending in found.all("-e", "--extension")]
    names = names or ["" if pattern in ("", ".") else f"/{pattern.strip('^$')}"]
    for target in [f"{root.rstrip('/')}/**{name}" for root in roots for name in names]:
        filled = [re.sub(r"\{[/.]*\}", target, word) for word in command]
        job.host.run(filled if filled != command else [*command, target], job.where.inside("fd -x", "bulk"))
    return UNKNOWN


def xargs(job: Job) -> Stream:
    """Unknown words that flow in are added as a hole."""
    found = job.options(stop_at_operand=True)
    command = found.operands or ["echo"]
    job.step(len(command))
    source, guessed = job.stdin.text, APPROXIMATE in job.stdin.taints
    if (path := found.value("-a", "--arg-file")) is not None:
        source, taints = data_text(job.host, path) or (hole(), frozenset[str]())
        guessed |= bool(taints)
    if guessed:
        job.host.guess()
    mark = found.value("-I", "--replace", "-J") or ("{}" if found.has("-i", "-I", "--replace") else "")
    splits = r"[\n\0]+" if mark or found.has("-0", "--null", "-d", "--delimiter") else r"[\s\0]+"
    items = [item for item in re.split(splits, source) if item.strip()] or [hole()]
    bulk = not job.piped or HOLE in source or "bulk" in job.stdin.taints or len(items) > 1
    where = job.where.inside(job.program, *["bulk"] * bulk)
    if not mark:
        return job.host.run([*command, *bounded(items, 64)], where)
    return [job.host.run([word.replace(mark, item) for word in command], where) for item in bounded(items, 16)][-1]


def parallel(job: Job) -> Stream:
    words = list(takewhile(lambda word: word not in (":::", "::::"), job.words))
    if mark := job.words[len(words) :][:1]:
        items = job.words[len(words) + 1 :] if mark == [":::"] else [hole()]
    else:
        items = job.stdin.text.splitlines() or [hole()]
        if APPROXIMATE in job.stdin.taints:
            job.host.guess()
    found = parse(job.described, words, stop_at_operand=True)
    command = found.operands
    if found.has("--dry-run", "--dryrun"):
        return UNKNOWN
    for item in bounded(items, 16):
        filled = [_ITEM.sub(item.replace("\\", "\\\\"), word) for word in command]
        if filled == command:
            filled.append(item)
        if len(command) < 2:
            job.shell_text(" ".join(filled), "parallel", "bulk")
        else:
            job.run(filled, "parallel", "bulk")
    return UNKNOWN


READERS: dict[str, Reader] = {"search": find, "search_each": fd, "each_line": parallel, "each_word": xargs}
