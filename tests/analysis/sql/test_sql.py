"""What SQL would do: every statement, whatever it hides in, and nothing that is only text."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from effort import EFFORT
from interlock.analysis.facts import BudgetSpent, hole
from interlock.analysis.sql import read_sql
from interlock.analysis.sql.dynamic import generated_sql
from recording_report import Recorder


def facts(text: str, dialect: str = "") -> list[tuple[str, ...]]:
    out = Recorder()
    read_sql(text, out, dialect)
    return out.facts


def harm(text: str, dialect: str = "") -> set[tuple[str, ...]]:
    """Everything but reading."""
    return {fact for fact in facts(text, dialect) if fact[0] != "sql_read"}


DROP_T = ("sql_drop", "t", "table")
ALL_OF_T = ("sql_delete", "t", "unfiltered")
SOME_OF_T = ("sql_delete", "t")

HARMFUL = [
    # drops
    ("", "DROP TABLE t", {DROP_T}),
    ("", "dRoP/**/tAbLe t", {DROP_T}),
    ("", "DROP -- x\n TABLE IF EXISTS t CASCADE", {DROP_T}),
    ("", 'drop table "Sales"."Order Lines"', {("sql_drop", "Sales.Order Lines", "table")}),
    ("", "DROP TABLE a, b.c", {("sql_drop", "a", "table"), ("sql_drop", "b.c", "table")}),
    ("", "DROP TABLE IF EXISTS tmp_x", {("sql_drop", "tmp_x", "table")}),
    ("", "DROP DATABASE shop", {("sql_drop", "shop", "database")}),
    ("postgres", "DROP DATABASE IF EXISTS shop WITH (FORCE)", {("sql_drop", "shop", "database")}),
    ("", "DROP SCHEMA public CASCADE", {("sql_drop", "public", "schema")}),
    ("postgres", "DROP OWNED BY bob", {("sql_drop", "bob", "schema")}),
    ("", "DROP MATERIALIZED VIEW v", {("sql_drop", "v", "view")}),
    ("postgres", "DROP INDEX CONCURRENTLY i", {("sql_drop", "i", "index")}),
    ("", "DROP FUNCTION f(int)", {("sql_drop", "f", "other")}),
    ("", "DROP USER bob", {("sql_drop", "bob", "user")}),
    ("tsql", "DROP TABLE [dbo].[users]", {("sql_drop", "dbo.users", "table")}),
    ("", "DROP TABLE [dbo].[users]", {("sql_drop", "dbo.users", "table")}),
    ("mysql", "DROP TABLE `t`", {DROP_T}),
    ("mysql", "DROP#c\nTABLE t", {DROP_T}),
    ("mysql", "/*!50000 DROP TABLE t */", {DROP_T}),
    ("", "/*! DROP TABLE t */", {DROP_T}),
    ("", "SELECT 1; DROP TABLE t; SELECT 2", {DROP_T}),
    ("", "ALTER TABLE t DROP COLUMN a", {("sql_drop", "t.a", "column")}),
    ("", "ALTER TABLE t DROP a, DROP b", {("sql_drop", "t.a", "column"), ("sql_drop", "t.b", "column")}),
    ("oracle", "ALTER TABLE t DROP (a)", {("sql_drop", "t.a", "column")}),
    ("mysql", "ALTER TABLE t DROP PARTITION p0", {DROP_T}),
    ("", "ALTER TABLE t DROP CONSTRAINT c", {("sql_drop", "t", "other")}),
    ("bigquery", "CREATE OR REPLACE TABLE t AS SELECT 1", {DROP_T}),
    ("snowflake", "CREATE OR REPLACE DATABASE d", {("sql_drop", "d", "database")}),
    ("tsql", "RESTORE DATABASE x FROM DISK='y' WITH REPLACE", {("sql_drop", "x", "database")}),
    ("tsql", "EXEC @r = sp_dropuser 'bob'", {("sql_drop", "bob", "user")}),
    ("tsql", "EXEC sp_delete_job 'x'", {("sql_drop", "x", "other")}),
    ("tsql", "EXEC sp_configure 'a', 1", {("sql_alter", "sp_configure")}),
    ("tsql", "IF 1 ON DELETE BEGIN DROP TABLE t END", {DROP_T}),
    ("tsql", "CREATE PROC p AS BEGIN SELECT CASE WHEN 1=1 THEN 2 END DROP TABLE t END\nGO\nEXEC p", {("sql_write", "p"), DROP_T}),
    ("", "DROP @kind t", {DROP_T}),
    ("", "ALTER TABLE t ON CLUSTER c DROP COLUMN x", {("sql_drop", "t.x", "column")}),
    ("clickhouse", "ALTER TABLE t CLEAR COLUMN c", {("sql_drop", "t", "column")}),
    ("postgres", "SELECT drop_chunks('t')", {DROP_T}),
    ("sqlite", ".restore f", {("sql_drop", "f", "database")}),
    ("sqlite", ".load x", {("sql_shell", "x")}),
    ("postgres", "\\gexec", {("sql_execute", "")}),
    ("postgres", "\\copy t from program 'rm -rf x'", {("shell", "rm -rf x")}),
    ("postgres", "\\copy t to 'f'", {("write", "f")}),
    ("postgres", "SELECT pg_reload_conf()", {("sql_alter", "pg_reload_conf")}),
    ("postgres", "ALTER DEFAULT PRIVILEGES IN SCHEMA s GRANT ALL ON TABLES TO bob", {("sql_grant", "TABLES", "all")}),
    ("postgres", "CREATE ROLE x SUPERUSER", {("sql_grant", "x", "all")}),
    ("postgres", "ALTER ROLE x SUPERUSER", {("sql_grant", "x", "all")}),
    # truncate, delete, update
    ("", "TRUNCATE ALL TABLES FROM db", {("sql_truncate", "db")}),
    ("", "ALTER TABLE t TRUNCATE PARTITION p", {("sql_truncate", "t")}),
    ("sqlite", "UPDATE OR REPLACE t SET a=1", {("sql_update", "t", "unfiltered")}),
    ("mysql", "BEGIN; SET autocommit=0; DELETE FROM t; ROLLBACK;", {ALL_OF_T}),
    ("", "DELETE FROM t LIMIT 99999999", {ALL_OF_T}),
    ("", "DELETE FROM t WHERE", {ALL_OF_T}),
    ("", "DELETE FROM t WHERE (1) IS TRUE", {ALL_OF_T}),
    ("", "DROP DB d", {("sql_drop", "d", "database")}),
    ("", "USE NS a; REMOVE DATABASE d", {("sql_drop", "d", "database")}),
    ("oracle", "set pagesize 0\nwhenever sqlerror continue\nDROP TABLE t;", {DROP_T}),
    ("", "TRUNCATE t", {("sql_truncate", "t")}),
    ("", "TRUNCATE TABLE a, b RESTART IDENTITY CASCADE", {("sql_truncate", "a"), ("sql_truncate", "b")}),
    ("", "INSERT OVERWRITE TABLE t SELECT 1", {("sql_truncate", "t")}),
    ("", "DELETE FROM t", {ALL_OF_T}),
    ("postgres", "WITH d AS (DELETE FROM t RETURNING *) SELECT * FROM d", {ALL_OF_T}),
    ("", "WITH x AS (SELECT 1) DELETE FROM t", {ALL_OF_T}),
    ("", "DELETE FROM t USING s", {ALL_OF_T}),
    ("", "DELETE FROM t WHERE id = 3", {SOME_OF_T}),
    ("", "DELETE t FROM t JOIN s ON t.id = s.id", {SOME_OF_T}),
    ("tsql", "DELETE TOP (10) FROM t", {SOME_OF_T}),
    ("mysql", "DELETE FROM t LIMIT 10", {SOME_OF_T}),
    ("clickhouse", "ALTER TABLE t DELETE WHERE 1=1", {ALL_OF_T}),
    ("", "UPDATE t SET a = NULL, b = (SELECT c FROM d WHERE e = 1)", {("sql_update", "t", "unfiltered")}),
    ("", "UPDATE t SET a = 1 WHERE id = 3", {("sql_update", "t")}),
    ("", "UPDATE t SET a = 1 WHERE 1=1", {("sql_update", "t", "unfiltered")}),
    ("", "MERGE INTO t USING s ON t.id=s.id WHEN NOT MATCHED BY SOURCE THEN DELETE", {("sql_write", "t"), ALL_OF_T}),
    ("", "MERGE INTO t USING s ON t.id=s.id WHEN MATCHED THEN DELETE", {("sql_write", "t"), SOME_OF_T}),
    ("", "MERGE INTO t USING s ON 1=1 WHEN MATCHED THEN DELETE", {("sql_write", "t"), ALL_OF_T}),
    ("postgres", "EXPLAIN (ANALYZE, BUFFERS) DELETE FROM t", {ALL_OF_T}),
    ("tsql", "SELECT 1 DROP TABLE t", {DROP_T}),
    ("tsql", "IF OBJECT_ID('t') IS NOT NULL DROP TABLE t", {DROP_T}),
    ("tsql", "SELECT 1\nGO\nDELETE FROM t\nGO", {ALL_OF_T}),
    # rights
    ("", "GRANT SELECT ON orders TO bob", {("sql_grant", "orders")}),
    ("mysql", "REVOKE ALL PRIVILEGES, GRANT OPTION FROM 'bob'@'%'", {("sql_revoke", "ALL PRIVILEGES, GRANT OPTION",
     "all")}),
    ("", "REVOKE SELECT ON t FROM PUBLIC", {("sql_revoke", "t", "all")}),
    ("", "REVOKE SELECT ON t FROM a, b", {("sql_revoke", "t", "all")}),
    ("", "REVOKE SELECT ON t FROM bob", {("sql_revoke", "t")}),
    ("", "ALTER USER bob WITH PASSWORD 'x'", {("sql_alter", "bob")}),
    ("postgres", "ALTER SYSTEM SET fsync = off", {("sql_alter", "SET")}),
    ("mysql", "SET GLOBAL read_only = 1", {("sql_alter", "GLOBAL")}),
    # text that is run
    ("oracle", "BEGIN EXECUTE IMMEDIATE 'DROP TABLE t'; END;", {DROP_T}),
    ("tsql", "EXEC('DROP TABLE t')", {DROP_T}),
    ("tsql", "EXEC sp_executesql N'DROP TABLE t'", {DROP_T}),
    ("tsql", "DECLARE @s nvarchar(max) = N'DROP TABLE t'; EXEC(@s)", {DROP_T}),
    ("tsql", "EXEC sp_MSforeachtable 'DROP TABLE ?'", {("sql_drop", "X", "bulk", "table")}),
    ("tsql", "EXEC(@s)", {("sql_execute", "")}),
    ("mysql", "SET @s = CONCAT('DROP TABLE ', 't'); PREPARE p FROM @s; EXECUTE p;", {DROP_T}),
    ("postgres", "PREPARE p AS DELETE FROM t; EXECUTE p;", {ALL_OF_T}),
    (
        "postgres",
        "DO $$ DECLARE r record; BEGIN FOR r IN SELECT tablename FROM pg_tables LOOP "
        "EXECUTE 'DROP TABLE '||quote_ident(r.tablename)||' CASCADE'; END LOOP; END $$",
        {("sql_drop", "X", "bulk", "table")},
    ),
    ("postgres", "DO $$ BEGIN EXECUTE format('DROP TABLE %I', r.x); END $$", {("sql_drop", "X", "bulk", "table")}),
    ("postgres", "DO $$ BEGIN DELETE FROM t; END $$", {ALL_OF_T}),
    (
        "postgres",
        "CREATE FUNCTION f() RETURNS void AS $$ BEGIN DROP TABLE t; END $$ LANGUAGE plpgsql; SELECT f();",
        {("sql_write", "f"), DROP_T},
    ),
    ("postgres", "select dblink_exec('dbname=x', 'DROP TABLE t')", {DROP_T}),
    ("postgres", "select format('drop table %I', n) from x \\gexec", {("sql_drop", "X", "bulk", "table")}),
    ("postgres", "CREATE TABLE u AS SELECT pg_terminate_backend(1)", {("sql_write", "u"), ("sql_kill",
     "pg_terminate_backend")}),
    # servers, programs and clients
    ("postgres", "select pg_terminate_backend(pid) from pg_stat_activity", {("sql_kill", "pg_terminate_backend")}),
    ("mysql", "KILL 12", {("sql_kill", "")}),
    ("postgres", "COPY t TO PROGRAM 'curl x'", {("sql_shell", "curl x"), ("shell", "curl x")}),
    ("tsql", "EXEC master..xp_cmdshell 'dir'", {("sql_shell", "dir"), ("shell", "dir")}),
    ("mysql", "SELECT * FROM t INTO OUTFILE '/tmp/x'", {("sql_shell", "/tmp/x")}),
    ("postgres", "SELECT lo_export(1, '/tmp/x')", {("sql_shell", "/tmp/x")}),
    ("postgres", "\\! rm -rf /", {("shell", "rm -rf /")}),
    ("postgres", "select 1 \\g | sh", {("shell", "sh")}),
    ("postgres", "\\i drop.sql", {("run_script", "drop.sql")}),
    ("sqlite", ".shell ls", {("shell", "ls")}),
    ("sqlite", ".read x.sql", {("run_script", "x.sql")}),
    ("mysql", "source x.sql", {("run_script", "x.sql")}),
    # writes
    ("", "INSERT INTO t VALUES (1)", {("sql_write", "t")}),
    ("", "CREATE TABLE t (a int)", {("sql_write", "t")}),
    ("", "SELECT * INTO u FROM t", {("sql_write", "u")}),
    ("", "ALTER TABLE t ADD COLUMN a int", {("sql_write", "t")}),
    ("", "ALTER TABLE t ADD c text DEFAULT ','", {("sql_write", "t")}),
    ("", "ALTER TABLE t RENAME TO u", {("sql_alter", "t")}),
    ("", "COPY t FROM STDIN", {("sql_write", "t")}),
    # transactions
    ("postgres", "BEGIN; DELETE FROM t; COMMIT;", {ALL_OF_T}),
    ("postgres", "BEGIN; DELETE FROM t; COMMIT; ROLLBACK;", {ALL_OF_T}),
    ("postgres", "BEGIN; DELETE FROM t; ROLLBACK TO SAVEPOINT s;", {ALL_OF_T}),
    ("mysql", "BEGIN; DROP TABLE t; ROLLBACK;", {DROP_T}),
    ("postgres", "ROLLBACK; DELETE FROM t", {ALL_OF_T}),
    # what cannot be known
    ("", f"DELETE FROM t WHERE id = {hole('X')}", {SOME_OF_T}),
    ("", f"DELETE FROM {hole('T')}", {("sql_delete", hole("T"), "unfiltered")}),
    ("", f"{hole('V')} TABLE users", {("unreadable", "payload")}),
    ("", f"SELECT 1; {hole()}", {("unreadable", "payload")}),
    ("", "DELETE FROM t WHERE id = \ufffc; DROP TABLE t", {SOME_OF_T, DROP_T}),
    ("", "frobnicate and drop the lot", {("unreadable", "syntax")}),
    ("", "DELETE FROM t WHERE id = ((", {SOME_OF_T}),
    ("", "SELECT 'x; DROP TABLE t", {("unreadable", "syntax")}),
]  # fmt: skip


@each(("dialect", "text", "expected"), HARMFUL)
def test_each_statement_is_told_for_what_it_does(dialect: str, text: str, expected: set[tuple[str, ...]]) -> None:
    assert harm(text, dialect) == expected


ALWAYS = [
    "1=1", "TRUE", "'a'='a'", "id IS NOT NULL OR 1=1", "id > 0 OR 1", "id = id", "NOT FALSE", "1<2", "EXISTS(SELECT 1)",
    "name LIKE '%'", "id IS NOT NULL", "id > 0", "id >= 0", "0 < id", "id > -1", "(((1)))", "1",
    "id IN (SELECT id FROM t)",
    "a = 1 OR NOT a = 1", "a IS NULL OR a IS NOT NULL", "a = 1 OR a <> 1", "length(name) >= 0", "1+1=2",
    "id < 99999999999",
    "id BETWEEN 0 AND 9999999999", "NOT (1=0)", "t_id IS NOT NULL", "1=1 AND id > 0", "id <> -1", "1=1 -- AND id = 3",
]  # fmt: skip


@each("condition", ALWAYS)
def test_a_condition_that_always_holds_is_no_filter(condition: str) -> None:
    assert harm(f"DELETE FROM t WHERE {condition}") == {ALL_OF_T}


SOMETIMES = [
    "id = 3", "deleted_at IS NOT NULL", "created_at < '2024-01-01'", "a = 1 AND b = 'x'", "id IN (1, 2)", "id > 1000",
    "id IN (SELECT t_id FROM banned)", "name LIKE 'x%'", "1=1 AND id = 3", "id > 0 AND name = 'x'", "1 = 0",
    "a = b", "balance > 0",
    "EXISTS (SELECT 1 FROM s WHERE s.id = t.id)", "id = $1", "id = :id", "id = ?", "id = @id", "a = 1 OR b = 2",
    "CURRENT OF c", "parent_id IS NOT NULL", "created_at < now() - interval '30 days'", "id BETWEEN 5 AND 9",
    "status = 'true'", "id = (SELECT max(id) FROM t)", "NOT active",
]  # fmt: skip


@each("condition", SOMETIMES)
def test_a_condition_that_tells_rows_apart_is_a_filter(condition: str) -> None:
    assert harm(f"DELETE FROM t WHERE {condition}", "postgres") == {SOME_OF_T}


HARMLESS = [
    ("", "SELECT 1"),
    ("", "select id, deleted_at, drop_reason from shipments where deleted_at is not null limit 20"),
    ("", "SELECT date_trunc('day', created_at), count(*) FROM events GROUP BY 1"),
    ("", "SELECT replace(name,'drop','keep') FROM items"),
    ("", "SELECT truncate_reason, drop_count FROM stats"),
    ("", "select 'DROP TABLE x; DELETE FROM y'"),
    ("", "select 'it''s'; -- DROP TABLE x"),
    ("", "SELECT 1 /* ; DROP TABLE x; */"),
    ("postgres", "/* a /* b */ DROP TABLE x; */ SELECT 1"),
    ("postgres", "/*! DROP TABLE x */ SELECT 1"),
    ("postgres", "SELECT $$DROP TABLE x; $$, $a$; DELETE FROM t; $a$"),
    ("mysql", "SELECT 'it\\'s; DROP TABLE x; '"),
    ("mysql", 'SELECT "a; DROP TABLE x"'),
    ("", 'SELECT "drop", `delete` FROM t'),
    ("", "SELECT * FROM t FOR UPDATE"),
    ("", "(SELECT 1) UNION (SELECT 2)"),
    ("", "WITH x AS (SELECT 1) SELECT * FROM x"),
    ("", "EXPLAIN DELETE FROM t"),
    ("", "EXPLAIN (ANALYZE false) DELETE FROM t"),
    ("", "EXPLAIN ANALYZE SELECT 1"),
    ("", "SHOW TABLES"),
    ("", "DESCRIBE users"),
    ("sqlite", "PRAGMA table_info(users)"),
    ("sqlite", ".tables\n.schema users\nSELECT 1;"),
    ("postgres", "\\dt+ public.*"),
    ("postgres", "\\timing on\nSELECT 1;"),
    ("postgres", "BEGIN; DELETE FROM t; ROLLBACK;"),
    ("postgres", "BEGIN; DROP TABLE t; SELECT count(*) FROM u; ROLLBACK;"),
    ("", "START TRANSACTION; UPDATE t SET a = 1; ROLLBACK"),
    ("", "VALUES (1), (2)"),
    ("", ""),
    ("", "-- nothing"),
    ("postgres", "COPY (SELECT 1) TO STDOUT"),
    ("", "SELECT 'drop table '||tablename FROM pg_tables"),
    ("postgres", "SELECT data #>> '{a}', tags[1] FROM t"),
]


@each(("dialect", "text"), HARMLESS)
def test_reading_is_only_reading(dialect: str, text: str) -> None:
    assert facts(text, dialect) == [("sql_read", "")]


ONLY_WRITES = [
    ("", "INSERT INTO t VALUES ('it''s; DROP TABLE x')"),
    ("", "INSERT INTO t VALUES ('it\\'s; DROP TABLE x')"),
    ("", "INSERT INTO t (e) VALUES ('a') ON CONFLICT (e) DO UPDATE SET a = 1"),
    ("mysql", "INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = 1"),
    ("",
     "MERGE INTO t USING s ON t.id=s.id WHEN MATCHED THEN UPDATE SET a=1 WHEN NOT MATCHED THEN INSERT (a) VALUES (1)"),
    ("", "CREATE TABLE t (a int REFERENCES u ON DELETE CASCADE)"),
    ("", "CREATE TEMP TABLE t (a int); INSERT INTO t VALUES (1); DELETE FROM t; DROP TABLE t;"),
    ("tsql", "SELECT 1 AS a INTO #t; DROP TABLE #t"),
    ("", "ALTER TABLE t ALTER COLUMN a DROP NOT NULL"),
    ("", "ALTER TABLE t ALTER COLUMN a DROP DEFAULT, ADD b int"),
    ("sqlite", "CREATE TRIGGER t AFTER DELETE ON u BEGIN DELETE FROM v; UPDATE w SET a = 1; END;"),
    ("mysql",
     "DELIMITER //\nCREATE PROCEDURE t() BEGIN DELETE FROM u; IF a THEN DROP TABLE v; END IF; END//\nDELIMITER ;"),
    ("postgres", "CREATE FUNCTION t() RETURNS void AS $$ BEGIN DROP TABLE x; END $$ LANGUAGE plpgsql"),
    ("sqlite", "ATTACH 'x.db' AS y; CREATE TABLE t (a int); DETACH y"),
    ("", "COMMENT ON TABLE t IS 'drop table x'"),
    ("", "CREATE OR REPLACE VIEW t AS SELECT 1"),
]  # fmt: skip


@each(("dialect", "text"), ONLY_WRITES)
def test_a_write_is_no_loss(dialect: str, text: str) -> None:
    assert {fact[0] for fact in harm(text, dialect)} == {"sql_write"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("select 'drop table '||tablename||' cascade;' from pg_tables", "drop table X cascade;"),
        ("select concat('DROP TABLE ', table_name, ';') from t", "DROP TABLE X;"),
        ("select format('truncate %I.%I;', s, t) from x", "truncate X.X;"),
        ("select 'kill '+cast(id as text) from x", "kill X"),
        ("select 'hello '||name from users", None),
        ("select name from users", None),
        ("delete from users", None),
    ],
)
def test_rows_that_spell_statements_are_seen(text: str, expected: str | None) -> None:
    assert generated_sql(text) == expected


PROBE = """
import sys
from interlock.analysis.sql import read_sql
class Out:
    def __getattr__(self, name):
        return lambda *words: None
