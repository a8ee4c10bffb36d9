"""Under which name do people reach the console? Passkeys are bound to it, and forms are taken from it alone."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlsplit

LOCAL = "localhost"  # a browser takes no passkeys for 127.0.0.1


@dataclass(frozen=True, slots=True)
class Site:
    """One origin, and the name that passkeys are made for."""

    rp_id: str
    origin: str

    @property
    def secure(self) -> bool:
        return self.origin.startswith("https://")

    def is_ours(self, origin: str | None) -> bool:
        """Whether a request was made by a page of this site; one without an origin was not."""
        return origin is not None and origin.lower() == self.origin


def site_of(public_url: str, host: str) -> Site:
    """The site that a request's Host names: the one of `console.public_url`, or else this device."""
    public = urlsplit(public_url.lower())
    if public_url and host.lower() == public.netloc:
        return Site(public.hostname or LOCAL, public_url.lower())
    port = host.rpartition(":")[2] if ":" in host.rpartition("]")[2] else ""
    return Site(LOCAL, f"http://{LOCAL}" + (f":{port}" if port else ""))
