"""Random JSON files as people write them: comments, trailing commas, tabs, CRLF, odd blanks."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

_KEYS = st.sampled_from(["a", "model", "permissions", "é", "with space", 'quo"te', "hooksy", "env", ""])
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(-(10**6), 10**6), st.text(max_size=12), st.just("/* not // one */")
)
_USERS = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(["/usr/bin/mine", "./lint.sh --fix", "true"])}
)
_GROUPS = st.lists(
    st.fixed_dictionaries({"matcher": st.sampled_from(["Bash", "*"]), "hooks": st.lists(_USERS, max_size=2)}),
    max_size=2,
)
EVENTS = ["PreToolUse", "PostToolUse", "BeforeTool", "preToolUse", "pre_run_command", "Stop"]
VALUES = st.recursive(
    _LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3), max_leaves=8
)


@st.composite
def files(draw: st.DrawFn, comments: bool, versioned: Any = None) -> str:
    """A settings file that has none of our hooks."""
    data = draw(st.dictionaries(_KEYS, VALUES, max_size=3))
    if draw(st.booleans()):
        data["hooks"] = draw(st.dictionaries(st.sampled_from(EVENTS), _GROUPS, max_size=3))
    items = list(data.items())
    if versioned is not None:
        items.insert(draw(st.integers(0, len(items))), ("version", versioned))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    style = draw(st.sampled_from(["compact", "spaced", "indented", "tabbed", "wild"]))
    text = _render(draw, dict(items), style, comments, 0, newline)
    tail = draw(st.sampled_from(["", newline, newline * 2]))
    head = draw(st.sampled_from(["", "", "", "\ufeff", newline]))
    if comments and style != "compact" and draw(st.booleans()):
        head += f"// first{newline}"
    return head + text + tail


def _render(draw: st.DrawFn, value: Any, style: str, comments: bool, depth: int, newline: str) -> str:
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=draw(st.booleans()))
    opener, closer = ("{", "}") if isinstance(value, dict) else ("[", "]")
    gap = lambda level: _gap(draw, style, comments, level, newline)  # noqa: E731
    if not value:
        return opener + (gap(depth) if style == "wild" else draw(st.sampled_from(["", "", " "]))) + closer
    parts = []
    for key in value:
        inner = value[key] if isinstance(value, dict) else key
        shown = _render(draw, inner, style, comments, depth + 1, newline)
        colon = ":" if style == "compact" else ": "
        parts.append(gap(depth + 1) + (f"{json.dumps(key)}{colon}{shown}" if isinstance(value, dict) else shown))
    trailing = "," if comments and style != "compact" and draw(st.booleans()) else ""
    return opener + ",".join(parts) + trailing + gap(depth) + closer


def _gap(draw: st.DrawFn, style: str, comments: bool, depth: int, newline: str) -> str:
    if style in ("compact", "spaced"):
        return "" if style == "compact" else draw(st.sampled_from(["", " "]))
    indent = ("\t" if style == "tabbed" else "  ") * depth
    plain = (
        newline + indent
        if style != "wild"
        else draw(st.sampled_from([newline + indent, " ", "", newline, newline + " "]))
    )
    if not comments or draw(st.integers(0, 3)):
        return plain
    return draw(
        st.sampled_from(
            [
                f" // note, with }} and ]{newline}{indent}",
                f" /* [ */{plain}",
                f"{newline}{indent}/* a{newline}b */{plain}",
            ]
        )
    )
