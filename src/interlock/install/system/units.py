"""The texts of the systemd units and of the configuration of a separate-user daemon."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

USER = "interlock"
_UNITS = Path(__file__).with_name("units")
PORT = 731  # below 1024: while the daemon is down, only root can bind it


class Layout(Struct, frozen=True):
    """The paths of a system installation."""

    code: Path = Path("/opt/interlock")
    state: Path = Path("/var/lib/interlock")
    config: Path = Path("/etc/interlock/config.toml")
    run: Path = Path("/run/interlock")
    units: Path = Path("/etc/systemd/system")
    tmpfiles: Path = Path("/etc/tmpfiles.d/interlock.conf")
    link: Path = Path("/usr/local/bin/interlock")

    @property
    def python(self) -> Path:
        return self.code / "bin" / "python"

    @property
    def program(self) -> Path:
        return self.code / "bin" / "interlock"


def config_text(layout: Layout, users: Sequence[str], operators: Sequence[str]) -> str:
    """A new configuration; an operator's own keys are added to it by hand."""
    who = f"operators = {json.dumps(list(operators))}\n" if operators else ""
    return f"""\
# The daemon that `interlock install --system` set up. Agents of `users` ask it; root, and who is listed as operators, answer.
[daemon]
port = {PORT}
socket = "{layout.run}/operator.sock"

[store]
url = "sqlite://{layout.state}"

[separate]
hook_socket = "{layout.run}/hook.sock"
inspector = "{layout.run}/looker.sock"
code = "{layout.code}"
users = {json.dumps(list(users))}
{who}"""


def unit_files(layout: Layout) -> dict[Path, str]:
    """Every file for systemd, by path."""
    words = {
        "HARDENED": (_UNITS / "hardened")
        .read_text("utf-8")
        .rstrip("\n"),  # of both services, neither of which needs any of it
        "PYTHON": layout.python,
        "CODE": layout.code,
        "CONFIG": layout.config,
        "RUN": layout.run,
        "STATE": layout.state,
        "STATE_NAME": layout.state.name,
        "USER": USER,
        "PORT": PORT,
    }
    found = {layout.tmpfiles: "d @RUN@ 0755 @USER@ @USER@ -\n"}
    found |= {layout.units / path.name: path.read_text("utf-8") for path in sorted(_UNITS.glob("interlock*.*"))}
    for key, value in words.items():
        found = {path: text.replace(f"@{key}@", str(value)) for path, text in found.items()}
    return found
