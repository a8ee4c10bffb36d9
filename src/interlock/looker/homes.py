"""The home that a question is about: the one that it names, where it belongs to whoever looks, else that of its user."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any


def home_in(question: Mapping[str, Any], own: str) -> str:
    """Empty, and so not known, where the question names a home that is not its user's."""
    named = question.get("home")
    if named is None or named == own:
        return own
    try:
        found = os.stat(str(named))
    except (OSError, ValueError):
        return ""
    return str(named) if str(named).startswith("/") and found.st_uid == os.getuid() else ""
