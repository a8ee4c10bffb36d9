"""Adapter files for tests: one operation for each level of danger, at any trust, and one with everything that a danger block can say."""

from __future__ import annotations

from pathlib import Path

from interlock.model import Trust

CERTIFICATION = """\
  certification:
    authority: Example Authority
    signature: c2lnbmVk
    certificate_id: c-1
    issued_at: 2020-01-01T00:00:00Z
    expires_at: {expires}
"""
HEAD = """\
name: {name}
type: adapter
version: "1.0"
description: Things and what can be done to them
target: {{ base_url: "https://things.example" }}
trust:
  level: {trust}
{certification}
operations:
"""
LEVELS = """\
  read:
    - { name: sync_safe, maps_to: "GET /a", danger: { level: safe } }
  execute:
    - { name: sync_reversible, maps_to: "POST /a", danger: { level: reversible } }
    - { name: sync_destructive, maps_to: "POST /a", danger: { level: destructive } }
    - { name: sync_dangerous, maps_to: "POST /a", danger: { level: dangerous } }
    - { name: sync_forbidden, maps_to: "POST /a", danger: { level: forbidden } }
"""
DANGERS = """\
  execute:
    - name: sync_things
      maps_to: "POST /things"
      params: { count: integer }
      danger:
        default_level: reversible
        conditions:
          - { when: "has(params.count) && params.count > 100", level: destructive, reason: Many things at once }
        confirmation_message: "Sync {count} things?"
    - name: publish_things
      maps_to: "POST /publish"
      danger:
        level: reversible
        escalation:
          - { after_count: 3, level: destructive, message: Three this hour }
    - name: rebuild_things
      maps_to: "POST /rebuild"
      danger:
        level: destructive
        cooldown_seconds: 30
        requires_reauth: true
        audit_context: [things]
    - name: release_things
      maps_to: "POST /release"
      danger:
        level: destructive
        approval: { required: true, approvers: [{ team: security }], timeout_hours: 2 }
  update:
    - name: change_things
      maps_to: "PATCH /things"
      params: { ids: array, env: string }
      danger:
        score_factors: [{ base_level: reversible }, { production_env: +1 }, { bulk_operation: +1 }]
        computed_level: dangerous
    - name: force_sync
      maps_to: "POST /sync"
      danger: { level: reversible, reason: The force flag only skips a cache }
  delete:
    - name: delete_thing
      maps_to: "DELETE /things/{id}"
      params: { id: string }
"""


def adapter_file(
    folder: Path,
    operations: str = LEVELS,
    trust: Trust = Trust.VALIDATED,
    name: str = "things",
    expires: str = "2099-01-01T00:00:00Z",
) -> Path:
    """One file; a certified one has its certification."""
    path = folder / f"{name}-{trust.word}.yaml"
    certification = CERTIFICATION.format(expires=expires) if trust is Trust.CERTIFIED else ""
    path.write_text(HEAD.format(name=name, trust=trust.word, certification=certification) + operations)
    return path
