"""What introspection names, it can also say: every type resolves, and everything that an adapter declares of danger is shown (3.4)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from toy import NOTES, SHELF

from interlock.adapters.levels import level_from_name
from interlock.config import load_config
from interlock.loop.protocol.introspection import SurfaceInfo
from interlock.loop.protocol.surface import ProtocolCaller, Surface, call
from interlock.mcp.adapters.catalog import AdapterFiles, LoopSurface, adapter_surface, loop_surface, rows_of
from interlock.model import Trust
from interlock.policy.policy import MODES
from repository import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*-adapter.*"))
DECLARED = """\
name: shop
type: adapter
version: "1.0.0"
description: A shop
target: { base_url: "http://127.0.0.1:1", transport: http, protocol: rest, serialization: json }
operations:
  read:
    - { name: list_orders, maps_to: "GET /orders", description: All orders }
  update:
    - { name: update_order, maps_to: "PUT /orders/{id}", description: Change one, params: { id: { type: string, required: true } } }
  delete:
    - name: delete_order
      maps_to: "DELETE /orders/{id}"
      description: Delete one
      params: { id: { type: string, required: true } }
      danger:
        default_level: destructive
        reasons: [It is gone]
        cooldown_seconds: 30
        requires_reauth: true
        conditions: [{ when: "params.id == 'all'", level: dangerous, reason: Every order }]
        approval: { required: true, approvers: [{ role: admin }, { team: sales }], timeout_hours: 2 }
        escalation: [{ after_count: 5, level: dangerous, message: Five in an hour }]
  execute:
    - { name: force_sync, maps_to: "POST /sync", description: Bring up to date }
    - name: refund_orders
      maps_to: "POST /refunds"
      description: Pay back
      danger: { score_factors: [{ base_level: destructive }, { production_env: "+1" }], computed_level: dangerous }
"""


def handled(asked: Any) -> dict[str, Any]:
    return {}


def adapter(path: Path, trust: Trust = Trust.VALIDATED, loop: LoopSurface | None = None) -> Surface:
    served = AdapterFiles([path]).look()[0]
    rows = rows_of(served, trust, lambda name, category: level_from_name(name, category))
    return adapter_surface(served, rows, handled, {}, lambda caller: {}, loop)


def loop_in(mode: str) -> LoopSurface:
    return LoopSurface(load_config(None, {}).effective_policy(), mode, handled, 60.0)


def surfaces() -> Iterator[tuple[str, Surface]]:
    for mode in MODES:
        yield f"the loop, {mode}", loop_surface(loop_in(mode), "1")
    for path in EXAMPLES:
        yield path.name, adapter(path)
        yield f"{path.name} with the loop", adapter(path, loop=loop_in("enforcing"))


def introspected(surface: Surface, strict: bool = False, **params: str) -> Any:
    reply = call(surface, "read", {"operation": "introspect", "params": params}, ProtocolCaller("uid:1", strict=strict))
    assert reply.envelope["success"], reply
    return reply.envelope["data"]


def named_in(details: dict[str, Any]) -> set[str]:
    """Every type that an operation or a type in full speaks of."""
    found = {param["type"] for param in details.get("parameters", details.get("fields", ()))}
    found |= {param["items"]["type"] for param in details.get("parameters", ()) if "items" in param}
    return found | set(details.get("members", ())) | ({details["returns"]["name"]} if "returns" in details else set())


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(("which", "surface"), list(surfaces()), ids=lambda one: one if isinstance(one, str) else "")
def test_every_type_that_is_named_resolves(which: str, surface: Surface, strict: bool) -> None:
    listed = introspected(surface, strict, query="types")["types"]
    wanted = {one["name"] for one in listed}
    for one in introspected(surface, strict, query="operations")["operations"]:
        details = introspected(surface, strict, query="operations", name=one["name"])["operation"]
        kind = introspected(surface, strict, query="types", name=details["returns"]["name"])["type"]["kind"]
        assert kind == details["returns"]["kind"], one["name"]
        wanted |= named_in(details)
    for name in wanted:
        found = introspected(surface, strict, query="types", name=name)["type"]
        assert found is not None, f"{which}: {name}"
        assert named_in(found) <= {one["name"] for one in listed}


def test_a_surface_that_answers_with_an_unknown_type_is_not_built() -> None:
    with pytest.raises(ValueError, match="Note"):
        Surface(NOTES, SHELF.handlers, SurfaceInfo("shelf", "1"))


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.yaml"
    path.write_text(DECLARED)
    return path


def test_everything_that_is_declared_of_danger_is_shown(shop: Path) -> None:
    surface = adapter(shop)
    expected = {
        "level": "destructive",
        "reasons": ["It is gone"],
        "cooldown_seconds": 30,
        "requires_reauth": True,
        "conditions": [{"when": "params.id == 'all'", "level": "dangerous", "reason": "Every order"}],
        "approval": {"required": True, "approvers": [{"role": "admin"}, {"team": "sales"}], "timeout_hours": 2},
        "escalation": [{"after_count": 5, "level": "dangerous", "message": "Five in an hour"}],
    }
    assert introspected(surface, query="operations", name="delete_order")["danger"] == expected
    scored = introspected(surface, query="operations", name="refund_orders")["danger"]
    assert scored["score_factors"] == [{"base_level": "destructive"}, {"production_env": 1}]
    assert scored["computed_level"] == "dangerous"
    known = {one["name"] for one in introspected(surface, query="types", name="DangerMetadata")["type"]["fields"]}
    assert {*expected, *scored} <= known
    # closed on request, and then the same under `_protocol`
    closed = introspected(surface, True, query="operations")
    assert closed["_protocol"]["danger"]["delete_order"] == expected and set(closed) == {"_protocol", "operations"}
    assert set(introspected(surface, True, query="operations", name="delete_order")) == {"operation"}
    assert closed["_protocol"]["danger_levels"]["delete_order"] == {
        "level": "destructive",
        "requires_confirmation": True,
        "reason": "It is gone",
    }


@pytest.mark.parametrize(
    ("operation", "reason"),
    [
        ("force_sync", "force_sync declares no danger level; its name implies dangerous (force_*)"),
        ("update_order", "It declares no danger level; operations of its category are reversible"),
        ("list_orders", "It declares no danger level; its category and its name imply safe"),
    ],
)
def test_a_level_that_was_inferred_says_from_what(shop: Path, operation: str, reason: str) -> None:
    surface = adapter(shop)
    assert introspected(surface, query="operations", name=operation)["danger"]["reasons"] == [reason]
    protocol = introspected(surface, True, query="operations")["_protocol"]
    assert protocol["danger_levels"][operation]["reason"] == reason
