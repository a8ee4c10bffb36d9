"""What every answer of the console says about itself: who may frame it, what may run in it, that nobody keeps it."""

from __future__ import annotations

Header = tuple[bytes, bytes]
_KEPT = (b"cache-control", b"no-store")
SAFE: tuple[Header, ...] = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),  # with none at all, a form says that it comes from nowhere
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (
        b"permissions-policy",
        b"camera=(), microphone=(), geolocation=(), publickey-credentials-get=(self), publickey-credentials-create=(self)",
    ),
    (
        b"content-security-policy",
        b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        b"font-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    ),
)
OF_PAGES: tuple[Header, ...] = (_KEPT, *SAFE)


def header(name: str, value: str) -> Header:
    """One line, whatever stands in the value: what ends a line would begin another header."""
    return name.encode("latin-1"), "".join(sign if sign.isprintable() else "?" for sign in value).encode(
        "latin-1", "replace"
    )
