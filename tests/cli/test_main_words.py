"""Every word of `interlock` leads to a function that can be called with its arguments."""

from __future__ import annotations

import inspect

import pytest

from interlock.cli.main import _SHARED, COMMANDS, command_function


@pytest.mark.parametrize("word", COMMANDS)
def test_every_word_has_a_module_with_its_function(word: str) -> None:
    function = command_function(word)
    inspect.signature(function).bind(["--help"])
    assert function.__module__.startswith("interlock.cli.")


def test_every_word_that_shares_a_module_is_a_command() -> None:
    assert set(_SHARED) <= set(COMMANDS)
