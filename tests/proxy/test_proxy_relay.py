"""What a proxy passes on, and what it does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from interlock.proxy import Catalog
from proxy_client import Bench, Proxy, words_of

pytestmark = pytest.mark.xdist_group("proxy")


def test_a_call_passes_and_what_reaches_the_server_is_what_was_judged(odd: Proxy) -> None:
    odd.send(
        b'{ "jsonrpc":"2.0", "id":"c1",\r "method":"tools/call", "params":{"arguments":{"b":1.50,"a":"\\u00e9"},"name":"get_note"}}'
    )
    assert words_of(odd.answer("c1")["result"]) == 'get_note {"a": "\\u00e9", "b": 1.5}'
    assert odd.got[-1] == (
        b'{"jsonrpc":"2.0","id":"c1","method":"tools/call","params":{"arguments":{"b":1.5,"a":"\\u00e9"},"name":"get_note"}}'
    )


@pytest.mark.parametrize("id", [0, -7, 1.5, "", "1", "é", 2**63, 10**30])
def test_ids_of_every_kind_come_back_as_they_were(odd: Proxy, id: Any) -> None:
    odd.say({"jsonrpc": "2.0", "id": id, "method": "resources/read", "params": {"uri": "x:y"}})
    assert odd.answer(id)["result"]["echo"] == "resources/read"
    odd.say({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": "list_notes"}})
    assert words_of(odd.answer(id)["result"]) == "list_notes {}"


def test_everything_else_passes_as_it_came(odd: Proxy) -> None:
    lines = [
        b'{"jsonrpc":"2.0","id":"m1","method":"some/method.of.tomorrow","params":{ "n":1.10,"deep":[[{}]] },"extra":true}',
        b'{"jsonrpc":"2.0","method":"notifications/of.tomorrow","params":{"\\u0061":1}}',
        b'{"jsonrpc":"2.0","id":"answer-to-nobody","result":{"roots":[]}}',
        b'{"jsonrpc":"2.0","id":"m2","method":"ping"}',
    ]
    for line in lines:
        odd.send(line)
    odd.answer("m2")
    assert [line for line in odd.got if line in lines] == lines


def test_what_the_server_asks_and_tells_reaches_the_client(odd: Proxy) -> None:
    odd.call("ask_client", {"id": 7})
    asked = next(one for one in odd.seen if one.get("method") == "sampling/createMessage")
    assert asked["id"] == 7
    odd.say({"jsonrpc": "2.0", "id": 7, "result": {"role": "assistant"}})
    odd.call("report_progress", _meta={"progressToken": "t"})
    told = next(one for one in odd.seen if one.get("method") == "notifications/progress")
    assert told["params"] == {"progressToken": "t", "progress": 1}
    assert b'{"jsonrpc": "2.0", "id": 7, "result": {"role": "assistant"}}' in odd.got


def test_each_message_of_a_batch_is_judged_by_itself(odd: Proxy, bench: Bench) -> None:
    calls = [("b1", "get_note"), ("b2", "delete_note"), ("b3", "list_notes")]
    batch = [
        {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name, "arguments": {"of": "batch"}}}
        for id, name in calls
    ]
    odd.say([*batch, {"jsonrpc": "2.0", "id": "b4", "method": "ping"}])
    assert words_of(odd.answer("b1")["result"]) == 'get_note {"of": "batch"}'
    assert "error" not in odd.answer("b4")
    assert odd.answer("b2")["result"]["isError"] is True
    assert {"name": "delete_note", "arguments": {"of": "batch"}} not in odd.calls()
    bench.reject_all()


CALL = '"jsonrpc":"2.0","id":"x1","method":"tools/call"'
REFUSED = [
    "{" + CALL + ',"params":{"name":"get_note","name":"delete_note"}}',
    "{" + CALL + ',"params":{"name":"get_note","arguments":{"a":1,"a":2}}}',
    '{"jsonrpc":"2.0","id":"x1","method":"ping","method":"tools/call","params":{"name":"delete_note"}}',
    '{"jsonrpc":"2.0","id":"x1","METHOD":"tools/call","method":"ping","params":{"name":"delete_note"}}',
    '{"jsonrpc":"2.0","id":"x1","Method":"tools/call","params":{"name":"delete_note"}}',
    '{"jsonrpc":"2.0","id":"x1","method":"tools/call","params":{"name":"get_note","Name":"delete_note"}}',
    "{" + CALL + ',"params":{"name":"get_note","arguments":{"a":NaN}}}',
    "{" + CALL + ',"params":{"name":"get_note","arguments":{"a":1e999}}}',
    "[" + "[" * 5_000 + "]" * 5_000 + "]",
    "{" + CALL,
    '"tools/call"',
    "[]",
    "[1]",
    "{" + CALL.replace('"x1"', '["x1"]') + ',"params":{"name":"get_note"}}',
    '{"jsonrpc":"2.0","id":"x1","method":["tools/call"],"params":{"name":"delete_note"}}',
    '{"jsonrpc":"2.0","id":"x1","\uff4dethod":"tools/call","method":"ping","params":{"name":"delete_note"}}',
    '{"jsonrpc":"2.0","id":"x1","method":"tools/call","params":{"name":"get_note","n\u200bame":"delete_note"}}',
]


@pytest.mark.parametrize("line", REFUSED, ids=range(len(REFUSED)))
def test_what_two_readers_could_take_for_two_things_reaches_no_server(odd: Proxy, line: str) -> None:
    before = len(odd.got)
    odd.send(line.encode())
    assert odd.until(lambda one: one.get("id") is None and "error" in one, line)["error"]["code"] == -32700
    odd.request("ping", {})
    assert len(odd.got) == before + 1


MIMICS = (
    "tools/call ", " tools/call", "tools /call", "Tools/Call", "TOOLS/CALL", "tools//call", "tools/call/", "/tools/call", "tools\\\\call",
    "tools.call", "tools_call", "toolsCall", "tools:call", "tools/./call", "tools%2Fcall", "tools%252fcall", "tools\\u002fcall", "tools\\x2fcall",
    "\uff54ools/call", "tools\uff0fcall", "tools\u2215call", "tools\u200b/call", "tools/c\u0430ll", "tools/call\u0000", "tools/call\n", "tools/call?x=1",
    "mcp/tools/call", "tool/call", "tools/execute", "call_tool",
)  # fmt: skip


def test_a_method_that_only_looks_like_a_call_is_refused_and_reaches_no_server(odd: Proxy) -> None:
    before = len(odd.got)
    for number, method in enumerate(MIMICS):
        odd.say({"jsonrpc": "2.0", "id": f"mimic{number}", "method": method, "params": {"name": "delete_note"}})
        odd.say({"jsonrpc": "2.0", "method": method, "params": {"name": "delete_note"}})
        assert odd.answer(f"mimic{number}")["error"]["code"] == -32601, method
    odd.request("ping", {})
    assert len(odd.got) == before + 1
    odd.send(b'{"jsonrpc":"2.0","id":"slash","method":"tools\\u002fcall","params":{"name":"delete_note"}}')
    assert odd.answer("slash")["result"]["isError"] is True, "which is how JSON may write it: it is judged"


def test_of_tools_with_one_name_the_worst_counts_whichever_comes_last() -> None:
    plain: Any = {"name": "store", "description": "Stores.", "inputSchema": {}}
    reads = {**plain, "annotations": {"readOnlyHint": True}}
    harms = {**plain, "annotations": {"destructiveHint": True}}
    for pages, hints in (
        ([[reads]], ("read_only",)),
        ([[reads, reads]], ("read_only",)),
        ([[reads, plain]], ()),
        ([[plain, reads]], ()),
        ([[harms, reads]], ("destructive",)),
        ([[reads, harms]], ("destructive",)),
        ([[harms], [reads]], ("destructive",)),
        ([[{**reads, "annotations": {"readOnlyHint": True, "destructiveHint": True}}]], ()),
    ):
        catalog = Catalog()
        for number, page in enumerate(pages):
            more = {"nextCursor": "c"} if number < len(pages) - 1 else {}
            catalog.learn({"tools": page, **more}, number == 0)
            assert catalog.stale is bool(more)
        assert catalog.claims("store").hints == hints, pages
        one, other = catalog.marks["store"], Catalog()
        other.learn({"tools": [tool for page in reversed(pages) for tool in reversed(page)]}, True)
        assert other.marks["store"] == one, "the mark of a listing is one, in whatever order it comes"
        catalog.learn({"tools": [plain]}, True)
        assert catalog.claims("store").hints == (), "a new listing stands for itself"
    assert Catalog().claims("store").level == 2


@pytest.mark.parametrize(
    "params",
    [None, [], "x", {}, {"name": 1}, {"name": "get_note", "arguments": []}, {"name": "get_note", "arguments": "x"}],
)
def test_a_call_that_is_none_is_denied(odd: Proxy, params: Any) -> None:
    before = len(odd.calls())
    assert odd.request("tools/call", params)["result"]["isError"] is True
    assert len(odd.calls()) == before


def test_a_call_without_an_id_reaches_no_server(odd: Proxy) -> None:
    odd.say({"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "get_note", "arguments": {"unique": 1}}})
    odd.request("ping", {})
    assert {"unique": 1} not in [one.get("arguments") for one in odd.calls()]


def test_a_line_that_some_readers_would_split_is_written_anew(odd: Proxy) -> None:
    hidden = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "tools/call", "params": {"name": "delete_note"}})
    line = '{"jsonrpc":"2.0","id":"cr","method":"ping","params":{"a":\r' + hidden + "\r}}"
    odd.send(line.encode())
    odd.answer("cr")
    assert b"\r" not in odd.got[-1]


def test_half_of_a_character_is_denied(odd: Proxy) -> None:
    odd.send(
        b'{"jsonrpc":"2.0","id":"half","method":"tools/call","params":{"name":"get_note","arguments":{"a":"\\ud800"}}}'
    )
    assert "half of a character" in words_of(odd.answer("half")["result"])


def test_an_id_is_used_by_one_request_at_a_time(bench: Bench, odd: Proxy) -> None:
    odd.say({"jsonrpc": "2.0", "id": "same", "method": "tools/call", "params": {"name": "delete_note"}})
    odd.say({"jsonrpc": "2.0", "id": "same", "method": "ping"})
    assert odd.answer("same")["error"]["message"] == "this id is in use"
    assert odd.answer("same")["result"]["isError"] is True
    bench.reject_all()
