"""What operators can set about a daemon with a user of its own: where agents ask it, whose agents, and who may answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from interlock.core.problems import Problems

KEYS = frozenset({"hook_socket", "looker", "code", "users", "operators"})


@dataclass(frozen=True, slots=True)
class SeparateSettings:
    """The table `[separate]`; without a socket for agents there is no such daemon."""

    hook_socket: str = ""  # where agents ask; daemon.socket is for operators then
    looker: str = ""  # the socket of whoever reads scripts as the agent's user
    code: str = ""  # the folder with Interlock's code that only root can change
    users: tuple[str, ...] = ()  # whose agents may ask
    operators: tuple[str, ...] = ()  # who besides root may use daemon.socket

    @property
    def on(self) -> bool:
        return bool(self.hook_socket)


def separate_of(table: Mapping[str, Any], problems: Problems) -> SeparateSettings:
    """The settings that a table describes; a socket for nobody and a user without a socket are refused."""
    where, table = ("separate",), {key: value for key, value in table.items() if value != ""}
    found = SeparateSettings(
        hook_socket=problems.text(table, "hook_socket", where),
        looker=problems.text(table, "looker", where),
        code=problems.text(table, "code", where),
        users=problems.texts(table, "users", where),
        operators=problems.texts(table, "operators", where),
    )
    for key in ("hook_socket", "looker", "code"):
        if (value := getattr(found, key)) and not value.startswith("/"):
            problems.error((*where, key), f"expected an absolute path, got {value!r}")
    if found.on != bool(found.users):
        problems.error((*where, "users"), "hook_socket and users go together: whose agents may ask there?")
    if "root" in found.users:
        problems.error((*where, "users"), "root's agents cannot be kept from anything")
    return found
