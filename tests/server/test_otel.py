"""OpenTelemetry tells the same figures as /metrics; where it is configured and not there, the daemon does not start."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.metrics.export import Gauge, InMemoryMetricReader, Sum
from prometheus_client.parser import text_string_to_metric_families

from daemons import InProcessDaemon, daemon, in_process_daemon, start_daemon, write_config
from interlock.config import Telemetry
from interlock.server.otel import NoTelemetry, endpoint, export_figures, instruments, provider, reader

VM = {"action": "terminate_vm", "resource": "web-1"}
Values = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def app(tmp_path: Path) -> Iterator[InProcessDaemon]:
    with in_process_daemon(tmp_path) as made:
        yield made


def collected(memory: InMemoryMetricReader) -> tuple[Values, dict[str, Any]]:
    """Every value by name and labels, and every instrument."""
    found = memory.get_metrics_data()
    assert found is not None
    metrics = [m for resource in found.resource_metrics for scope in resource.scope_metrics for m in scope.metrics]
    values = {
        (metric.name, tuple(sorted((str(k), str(v)) for k, v in (point.attributes or {}).items()))): float(point.value)
        for metric in metrics
        if isinstance(metric.data, Sum | Gauge)
        for point in metric.data.data_points
    }
    return values, {metric.name: metric for metric in metrics}


def scraped(app: InProcessDaemon) -> Values:
    """What /metrics says, in OpenTelemetry's names."""
    named = {"interlock_answer_seconds_sum": "answer_seconds", "interlock_answer_seconds_count": "answers"}
    named["interlock_answer_seconds_bucket"] = "answers_within"
    return {
        (
            "interlock." + named.get(sample.name, sample.name.removeprefix("interlock_").removesuffix("_total")),
            tuple(sorted(sample.labels.items())),
        ): sample.value
        for family in text_string_to_metric_families(app.call("GET", "/metrics").text)
        for sample in family.samples
    }


def worked(app: InProcessDaemon) -> None:
    """Something allowed, something answered, something that waits."""
    agent, other = app.agent(), app.agent("other")
    app.call("POST", "/api/v1/evaluate", {"action": "list_users"}, agent)
    held = app.call("POST", "/api/v1/evaluate", VM, agent).json()
    app.call("POST", "/api/v1/evaluate", VM, other)
    app.clock.forward(20)
    app.call("POST", f"/api/v1/tickets/{held['pendingId']}/approve", {}, app.sign_in())
    assert app.call("POST", "/api/v1/evaluate", VM, agent).json()["allowed"]


def test_opentelemetry_and_prometheus_tell_the_same(app: InProcessDaemon) -> None:
    memory = InMemoryMetricReader()
    made = provider(app.state, memory, "1.2.3")
    worked(app)
    values, metrics = collected(memory)
    assert values == scraped(app)
    assert values["interlock.checked", ()] == 4 and values["interlock.store_up", ()] == 1
    assert values["interlock.decisions", (("level", "destructive"), ("outcome", "allow"))] == 1
    assert values["interlock.open_tickets", (("level", "destructive"),)] == 1
    assert values["interlock.answer_seconds", (("verdict", "approved"),)] == 20
    assert values["interlock.answers_within", (("le", "30.0"), ("verdict", "approved"))] == 1
    assert values["interlock.trouble", (("kind", "store"),)] == 0
    assert set(metrics) == {f"interlock.{name}" for name in instruments()}
    assert metrics["interlock.checked"].data.is_monotonic and metrics["interlock.checked"].description
    made.shutdown()


def test_every_collection_reads_anew(app: InProcessDaemon) -> None:
    memory = InMemoryMetricReader()
    made = provider(app.state, memory, "1")
    assert collected(memory)[0]["interlock.checked", ()] == 0
    worked(app)
    assert collected(memory)[0]["interlock.checked", ()] == 4
    assert collected(memory)[0] == scraped(app)
    made.shutdown()


def test_a_store_that_is_gone_is_told(app: InProcessDaemon) -> None:
    memory = InMemoryMetricReader()
    made = provider(app.state, memory, "1")
    app.state.store.close()
    values, _ = collected(memory)
    assert values["interlock.store_up", ()] == 0 and values["interlock.trouble", (("kind", "store"),)] >= 1
    assert ("interlock.checked", ()) not in values
    made.shutdown()


@pytest.mark.parametrize(
    ("url", "to"),
    [
        ("http://localhost:4318", "http://localhost:4318/v1/metrics"),
        ("http://localhost:4318/", "http://localhost:4318/v1/metrics"),
        ("https://collector.example/otlp/v1/metrics", "https://collector.example/otlp/v1/metrics"),
    ],
)
def test_an_address_without_a_path_gets_otlps_own(url: str, to: str) -> None:
    assert endpoint(url) == to


def test_where_it_is_not_installed_that_is_said_at_the_start(
    app: InProcessDaemon, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("opentelemetry.exporter")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "opentelemetry.exporter.otlp.proto.http.metric_exporter", None)
    with pytest.raises(NoTelemetry, match=r"pip install 'interlock\[otel\]'"):
        reader(Telemetry("http://localhost:4318"))
    with export_figures(app.state, Telemetry(), "1"):  # nothing is configured, and nothing is missing
        pass


def test_a_daemon_that_cannot_send_its_figures_does_not_start(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.modules['opentelemetry.sdk.metrics.export'] = None")
    config = write_config(tmp_path, '[telemetry]\notlp = "http://127.0.0.1:9"')
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path))
        running = start_daemon(tmp_path, config=config)
    assert running.stop() == 1 and "pip install 'interlock[otel]'" in running.errors()
    assert running.process.stdout is not None
    running.process.stdout.close()


@pytest.mark.slow("the last figures are sent for some seconds before it stops")
def test_a_collector_that_does_not_answer_stops_nothing(tmp_path: Path) -> None:
    with daemon(tmp_path, toml='[telemetry]\notlp = "http://127.0.0.1:9"') as running:
        assert running.here().post("/api/v1/evaluate", json={"command": "ls"}).json()["allowed"] is True
        assert running.stop() == 0
        assert "Traceback" not in running.errors()
