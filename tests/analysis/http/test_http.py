"""What an HTTP request would do, and which request the words of a client spell."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from interlock.analysis.facts import hole
from interlock.analysis.http import HttpRequest, parse_requests, read_http
from interlock.analysis.programs.load import shipped_programs
from recording_report import Recorder


def facts(method: str, url: str, body: str = "", headers: Sequence[str] = ()) -> list[tuple[str, ...]]:
    out = Recorder()
    read_http(method, url, body, headers, out)
    return out.facts


ES = "http://es.internal:9200"
API = "https://api.acme.io/v1/projects/42"
GRAPH = "https://api.acme.io/graphql"

REQUESTS = [
    ("GET", API, "", (), ("fetch", API)),
    ("", API, "", (), ("fetch", API)),
    ("HEAD", API, "", (), ("fetch", API)),
    ("GET", "http://localhost:3000/docs/how-to-delete-account", "", (), ("fetch",
     "http://localhost:3000/docs/how-to-delete-account", "local")),
    ("GET", "https://x.io/shutdown?action=delete", "", (), ("fetch", "https://x.io/shutdown?action=delete")),
    ("DELETE", API, "", (), ("http", API, "delete")),
    ("PURGE", API, "", (), ("http", API, "delete")),
    ("POST", API + "?_method=DELETE", "", (), ("http", API + "?_method=DELETE", "delete")),
    ("POST", API, "_method=delete&id=3", (), ("http", API, "delete")),
    ("POST", API + ":delete", "", (), ("http", API + ":delete", "deletes", "post")),
    ("POST", "http://prom:9090/api/v1/admin/tsdb/delete_series", "", (), ("http", "http://prom:9090/api/v1/admin/tsdb/delete_series", "deletes", "post")),
    ("PUT", "https://x.io/v1/terminateInstances", "", (), ("http", "https://x.io/v1/terminateInstances", "deletes", "put")),
    ("POST", "https://x.io/db/flush", "", (), ("http", "https://x.io/db/flush", "deletes", "post")),
    ("POST", API, '{"action": "delete", "id": 3}', (), ("http", API, "deletes", "post")),
    ("POST", API, '{"jsonrpc": "2.0", "method": "users.delete"}', (), ("http", API, "deletes", "post")),
    ("POST", API, "<delete><query>*:*</query></delete>", (), ("http", API, "deletes", "post")),
    ("GET", "https://x.io/search?q=drop+table+t", "", (), ("fetch", "https://x.io/search?q=drop+table+t")),
    ("PATCH", "https://x.io/users/3", '{"active": false}', (), ("http", "https://x.io/users/3", "deletes", "patch")),
    ("PATCH", "https://x.io/files/3", '{"trashed": true}', (), ("http", "https://x.io/files/3", "deletes", "patch")),
    ("PATCH", "https://x.io/users/3", '{"active": true}', (), ("http", "https://x.io/users/3", "patch")),
    ("POST", "https://x.io/v1/instances:bulkDelete", "", (), ("http", "https://x.io/v1/instances:bulkDelete", "deletes", "post")),
    ("POST", "https://x.io/v1/close-match", "", (), ("http", "https://x.io/v1/close-match", "post")),
    ("POST", "https://x.io/v1/events", '{"type": "delete_clicked"}', (), ("http", "https://x.io/v1/events", "post")),
    ("POST", API, '{"note": "delete me"}', (), ("http", API, "post")),
    ("POST", "https://x.io/v1/undelete", "", (), ("http", "https://x.io/v1/undelete", "post")),
    ("POST", "https://x.io/v1/deleted_items", "", (), ("http", "https://x.io/v1/deleted_items", "post")),
    ("POST", "https://x.io/v1/remove-background", "", (), ("http", "https://x.io/v1/remove-background", "post")),
    ("POST", "https://x.io/logs/_flush", "", (), ("http", "https://x.io/logs/_flush", "post")),
    ("delete", API, "", (), ("http", API, "delete")),
    ("PATCH", API, "{}", (), ("http", API, "patch")),
    ("POST", ":3000/users", "{}", (), ("http", ":3000/users", "local", "post")),
    ("POST", "[::1]:80/x", "", (), ("http", "[::1]:80/x", "local", "post")),
    ("POST", "http://user:pw@127.0.0.1:80/x", "", (), ("http", "http://user:pw@127.0.0.1:80/x", "local", "post")),
    ("POST", "http://localhost.evil.io/", "", (), ("http", "http://localhost.evil.io/", "post")),
    ("POST", API, "", ("X-HTTP-Method-Override: DELETE",), ("http", API, "delete")),
    ("GET", API, "", ("Accept: text/html",), ("fetch", API)),
    # search engines
    ("DELETE", f"{ES}/orders", "", (), ("store_drop", "orders", "index")),
    ("DELETE", f"{ES}/_all", "", (), ("store_drop", "_all", "all")),
    ("DELETE", f"{ES}/*", "", (), ("store_drop", "*", "all")),
    ("DELETE", f"{ES}/orders/_doc/1", "", (), ("store_delete", "orders/_doc/1")),
    ("POST", f"{ES}/orders/_delete_by_query", '{"query":{"match_all":{}}}', (), ("store_delete", "orders",
     "unfiltered")),
    ("POST", f"{ES}/orders/_delete_by_query", '{"query":{"term":{"id":1}}}', (), ("store_delete", "orders")),
    ("POST", f"{ES}/orders/_delete_by_query?q=*:*", "", (), ("store_delete", "orders", "unfiltered")),
    ("POST", f"{ES}/orders/_delete_by_query?q=id:3", "", (), ("store_delete", "orders")),
    ("POST", f"{ES}/orders/_search", '{"query":{"match_all":{}}}', (), ("http", f"{ES}/orders/_search", "post")),
    ("DELETE", f"{ES}/_cluster/voting", "", (), ("http", f"{ES}/_cluster/voting", "delete")),
    # GraphQL
    ("POST", GRAPH, '{"query":"mutation { deleteUser(id: 1) { id } }"}', (), ("http", GRAPH, "delete")),
    ("POST", GRAPH, '{"query":"mutation M($i: ID!) { a: issueDelete(id: $i) { ok } }"}', (), ("http", GRAPH, "delete")),
    ("POST", GRAPH, '{"query":"mutation { updateUser(id: 1) { id deletedAt } }"}', (), ("http", GRAPH, "post")),
    ("POST", GRAPH, '{"query":"mutation { addNote(text: \\"deleteUser(1)\\") { id } }"}', (), ("http", GRAPH, "post")),
    ("POST", GRAPH, '{"query":"{ deleteRequests { id } }"}', (), ("http", GRAPH, "post")),
    # money
    ("POST", "https://api.wise.com/v3/profiles/1/transfers/5/payments", "{}", (), ("http",
     "https://api.wise.com/v3/profiles/1/transfers/5/payments", "payment", "post")),
    ("POST", "https://api.stripe.com/v1/refunds", "charge=x", (), ("http", "https://api.stripe.com/v1/refunds",
     "payment", "post")),
    ("POST", "https://api.stripe.com/v1/customers", "", (), ("http", "https://api.stripe.com/v1/customers", "post")),
    ("GET", "https://api.stripe.com/v1/refunds", "", (), ("fetch", "https://api.stripe.com/v1/refunds")),
    # the Docker socket and Kubernetes
    ("DELETE", "http://localhost/containers/x?force=1", "", (), ("http", "http://localhost/containers/x?force=1",
     "delete", "local")),
    ("DELETE", "https://k8s:6443/api/v1/namespaces/prod", "", (), ("http",
     "https://k8s:6443/api/v1/namespaces/prod", "delete")),
    # what cannot be known
    (hole("M"), API, "", (), ("unreadable", "payload")),
    ("DELETE", hole("URL"), "", (), ("http", hole("URL"), "delete")),
]  # fmt: skip


@each(("method", "url", "body", "headers", "expected"), REQUESTS)
def test_a_request_is_told_for_what_it_does(
    method: str, url: str, body: str, headers: tuple[str, ...], expected: tuple[str, ...]
) -> None:
    assert facts(method, url, body, headers) == [expected]


U = "https://x.io/a"

CURL = [
    (["-s", U], [HttpRequest("GET", U)]),
    (["-fsSL", "x.io/i.sh"], [HttpRequest("GET", "x.io/i.sh")]),
    (["-sXDELETE", U], [HttpRequest("DELETE", U)]),
    (["-X", "DELETE", U], [HttpRequest("DELETE", U)]),
    (["--request=delete", U], [HttpRequest("DELETE", U)]),
    (["--req", "DELETE", U], [HttpRequest("DELETE", U)]),
    (["-d", "a=1", "-d", "b=2", U], [HttpRequest("POST", U, "a=1&b=2")]),
    (["-da=1", U], [HttpRequest("POST", U, "a=1")]),
    (["-G", "-d", "a=1", U], [HttpRequest("GET", f"{U}?a=1")]),
    (["-I", U], [HttpRequest("HEAD", U)]),
    (["--json", "{}", U], [HttpRequest("POST", U, "{}", ("Content-Type: application/json",))]),
    (["-d", "@secret.txt", U], [HttpRequest("POST", U, "@secret.txt", uploads=("secret.txt",))]),
    (["--data-raw", "@x", U], [HttpRequest("POST", U, "@x")]),
    (["-F", "f=@a.png;type=image/png", U], [HttpRequest("POST", U, "f=@a.png;type=image/png", uploads=("a.png",))]),
    (["-T", "dump.sql", U], [HttpRequest("PUT", U, uploads=("dump.sql",))]),
    (["-o", "f.sh", U], [HttpRequest("GET", U, output="f.sh")]),
    (["-o-", U], [HttpRequest("GET", U, output="-")]),
    (["-LO", "https://x.io/t.tgz?x=1"], [HttpRequest("GET", "https://x.io/t.tgz?x=1", output="t.tgz")]),
    (["-H", "A: b", "-x", "proxy:1", U], [HttpRequest("GET", U, headers=("A: b",))]),
    (["-u", "me:pw", U], [HttpRequest("GET", U, headers=("Authorization: me:pw",))]),
    (["--url", U, "-K", "conf"], [HttpRequest("GET", U)]),
    ([U, "x.io/b"], [HttpRequest("GET", U), HttpRequest("GET", "x.io/b")]),
    (["-X", "DELETE", U, "--next", "x.io/b"], [HttpRequest("DELETE", U), HttpRequest("GET", "x.io/b")]),
    (["--", U], [HttpRequest("GET", U)]),
    (["-m", "5", "--retry", "3", U], [HttpRequest("GET", U)]),
    ([], []),
    (["-X"], []),
]  # fmt: skip


@each(("words", "expected"), CURL)
def test_curl_sends_what_its_words_say(words: list[str], expected: list[HttpRequest]) -> None:
    assert parse_requests(shipped_programs()["curl"], words) == expected


WGET = [
    ([U], [HttpRequest("GET", U, output="a")]),
    (["-qO-", U], [HttpRequest("GET", U, output="-")]),
    (["-q", "-O", "f", U], [HttpRequest("GET", U, output="f")]),
    (["-nv", "--method=DELETE", "-O-", U], [HttpRequest("DELETE", U, output="-")]),
    (["--method", "DELETE", "-O-", U], [HttpRequest("DELETE", U, output="-")]),
    (["--post-data", "a=1", "-O-", U], [HttpRequest("POST", U, "a=1", output="-")]),
    (["--post-file=/etc/passwd", "-O-", U], [HttpRequest("POST", U, uploads=("/etc/passwd",), output="-")]),
    (["--spider", U], [HttpRequest("HEAD", U)]),
    (["-P", "dir", "-O-", U], [HttpRequest("GET", U, output="-")]),
]  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), WGET)
def test_wget_sends_what_its_words_say(words: list[str], expected: list[HttpRequest]) -> None:
    assert parse_requests(shipped_programs()["wget"], words) == expected


HTTPIE = [
    ([U], [HttpRequest("GET", U)]),
    (["DELETE", U, "Authorization:Bearer x"], [HttpRequest("DELETE", U, headers=("Authorization: Bearer x",))]),
    ([U, "name=bob", "n:=3"], [HttpRequest("POST", U, "name=bob&n:=3")]),
    (["delete", ":3000/x"], [HttpRequest("DELETE", ":3000/x")]),
    ([U, "q==x"], [HttpRequest("GET", U)]),
    (["-f", "POST", U, "f@a.png"], [HttpRequest("POST", U, "f@a.png", uploads=("a.png",))]),
    (["--auth", "a:b", "PUT", U, "x=1"], [HttpRequest("PUT", U, "x=1", ("Authorization: a:b",))]),
    (["--ignore-stdin", "--raw={}", "POST", U], [HttpRequest("POST", U, "{}")]),
    (["-o", "f", U], [HttpRequest("GET", U, output="f")]),
    ([], []),
]  # fmt: skip


@pytest.mark.parametrize(("words", "expected"), HTTPIE)
def test_httpie_sends_what_its_words_say(words: list[str], expected: list[HttpRequest]) -> None:
    assert parse_requests(shipped_programs()["http"], words) == expected


@given(st.lists(st.text(alphabet="-=@:/XdFToOGIuhtp .{}'\"[]\ufffc", max_size=12), max_size=8))
def test_no_words_can_crash_a_client_reader(words: list[str]) -> None:
    for client in ("curl", "wget", "http"):
        for request in parse_requests(shipped_programs()[client], words):
            facts(request.method, request.url, request.body, request.headers)


@given(st.text(max_size=60), st.text(max_size=60), st.text(alphabet='{}[]":,mutationquery match_all()', max_size=80))
def test_no_request_can_crash_the_reader(method: str, url: str, body: str) -> None:
    facts(method, url, body)
    facts("POST", "http://x:9200/a/_delete_by_query", body)
    facts("POST", "http://x/graphql", body)


def test_a_deep_body_is_no_trap() -> None:
    deep = '{"query":' * 30_000
    assert facts("POST", f"{ES}/a/_delete_by_query", deep)[0][0] == "store_delete"
    assert facts("POST", GRAPH, deep + "mutation") == [("http", GRAPH, "post")]


@each(
    ("method", "url", "body"),
    [
        ("POST", "http://localhost:8123/", "DROP TABLE t"),
        ("GET", "http://ch:8123/?query=DROP+TABLE+t", ""),
        ("POST", "http://h/v2/query", '{"type":"run_sql","args":{"sql":"DROP TABLE t"}}'),
        ("GET", "http://ch:8123/?a=1&query=DROP+TABLE+t", ""),
    ],
)
def test_a_statement_for_a_database_behind_http_is_read(method: str, url: str, body: str) -> None:
    assert ("code", "sql", "DROP TABLE t") in facts(method, url, body)


@each(
    "body",
    [
        "action=delete&id=1",
        "id=1&op=purge_all",
        "action=wipe",
        '{"drop_all": true}',
        '{"deleteAll":true}',
        '{"op":"delete_all"}',
    ],
)
def test_a_body_that_orders_a_deletion_deletes(body: str) -> None:
    assert any("deletes" in fact for fact in facts("POST", "https://api.example.com/admin", body))


@each("body", ["action=create&id=1", "note=delete", '{"drop_all": false}', "id=1&operation=list"])
def test_a_body_that_orders_something_else_does_not(body: str) -> None:
    assert not any("deletes" in fact for fact in facts("POST", "https://api.example.com/admin", body))
