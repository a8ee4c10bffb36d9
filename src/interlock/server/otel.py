"""Exports the figures of /metrics over OTLP with OpenTelemetry, where it is installed and configured."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from interlock.config.settings import Telemetry
from interlock.engine.statistics import COUNTER, HISTOGRAM, Family, families, figure_shapes
from interlock.runtime.state import State

if TYPE_CHECKING:
    from opentelemetry.metrics import CallbackOptions, Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import MetricReader

Reading = tuple[str, float, dict[str, str]]  # figure, value, labels
PREFIX = "interlock."
PATIENCE = 3.0  # seconds for a collector to answer
MISSING = "telemetry.otlp is set, but OpenTelemetry is not installed: pip install 'interlock[otel]'"


# OpenTelemetry has no instrument for an external histogram: its sum, count and buckets are counters.
ANSWERS, WITHIN = "answers", "answers_within"


def instruments() -> dict[str, tuple[str, str]]:
    """The kind and the words of each."""
    figures = figure_shapes().values()
    return {one.name: (COUNTER if one.kind == HISTOGRAM else one.kind, one.words) for one in figures} | {
        ANSWERS: (COUNTER, "tickets that people answered"),
        WITHIN: (COUNTER, "tickets that people answered within so many seconds (le)"),
    }


class NoTelemetry(Exception):
    """Figures cannot be sent as configured; the message is a sentence for a person."""


@contextlib.contextmanager
def export_figures(state: State, settings: Telemetry, version: str) -> Iterator[None]:
    """Exports while the context lasts, and once at its end; does nothing unless configured. Raises NoTelemetry."""
    if not settings.otlp:
        yield
        return
    made = provider(state, reader(settings), version)
    try:
        yield
    finally:
        made.shutdown(timeout_millis=2 * PATIENCE * 1000)


def reader(settings: Telemetry) -> MetricReader:
    try:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
    except ImportError:
        raise NoTelemetry(MISSING) from None
    exporter = OTLPMetricExporter(endpoint=endpoint(settings.otlp), timeout=PATIENCE)
    return PeriodicExportingMetricReader(exporter, settings.interval_seconds * 1000, PATIENCE * 1000)


def endpoint(url: str) -> str:
    return url if urlsplit(url).path.strip("/") else f"{url.rstrip('/')}/v1/metrics"


def provider(state: State, reader: MetricReader, version: str) -> MeterProvider:
    """A meter provider with one instrument for each figure, not registered globally."""
    from opentelemetry.metrics import Observation
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.resources import Resource

    resource = Resource({"service.name": "interlock", "service.version": version})
    made = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    meter, read = made.get_meter("interlock", version), _shared_reading(state)
    for name, (kind, words) in instruments().items():

        def observed(_: CallbackOptions, name: str = name) -> list[Observation]:
            return [Observation(value, labels) for one, value, labels in read(name) if one == name]

        observable = meter.create_observable_counter if kind == COUNTER else meter.create_observable_gauge
        observable(PREFIX + name, [observed], "s" if name.endswith("seconds") else "1", words)
    return made


def _shared_reading(state: State) -> Callable[[str], list[Reading]]:
    """One for all instruments of a collection; an instrument's second request begins the next."""
    found: list[Reading] = []
    reported: set[str] = set()

    def read(name: str) -> list[Reading]:
        if not reported or name in reported:
            reported.clear()
            found[:] = (one for family in families(state) for one in _readings(family))
        reported.add(name)
        return found

    return read


def _readings(family: Family) -> Iterator[Reading]:
    for sample in family.samples:
        labels = dict(sample.labels)
        yield family.name, sample.value, labels
        if family.kind == HISTOGRAM:
            yield ANSWERS, sample.buckets[-1][1], labels
            for within, count in sample.buckets:
                yield WITHIN, count, {**labels, "le": within}
