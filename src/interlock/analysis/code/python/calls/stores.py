"""Calls on databases, object mappers, boto3 and service clients -> deletions, statements, aws commands and operations."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from interlock.analysis.code.program.objects import LibraryCall, ProgramFunction, label, links
from interlock.analysis.code.program.values import UNKNOWN, Sym, Value, looks_like_sql, text_of
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.code.python.calls.network import LIBRARIES, request
from interlock.analysis.facts import hole, without_holes

_CLIENT = re.compile(r"\b(boto3|Session\(\)|aioboto3|session)\.(client|resource)\(\)$")
_READS = re.compile(
    r"(get|list|describe|head|can|generate|wait|close|search|scan|query|batch_get|client|resource|load|meta)(_|$)"
)
_MANY = re.compile(r"\.(objects|object_versions)\b")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
# the last noun of a resource, with the method on it -> service, operation and parameter
_RESOURCES = {
    ("Bucket", "delete"): ("s3api", "delete-bucket", "--bucket"),
    ("Instance", "terminate"): ("ec2", "terminate-instances", "--instance-ids"),
    ("Instance", "stop"): ("ec2", "stop-instances", "--instance-ids"),
    ("Table", "delete"): ("dynamodb", "delete-table", "--table-name"),
    ("Volume", "delete"): ("ec2", "delete-volume", "--volume-id"),
    ("Snapshot", "delete"): ("ec2", "delete-snapshot", "--snapshot-id"),
    ("Vpc", "delete"): ("ec2", "delete-vpc", "--vpc-id"),
    ("Queue", "delete"): ("sqs", "delete-queue", "--queue-url"),
    ("Queue", "purge"): ("sqs", "purge-queue", "--queue-url"),
    ("Topic", "delete"): ("sns", "delete-topic", "--topic-arn"),
    ("Role", "delete"): ("iam", "delete-role", "--role-name"),
    ("User", "delete"): ("iam", "delete-user", "--user-name"),
    ("Stack", "delete"): ("cloudformation", "delete-stack", "--stack-name"),
}
_COLLECTIONS = {f"{noun.lower()}s": noun for noun, _ in _RESOURCES}


def aws(walk: ProgramWalk, call: LibraryCall) -> Value:
    """Tell what a client or a resource is asked to change; UNKNOWN for what only reads, or is no part of boto3."""
    of = service(call.owner)
    if not of or _READS.match(call.name) or call.name[:1].isupper() or not re.search(r"[a-z]", call.name):
        return UNKNOWN
    words = _on_resource(call) or _on_client(of, call)
    if not words:
        return UNKNOWN
    walk.world.run(["aws", *words])
    return Sym("?")


def service(owner: Value) -> str:
    """The service that a client or a resource speaks to, else nothing."""
    for link in links(owner):
        if _CLIENT.search(link.path):
            return text_of(link.args[0] if link.args else link.named.get("service_name", UNKNOWN))
    return ""


def _on_resource(call: LibraryCall) -> list[str]:
    """A method of `s3.Bucket("x")`, or of all that one holds."""
    chain = links(call.owner)
    nouns = [(link.name.removesuffix("()"), link.args) for link in chain if link.path.endswith("()") and link.args]
    name, args = next(((name, args) for name, args in nouns if name[:1].isupper()), ("", ()))
    words = [text_of(arg) for arg in args]
    if call.name == "delete" and words and _MANY.search(call.path):
        prefix = next((text_of(link.named["Prefix"]) for link in chain if "Prefix" in link.named), "")
        return ["s3", "rm", f"s3://{words[0]}/{prefix}".rstrip("/"), "--recursive"]
    if call.name == "delete" and name == "Object":
        return ["s3", "rm", "s3://" + "/".join(words)]
    if (name, call.name) in _RESOURCES:
        return [*_RESOURCES[name, call.name], *words]
    if ".instances" in call.path and call.name in ("terminate", "stop"):
        return ["ec2", f"{call.name}-instances"]
    held = next((link.name for link in chain if link.name in _COLLECTIONS), "")
    if held and (_COLLECTIONS[held], call.name) in _RESOURCES:  # one of `s3.buckets.all()`, and so each of them
        return list(_RESOURCES[_COLLECTIONS[held], call.name])
    return []


def _on_client(of: str, call: LibraryCall) -> list[str]:
    """A method of a client: the operation with its parameters."""
    if "_" not in call.name:
        return []
    options = [word for key, value in call.named.items() for word in _option(key, value)]
    return ["s3api" if of == "s3" else of, _kebab(call.name), *options]


def _option(name: str, value: Value) -> list[str]:
    flag = f"--{_kebab(name)}"
    if isinstance(value, bool):
        return [flag if value else f"--no-{_kebab(name)}"]
    if isinstance(value, (list, tuple)) and not any(isinstance(item, (dict, list)) for item in value):
        return [flag, " ".join(map(text_of, value))]
    if isinstance(value, (dict, list)):
        return [flag, json.dumps(value, default=text_of)]
    return [flag, text_of(value)]


def _kebab(name: str) -> str:
    return _HUMP.sub("-", name).replace("_", "-").lower()


# Libraries that do nothing but ask a service for something: what their methods are called is what is done.
_LIBRARIES = re.compile(
    r"(?:google\.cloud|googleapiclient|azure|msgraph|kubernetes|docker|podman|stripe|paypalrestsdk|square|adyen|braintree|github|gitlab|"
    r"slack_sdk|slack|discord|twilio|sendgrid|mailchimp\w*|digitalocean|pydo|hcloud|linode_api4|openstack|cloudflare|CloudFlare|qdrant_client|"
    r"pinecone|weaviate|chromadb|notion_client|jira|atlassian|simple_salesforce|shopify|auth0|okta|firebase_admin|supabase|heroku3|proxmoxer|"
    r"hvac|consul|kazoo|airtable|pyairtable|hubspot|zenpy|minio|b2sdk|dropbox|boxsdk|oss2|todoist\w*|asana|trello|pagerduty|pdpyras)\b"
)
_DOES = frozenset(
    "delete remove destroy terminate purge drop revoke cancel refund prune kill wipe reset disable suspend truncate uninstall "
    "deactivate ban expire detach rollback".split()
)
_PAYS = frozenset({"Refund", "Payout", "Transfer", "Charge", "PaymentIntent"})
_WORD_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_FILLER = re.compile(
    r"^(?:list|get|from_env|client|api|all|filter|items|objects|search|iter|auto_paging_iter|[A-Z]\w*(?:Api|Client|Service))(?:_|$)"
)
_LISTS = re.compile(r"^(?:list|get|iter|search)_(?:all_)?")


def asked_of_service(walk: ProgramWalk, call: LibraryCall) -> Value:
    """Tell what a service is asked to end, take away or pay; UNKNOWN for what only reads or makes, and for other libraries."""
    if walk.world.idle or not _LIBRARIES.match(call.path):
        return UNKNOWN
    words = _WORD_HUMP.sub("_", call.name).lower().removeprefix("begin_").split("_")
    noun = _noun(call)
    if words[0] not in _DOES and not (words[0] == "create" and noun in {one.lower() for one in _PAYS}):
        return UNKNOWN
    many = "bulk_" if ".[]" in call.path else ""
    name = "_".join(words) if len(words) > 1 else f"{words[0]}_{noun}"
    from interlock.analysis.operations.operation import read_operation

    read_operation(f"{many}{name}", {key: text_of(value) for key, value in call.named.items()}, "", walk.world.out)
    return Sym("?")


def _noun(call: LibraryCall) -> str:
    """What the method is called on: `containers.list()[0].remove` is about a container."""
    for link in links(call.owner):
        name = _LISTS.sub("", link.name.removesuffix("()"))
        if name and name != "[]" and not _FILLER.match(name):
            return _WORD_HUMP.sub("_", name).lower().removesuffix("s")
    return "item"


_DATABASE = re.compile(
    r"(?i)(^|[._])(cursor|cur|conn|connection|engine|session|db|database|sqlite3|psycopg2?|pymysql|op|tx)\b"
)
_BUILT = re.compile(r"(?i)\b(select|insert|update)\b")
_NARROWS = re.compile(r"\b(filter|filter_by|exclude|get|where|first|last|one|get_or_404)\b")
_QUERIES = (".objects", ".query()", ".query")


def _sql(walk: ProgramWalk, call: LibraryCall) -> Value:
    """Text given to a database."""
    given = call.get(0, "sql", call.named.get("statement", call.named.get("query", UNKNOWN)))
    text = text_of(given)
    if isinstance(given, Sym) and given.path.startswith("sqlalchemy.") and "delete()" in given.path:
        _delete_statement(walk, given)
    elif looks_like_sql(text):
        walk.world.code("sql", text)
    elif _DATABASE.search(call.path) and not isinstance(given, (list, dict, ProgramFunction)):
        if without_holes(text).strip():
            walk.world.code("sql", text)
        elif not isinstance(given, Sym) or not _BUILT.search(given.path):
            walk.world.effect("sql_execute", "")
    return UNKNOWN


def _delete_statement(walk: ProgramWalk, statement: Sym) -> None:
    """sqlalchemy's `delete(Table).where(…)`."""
    made = next((link for link in links(statement) if link.path.endswith("delete()")), None)
    name = label(made.args[0]) if made and made.args else hole()
    walk.world.effect("sql_delete", name, *_unfiltered(".where" not in statement.path))


