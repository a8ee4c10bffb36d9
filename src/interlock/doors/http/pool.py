"""Where the service runs: a bounded number of threads, so that the event loop never waits for a disk."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")


class Pool:
    """A few long-lived threads, each with its own connection to the store; what comes at once waits its turn."""

    def __init__(self, workers: int) -> None:
        self._threads = ThreadPoolExecutor(workers, "interlock-worker")

    async def run(self, work: Callable[..., T], *given: Any, **named: Any) -> T:
        call = partial(work, *given, **named) if named else work
        return await asyncio.get_running_loop().run_in_executor(self._threads, call, *(() if named else given))

    def close(self) -> None:
        """Ends when everything that was begun is done."""
        self._threads.shutdown(wait=True)
