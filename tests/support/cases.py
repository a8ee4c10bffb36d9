"""Many small cases as one test: every case runs, and each that fails is named with its values and its words."""

from __future__ import annotations

import functools
import inspect
import traceback
from collections.abc import Callable, Iterable, Sequence
from typing import Any

SHOWN = 20  # failures in full; the rest by name alone


def each(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Callable[[Any], str] | Sequence[str] = repr
) -> Callable[[Any], Any]:
    """Like pytest.mark.parametrize, but one test for all cases: thousands of tests cost more than what they check."""
    words = tuple(name.strip() for name in names.split(",")) if isinstance(names, str) else names
    rows = [(row if len(words) > 1 else (row,)) for row in cases]
    assert rows, f"no case of {', '.join(words)}"
    called = [", ".join(map(ids, row)) for row in rows] if callable(ids) else list(ids)

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**given: Any) -> None:
            failed = []
            for name, row in zip(called, rows, strict=True):
                try:
                    test(**dict(zip(words, row, strict=True)), **given)
                except Exception as error:
                    failed.append((name, error))
            if failed:
                raise AssertionError(_said(failed, len(rows))) from failed[0][1]

        kept = inspect.signature(test)
        run.__signature__ = kept.replace(  # type: ignore[attr-defined]
            parameters=[one for name, one in kept.parameters.items() if name not in words]
        )
        return run

    return decorate


def _said(failed: list[tuple[str, Exception]], count: int) -> str:
    lines = [f"{len(failed)} of {count} cases failed"]
    for name, error in failed[:SHOWN]:
        where = traceback.extract_tb(error.__traceback__)[-1]
        lines.append(f"[{name}] line {where.lineno}: {type(error).__name__}: {error}")
    lines += [f"[{name}]" for name, _ in failed[SHOWN:]]
    return "\n".join(lines)
