"""Rules of keeping: which of them delete what is there."""

from __future__ import annotations

from typing import Any

import pytest

from interlock.analysis.lexicon import split_name
from interlock.analysis.operations.params import walk
from interlock.analysis.operations.settings import expires

SOON: list[tuple[str, dict[str, Any]]] = [
    ("set_lifecycle", {"rule": [{"action": {"type": "Delete"}, "condition": {"age": 1}}]}),
    ("put_lifecycle", {"bucket": "invoices", "rules": [{"expiration": {"days": 2}}]}),
    ("alter_topic", {"topic": "payments", "configs": {"retention.ms": "1"}}),
    ("set_retention", {"channel": "c", "days": 1}),
    ("put_ilm_policy", {"phases": {"delete": {"min_age": "1h", "actions": {"delete": {}}}}}),
    ("update_time_to_live", {"Spec": {"Enabled": True, "AttributeName": "created_at"}}),
    ("create_index", {"keys": {"createdAt": 1}, "expireAfterSeconds": 5}),
]
LATE: list[tuple[str, dict[str, Any]]] = [
    ("set_lifecycle", {"rules": [{"action": "SetStorageClass", "condition": {"age": 1}}]}),
    ("put_lifecycle", {"bucket": "logs", "rules": [{"expiration": {"days": 365}}]}),
    ("put_lifecycle", {"bucket": "tmp-uploads", "rules": [{"expiration": {"days": 1}}]}),
    ("put_lifecycle", {"Rules": [{"AbortIncompleteMultipartUpload": {"DaysAfterInitiation": 1}}]}),
    ("set_retention", {"days": 90}),
    ("alter_topic", {"configs": {"retention.ms": "604800000"}}),
    ("update_time_to_live", {"Spec": {"Enabled": True, "AttributeName": "expires_at"}}),
    ("create_index", {"keys": {"expireAt": 1}, "expireAfterSeconds": 5}),
    ("cache_put", {"key": "k", "ttl": 1}),
]


def words(name: str) -> tuple[str, ...]:
    return tuple(word for segment in split_name(name) for word in segment)


@pytest.mark.parametrize(("name", "params"), SOON)
def test_what_is_gone_soon(name: str, params: dict[str, Any]) -> None:
    assert expires(words(name), walk(params))


@pytest.mark.parametrize(("name", "params"), LATE)
def test_what_is_kept_as_it_should(name: str, params: dict[str, Any]) -> None:
    assert not expires(words(name), walk(params))
