"""What commands to stores and queues would do."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import each
from interlock.analysis.datastores import (
    read_cql,
    read_cypher,
    read_kafka,
    read_keys,
    read_memcached,
    read_rabbit,
    read_redis,
    read_redis_text,
)
from interlock.analysis.facts import hole
from recording_report import Recorder

REDIS = [
    ("FLUSHALL", [("store_drop", "", "all")]),
    ("-h prod -p 6379 -n 2 flushdb async", [("store_drop", "", "database")]),
    ("-a pw --no-auth-warning -u redis://x FLUSHALL", [("store_drop", "", "all")]),
    ("--tls -h x 5 FLUSHALL", [("store_drop", "", "all")]),
    ("DEL a b", [("store_delete", "a"), ("store_delete", "b")]),
    ("UNLINK a", [("store_delete", "a")]),
    ("CONFIG SET save x", [("store_admin", "config set")]),
    ("CONFIG GET save", [("store_read", "")]),
    ("SHUTDOWN NOSAVE", [("store_admin", "shutdown")]),
    ("REPLICAOF NO ONE", [("store_admin", "replicaof")]),
    ("SCRIPT FLUSH", [("store_admin", "script flush")]),
    ("INFO memory", [("store_read", "memory")]),
    ("GET flushall", [("store_read", "flushall")]),
    ("KEYS *", [("store_read", "*")]),
    ("SET a FLUSHALL", [("store_write", "a")]),
    ("RENAME a b", [("store_write", "a")]),
    ("--scan --pattern x*", [("store_read", "")]),
    ("--cluster reset", [("store_admin", "reset")]),
    ("--eval wipe.lua", [("run_script", "wipe.lua")]),
    (f"{hole('C')} x", [("unreadable", "payload")]),
    ("-h x", []),
    ("", []),
]


@each(("line", "expected"), REDIS)
def test_redis_cli_words(line: str, expected: list[tuple[str, ...]]) -> None:
    out = Recorder()
    read_redis(line.split(), out)
    assert out.facts == expected


LUA_ALL = "for _,k in ipairs(redis.call('keys','*')) do redis.call('del',k) end"
REDIS_TEXT = [
    ("SELECT 2\nFLUSHDB\n", [("store_write", "2"), ("store_drop", "", "database")]),
    ("FLUSHALL\\r\\n", [("store_drop", "", "all")]),
    ("*2\r\n$3\r\nDEL\r\n$1\r\na\r\n", [("store_delete", "a")]),
    ("SET k 'FLUSHALL'", [("store_write", "k")]),
    (f'EVAL "{LUA_ALL}" 0', [("store_read", "*"), ("store_delete", "k", "unfiltered")]),
    ("EVAL \"redis.call('flushall')\" 0", [("store_drop", "", "all")]),
    ("EVAL \"return redis.call('get', KEYS[1])\" 1 a", [("store_read", "KEYS")]),
    ("GET 'unclosed", [("store_read", "'unclosed")]),
]


@pytest.mark.parametrize(("text", "expected"), REDIS_TEXT)
def test_redis_lines(text: str, expected: list[tuple[str, ...]]) -> None:
    out = Recorder()
    read_redis_text(text, out)
    assert out.facts == expected


LANGUAGES = [
    (read_cql, "DROP KEYSPACE shop;", [("store_drop", "shop", "database")]),
    (read_cql, "DROP TABLE IF EXISTS shop.users", [("store_drop", "shop.users", "collection")]),
    (read_cql, "TRUNCATE shop.users", [("store_delete", "shop.users", "unfiltered")]),
    (read_cql, "DELETE FROM users WHERE id = 1", [("store_delete", "users")]),
    (read_cql, "SELECT 'DROP KEYSPACE x' FROM t; DESCRIBE KEYSPACES", [("store_read", ""), ("store_read", "")]),
    (read_cql, "INSERT INTO t (a) VALUES (1)", [("store_write", "")]),
    (read_memcached, "flush_all\r\nquit", [("store_drop", "", "all"), ("store_read", "")]),
    (read_memcached, "delete k", [("store_delete", "k")]),
    (read_memcached, "get flush_all", [("store_read", "flush_all")]),
    (read_cypher, "MATCH (n) DETACH DELETE n", [("store_delete", "", "unfiltered")]),
    (read_cypher, "MATCH (n:User) DETACH DELETE n;", [("store_delete", "", "unfiltered")]),
    (read_cypher, "MATCH (n:User {id: 1}) DELETE n", [("store_delete", "")]),
    (read_cypher, "MATCH (n) WHERE n.id = 1 DELETE n", [("store_delete", "")]),
    (read_cypher, "MATCH (n) RETURN n.delete, 'DETACH DELETE n' LIMIT 5", [("store_read", "")]),
    (read_cypher, "MATCH (n {deleted: true}) RETURN n", [("store_read", "")]),
    (read_cypher, "// MATCH (n) DELETE n\nMATCH (n) RETURN n", [("store_read", "")]),
    (read_cypher, "DROP DATABASE neo4j", [("store_drop", "neo4j", "database")]),
    (read_cypher, "CREATE (n:User {name: 'x'})", [("store_write", "")]),
]


@each(("read", "text", "expected"), LANGUAGES)
def test_languages_of_stores(read: Callable[..., None], text: str, expected: list[tuple[str, ...]]) -> None:
    out = Recorder()
    read(text, out)
    assert out.facts == expected


PROGRAMS = [
    (read_kafka, "kafka-topics.sh --bootstrap-server x --delete --topic orders", [("store_drop", "orders",
     "collection")]),
    (read_kafka, "kafka-topics --delete --topic .*", [("store_drop", ".*", "all", "collection")]),
    (read_kafka, "kafka-topics --list", [("store_read", "")]),
    (read_kafka, "kafka-topics --create --topic deletes", [("store_write", "deletes")]),
    (read_kafka, "kafka-delete-records --offset-json-file o.json", [("store_delete", "o.json")]),
    (read_kafka, "kafka-consumer-groups --reset-offsets --group g --execute", [("store_admin", "g")]),
    (read_kafka, "kafka-consumer-groups --reset-offsets --group g --dry-run", [("store_read", "g")]),
    (read_kafka, "kafka-consumer-groups --delete --group g", [("store_admin", "g")]),
    (read_kafka, "kafka-configs --alter --entity-name t", [("store_admin", "t")]),
    (read_rabbit, "rabbitmqctl force_reset", [("store_drop", "", "all")]),
    (read_rabbit, "rabbitmqctl -n rabbit@x purge_queue payments", [("store_delete", "payments", "unfiltered")]),
    (read_rabbit, "rabbitmqctl delete_queue q", [("store_delete", "q")]),
    (read_rabbit, "rabbitmqctl delete_vhost v", [("store_drop", "v", "database")]),
    (read_rabbit, "rabbitmqctl stop_app", [("store_admin", "")]),
    (read_rabbit, "rabbitmqctl list_queues", [("store_read", "")]),
    (read_rabbit, "rabbitmqadmin -H x delete queue name=q", [("store_delete", "q")]),
    (read_rabbit, "rabbitmqadmin purge queue name=q", [("store_delete", "q", "unfiltered")]),
    (read_rabbit, "rabbitmqadmin delete vhost name=v", [("store_drop", "v", "database")]),
    (read_rabbit, "rabbitmqadmin list queues", [("store_read", "")]),
    (read_keys, "nats stream rm ORDERS -f", [("store_drop", "ORDERS", "collection")]),
    (read_keys, "nats stream purge ORDERS", [("store_delete", "ORDERS", "unfiltered")]),
    (read_keys, "nats stream info ORDERS", [("store_read", "ORDERS")]),
    (read_keys, "etcdctl --endpoints x del /a", [("store_delete", "/a")]),
    (read_keys, "etcdctl del / --prefix", [("store_delete", "/", "unfiltered")]),
    (read_keys, "etcdctl get / --prefix", [("store_read", "/")]),
    (read_keys, "zkCli.sh -server h:2181 deleteall /kafka", [("store_delete", "/kafka", "recursive")]),
    (read_keys, "zookeeper-shell h:2181 rmr /", [("store_delete", "/", "recursive", "unfiltered")]),
    (read_keys, "zookeeper-shell h:2181 ls /", [("store_read", "/")]),
    (read_keys, "consul kv delete -recurse app/", [("store_delete", "app/", "recursive")]),
    (read_keys, "consul kv get app/", [("store_read", "app/")]),
    (read_keys, "influx delete --bucket b --start 1970-01-01 --stop 2030-01-01", [("store_delete", "b", "unfiltered")]),
    (read_keys, "influx delete --bucket b --predicate x=1", [("store_delete", "b")]),
    (read_keys, "influx bucket delete -n b", [("store_drop", "b", "database")]),
    (read_keys, "influx bucket list", [("store_read", "")]),
]  # fmt: skip


@each(("read", "line", "expected"), PROGRAMS)
def test_programs_of_queues(read: Callable[..., None], line: str, expected: list[tuple[str, ...]]) -> None:
    program, *words = line.split()
    out = Recorder()
    read(program, words, out)
    assert out.facts == expected


def test_an_empty_prefix_is_everything() -> None:
    out = Recorder()
    read_keys("etcdctl", ["del", "", "--prefix"], out)
    assert out.facts == [("store_delete", "", "unfiltered")]


@pytest.mark.parametrize(
    "text", ["redis.call(" * 15_000, "EVAL " + "redis.call('" * 15_000, "(" * 50_000, "'" * 99_999, "*1\n" * 60_000]
)
def test_hostile_text_is_answered_by_every_reader(text: str) -> None:
    for read in (read_redis_text, read_cql, read_memcached, read_cypher):
        out = Recorder()
        read(text, out)
        assert out.facts or not any(char.isalpha() for char in text)


@given(st.text(max_size=60))
def test_no_text_can_crash_a_reader(text: str) -> None:
    for read in (read_redis_text, read_cql, read_memcached, read_cypher):
        read(text, Recorder())
    for program in ("kafka-topics", "nats", "etcdctl", "zkcli", "consul", "influx"):
        (read_kafka if program.startswith("kafka") else read_keys)(program, text.split(), Recorder())
    read_rabbit("rabbitmqadmin", text.split(), Recorder())
    read_redis(text.split(), Recorder())
