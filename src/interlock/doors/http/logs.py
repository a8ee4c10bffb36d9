"""What the daemon says while it runs: one JSON object a line on stderr, secrets out."""

from __future__ import annotations

import json
import logging
import sys
import traceback

from interlock.core.redact import redact_text
from interlock.core.times import iso


class JsonLines(logging.Formatter):
    """A record as one line that a program can read."""

    def format(self, record: logging.LogRecord) -> str:
        said: dict[str, object] = {
            "at": iso(record.created),
            "level": record.levelname.lower(),
            "from": record.name,
            "message": redact_text(record.getMessage()),
        }
        if record.exc_info and record.exc_info[1] is not None:
            error = record.exc_info[1]
            said["error"] = redact_text(f"{type(error).__name__}: {error}")
            said["where"] = [f"{frame.name}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-8:]]
        return json.dumps(said, ensure_ascii=True)


def to_stderr(level: str) -> None:
    """Our words and the server's go to stderr; requests are not listed."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name, least in (("interlock", level), ("uvicorn.error", "warning"), ("opentelemetry", "warning")):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.setLevel(least.upper())
        logger.propagate = False
    logging.getLogger("uvicorn.access").handlers = []
    logging.getLogger("uvicorn.access").propagate = False
    logging.getLogger().setLevel("WARNING")
