"""Builds the documentation site into a folder: `python -m tools.site FOLDER`."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from tools.site import ROOT, assemble, navigation


def main() -> int:
    """Runs mkdocs over the assembled pages; a link that leads nowhere is an error."""
    target = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        assemble(folder / "pages")
        settings = (ROOT / "tools" / "site" / "mkdocs.yml").read_text(encoding="utf-8")
        nav = json.dumps({"nav": navigation(folder / "pages")})[1:-1]  # JSON is YAML
        (folder / "mkdocs.yml").write_text(f"{settings}{nav}\n", encoding="utf-8")
        command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(target)]
        return subprocess.run([*command, "--config-file", str(folder / "mkdocs.yml")], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
