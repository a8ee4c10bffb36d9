"""Seed 002's lists of globs, run literally; only policy `spec` does (R-7)."""

from __future__ import annotations

from fnmatch import fnmatchcase

from interlock.core.model import Human, Requirement
from interlock.core.titles import Titles

DANGEROUS = (
    "rm -rf *", "git push --force*", "git reset --hard*", "chmod 777*", "sudo *", "eval *", "python -c *", "node -e *",
    "*| sh", "*|sh", "curl * | *", "wget * | *", "bash -c *", "sh -c *", "*base64 -d*|*", "*base64 --decode*|*",
)  # fmt: skip
BLOCKED = ("mkfs*", "dd if=*", ":(){:|:&};:", "format *", "*(){ *")
IRREVERSIBLE = (
    "rm -rf *", "git push --force*", "git reset --hard*", "git clean -f*", "mkfs*", "dd if=*", "drop *", "truncate *",
)  # fmt: skip


def spec_globs(named: Titles) -> list[tuple[str, Requirement, str]]:
    """What the lists say of the shell text of an action: denied for good, denied until approved, or a person's word."""
    found: list[tuple[str, Requirement, str]] = []
    for tool, text in named.tools[:1]:
        if tool != "Bash":
            continue
        found += [("never", Requirement(blocked=True), f"blocked pattern: {g}") for g in _matching(BLOCKED, text)]
        found += [
            ("glob", Requirement(human=Human.VERIFY), f"dangerous pattern: {g}") for g in _matching(DANGEROUS, text)
        ]
        found += [
            ("glob", Requirement(human=Human.CONFIRM), f"irreversible pattern: {g}")
            for g in _matching(IRREVERSIBLE, text)
        ]
    return found


def _matching(globs: tuple[str, ...], text: str) -> list[str]:
    return [glob for glob in globs if _matches(glob, text)]


def _matches(glob: str, text: str) -> bool:
    """A star is the only wildcard of these lists."""
    return fnmatchcase(text, glob.replace("[", "[[]").replace("?", "[?]"))
