"""Exports the figures as Prometheus metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from interlock.engine.statistics import COUNTER, HISTOGRAM, Family, Sample

PREFIX = "interlock_"


class Collector:
    """A Prometheus collector over one reading."""

    def __init__(self, families: Sequence[Family]) -> None:
        self.families = families

    def collect(self) -> Iterator[Metric]:
        return map(metric, self.families)


def metric(family: Family) -> Metric:
    """A family with its help, its type and its labels."""
    name, labels = PREFIX + family.name, [key for key, _ in family.samples[0].labels] if family.samples else []
    if family.kind == HISTOGRAM:
        timed = HistogramMetricFamily(name, family.words, labels=labels)
        for sample in family.samples:
            timed.add_metric(_values(sample), buckets=list(sample.buckets), sum_value=sample.value)
        return timed
    kind = CounterMetricFamily if family.kind == COUNTER else GaugeMetricFamily
    made = kind(name, family.words, labels=labels)
    for sample in family.samples:
        made.add_metric(_values(sample), sample.value)
    return made


def _values(sample: Sample) -> list[str]:
    return [value for _, value in sample.labels]
