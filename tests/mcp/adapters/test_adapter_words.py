"""Every text that an adapter's server could answer with passes the public runner's leak filter."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import interlock
from aql_lint import clean

PACKAGE = Path(interlock.__file__).parent
# Words for whoever starts the server, who reads stderr; never an answer.
ASIDE = {
    "AdapterUnusable",
    "TableError",
    "ValueError",
    "compile",
    "_say",
    "trouble",
    "print",
}
FILES = sorted(
    path
    for path in [
        *(PACKAGE / "mcp" / "adapters").glob("*.py"),
        PACKAGE / "adapters" / "quota.py",
        PACKAGE / "engine" / "quota.py",
    ]
    if path.name != "stdio.py"
)


def texts(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) in ASIDE:
        return
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
        return
    if isinstance(node, ast.JoinedStr):
        yield "".join(part.value if isinstance(part, ast.Constant) else "'x'" for part in node.values)  # type: ignore[misc]
        return
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)):  # a docstring
            yield from texts(child)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_text_can_be_taken_for_a_leak(path: Path) -> None:
    assert [text for text in texts(ast.parse(path.read_text())) if " " in text and not clean(text)] == []