for text in sys.argv[1:]:
    read_sql(text, Out())
assert "sqlglot" not in sys.modules
"""


def test_plain_statements_never_load_the_parser() -> None:
    plain = ["SELECT 1", "DROP TABLE x", "TRUNCATE x", "DELETE FROM t", "DELETE FROM t WHERE id = 3", "GRANT a TO b"]
    environment = {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    words = [sys.executable, "-c", PROBE, *plain]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr


HOSTILE = [
    "(" * 50_000,
    "SELECT " + "(" * 20_000 + "1" + ")" * 20_000,
    "DELETE FROM t WHERE " + "(" * 5_000 + "1=1" + ")" * 5_000,
    "DELETE FROM t WHERE " + "NOT " * 5_000 + "a",
    "DELETE FROM t WHERE " + " OR ".join(f"a{i} = {i}" for i in range(2_000)),
    "/*" * 90_000,
    "'" * 99_999,
    "$a$" * 60_000,
    ";" * 100_000,
    "[" + "a" * 150_000,
    "EXEC(@a);" * 3_000,
    "DO $$ " * 5_000,
    "\\" * 50_000,
    ".a\n" * 40_000,
    "\ufffc" * 50_000,
    "CREATE TRIGGER x BEGIN " * 5_000,
    "concat(" * 20_000,
    "f(" * 50_000,
    "DROP TABLE " + "a," * 50_000,
    "x" * 300_000 + " DROP TABLE t",
    "\x00\ud800 DROP",
    "DELETE FROM t WHERE \x00",
    "SELECT 'a' || " * 10_000,
    "(DELETE FROM " * 14_000,
    "select lo_export(" * 11_000,
    "EXPLAIN ANALYZE PREPARE a AS " * 6_000,
    "MERGE INTO t USING s ON 1=1 " + "WHEN MATCHED THEN DELETE " * 7_000,
    "PREPARE p AS SELECT 1; EXECUTE p; " * 5_000,
    "WITH a AS (" * 15_000,
    "DELETE FROM t WHERE a IN (SELECT 1 FROM u WHERE " * 300,
    "DELETE FROM t WHERE a = 'x' OR 1 = 2 " * 4_000,
    "DELETE FROM t WHERE a = 1 OR b = 2;" * 5_000,
    "BEGIN; DELETE FROM t; " * 8_000 + "ROLLBACK",
]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
@pytest.mark.parametrize("dialect", ["", "mysql"])
def test_hostile_text_ends_in_an_answer_or_with_the_budget(text: str, dialect: str) -> None:
    out = Recorder(50_000)
    spent = False
    try:
        read_sql(text, out, dialect)
    except BudgetSpent:
        spent = True
    generated_sql(text, dialect)
    assert spent or out.facts or not text.strip(" ;(")


def test_text_that_is_too_long_is_never_called_harmless() -> None:
    assert facts("INSERT INTO t VALUES (1);" * 10_000 + "DROP TABLE t") == [("unreadable", "budget")]


@settings(max_examples=100 * EFFORT, deadline=None)
@given(
    st.text(alphabet="'\"`$();-/*\\#\n .,=@:[]DROPTABLEdeleteFROMwhereANDor01%\ufffc", max_size=120),
    st.sampled_from(["", "postgres", "mysql", "sqlite", "tsql", "oracle"]),
)
def test_no_text_can_crash_the_reader(text: str, dialect: str) -> None:
    facts(text, dialect)
    generated_sql(text, dialect)


@settings(max_examples=100 * EFFORT, deadline=None)
@given(st.text(alphabet="ab '\"();-\n", max_size=30))
def test_a_quoted_text_is_never_a_deed(text: str) -> None:
    quoted = text.replace("'", "''")
    assert facts(f"SELECT '{quoted} DROP TABLE t; {quoted}'", "postgres") == [("sql_read", "")]
