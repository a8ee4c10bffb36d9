"""Serves the console's static files under names that contain their hash."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from interlock.console.visit import SAFE

_KINDS = MappingProxyType(
    {
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
        "svg": "image/svg+xml",
        "webmanifest": "application/manifest+json",
    }
)


@cache
def contents() -> Mapping[str, tuple[bytes, str, str]]:
    """Path -> bytes, type, hash."""
    found = {}
    root = files("interlock.console") / "static"
    for folder, name in ((root, ""), (root / "vendor", "vendor/")):
        for item in folder.iterdir():
            kind = _KINDS.get(item.name.rpartition(".")[2])
            if kind and item.is_file():
                data = item.read_bytes()
                found[f"/console/static/{name}{item.name}"] = (data, kind, hashlib.sha256(data).hexdigest()[:16])
    return MappingProxyType(found)


def address(name: str) -> str:
    """The address of a file, with its hash."""
    path = f"/console/static/{name}"
    return f"{path}?v={contents()[path][2]}"


async def send(send: Any, path: str, headers: Mapping[str, str]) -> None:
    found = contents().get(path)
    if found is None:
        return await _answer(send, 404, b"text/plain", b"There is no such file.", b"no-store", "")
    data, kind, mark = found
    if headers.get("if-none-match") == f'"{mark}"':
        return await _answer(send, 304, kind.encode(), b"", b"public, max-age=31536000, immutable", mark)
    return await _answer(send, 200, kind.encode(), data, b"public, max-age=31536000, immutable", mark)


async def _answer(send: Any, status: int, kind: bytes, body: bytes, keep: bytes, mark: str) -> None:
    headers = [
        (b"content-type", kind),
        (b"content-length", b"%d" % len(body)),
        (b"cache-control", keep),
        *SAFE,
    ]
    headers += [(b"etag", f'"{mark}"'.encode())] if mark else []
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
