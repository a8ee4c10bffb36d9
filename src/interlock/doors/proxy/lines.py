"""Bytes as they come -> lines; one that is too long is left out, and said."""

from __future__ import annotations

from collections.abc import Callable


class Lines:
    """Keeps what has no end yet; a line over the limit is forgotten as it comes."""

    def __init__(self, line: Callable[[bytes], None], most: int, too_long: Callable[[], None]) -> None:
        self._line, self._most, self._too_long = line, most, too_long
        self._kept: list[bytes] = []
        self._size = 0
        self._skipping = False

    def feed(self, data: bytes) -> None:
        head, *rest = data.split(b"\n")
        if not rest:
            return self._keep(head)
        self._keep(head)
        self._end()
        for whole in rest[:-1]:
            self._keep(whole)
            self._end()
        return self._keep(rest[-1])

    def _keep(self, part: bytes) -> None:
        if not part or self._skipping:
            return
        self._size += len(part)
        if self._size > self._most:
            self._kept.clear()
            self._skipping = True
            self._too_long()
        else:
            self._kept.append(part)

    def _end(self) -> None:
        kept, skipped = self._kept, self._skipping
        self._kept, self._size, self._skipping = [], 0, False
        if skipped:
            return
        line = (kept[0] if len(kept) == 1 else b"".join(kept)).strip() if kept else b""
        if line:
            self._line(line)
