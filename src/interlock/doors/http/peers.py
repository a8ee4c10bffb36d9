"""Which users may come in, and where? A daemon with a user of its own lets agents ask, operators answer, and nobody else near."""

from __future__ import annotations

import os
import pwd
from collections.abc import Iterable

from interlock.config import Config
from interlock.doors.http.errors import Problem
from interlock.doors.http.listening import CannotServe

_PEOPLES = frozenset(
    {"/api/v1/session", "/api/v1/session/resume", "/api/v1/operators/first"}
)  # where somebody becomes an operator


class Peers:
    """The users by number, found once; without a user of its own the daemon's socket is its owner's alone, and nothing is asked here."""

    def __init__(self, config: Config) -> None:
        self._on, self._agents_place = config.separate.on, str(config.agents_socket)
        ours = {0, os.getuid()}
        self.agents = frozenset(uids(config.separate.users))
        self._may_ask, self._may_answer = self.agents | ours, ours | set(uids(config.separate.operators))
        if self._on and os.getuid() in self.agents | {0}:
            raise CannotServe("separate: the daemon's own user cannot be root, nor one whose agents it guards")

    def check(self, client: str, place: str, path: str) -> None:
        """Refuses whoever has no business on this socket, and sign-ins where agents ask."""
        if not self._on:
            return
        if place != self._agents_place:
            if _uid(client) not in self._may_answer:
                raise Problem("PERMISSION_DENIED", f"this socket is for operators; agents ask on {self._agents_place}")
            return
        self.check_agent(client)
        if path in _PEOPLES and _uid(client) in self.agents:
            raise Problem("PERMISSION_DENIED", "nobody signs in where agents ask; operators have a socket of their own")

    def check_agent(self, principal: str) -> None:
        """Refuses a user of this machine whose agents nobody said may ask."""
        if self._on and principal.startswith("uid:") and _uid(principal) not in self._may_ask:
            words = f"this daemon guards other users' agents, not those of {principal}; `interlock install --system --for NAME`"
            raise Problem("PERMISSION_DENIED", words)


def uids(names: Iterable[str]) -> list[int]:
    """The numbers of users; refuses a name that is nobody's."""
    found = []
    for name in names:
        try:
            found.append(pwd.getpwnam(name).pw_uid)
        except KeyError:
            raise CannotServe(f"separate: there is no user {name!r}") from None
    return found


def _uid(client: str) -> int:
    number = client.removeprefix("uid:")
    return int(number) if number.isdigit() else -1
