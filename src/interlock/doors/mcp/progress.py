"""What does a client hear while a call takes long? A progress notification each second, if it gave a token (EP-10)."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import Any, TypeVar

from mcp.server.context import ServerRequestContext

EVERY = 1.0  # seconds
WAITING = "waiting for an answer; nothing is allowed yet"
T = TypeVar("T")


async def with_progress(context: ServerRequestContext[Any, Any], work: Coroutine[Any, Any, T]) -> T:
    """What the work returns."""
    if context.meta is None or context.meta.get("progress_token", context.meta.get("progressToken")) is None:
        return await work
    telling = asyncio.ensure_future(_tell(context))
    try:
        return await work
    finally:
        telling.cancel()
        with suppress(asyncio.CancelledError):
            await telling


async def _tell(context: ServerRequestContext[Any, Any]) -> None:
    seconds = 0
    while True:
        await asyncio.sleep(EVERY)
        seconds += 1
        with suppress(Exception):  # a client that has gone needs no progress
            await context.session.report_progress(float(seconds), None, WAITING)
