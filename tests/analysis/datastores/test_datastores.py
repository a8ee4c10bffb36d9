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
    read_memcached,
    read_redis,
    read_redis_text,
)
from interlock.analysis.facts import hole
from interlock.analysis.programs.load import describe, shipped_programs
from interlock.analysis.shell.data_clients import read_store
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
    read_redis(line.split(), out, describe("redis-cli").value_flags)
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
    (read_cql, "ALTER TABLE t DROP c", [("store_drop", "t", "other")]),
    (read_cql, "SOURCE 'x.cql'", [("run_script", "x.cql")]),
    (read_cql, "GRANT ALL ON t TO u", [("store_admin", "grant")]),
    (read_cql, f"{hole('X')} x", [("unreadable", "payload")]),
    (read_cypher, "EXPLAIN MATCH (n) DELETE n", [("store_read", "")]),
    (read_memcached, "set k 0 0 1", [("store_write", "k")]),
    (read_redis_text, "DEL", [("store_delete", "")]),
    (read_redis_text, f"EVAL {hole('X')} 0", [("unreadable", "payload")]),
    *((reader, "x" * 200_001, [("unreadable", "budget")]) for reader in (read_cql, read_cypher, read_redis_text)),
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
    ("kafka-topics.sh --bootstrap-server x --delete --topic orders", [("store_drop", "orders",
     "collection")]),
    ("kafka-topics --delete --topic .*", [("store_drop", ".*", "all", "collection")]),
    ("kafka-topics --list", [("store_read", "")]),
    ("kafka-topics --create --topic deletes", [("store_write", "deletes")]),
    ("kafka-delete-records --offset-json-file o.json", [("store_delete", "o.json")]),
    ("kafka-consumer-groups --reset-offsets --group g --execute", [("store_admin", "g")]),
    ("kafka-consumer-groups --reset-offsets --group g --dry-run", [("store_read", "g")]),
    ("kafka-consumer-groups --delete --group g", [("store_admin", "g")]),
    ("kafka-configs --alter --entity-name t", [("store_admin", "t")]),
    ("rabbitmqctl force_reset", [("store_drop", "", "all")]),
    ("rabbitmqctl -n rabbit@x purge_queue payments", [("store_delete", "payments", "unfiltered")]),
    ("rabbitmqctl delete_queue q", [("store_delete", "q")]),
    ("rabbitmqctl delete_vhost v", [("store_drop", "v", "database")]),
    ("rabbitmqctl stop_app", [("store_admin", "")]),
    ("rabbitmqctl list_queues", [("store_read", "")]),
    ("rabbitmqadmin -H x delete queue name=q", [("store_delete", "q")]),
    ("rabbitmqadmin purge queue name=q", [("store_delete", "q", "unfiltered")]),
    ("rabbitmqadmin delete vhost name=v", [("store_drop", "v", "database")]),
    ("rabbitmqadmin list queues", [("store_read", "")]),
    ("nats stream rm ORDERS -f", [("store_drop", "ORDERS", "collection")]),
    ("nats stream purge ORDERS", [("store_delete", "ORDERS", "unfiltered")]),
    ("nats stream info ORDERS", [("store_read", "ORDERS")]),
    ("etcdctl --endpoints x del /a", [("store_delete", "/a")]),
    ("etcdctl del / --prefix", [("store_delete", "/", "unfiltered")]),
    ("etcdctl get / --prefix", [("store_read", "/")]),
    ("zkcli.sh -server h:2181 deleteall /kafka", [("store_delete", "/kafka", "recursive")]),
    ("zookeeper-shell h:2181 rmr /", [("store_delete", "/", "recursive", "unfiltered")]),
    ("zookeeper-shell h:2181 ls /", [("store_read", "/")]),
    ("consul kv delete -recurse app/", [("store_delete", "app/", "recursive")]),
    ("consul kv get app/", [("store_read", "app/")]),
    ("influx delete --bucket b --start 1970-01-01 --stop 2030-01-01", [("store_delete", "b", "unfiltered")]),
    ("influx delete --bucket b --predicate x=1", [("store_delete", "b")]),
    ("influx bucket delete -n b", [("store_drop", "b", "database")]),
    ("influx bucket list", [("store_read", "")]),
]  # fmt: skip


@each(("line", "expected"), PROGRAMS)
def test_programs_of_queues(line: str, expected: list[tuple[str, ...]]) -> None:
    program, *words = line.split()
    out = Recorder()
    read_store(shipped_programs()[program], words, out)
    assert out.facts == expected


def test_an_empty_prefix_is_everything() -> None:
    out = Recorder()
    read_store(shipped_programs()["etcdctl"], ["del", "", "--prefix"], out)
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
    for program in ("kafka-topics", "nats", "etcdctl", "zkcli", "consul", "influx", "rabbitmqadmin"):
        read_store(shipped_programs()[program], text.split(), Recorder())
    read_redis(text.split(), Recorder())
