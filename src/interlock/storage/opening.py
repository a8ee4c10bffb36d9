"""Opens the store that a URL names."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from interlock.ports import Store, StoreError
from interlock.storage.sqlite import SqliteStore


def open_store(url: str) -> Store:
    """Opens `sqlite:///path/to/folder` or `postgresql://…`; raises StoreError where it cannot."""
    scheme = urlsplit(url).scheme
    if scheme not in _KNOWN:
        raise StoreError(f"no store {scheme!r}; known: {', '.join(sorted(_KNOWN))}")
    return _KNOWN[scheme](url)


def _sqlite(url: str) -> Store:
    parts = urlsplit(url)
    if parts.netloc or not parts.path.strip("/"):
        raise StoreError(f"expected sqlite:///path/to/folder, got {url!r}")
    return SqliteStore(Path(unquote(parts.path)))


def _postgres(url: str) -> Store:
    from interlock.storage.postgres import PostgresStore  # psycopg: 280 modules

    return PostgresStore(url)


_KNOWN = {"postgres": _postgres, "postgresql": _postgres, "sqlite": _sqlite}
