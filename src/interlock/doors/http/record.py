"""The record over HTTP: search, prove, take away as a file."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.requests import Request
from starlette.responses import StreamingResponse

from interlock.core.audit_export import csv_lines, jsonl
from interlock.core.records import AuditQuery, AuditRow
from interlock.doors.http.context import Context, proved_once, who_asks
from interlock.doors.http.describe import OPERATOR, says
from interlock.doors.http.times import Moment, seconds_of
from interlock.doors.http.wire import audit_json, verdict_json
from interlock.service.proving import kept

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
