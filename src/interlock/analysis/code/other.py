"""Languages without a reader of their own: finds calls that delete files, run commands or drop data, with constant words."""

from __future__ import annotations

import re
from functools import cache

from interlock.analysis.code.library import shipped
from interlock.analysis.facts import Report
from interlock.analysis.packs import Pack

_TEXT = r""""((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'"""
_GAP = r"""[^"'`\n;]{0,30}?"""
_CONSTANT = re.compile(_TEXT)
_COMMENT = re.compile(r"(?<!:)//[^\n]*|/\*.*?\*/", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)")
_LOOKS_RUN = re.compile(r"\S+\s+(?:-|/|~|\.|\$|\*)")  # rm -rf, chmod ~/x


def read_other(source: str, out: Report) -> None:
    out.step(len(source) // 200 + 1)
    text = _COMMENT.sub("", source) if "//" in source or "/*" in source else source
    for finds, pattern in _patterns():
        for found in finds.finditer(text):
            out.step()
            _tell(out, found, pattern)


@cache
def _patterns() -> list[tuple[re.Pattern[str], Pack]]:
    patterns = shipped()["other"]["pattern"]
    return [(re.compile("".join(one["finds"]).replace("TEXT", _TEXT).replace("GAP", _GAP)), one) for one in patterns]


def _tell(out: Report, found: re.Match[str], pattern: Pack) -> None:
    verb, target = pattern["tells"], next(filter(None, found.groups()), pattern.get("called", "")).strip()
    if verb == "run":
        words = [_ESCAPE.sub(r"\1", double or single) for double, single in _CONSTANT.findall(found[0])]
        if len(words) > 1:
            out.run(words)
        elif found["sure"] is not None or _LOOKS_RUN.match(words[0]):  # a name that may mean anything has to look run
            out.shell(words[0])
    elif verb == "shell":
        out.shell(target)
    elif verb == "sql":
        out.code("sql", target)
    else:
        start = found[0].find(target)  # an option may follow a quote that is escaped
        below = "tree" in pattern and re.search(pattern["tree"], found[0][: start + 40]) is not None
        out.effect(verb, _ESCAPE.sub(r"\1", target), *pattern.get("traits", ()), *["recursive"] * below)