def _unfiltered(everything: bool) -> tuple[str, ...]:
    return ("unfiltered",) if everything else ()


def _delete(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`.delete()` of an object mapper's query, a bucket, a session, an HTTP client or Redis."""
    if service(call.owner):
        return aws(walk, call)
    for start in () if call.path.startswith(LIBRARIES) else _QUERIES:
        _, found, chain = call.path.partition(start)
        if found:
            return walk.world.effect("sql_delete", _model(call.owner, start), *_unfiltered(not _NARROWS.search(chain)))
    if call.path.endswith(".indices.delete"):
        return walk.world.effect("store_drop", call.text(0, "index"), "index")
    if call.path.startswith("redis."):
        return _delete_keys(walk, call)
    return request(walk, call)


def _model(owner: Value, start: str) -> str:
    """What a query is about: what `.objects` is an attribute of, or what `.query()` is given."""
    link = next((link for link in links(owner) if link.path.endswith(start)), None)
    if link is None or (start.endswith("()") and not link.args):
        return hole()
    if start.endswith("()"):
        return label(link.args[0])
    return label(link.owner) if link.owner is not None else link.path.rpartition(".")[0]


def _update(walk: ProgramWalk, call: LibraryCall) -> Value:
    _, found, chain = call.path.partition(".objects")
    if not found or not call.named:
        return UNKNOWN
    narrow = re.search(r"\b(filter|exclude|get)\b", chain)
    return walk.world.effect("sql_update", _model(call.owner, ".objects"), *_unfiltered(not narrow))


def _drop(walk: ProgramWalk, call: LibraryCall) -> Value:
    """`.drop()` of a collection or a table; with arguments it is mostly a data frame's."""
    if not isinstance(call.owner, Sym) or "." not in call.owner.path:
        return UNKNOWN
    if call.owner.path.endswith("__table__"):
        return walk.world.effect("sql_drop", label(call.owner.owner), "table")
    if call.given():
        return UNKNOWN
    return walk.world.effect("store_drop", label(call.owner), "collection")


def _drop_named(verb: str, trait: str, at: int = 0) -> Answer:
    return lambda walk, call: walk.world.effect(verb, call.text(at), trait)


def _drop_all(walk: ProgramWalk, call: LibraryCall) -> Value:
    return walk.world.effect("sql_drop", "all tables", "database")


def _delete_documents(walk: ProgramWalk, call: LibraryCall) -> Value:
    everything = call.name == "delete_many" and call.get(0, "filter", {}) == {}
    return walk.world.effect("store_delete", label(call.owner), *_unfiltered(everything))


def _delete_by_query(walk: ProgramWalk, call: LibraryCall) -> Value:
    everything = "match_all" in repr(call.get(1, "body", call.named.get("query")))[:400]
    return walk.world.effect("store_delete", call.text(0, "index"), *_unfiltered(everything))


def _delete_keys(walk: ProgramWalk, call: LibraryCall) -> Value:
    for key in call.args:
        walk.world.effect("store_delete", key)
    return None


def _flush(walk: ProgramWalk, call: LibraryCall) -> Value:
    return walk.world.effect("store_drop", "redis", "all")


CALLS: Mapping[str, Answer] = {
    "sqlite3.connect": lambda walk, call: UNKNOWN,  # listed so that `from sqlite3 import *` finds it
    "sqlalchemy.MetaData().drop_all": _drop_all,
    **dict.fromkeys(["pandas.read_sql", "pandas.read_sql_query"], _sql),
}
METHODS: Mapping[str, Answer] = {
    **dict.fromkeys(["execute", "executemany", "executescript", "exec_driver_sql", "read_sql", "read_sql_query"], _sql),
    **dict.fromkeys(["delete", "_raw_delete"], _delete),
    "update": _update,
    "drop": _drop,
    "drop_all": _drop_all,
    "drop_table": _drop_named("sql_drop", "table"),
    "drop_column": _drop_named("sql_drop", "column", 1),
    "drop_database": _drop_named("store_drop", "database"),
    "drop_collection": _drop_named("store_drop", "collection"),
    **dict.fromkeys(["delete_many", "delete_one"], _delete_documents),
    "delete_by_query": _delete_by_query,
    **dict.fromkeys(["flushall", "flushdb"], _flush),
}
