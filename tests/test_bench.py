"""The benchmarks are run by hand, so that what they import is checked here."""

from __future__ import annotations

import ast
import importlib
import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parent.parent / "bench"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_a_benchmark_imports_only_what_exists(path: Path) -> None:
    modules: dict[str, object] = {}
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            assert all(importlib.util.find_spec(one.name) for one in node.names), ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and node.module:
            module = importlib.import_module(node.module)
            for one in node.names:
                modules[one.asname or one.name] = getattr(module, one.name, None)
                assert hasattr(module, one.name) or importlib.util.find_spec(f"{node.module}.{one.name}"), ast.unparse(
                    node
                )
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            module = modules.get(node.value.id)
            assert not isinstance(module, ModuleType) or hasattr(module, node.attr), ast.unparse(node)
