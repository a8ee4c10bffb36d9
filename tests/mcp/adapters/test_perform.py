"""Operations against a real service: what is sent, what comes back, and what never happens."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from interlock.adapters.levels import level_from_name
from interlock.error_codes import LoopProblem
from interlock.mcp.adapters.catalog import load_adapter, rows_of
from interlock.mcp.adapters.http_client import Performer, on_own_host
from interlock.mcp.adapters.requests import AdapterUnusable, Service, merge_fields
from interlock.model import Trust
from repository import ROOT
from shop import KEY, Shop, open_shop
from shop_adapter import service

ENVIRON = {"SHOP_KEY": KEY}


@pytest.fixture(scope="module")
def running() -> Iterator[Shop]:
    with open_shop() as shop:
        yield shop


@pytest.fixture
def shop(running: Shop) -> Shop:
    running.forget()
    return running


def run(
    found: Service,
    name: str,
    params: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] = ENVIRON,
    **more: Any,
) -> Any:
    async def performed() -> Any:
        performer = Performer(environ, **more)
        try:
            return await performer.perform(found, name, params or {})
        finally:
            await performer.close()

    return asyncio.run(performed())


def failed(*given: Any, **more: Any) -> LoopProblem:
    with pytest.raises(LoopProblem) as caught:
        run(*given, **more)
    assert KEY not in repr(caught.value.__dict__)
    return caught.value


def test_a_create_sends_its_params_as_json(shop: Shop, tmp_path: Path) -> None:
    params = {"title": "a&b=c", "parts": ["x", "y"], "draft": True}
    assert run(service(tmp_path, shop.url), "create_thing", params)["id"] == "t1"
    (sent,) = shop.log()
    assert sent["method"] == "POST" and sent["query"] == [["draft", "true"]]
    assert json.loads(sent["body"]) == {"title": "a&b=c", "parts": ["x", "y"]}


def test_a_create_sends_a_form_where_the_service_wants_one(shop: Shop, tmp_path: Path) -> None:
    run(service(tmp_path, shop.url, form="form"), "create_thing", {"title": "a&b=c", "parts": ["x", "y"]})
    (sent,) = shop.log()
    assert sent["body"] == "title=a%26b%3Dc&parts%5B%5D=x&parts%5B%5D=y"


def test_a_form_field_cannot_name_another_table(shop: Shop, tmp_path: Path) -> None:
    params = {"id": "t1", "input": {"size": {"a][b": 1}}}
    assert failed(service(tmp_path, shop.url, form="form"), "update_thing", params).code == "VALIDATION_INVALID_VALUE"


def test_a_read_sends_its_params_as_a_query(shop: Shop, tmp_path: Path) -> None:
    run(service(tmp_path, shop.url), "list_things", {"colour": "red&limit=99", "limit": 5, "tags": ["a", "b"]})
    (sent,) = shop.log()
    assert sent["query"] == [["colour", "red&limit=99"], ["limit", "5"], ["tags", "a"], ["tags", "b"]]
    assert sent["body"] == ""


def test_what_the_template_fixes_stays_fixed(shop: Shop, tmp_path: Path) -> None:
    run(service(tmp_path, shop.url), "force_sync")
    assert shop.log()[0]["query"] == [["force", "true"]]


@pytest.mark.parametrize("id", ["../things", "t1/../..", "..", "", "t1%2f..", "t1/parts", "t1\\..", "t1\r\nX-Evil: 1"])
def test_a_hostile_id_reaches_nothing(shop: Shop, tmp_path: Path, id: str) -> None:
    assert failed(service(tmp_path, shop.url), "delete_thing", {"id": id}).code == "VALIDATION_INVALID_VALUE"
    assert shop.log() == []


def test_an_id_with_marks_of_a_url_names_only_itself(shop: Shop, tmp_path: Path) -> None:
    assert failed(service(tmp_path, shop.url), "get_thing", {"id": "t1?x=1#y@z"}).code == "NOT_FOUND_RESOURCE"
    assert shop.log()[0]["path"] == "/v1/things/t1%3Fx%3D1%23y%40z" and shop.log()[0]["query"] == []


def test_a_path_that_may_have_slashes_has_them(shop: Shop, tmp_path: Path) -> None:
    assert run(service(tmp_path, shop.url), "get_file", {"path": "a/b c"})["words"] == ["a", "b c"]


def test_an_update_sends_its_input_and_null_removes(shop: Shop, tmp_path: Path) -> None:
    found = service(tmp_path, shop.url)
    run(found, "create_thing", {"title": "one", "colour": "red"})
    run(found, "update_thing", {"id": "t1", "input": {"colour": None, "title": "two"}})
    assert shop.things() == {"t1": {"id": "t1", "title": "two"}}


def test_an_update_by_put_keeps_what_it_does_not_name(shop: Shop, tmp_path: Path) -> None:
    found = service(tmp_path, shop.url)
    run(found, "create_thing", {"title": "one", "colour": "red", "size": {"w": 1, "h": 2, "d": {"a": 1}}})
    run(found, "update_details", {"id": "t1", "input": {"title": "two", "size": {"h": None, "d": {"b": 2}}}})
    assert shop.things()["t1"] == {"id": "t1", "title": "two", "colour": "red", "size": {"w": 1, "d": {"a": 1, "b": 2}}}
    assert [sent["method"] for sent in shop.log()] == ["POST", "GET", "PUT"]


@pytest.mark.parametrize(
    ("before", "given", "after"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"x": 1}}, {"a": {"y": None}}, {"a": {"x": 1}}),
        ({"a": {"x": 1}}, {"a": None}, {}),
        ({"a": [1, 2]}, {"a": [3]}, {"a": [3]}),
        ({"a": 1}, {"a": {"x": {"y": 1}}}, {"a": {"x": {"y": 1}}}),
        ({}, {"a": {"x": None, "y": 1}}, {"a": {"y": 1}}),
    ],
)
def test_input_is_merged_deeply(before: Any, given: Any, after: Any) -> None:
    assert merge_fields(before, given) == after


def test_a_delete_without_an_answer_is_a_success(shop: Shop, tmp_path: Path) -> None:
    found = service(tmp_path, shop.url)
    run(found, "create_thing", {"title": "one"})
    assert run(found, "delete_thing", {"id": "t1"}) == {"http_status": 204}
    assert shop.things() == {}


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (400, "VALIDATION_INVALID_VALUE"), (401, "PERMISSION_DENIED"), (403, "PERMISSION_DENIED"), (404, "NOT_FOUND_RESOURCE"),
        (409, "VALIDATION_INVALID_VALUE"), (410, "NOT_FOUND_RESOURCE"), (418, "INTERNAL_ERROR"), (429, "RATE_LIMIT_EXCEEDED"),
        (500, "INTERNAL_ERROR"), (503, "INTERNAL_ERROR"),
    ],
)  # fmt: skip
def test_a_status_is_an_error_of_the_registry(shop: Shop, tmp_path: Path, status: int, code: str) -> None:
    found = failed(service(tmp_path, shop.url), "get_status", {"code": status})
    assert found.code == code
    if status == 429:
        assert found.details["retry_after_seconds"] == 7
    else:
        assert found.details["http_status"] == status
    assert found.details.get("upstream_error", "it went wrong") == "it went wrong"


def test_a_read_is_tried_again_and_a_change_is_not(shop: Shop, tmp_path: Path) -> None:
    found = service(tmp_path, shop.url)
    assert run(found, "get_page", {"page": "flaky"}) == {"tries": 3}
    shop.forget()
    assert failed(found, "update_page", {"page": "flaky", "input": {"text": "x"}}).details["http_status"] == 503
    assert len(shop.log()) == 1


def test_a_change_that_broke_off_says_so_and_is_not_tried_again(shop: Shop, tmp_path: Path) -> None:
    found = failed(service(tmp_path, shop.url), "update_page", {"page": "broken", "input": {}})
    assert "closed the connection; it is unknown" in found.message and len(shop.log()) == 1


def test_every_request_is_asked_about_first(shop: Shop, tmp_path: Path) -> None:
    asked = []

    async def before() -> None:
        asked.append(1)
        if len(asked) == 2:
            raise LoopProblem("RATE_LIMIT_EXCEEDED")

    async def performed() -> None:
        performer = Performer(ENVIRON)
        with pytest.raises(LoopProblem, match="Too many"):
            await performer.perform(service(tmp_path, shop.url), "get_page", {"page": "flaky"}, before)
        await performer.close()

    asyncio.run(performed())
    assert len(shop.log()) == 1


@pytest.mark.parametrize(("page", "least"), [("last", 590), ("status/429", 5)])
def test_a_service_that_wants_to_be_left_alone_is(shop: Shop, tmp_path: Path, page: str, least: int) -> None:
    """RL-01: what its answers say is believed before the next request is sent."""
    limit = "{ limit: 9, window: hour, remaining_header: X-Left, reset_header: X-Reset }"
    found = service(tmp_path, shop.url, limits=f"rate_limits: {{ api_limits: [{limit}] }}")

    async def performed() -> LoopProblem:
        performer = Performer(ENVIRON)
        name, params = ("get_page", {"page": page}) if page == "last" else ("get_status", {"code": 429})
        with suppress(LoopProblem):
            await performer.perform(found, name, params)
        with pytest.raises(LoopProblem) as caught:
            await performer.perform(found, "list_things", {})
        await performer.close()
        return caught.value

    failure = asyncio.run(performed())
    assert failure.code == "RATE_LIMIT_EXCEEDED" and failure.details["retry_after_seconds"] >= least
    assert len(shop.log()) == 1


def test_a_redirect_is_followed_at_home_only(shop: Shop, tmp_path: Path) -> None:
    found = service(tmp_path, shop.url)
    assert run(found, "get_page", {"page": "moved"}) == []
    for page in ("elsewhere", "disguised"):
        assert failed(found, "get_page", {"page": page}).code == "PERMISSION_DENIED"
    assert failed(found, "get_page", {"page": "circles"}).code == "INTERNAL_ERROR"
    shop.forget()
    assert failed(found, "update_page", {"page": "moved", "input": {}}).details["http_status"] == 302
    assert [sent["path"] for sent in shop.log()] == ["/v1/moved"]


def test_an_answer_is_data_whatever_it_is(shop: Shop, tmp_path: Path) -> None:
    found = service(tmp_path, shop.url)
    page = run(found, "get_page", {"page": "text"})
    assert page == {"http_status": 200, "content_type": "text/html", "text": "<p>hello</p>"}
    assert run(found, "get_page", {"page": "binary"})["size_bytes"] == 6
    assert run(found, "get_page", {"page": "packed"}) == {"packed": True}
    assert run(found, "get_page", {"page": "deep"}, most_bytes=200_000)["text"].startswith("[[")


def test_no_answer_breaks_the_envelope(shop: Shop, tmp_path: Path) -> None:
    """Halves of characters are replaced, what is too deep is text, and no cookie is kept."""
    found = service(tmp_path, shop.url)
    assert run(found, "get_page", {"page": "halves"}) == {"a": "?x", "?": [1]}
    assert run(found, "get_page", {"page": "nested"})["text"].startswith("[[[")

    async def twice() -> Any:
        performer = Performer(ENVIRON)
        await performer.perform(found, "get_page", {"page": "cookie"})
        second = await performer.perform(found, "get_page", {"page": "cookie"})
        await performer.close()
        return second

    assert asyncio.run(twice()) == {"sent": ""}


@pytest.mark.parametrize(
    ("url", "home"),
    [
        ("http://127.0.0.1:8000/x", True),
        ("http://127.0.0.1:8001/x", False),
        ("https://127.0.0.1:8000/x", False),
        ("http://localhost:8000/x", False),
        ("http://127.0.0.1:8000@evil.example/x", False),
        ("http://evil.example#@127.0.0.1:8000/x", False),
        ("http://evil.example\\@127.0.0.1:8000/x", False),
        ("http://127.0.0.1:8000\\@evil.example/x", False),
        ("//evil.example/x", False),
        ("ftp://127.0.0.1:8000/x", False),
        ("http://[::1]:8000/x", False),
        ("http://127.0.0.1:99999999/x", False),
    ],
)
def test_home_is_one_host(url: str, home: bool) -> None:
    assert on_own_host(url, "http://127.0.0.1:8000/v1") is home


@pytest.mark.parametrize("page", ["large", "bomb"])
def test_an_answer_has_a_size(shop: Shop, tmp_path: Path, page: str) -> None:
    found = failed(service(tmp_path, shop.url), "get_page", {"page": page}, most_bytes=1_000_000)
    assert found.code == "VALIDATION_PAYLOAD_TOO_LARGE" and found.details["limit_type"] == "response_size"


def test_an_answer_that_drips_ends_when_the_time_is_over(shop: Shop, tmp_path: Path) -> None:
    found = failed(service(tmp_path, shop.url, timeout=1), "get_page", {"page": "slow"})
    assert found.code == "INTERNAL_ERROR" and "within 1 s" in found.message


def test_a_service_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    assert "cannot be reached" in failed(service(tmp_path, "http://127.0.0.1:9/v1"), "list_things").message


def test_the_key_is_in_no_answer(shop: Shop, tmp_path: Path) -> None:
    """The service repeats what it was sent; nobody reads it here."""
    data = run(service(tmp_path, shop.url), "get_page", {"page": "echo"})
    assert KEY not in json.dumps(data) and data["headers"]["Authorization"] == "Bearer [secret]"
    found = failed(service(tmp_path, shop.url), "list_things", {}, {"SHOP_KEY": "wrong-key-12345"})
    assert found.code == "PERMISSION_DENIED" and "wrong-key" not in repr(found.__dict__)


def test_a_key_that_is_not_set_is_named_and_nothing_is_sent(shop: Shop, tmp_path: Path) -> None:
    found = failed(service(tmp_path, shop.url), "list_things", {}, {})
    assert found.code == "PERMISSION_DENIED" and "'SHOP_KEY'" in found.message and shop.log() == []


def test_the_environment_chooses_neither_proxy_nor_password(
    shop: Shop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert run(service(tmp_path, shop.url), "list_things") == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("serialization: json", "serialization: xml"),
        ("transport: http", "transport: serial"),
        ('"GET /things/{id}"', '"GET //evil.example/{id}"'),
        ('"GET /things/{id}"', '"GET http://evil.example/{id}"'),
        ("type: bearer, token_env: SHOP_KEY", "type: oauth"),
        ("type: bearer, token_env: SHOP_KEY", "type: bearer"),
    ],
)
def test_an_adapter_that_cannot_be_performed_is_refused_before_anything_is(tmp_path: Path, old: str, new: str) -> None:
    from interlock.adapters import load
    from shop_adapter import text

    path = tmp_path / "things.yaml"
    path.write_text(text("http://127.0.0.1:1").replace(old, new))
    with pytest.raises(AdapterUnusable):
        Service.of(load(path))


@pytest.mark.parametrize("name", ["github-adapter.md", "stripe-adapter.yaml"])
def test_the_examples_can_be_served(name: str) -> None:
    path = ROOT / "examples" / name
    served = load_adapter(path)
    assert rows_of(served, Trust.VALIDATED, level_from_name) and served.adapter.limits


def test_a_service_that_takes_one_request_at_a_time_gets_one(shop: Shop, tmp_path: Path) -> None:
    found = service(tmp_path, shop.url, limits="rate_limits: { concurrent_requests: 1 }")
    together, most = 0, []

    async def performed() -> None:
        performer = Performer(ENVIRON)

        async def before() -> None:
            nonlocal together
            together += 1
            most.append(together)
            await asyncio.sleep(0.01)
            together -= 1

        await asyncio.gather(*(performer.perform(found, "list_things", {}, before) for _ in range(5)))
        await performer.close()

    asyncio.run(performed())
    assert most == [1] * 5 and len(shop.log()) == 5
