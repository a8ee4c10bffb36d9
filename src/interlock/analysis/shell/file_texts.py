"""Texts of files: written by the action itself, or on the disk before it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interlock.analysis.facts import APPROXIMATE, Effect, known
from interlock.analysis.places import resolve
from interlock.analysis.shell import MAX_SCRIPT, Job, redirections
from interlock.analysis.targets.ordering import may_replace_files

if TYPE_CHECKING:
    from interlock.analysis.shell.walk import Shell

_CHANGES = frozenset({"append", "delete", "move", "overwrite", "truncate", "write"})


def script_text(shell: Shell, path: str) -> str | None:
    """The text of a file that is run; one that is longer than is read is reported."""
    text = _text(shell, path)
    if text is not None and len(text) > MAX_SCRIPT:
        Job(shell, path, [], shell.where, None).unreadable("a script longer than is read", "budget")
    return text


def data_text(shell: Shell, path: str) -> tuple[str, frozenset[str]] | None:
    """The text of a file that is data, approximate where an earlier command may change it; None where it is long or was changed."""
    full = resolve(path, shell.cwds[0])
    facts = shell.session.facts
    shell.step(len(facts) // 16)
    if full not in shell.session.files and any(
        isinstance(fact, Effect) and fact.verb in _CHANGES and f"{full}/".startswith(f"{fact.path}/") for fact in facts
    ):
        return None
    text = _text(shell, path)
    if text is None or len(text) > MAX_SCRIPT:
        return None
    stale = full in shell.session.witnesses and any(map(may_replace_files, facts))
    return text, frozenset({APPROXIMATE}) if stale else frozenset()


def _text(shell: Shell, path: str) -> str | None:
    if not known(path):
        return None
    if number := redirections.descriptor_of(path):
        stream = shell.flow if number == "0" else shell.inputs.get(number)
        if stream is not None:
            return stream.text
    full = resolve(path, shell.cwds[0])
    for key in (full, path):
        if key in shell.session.files:
            before = _stored(shell, full) if key in shell.session.appended else None
            return (before or "") + shell.session.files[key]
    return _stored(shell, full)


def _stored(shell: Shell, full: str) -> str | None:
    """The text that a file has before the action runs; it joins the action's witnesses."""
    session = shell.session
    if session.reader is None or "remote" in shell.where.traits:
        return None
    if full not in session.witnesses:
        home = shell.home if full.startswith("~") else ""
        found = session.reader(full.replace("~", home, 1) if home else full)
        if found is None:
            return None
        session.witnesses[full] = found
    return session.witnesses[full]
