"""The adapter file of the shop, for tests."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from interlock.adapters import load
from interlock.mcp.adapters.requests import Service

_STEPS = ("untested", "generated", "validated", "community_reviewed")

_TEXT = """\
name: {name}
type: adapter
version: "1.0.0"
description: Things that can be made, changed and deleted
target: {{ base_url: "{url}", transport: http, protocol: rest, serialization: {form}, timeout: {timeout} }}
auth: {{ type: bearer, token_env: SHOP_KEY }}
trust:
  level: {trust}
  promotion_history:
{history}
{limits}
operations:
  create:
    - name: create_thing
      maps_to: "POST /things"
      description: Make a thing
      params:
        title: {{ type: string, required: true }}
        colour: {{ type: string, enum: [red, green], default: red }}
        parts: {{ type: array }}
        draft: {{ type: boolean, in: query }}
  read:
    - name: get_thing
      maps_to: "GET /things/{{id}}"
      description: One thing
      params: {{ id: {{ type: string, required: true }} }}
    - name: list_things
      maps_to: "GET /things"
      description: All things
      params: {{ colour: {{ type: string }}, limit: {{ type: integer, default: 10 }}, tags: {{ type: array }} }}
    - {{ name: get_status, maps_to: "GET /status/{{code}}", description: A status, params: {{ code: {{ type: integer, required: true }} }} }}
    - {{ name: get_page, maps_to: "GET /{{page}}", description: One page, params: {{ page: {{ type: string, required: true }} }} }}
    - {{ name: get_file, maps_to: "GET /echo/{{path}}", description: A file, params: {{ path: {{ type: string, required: true, slashes: true }} }} }}
  update:
    - name: update_thing
      maps_to: "PATCH /things/{{id}}"
      description: Change a thing
      params: {{ id: {{ type: string, required: true }}, title: {{ type: string }}, colour: {{ type: string }} }}
      danger:
        default_level: reversible
        conditions: [{{ when: "has(params.colour) && params.colour == 'black'", level: destructive, reason: Nobody sees it any more }}]
        confirmation_message: "Paint '{{id}}' in '{{colour}}'?"
    - name: update_details
      maps_to: "PUT /things/{{id}}"
      description: Change some details of a thing
      params: {{ id: {{ type: string, required: true }}, title: {{ type: string }}, size: {{ type: object }} }}
    - {{ name: update_page, maps_to: "POST /{{page}}", description: Send a page, params: {{ page: {{ type: string, required: true }}, text: {{ type: string }} }} }}
  delete:
    - name: delete_thing
      maps_to: "DELETE /things/{{id}}"
      description: Delete a thing
      params: {{ id: {{ type: string, required: true }} }}
      danger:
        level: destructive
        reasons: [The thing is gone]
        confirmation_message: "Delete thing '{{id}}'?"
    - name: remove_thing
      maps_to: "DELETE /things/{{id}}"
      description: Delete a thing, after a while
      params: {{ id: {{ type: string, required: true }} }}
      danger: {{ level: destructive, reasons: [It is gone], cooldown_seconds: 30, requires_reauth: true }}
    - name: bulk_delete_things
      maps_to: "DELETE /things"
      description: Delete every thing
      danger: {{ level: dangerous, reasons: [Affects everything] }}
  execute:
    - {{ name: force_sync, maps_to: "POST /echo?force=true", description: Bring up to date }}
"""


def text(
    url: str, name: str = "things", trust: str = "validated", form: str = "json", timeout: float = 10, limits: str = ""
) -> str:
    """The file; its trust is what its history says."""
    at = "2026-01-01T00:00:00Z"
    steps = pairwise(_STEPS[: _STEPS.index(trust) + 1])
    lines = [f"    - {{ from: {one}, to: {other}, at: {at}, by: tests, reason: tested }}" for one, other in steps]
    written = _TEXT.format(
        name=name, url=url, trust=trust, form=form, timeout=timeout, limits=limits, history="\n".join(lines)
    )
    return written if lines else written.replace("  promotion_history:\n\n", "")


def service(folder: Path, url: str, **more: object) -> Service:
    path = folder / "things.yaml"
    path.write_text(text(url, **more))  # type: ignore[arg-type]
    return Service.of(load(path))
