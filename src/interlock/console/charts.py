"""Computes the shapes of charts from figures, for templates to draw as SVG."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct

from interlock.model import TIER_TOPS, Level
from interlock.records import HistoryEntry
from interlock.times import iso

WIDTH, HEIGHT = 640, 190
LEFT, TOP, FLOOR = 58, 12, HEIGHT - 28
BINS = 96
MOST_SHARES = 12


class Bar(Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float
    level: int
    words: str


class AxisMark(Struct, frozen=True):
    """A line with its number, or a label below the axis."""

    x: float
    y: float
    words: str


class Chart(Struct, frozen=True):
    bars: tuple[Bar, ...]
    lines: tuple[AxisMark, ...]
    labels: tuple[AxisMark, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    floor: int = FLOOR


class Share(Struct, frozen=True):
    """A bar in percent, split by level where levels are known."""

    name: str
    count: int
    parts: tuple[tuple[float, float, int], ...]  # from, how much, level; -1: no level
    to: str = ""


def daily_chart(days: Sequence[tuple[float, Mapping[Level, int]]]) -> Chart:
    most = max([sum(found.values()) for _, found in days] + [1])
    step = (WIDTH - LEFT) / max(1, len(days))
    bars = []
    for at, (day, found) in enumerate(days):
        top = float(FLOOR)
        for level in Level:
            if count := found.get(level, 0):
                tall, words = _scale(count, most), f"{iso(day)[:10]}: {count} {level.word}"
                top -= tall
                bars.append(Bar(LEFT + at * step + 2, top, step - 4, tall, int(level), words))
    every = max(1, -(-len(days) // 7))
    labels = tuple(
        AxisMark(LEFT + (at + 0.5) * step, HEIGHT - 6, iso(day)[5:10])
        for at, (day, _) in enumerate(days)
        if at % every == 0
    )
    return Chart(tuple(bars), _lines((most,) if most < 4 else (most // 2, most), most), labels)


def risk_chart(history: Iterable[HistoryEntry], since: float, until: float) -> Chart:
    stretch = (until - since) / BINS
    worst: dict[int, HistoryEntry] = {}
    for entry in history:
        at = min(BINS - 1, int((entry.at - since) // stretch))
        if at >= 0 and (at not in worst or (entry.score, entry.level) > (worst[at].score, worst[at].level)):
            worst[at] = entry
    step = (WIDTH - LEFT) / BINS
    bars = []
    for at, entry in sorted(worst.items()):
        tall = _scale(max(entry.score, 2), 100)
        said = f"{iso(entry.at)[:16].replace('T', ' ')}: {entry.score}, {entry.level.word}"
        bars.append(Bar(LEFT + at * step + 0.5, FLOOR - tall, step - 1, tall, int(entry.level), said))
    long = until - since > 2 * 86_400
    words = [iso(since + (until - since) * part / 4)[slice(5, 10) if long else slice(11, 16)] for part in range(5)]
    room = WIDTH - LEFT - 52  # half a label at each end
    labels = tuple(AxisMark(LEFT + 26 + room * part / 4, HEIGHT - 6, word) for part, word in enumerate(words))
    return Chart(tuple(bars), _lines(TIER_TOPS, 100), labels)


def level_shares(rows: Iterable[tuple[str, Mapping[Level, int]]]) -> list[Share]:
    """The longest is 100 wide."""
    found = [(name, levels) for name, levels in rows if sum(levels.values())]
    largest = max([sum(levels.values()) for _, levels in found] + [1])
    return [
        _share(name, [(int(level), levels.get(level, 0)) for level in Level], largest)
        for name, levels in found[:MOST_SHARES]
    ]


def plain_shares(rows: Iterable[tuple[str, int]]) -> list[Share]:
    found = list(rows)
    largest = max([count for _, count in found] + [1])
    return [_share(name, [(-1, count)], largest) for name, count in found]


def _share(name: str, parts: Iterable[tuple[int, int]], largest: int) -> Share:
    made, start, total = [], 0.0, 0
    for level, count in parts:
        wide = 100 * count / largest
        if count:
            made.append((round(start, 2), round(wide, 2), level))
        start, total = start + wide, total + count
    return Share(name, total, tuple(made))


def _lines(values: Iterable[int], most: int) -> tuple[AxisMark, ...]:
    return tuple(AxisMark(LEFT, FLOOR - _scale(value, most), _short(value)) for value in values)


def _short(value: int) -> str:
    return str(value) if value < 10_000 else f"{value // 1_000}k" if value < 10_000_000 else f"{value // 1_000_000}M"


def _scale(value: float, most: float) -> float:
    return round(value / most * (FLOOR - TOP), 2)
