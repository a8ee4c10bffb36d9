"""An expression that is compiled when first used is a valid one, and does what a compiled one does."""

from __future__ import annotations

import importlib
import pkgutil
import re

import interlock.analysis
import interlock.policy
import interlock.redaction
from interlock.analysis.lazy_regex import _LazyRegex, lazy_regex


def test_every_expression_that_is_compiled_later_can_be_compiled() -> None:
    found = 0
    for package in (interlock.analysis, interlock.policy, interlock.redaction):
        for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(importlib.import_module(module.name)).items():
                if isinstance(value, _LazyRegex):
                    text = value._text if isinstance(value._text, str) else value._text()
                    assert re.compile(text, value._flags).pattern == text, f"{module.name}.{name}"
                    found += 1
    assert found > 100


def test_it_answers_as_a_compiled_one_does() -> None:
    lazy = lazy_regex(r"(\d+)-(x)", re.IGNORECASE)
    for _ in range(2):
        assert (found := lazy.search("a 12-X")) is not None and found.groups() == ("12", "X")
        assert lazy.sub("?", "1-x 2-X") == "? ?" and lazy.fullmatch("1-y") is None
    assert lazy.flags & re.IGNORECASE and lazy.groups == 2
