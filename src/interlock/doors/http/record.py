"""The record over HTTP: search, prove, take away as a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import StreamingResponse

from interlock.core.audit import FIRST_SEQ
from interlock.core.audit_export import csv_lines, jsonl
from interlock.core.audit_verify import Fault, Verdict, verify
from interlock.core.records import AuditQuery, AuditRow
from interlock.doors.http.context import Context, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.doors.http.errors import Problem
from interlock.doors.http.times import Moment, seconds_of
from interlock.doors.http.wire import audit_json, verdict_json
from interlock.keys import verified
from interlock.service.state import State
from interlock.service.touched import touched

PAGE = 1_000  # records that are read at once
PATIENCE = 5  # seconds after which to ask for a verdict again
_LINES: dict[str, tuple[str, Callable[[Iterable[AuditRow]], Iterator[str]]]] = {
    "jsonl": ("application/x-ndjson", jsonl),
    "csv": ("text/csv; charset=utf-8", csv_lines),
}


def routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1/audit", tags=["record"])

    @router.get("", **says("audit", OPERATOR, "Records, filtered"))
    async def audit(
        request: Request,
        event: Annotated[str, Query(max_length=100)] = "",
        since: Moment = "",
        until: Moment = "",
        text: Annotated[str, Query(max_length=200)] = "",
        limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
        newest: bool = True,
    ) -> Any:
        who_asks(request).operator()
        times = seconds_of("since", since), seconds_of("until", until)
        query = AuditQuery("", -1, event, *times, text, limit, newest)
        await context.pool.run(context.state.recorder.flush)
        rows = await context.read(lambda tx: tx.audit(query))
        return {"records": [audit_json(row) for row in rows]}

    @router.get("/verify", **says("verdict", OPERATOR, "Whether the record is as it was written"))
    async def prove(request: Request) -> Any:
        who_asks(request).operator()
        return verdict_json(await context.pool.run(proved_once, context))

    @router.get("/export", **says("export", OPERATOR, "The whole record as a file", media="application/x-ndjson"))
    async def export(
        request: Request, format: Annotated[str, Query(pattern="^(jsonl|csv)$")] = "jsonl"
    ) -> StreamingResponse:
        who_asks(request).operator()
        await context.pool.run(context.state.recorder.flush)
        media, lines = _LINES[format]
        writers = await context.read(lambda tx: tx.audit_writers())
        rows = (row for writer in writers for row in kept(context.state, writer))
        headers = {"content-disposition": f'attachment; filename="interlock-audit.{format}"'}
        return StreamingResponse(_chunks(context, lines(rows)), media_type=media, headers=headers)

    return router


def proved_once(context: Context) -> Verdict:
    """The verdict on the record as it is now; refuses while another is being worked out, for each reads everything."""
    if not context.proving.acquire(blocking=False):
        words = "the whole record is being verified already; ask again in a moment"
        raise Problem(
            "RATE_LIMIT_EXCEEDED", words, details={"retry_after_seconds": PATIENCE}, retry_after=str(PATIENCE)
        )
    try:
        context.state.recorder.flush()
        return proved(context.state)
    finally:
        context.proving.release()


def proved(state: State) -> Verdict:
    """The verdict on every writer's chain; the key is this installation's own."""
    key = state.installation.checkpoint
    writers, points = state.store.read(lambda tx: (tx.audit_writers(), tx.checkpoints()))

    def signed(key_id: str, data: bytes, signature: str) -> bool:
        if key_id != key.key_id:
            raise LookupError(key_id)
        return verified(key.public_key, data, signature)

    found = verify({writer: kept(state, writer) for writer in writers}, points, signed)
    strange = state.store.read(lambda tx: [writer for writer in writers if tx.audit_head(writer) is None])
    faults = [Fault(writer, FIRST_SEQ, "foreign", "somebody put these records there") for writer in strange]
    known = {fault.writer for fault in found.faults}
    hands = touched(state)
    return replace(
        found,
        faults=(*found.faults, *(fault for fault in faults if fault.writer not in known), *hands.faults),
        touches=hands.count,
        touched_until=hands.until,
    )


def kept(state: State, writer: str) -> Iterator[AuditRow]:
    """A writer's records from the first, a page at a time; records that were deleted or altered are no reason to stop."""
    after = -1
    while True:
        query = AuditQuery(writer, after, limit=PAGE)
        rows = state.store.read(lambda tx, query=query: tx.audit(query))  # type: ignore[misc]
        yield from rows
        if len(rows) < PAGE:
            return
        after = rows[-1].seq


async def _chunks(context: Context, lines: Iterator[str]) -> AsyncIterator[bytes]:
    """Some hundred lines a time, each part made in the pool."""

    def more() -> bytes:
        part = []
        for line in lines:
            part.append(line if line.endswith("\n") else line + "\n")
            if len(part) == 500:
                break
        return "".join(part).encode("utf-8", "backslashreplace")

    while chunk := await context.pool.run(more):
        yield chunk
