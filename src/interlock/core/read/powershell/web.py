"""What do PowerShell's web cmdlets fetch, send and change?"""

from __future__ import annotations

from collections.abc import Sequence

from interlock.core.read.facts import HOLE, hole, known
from interlock.core.read.places import place
from interlock.core.read.powershell.cmdlets import Bound
from interlock.core.read.powershell.session import Session
from interlock.core.read.powershell.values import Value, texts
from interlock.core.read.windows import downloaded, plain_holes


def invoke_web(session: Session, bound: Bound, piped: list[Value]) -> list[Value]:
    """Invoke-WebRequest and its kin: something is fetched, sent or changed at an address."""
    url, method = (plain_holes(bound.text("uri")), bound.text("method", "custommethod").lower())
    if not known(method):
        session.out.unreadable("a web request whose method is made at run time", "payload")
    if method in ("delete", "put", "patch", "post"):
        session.out.effect("http", url, method)
    else:
        session.out.effect("fetch", url)
    sent = [*texts(bound.given.get("body")), *(f"{hole(path)}" for path in bound.texts("infile")), *bound.texts("form")]
    if any(not known(text) or text.lower().startswith("env:") for text in sent):
        session.out.effect("send", url, *_sent_traits(sent))
    for path in bound.texts("infile"):
        session.out.effect("read", plain_holes(path))
    path = bound.text("outfile")
    if path:
        _save(session, url, path)
    return [] if path else [downloaded(url)]


def _sent_traits(sent: Sequence[str]) -> list[str]:
    """What is known of data that leaves: the whole environment, or what a secret file holds."""
    traits = ["environment"] if any(text.lower().startswith("env:") for text in sent) else []
    named = [name.replace("\\", "/") for text in sent for name in text.split(HOLE)[1::2]]
    return traits + (["secret"] if any(place(name) == "secret" for name in named if name) else [])


def _save(session: Session, url: str, path: str) -> None:
    session.out.effect("write", plain_holes(path))
    session.files.download(path, url)


def start_bits(session: Session, bound: Bound, piped: list[Value]) -> list[Value]:
    """Start-BitsTransfer: an address saved to a file."""
    url = plain_holes(bound.text("source"))
    session.out.effect("fetch", url)
    _save(session, url, bound.text("destination") or url.rpartition("/")[2])
    return []
