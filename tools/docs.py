"""Writes the generated pages of docs/ that no command prints: `python -m tools.docs`."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec import Struct

from interlock.config import TABLES
from interlock.policy.policy import Policy
from interlock.schema import Setting, settings_of, shown_value
from interlock.server.app import documented_app
from interlock.server.routes import document

DOCS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Write every page."""
    api = json.dumps(document(documented_app()), indent=2, ensure_ascii=False, sort_keys=True)
    (DOCS / "reference" / "openapi.json").write_text(f"{api}\n")
    (DOCS / "reference" / "settings.md").write_text(settings_page())


def settings_page() -> str:
    """The reference page of all settings, in Markdown."""
    lead = "Written by `make docs` from the declarations. Every key of [`interlock.toml`](configuration.md):"
    parts = [f"# Settings\n\n{lead}"]
    parts += [f"## `[{key}]`\n\n{_reference_table(form, f'{key}.')}" for key, form in TABLES.items()]
    parts.append("## A policy\n\nEvery key of [a policy's file](../guide/policies.md):")
    return "\n\n".join([*parts, _reference_table(Policy, "")]) + "\n"


def _reference_table(form: type[Struct], lead: str) -> str:
    """The table of a form's keys and of its inner tables; one of the configuration has its own place."""
    rows = _reference_rows(form, lead)
    for one in settings_of(form):
        if one.table is not None and one.table not in TABLES.values():
            rows += _reference_rows(one.table, f"{lead}{one.key}.")
    head = ["| key | default | values | means | weakened by |", "|---|---|---|---|---|"]
    return "\n".join([*head, *(f"| {' | '.join(row)} |" for row in rows)])


def _reference_rows(form: type[Struct], lead: str) -> list[tuple[str, str, str, str, str]]:
    """Key, default, values, meaning and what weakens, for each setting of a table; Markdown."""
    return [
        (f"`{lead}{one.key}`", _default_words(one), _value_words(one), one.means, one.weakened_by)
        for one in settings_of(form)
    ]


def _default_words(one: Setting) -> str:
    if one.worded:
        return one.worded
    if one.table is not None:
        return "below"
    value = shown_value(one.default)
    if value is None and one.none:
        value = one.none
    if value in (None, "", [], {}):
        return "none"
    words = str(value).lower() if isinstance(value, bool) else str(value).replace("'", '"')
    return f"`{words}`"


def _value_words(one: Setting) -> str:
    if one.choices:
        return ", ".join(f"`{word}`" for word in one.choices)
    if one.kind is bool:
        return "`true`, `false`"
    if one.kind in (int, float):
        bounds = f"{one.meta.ge} to {one.meta.le}"
        return f"{bounds}, `{one.none}`" if one.none else bounds
    return ""


if __name__ == "__main__":
    main()
