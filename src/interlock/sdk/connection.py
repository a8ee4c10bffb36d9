"""Chooses the backend of a gate: the daemon that answers, one at an address, else this process; renews it after a fork."""

from __future__ import annotations

import os
import threading
import weakref
from pathlib import Path
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from interlock.client import ApiError, DaemonClient, NoDaemon, find_daemon
from interlock.config import Config, load_config
from interlock.sdk import GateError
from interlock.sdk.backend import GateBackend
from interlock.sdk.in_process import open_in_process
from interlock.sdk.remote import RemoteBackend

PATIENCE = 5.0  # seconds that a daemon may take to say that it is there
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})

ConfigSource = Config | str | os.PathLike[str] | None


def connect(
    config: ConfigSource,
    policy: str | None,
    store: str | os.PathLike[str] | None,
    url: str | None,
    token: str | None,
) -> GateBackend:
    """Choose the backend; raises GateError where there is none, and ConfigError or PolicyError for settings that must not be used."""
    if url is not None:
        if config is not None or policy is not None or store is not None:
            raise TypeError("url= is a daemon with its own settings: config=, policy= and store= do not go with it")
        return RemoteBackend(_daemon_at(url, token))
    chosen = gate_config(config, policy, store)
    daemon = replace(find_daemon(chosen), token=token or "")
    try:
        daemon.get("/status", PATIENCE)
    except ApiError as error:
        raise GateError(str(error), error.code) from error
    except NoDaemon as error:
        if token:
            raise GateError(f"a token counts at a daemon only, and {error}", "INTERNAL_ERROR") from error
        return open_in_process(chosen, silence=str(error))
    if policy is not None:
        raise GateError(f"the daemon on {daemon.place} decides by its own policy: leave policy= out")
    return RemoteBackend(daemon, None if token else chosen)


def gate_config(config: ConfigSource, policy: str | None, store: str | os.PathLike[str] | None) -> Config:
    """The configuration of a program: a Config or a file, with another policy or store where given."""
    made = config if isinstance(config, Config) else load_config(Path(config) if config is not None else None)
    if policy is not None:
        made = replace(
            made, policy=policy, mode="enforcing" if made.mode_of_policy else made.mode, mode_of_policy=False
        )
    if store is not None:
        address = str(store) if isinstance(store, str) and "://" in store else folder_url(store)
        if address != made.store:  # another store has another daemon
            made = replace(made, store=address, daemon=replace(made.daemon, socket=""))
    return made


def folder_url(folder: str | os.PathLike[str]) -> str:
    """The address of a state folder."""
    path = Path(folder).expanduser().absolute()
    url = f"sqlite://{path}"
    if Path(unquote(urlsplit(url).path)) != path:
        raise ValueError(f"{path}: a state folder's name has no %, # or ?")
    return url


def _daemon_at(url: str, token: str | None) -> DaemonClient:
    if not token:
        raise GateError("url= takes token=, which `interlock agents add NAME` gives")
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment or parts.username:
        raise ValueError(f"expected https://host or http://127.0.0.1:port, got {url!r:.200}")
    if parts.scheme == "http" and parts.hostname not in _HERE:
        raise ValueError(f"{url!r:.200}: a token goes in the clear to this machine only; elsewhere use https")
    return DaemonClient(Path(), token, url)


class SharedBackend:
    """The backend that gates share, until it is closed."""

    def __init__(self, backend: GateBackend) -> None:
        self._backend, self._process, self._closed = backend, os.getpid(), False
        self._parents: list[GateBackend] = []  # a parent's connections are not for its child to close
        self._lock = threading.Lock()
        self._end = weakref.finalize(self, backend.close)  # at the latest when the program ends
        forked = weakref.WeakMethod(self._forked)
        os.register_at_fork(after_in_child=lambda: (renew := forked()) and renew())

    def backend(self) -> GateBackend:
        """The backend; raises GateError once closed, and in a forked child that cannot open the folder for itself."""
        if self._closed:
            raise GateError("this gate is closed")
        if self._process != os.getpid():
            with self._lock:
                if self._process != os.getpid():
                    self._renew()
        return self._backend

    def close(self) -> None:
        self._closed = True
        self._end()

    def _renew(self) -> None:
        made = self._backend.after_fork()
        if made is not self._backend:
            self._parents.append(self._backend)
            self._backend = made
            self._end = weakref.finalize(self, made.close)
        self._process = os.getpid()

    def _forked(self) -> None:
        self._lock = threading.Lock()  # another thread of the parent may have held it
