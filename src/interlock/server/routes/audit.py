"""Routes for the audit log: search, verify, export."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Annotated, Any

from fastapi import APIRouter, Query
from starlette.responses import StreamingResponse

from interlock.audit.export import csv_lines, jsonl
from interlock.audit.proof import writer_records
from interlock.records import AuditQuery, AuditRow
from interlock.server.routes import OPERATOR, describe
from interlock.web.context import Context, verify_record_once
from interlock.web.validation import Moment, seconds_of
from interlock.web.wire import audit_json, verdict_json

_LINES: dict[str, tuple[str, Callable[[Iterable[AuditRow]], Iterator[str]]]] = {
    "jsonl": ("application/x-ndjson", jsonl),
    "csv": ("text/csv; charset=utf-8", csv_lines),
}


def audit_routes(context: Context) -> APIRouter:
    router = APIRouter(prefix="/api/v1/audit", tags=["record"])

    @router.get("", **describe("audit", OPERATOR, "Records, filtered"))
    async def audit(
        event: Annotated[str, Query(max_length=100)] = "",
        since: Moment = "",
        until: Moment = "",
        text: Annotated[str, Query(max_length=200)] = "",
        limit: Annotated[int, Query(ge=1, le=1_000)] = 100,
        newest: bool = True,
    ) -> Any:
        times = seconds_of("since", since), seconds_of("until", until)
        query = AuditQuery("", -1, event, *times, text, limit, newest)
        await context.pool.run(context.state.recorder.flush)
        rows = await context.read(lambda tx: tx.audit(query))
        return {"records": [audit_json(row) for row in rows]}

    @router.get("/verify", **describe("verdict", OPERATOR, "Verifies the record"))
    async def prove() -> Any:
        return verdict_json(await context.pool.run(verify_record_once, context))

    @router.get("/export", **describe("export", OPERATOR, "The whole record as a file", media="application/x-ndjson"))
    async def export(format: Annotated[str, Query(pattern="^(jsonl|csv)$")] = "jsonl") -> StreamingResponse:
        await context.pool.run(context.state.recorder.flush)
        media, lines = _LINES[format]
        writers = await context.read(lambda tx: tx.audit_writers())
        rows = (row for writer in writers for row in writer_records(context.state, writer))
        headers = {"content-disposition": f'attachment; filename="interlock-audit.{format}"'}
        return StreamingResponse(_chunks(context, lines(rows)), media_type=media, headers=headers)

    return router


async def _chunks(context: Context, lines: Iterator[str]) -> AsyncIterator[bytes]:
    """Streams some hundred lines at a time, each chunk made in the pool."""

    def more() -> bytes:
        part = []
        for line in lines:
            part.append(line if line.endswith("\n") else line + "\n")
            if len(part) == 500:
                break
        return "".join(part).encode("utf-8", "backslashreplace")

    while chunk := await context.pool.run(more):
        yield chunk
