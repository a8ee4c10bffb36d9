"""Seed 003's figures -> Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from interlock.core.policy import MODES
from interlock.core.records import Figures

_COUNTERS = {
    "checked": ("total_checked", "actions that were judged"),
    "destructive": ("destructive_detected", "actions that were destructive"),
    "blocked_by_cooling": ("blocked_by_cooling", "tickets that began with cooling-off"),
    "blocked_by_approval": ("blocked_by_approval", "tickets that began by waiting for a human"),
    "approved": ("approved", "tickets that were approved"),
    "rejected": ("rejected", "tickets that were rejected"),
    "expired": ("expired", "tickets that nobody answered or used in time"),
    "executed": ("executed", "actions that were reported executed"),
}


class Collector:
    """One reading of the figures."""

    def __init__(self, figures: Figures, waiting: int, mode: str) -> None:
        self.figures, self.waiting, self.mode = figures, waiting, mode

    def collect(self) -> Iterator[Metric]:
        for name, (field, words) in _COUNTERS.items():
            yield CounterMetricFamily(f"interlock_{name}", words, value=getattr(self.figures, field))
        for label, counts in (("severity", self.figures.by_severity), ("category", self.figures.by_category)):
            family = CounterMetricFamily(f"interlock_by_{label}", f"destructive actions by {label}", labels=[label])
            for key, count in counts.items():
                family.add_metric([key], count)
            yield family
        yield GaugeMetricFamily("interlock_open_tickets", "tickets that wait", value=self.waiting)
        modes = GaugeMetricFamily("interlock_mode", "the mode in force", labels=["mode"])
        for mode in MODES:
            modes.add_metric([mode], float(mode == self.mode))
        yield modes
