"""An agent that means harm: one principal, its connections, and every byte that it was ever sent."""

from __future__ import annotations

from collections.abc import Callable

from servers import Servers, Talk, fresh

TWINS: dict[str, Callable[[str], str]] = {
    "case": str.upper,
    "blanks": lambda name: f"  {name}\t",
    "full width": lambda name: "".join(chr(ord(char) + 0xFEE0) for char in name),
    "zero width": lambda name: "\u200b".join(name),
    "soft hyphen": lambda name: f"{name}\u00ad",
    "turned around": lambda name: f"\u202e{name}",
    "a filler": lambda name: f"{name}\u3164",
}


class Foe:
    """One principal that wants past the loop."""

    def __init__(self, servers: Servers, kind: str) -> None:
        self.servers, self.kind, self.token = servers, kind, servers.token()
        self.talk = servers.talk(kind, self.token)
        self.talks = [self.talk]
        self.name = fresh()
        self.heard = b""  # over HTTP, beside MCP

    def again(self) -> Talk:
        """A connection more."""
        self.talks.append(self.servers.talk(self.kind, self.token))
        return self.talks[-1]

    @property
    def reset(self) -> str:
        """Destructive: it takes a confirm. Each name has a target of its own."""
        return f"executing shell command: git -C /srv/{self.name} reset --hard HEAD~3"

    @property
    def force(self) -> str:
        """Dangerous: it takes a verification."""
        return f"executing shell command: git -C /srv/{self.name} push --force origin main"

    def seen(self) -> bytes:
        """All that it was sent."""
        return self.heard + "".join("".join(talk.seen) for talk in self.talks).encode()
