"""Writes the generated pages of docs/ that no command prints: `python -m tools.docs`."""

from __future__ import annotations

import json
from pathlib import Path

from interlock.config import settings_page
from interlock.server.app import routes_only
from interlock.server.routes import document

DOCS = Path(__file__).parent.parent / "docs"


def main() -> None:
    """Write every page."""
    api = json.dumps(document(routes_only()), indent=2, ensure_ascii=False, sort_keys=True)
    (DOCS / "reference" / "openapi.json").write_text(f"{api}\n")
    (DOCS / "reference" / "settings.md").write_text(settings_page())


if __name__ == "__main__":
    main()
