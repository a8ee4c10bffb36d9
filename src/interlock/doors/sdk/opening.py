"""Who decides for a gate? The daemon whose socket answers, one at an address, else this process; and what a fork makes of that."""

from __future__ import annotations

import os
import threading
import weakref
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from interlock.config import Config, load_config
from interlock.doors.client import ApiError, Daemon, NoDaemon, find
from interlock.doors.sdk.backend import Backend
from interlock.doors.sdk.errors import GateError
from interlock.doors.sdk.inside import open_inside
from interlock.doors.sdk.remote import Remote

PATIENCE = 5.0  # seconds that a daemon may take to say that it is there
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})

Chosen = Config | str | os.PathLike[str] | None


def connected(
    config: Chosen,
    policy: str | None,
    store: str | os.PathLike[str] | None,
    url: str | None,
    token: str | None,
) -> Backend:
    """Whoever decides; raises GateError where nobody can, and ConfigError or PolicyError for settings that must not be used."""
    if url is not None:
        if config is not None or policy is not None or store is not None:
            raise TypeError("url= is a daemon with its own settings: config=, policy= and store= do not go with it")
        return Remote(_at(url, token))
    chosen = configured(config, policy, store)
    daemon = replace(find(chosen), token=token or "")
    try:
        daemon.get("/status", PATIENCE)
    except ApiError as error:
        raise GateError(str(error), error.code) from error
    except NoDaemon as error:
        if token:
            raise GateError(f"a token counts at a daemon only, and {error}", "INTERNAL_ERROR") from error
        return open_inside(chosen, silence=str(error))
    if policy is not None:
        raise GateError(f"the daemon on {daemon.place} decides by its own policy: leave policy= out")
    return Remote(daemon)


def configured(config: Chosen, policy: str | None, store: str | os.PathLike[str] | None) -> Config:
    """The configuration of a program: a file, or one that was made; with another policy or another place for state."""
    made = config if isinstance(config, Config) else load_config(Path(config) if config is not None else None)
    if policy is not None:
        made = replace(
            made, policy=policy, mode="enforcing" if made.mode_of_policy else made.mode, mode_of_policy=False
        )
    if store is not None:
        address = str(store) if isinstance(store, str) and "://" in store else folder_url(store)
        if address != made.store:  # another store has another daemon
            made = replace(made, store=address, socket="")
    return made


def folder_url(folder: str | os.PathLike[str]) -> str:
    """The address of a state folder."""
    path = Path(folder).expanduser().absolute()
    url = f"sqlite://{path}"
    if Path(unquote(urlsplit(url).path)) != path:
        raise ValueError(f"{path}: a state folder's name has no %, # or ?")
    return url


def _at(url: str, token: str | None) -> Daemon:
    if not token:
        raise GateError("url= takes token=, which `interlock agents add NAME` gives")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"expected https://host or http://127.0.0.1:port, got {url!r:.200}")
    if parts.scheme == "http" and parts.hostname not in _HERE:
        raise ValueError(f"{url!r:.200}: a token goes in the clear to this machine only; elsewhere use https")
    return Daemon(Path(), token, url)


class Opened:
    """What gates share: whoever decides, until it is closed."""

    def __init__(self, backend: Backend) -> None:
        self._backend, self._process, self._closed = backend, os.getpid(), False
        self._parents: list[Backend] = []  # a parent's connections are not for its child to close
        self._lock = threading.Lock()
        self._end = weakref.finalize(self, backend.close)  # at the latest when the program ends
        forked = weakref.WeakMethod(self._forked)
        os.register_at_fork(after_in_child=lambda: (renew := forked()) and renew())

    def backend(self) -> Backend:
        """Whoever decides; raises GateError after the end, and in a forked child that cannot open the folder for itself."""
        if self._closed:
            raise GateError("this gate is closed")
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    self._again()
        return self._backend

    def close(self) -> None:
        self._closed = True
        self._end()

    def _again(self) -> None:
        made = self._backend.after_fork()
        if made is not self._backend:
            self._parents.append(self._backend)
            self._backend = made
            self._end = weakref.finalize(self, made.close)
        self._process = os.getpid()

    def _forked(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it
