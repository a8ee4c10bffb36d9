"""Which calls does an agent's own transcript say have run? Read on from where the last look ended, as Claude Code writes it."""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from interlock.looker.files import read_bytes

MOST = 500  # transcripts
MOST_BYTES = 1 << 20  # of one look; what is more waits for the next one


@dataclass(slots=True)
class Transcripts:
    """How far each was read; the first look only finds its end, so that nothing before the hooks counts."""

    ends: OrderedDict[str, int] = field(default_factory=OrderedDict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ran(self, path: str) -> list[str]:
        """The ids of calls whose results were written since the last look."""
        if not path.startswith("/") or read_bytes(path, 0) is None:  # an ordinary file, or nothing
            return []
        with self.lock:
            begin = self.ends.get(path)
            data = b"" if begin is None else _from(path, begin)
            whole = data[: data.rfind(b"\n") + 1]
            self.ends[path] = os.path.getsize(path) if begin is None else begin + len(whole)
            self.ends.move_to_end(path)
            while len(self.ends) > MOST:
                self.ends.popitem(last=False)
        return [id for line in whole.splitlines() for id in _results(line)]


def _from(path: str, begin: int) -> bytes:
    try:
        with open(path, "rb") as file:
            file.seek(begin)
            return file.read(MOST_BYTES)
    except OSError:
        return b""


def _results(line: bytes) -> Iterator[str]:
    """The calls that a line gives results of; one that was refused has an error instead."""
    try:
        said: Any = json.loads(line)
        blocks = said["message"]["content"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return
    for block in blocks if isinstance(blocks, list) else ():
        if isinstance(block, dict) and block.get("type") == "tool_result" and not block.get("is_error"):
            if isinstance(block.get("tool_use_id"), str):
                yield block["tool_use_id"]
