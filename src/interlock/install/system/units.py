"""The texts of the systemd units and of the configuration of a separate-user daemon."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

USER = "interlock"
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


# Hardening of both services, neither of which needs any of it.
_HARDENED = """\
NoNewPrivileges=yes
PrivateDevices=yes
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
RestrictNamespaces=yes
RestrictRealtime=yes
LockPersonality=yes
MemoryDenyWriteExecute=yes
SystemCallArchitectures=native
UMask=0077
"""


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
    names = {
        "interlock.socket": _socket(layout),
        "interlock.service": _service(layout),
        "interlock-looker.socket": _helper_socket(layout),
        "interlock-looker.service": _helper(layout),
    }
    return {
        **{layout.units / name: text for name, text in names.items()},
        layout.tmpfiles: f"d {layout.run} 0755 {USER} {USER} -\n",
    }


def _socket(layout: Layout) -> str:
    return f"""\
[Unit]
Description=Interlock's sockets, held by systemd, so that nobody takes their place while the daemon is down

[Socket]
ListenStream=127.0.0.1:{PORT}
ListenStream={layout.run}/hook.sock
ListenStream={layout.run}/operator.sock
SocketUser={USER}
SocketGroup={USER}
SocketMode=0666
DirectoryMode=0755
Backlog=1024

[Install]
WantedBy=sockets.target
"""


def _service(layout: Layout) -> str:
    return f"""\
[Unit]
Description=Interlock, the safety interlock between agents and what they could destroy
Requires=interlock.socket interlock-looker.socket
After=interlock.socket interlock-looker.socket

[Service]
ExecStart={layout.python} -I -m interlock serve --config {layout.config}
User={USER}
Group={USER}
StateDirectory={layout.state.name}
StateDirectoryMode=0700
Restart=always
RestartSec=1
OOMScoreAdjust=-900
LimitNOFILE=65536
CapabilityBoundingSet=
AmbientCapabilities=
ProtectHome=yes
PrivateUsers=no
RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallErrorNumber=EPERM
ProtectSystem=strict
PrivateTmp=yes
RestrictSUIDSGID=yes
{_HARDENED}
[Install]
WantedBy=multi-user.target
"""


def _helper_socket(layout: Layout) -> str:
    return f"""\
[Unit]
Description=Socket of Interlock's helper, which reads and copies files as the agent's user

[Socket]
ListenStream={layout.run}/looker.sock
SocketUser={USER}
SocketGroup={USER}
SocketMode=0600
DirectoryMode=0755

[Install]
WantedBy=sockets.target
"""


def _helper(layout: Layout) -> str:
    """The impact helper's unit: without capabilities over files, but with write access, as it takes and restores snapshots as the agent's user."""
    return f"""\
[Unit]
Description=Reads scripts and takes snapshots for Interlock's daemon, always as the agent's user
Requires=interlock-looker.socket
After=interlock-looker.socket

[Service]
ExecStart={layout.python} -I -m interlock.server.impact_helper {layout.config}
Restart=always
RestartSec=1
CapabilityBoundingSet=CAP_SETUID CAP_SETGID CAP_KILL
ProtectSystem=full
ReadOnlyPaths={layout.code} {layout.state} -/root
PrivateNetwork=yes
RestrictAddressFamilies=AF_UNIX
SystemCallFilter=@system-service
SystemCallErrorNumber=EPERM
{_HARDENED}
[Install]
WantedBy=multi-user.target
"""
