"""Clients of databases and stores, and framework consoles: the statements and code that they carry."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.analysis.facts import hole, known, without_holes
from interlock.analysis.places import resolve
from interlock.analysis.shell import UNKNOWN, Job, Stream, is_production
from interlock.analysis.shell.options import options, valued

# program -> dialect, options that carry SQL, options that name a file of SQL, other options with values
_SQL: dict[str, tuple[str, str, str, str]] = {
    "psql": (
        "postgres",
        "-c --command",
        "-f --file",
        "-d -h -p -U -v -o -L -F -R -P -T --dbname --host --port --username --set --variable --output",
    ),
    "pgcli": ("postgres", "-c --command", "", "-d -h -p -u -U"),
    "mysql": (
        "mysql",
        "-e --execute",
        "",
        "-h -P -u -D -S --host --port --user --database --default-character-set --defaults-file",
    ),
    "mariadb": ("mysql", "-e --execute", "", "-h -P -u -D -S --host --port --user --database"),
    "mycli": ("mysql", "-e --execute", "", "-h -P -u -D"),
    "sqlite3": ("sqlite", "-cmd", "-init", "-separator -nullvalue"),
    "sqlite": ("sqlite", "", "-init", ""),
    "duckdb": ("duckdb", "-c -s", "-f -init", ""),
    "clickhouse-client": (
        "clickhouse",
        "-q --query",
        "--queries-file",
        "-h --host --port -u --user -d --database --password --format",
    ),
    "clickhouse": ("clickhouse", "-q --query", "--queries-file", "-h --host --port -u --user -d --database"),
    "clickhouse-local": ("clickhouse", "-q --query", "--queries-file", ""),
    "snowsql": ("snowflake", "-q --query", "-f --filename", "-a -u -d -s -r -w -c -o"),
    "snow": ("snowflake", "-q --query", "-f --filename", "-c --connection"),
    "sqlcmd": ("tsql", "-Q -q", "-i", "-S -U -P -d -o -v -l -t -s"),
    "osql": ("tsql", "-Q -q", "-i", "-S -U -P -d"),
    "cockroach": ("postgres", "-e --execute", "-f --file", "--url --host --port -d --database --certs-dir"),
    "usql": ("", "-c --command", "-f --file", "-o -v"),
    "trino": ("", "--execute", "-f --file", "--server --catalog --schema --user"),
    "presto": ("", "--execute", "-f --file", "--server --catalog --schema"),
    "spark-sql": ("", "-e", "-f", "--conf --master"),
    "hive": ("", "-e", "-f", "--hiveconf"),
    "beeline": ("", "-e", "-f", "-u -n -p -d"),
    "isql": ("", "", "-i", ""),
    "sqlplus": ("oracle", "", "", ""),
    "vsql": ("postgres", "-c", "-f", "-d -h -U -w -p"),
    "ysqlsh": ("postgres", "-c", "-f", "-d -h -U -p"),
    "questdb": ("postgres", "", "", ""),
    "impala-shell": ("", "-q --query", "-f --query_file", "-i -d"),
    "mssql-cli": ("tsql", "-Q --query", "-i", "-S -U -P -d"),
    "dolt": ("mysql", "-q --query", "-f", ""),
    "mclient": ("", "-s", "", "-d -u -h -p"),
    "db2": ("", "", "-f -tvf", ""),
    "nzsql": ("postgres", "-c", "-f", "-d -u"),
    "litecli": ("sqlite", "-e --execute", "", ""),
    "libsql": ("sqlite", "", "", ""),
}


def inside(job: Job, via: str = "") -> Job:
    """The report for the text that this command carries; production where its words or surroundings name it."""
    where = job.where.inside(via or job.program)
    context = [*job.words, *(value for _, value in job.where.env)]
    for name in (
        "PGHOST",
        "PGDATABASE",
        "PGSERVICE",
        "DATABASE_URL",
        "MYSQL_HOST",
        "MYSQL_DATABASE",
        "RAILS_ENV",
        "NODE_ENV",
        "APP_ENV",
        "DJANGO_SETTINGS_MODULE",
    ):
        context += job.host.variables.get(name, [])
    if any(is_production(word) for word in context):
        where = job.where.inside(via or job.program, "production")
    return Job(job.host, job.program, job.words, where, job.stdin)


def sql_client(job: Job) -> Stream | None:
    dialect, code, files, others = _SQL[job.program]
    found = options(job.words, valued(code) | valued(files) | valued(others))
    inner = inside(job)
    texts = found.all(*code.split())
    operands = found.operands
    if job.program in ("sqlite3", "sqlite", "duckdb") and operands:
        job.effect("read", operands[0])
    if job.program in ("sqlite3", "sqlite", "duckdb", "libsql") and len(operands) > 1:
        texts += operands[1:]
    elif job.program.startswith("clickhouse") and "--multiquery" in job.words:
        texts += [word for word in operands if " " in word]
    elif (job.program in ("cockroach",) and operands[:1] != ["sql"]) or (
        job.program == "snow" and operands[:1] != ["sql"]
    ):
        return None
    for path in found.all(*files.split()):
        if path in ("-", "/dev/stdin") and job.stdin is not None:
            texts.append(job.stdin.text)
        else:
            _sql_file(inner, path)
    if (
        not texts
        and not found.all(*files.split())
        and job.stdin is not None
        and not found.has("-l", "--list", "--version", "-V")
    ):
        _piped_sql(inner, dialect)
    for text in texts:
        read_statements(inner, text, dialect)
    from interlock.analysis.sql.dynamic import generated_sql

    made = [generated_sql(text) for text in texts if known(text)]
    return Stream("\n".join(text for text in made if text), frozenset({"sql"})) if any(made) else UNKNOWN


def _piped_sql(job: Job, dialect: str) -> None:
    stream = job.stdin
    assert stream is not None
    if "download" in stream.taints:
        job.effect("run_download", "the network")
    elif stream.known or without_holes(stream.text).strip():
        read_statements(job, stream.text, dialect)
    else:
        job.effect("run_script", hole(), "sql")


def _sql_file(job: Job, path: str) -> None:
    text = job.file_text(path)
    if text is not None:
        read_statements(job, text, "")
    else:
        job.effect("run_script", path, "sql")


def read_statements(job: Job, text: str, dialect: str) -> None:
    from interlock.analysis.sql import read_sql

    job.step(10)
    if job.program in ("sqlite3", "duckdb") and _scratch(job):
        job = ScratchJob(job.host, job.program, job.words, job.where, job.stdin)
    try:
        read_sql(text, job, dialect)
    except RecursionError:
        job.unreadable("SQL nested too deeply", "nesting")


class ScratchJob(Job):
    """A statement in a scratch database: only effects outside it count."""

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        if not verb.startswith("sql_") or verb == "sql_shell":
            super().effect(verb, target, *traits)


def _scratch(job: Job) -> bool:
    """Whether a database is in memory or a temporary file."""
    files = options(job.words, valued("-cmd -init -c -s -f")).operands
    if not files:
        return False
    return files[0] in (":memory:", "") or bool(
        re.match(r"/tmp/|/var/tmp/|/dev/shm/", resolve(files[0], job.host.cwds[0]))
    )


def _sql_in(flags: str, subcommand: str = "", operand: int = -1) -> Callable[[Job], Stream | None]:
    """Programs that take SQL in an option or as an operand behind a subcommand."""
    names = valued(flags)

    def handler(job: Job) -> Stream | None:
        found = options(job.words, names | valued("--location --project_id --database -d -p --db --instance"))
        line = " ".join(found.operands)
        if (subcommand and not line.startswith(subcommand)) or found.has("--dry_run", "--dry-run"):
            return None
        for text in found.all(*sorted(names)):
            read_statements(inside(job), text, "")
        rest = found.operands[len(subcommand.split()) :]
        if 0 <= operand < len(rest) and " " in rest[operand]:
            read_statements(inside(job), rest[operand], "")
        elif operand >= 0 and job.stdin is not None and job.stdin.known and not rest[operand:]:
            read_statements(inside(job), job.stdin.text, "")
        return None

    return handler


def powershell_sql(job: Job) -> Stream | None:
    """Invoke-Sqlcmd -Query 'text'."""
    for flag, text in zip(job.words, job.words[1:], strict=False):
        if flag.lower() in ("-query", "-q"):
            read_statements(inside(job), text, "tsql")
    return None


def redis(job: Job) -> Stream | None:
    from interlock.analysis.datastores import read_redis, read_redis_text

    inner = inside(job)
    read_redis(job.words, inner)
    operands = options(job.words, valued("-h -p -n -a -u -s -r -i -d --user --pass --pipe-timeout")).operands
    if not operands and job.stdin is not None:
        read_redis_text(job.stdin.text, inner)
    return None


def mongo(job: Job) -> Stream | None:
    found = options(
        job.words, valued("--eval -u -p --host --port --username --password --authenticationDatabase -f --file")
    )
    inner = inside(job)
    for text in found.all("--eval"):
        inner.code("mongo", text, f"{job.program} --eval")
    for path in [*found.all("-f", "--file"), *(word for word in found.operands if word.endswith(".js"))]:
        script = job.file_text(path)
        if script is not None:
            inner.code("mongo", script, f"{job.program} {path}")
        else:
            job.effect("run_script", path)
    if job.stdin is not None and not found.all("--eval"):
        inner.code("mongo", job.stdin.text, job.program)
    return None


def _code_option(language: str, flags: str, others: str = "") -> Callable[[Job], Stream | None]:
    names = valued(flags)

    def handler(job: Job) -> Stream | None:
        found = options(job.words, names | valued(others))
        texts = found.all(*sorted(names))
        for text in texts:
            inside(job).code(language, text, job.program)
        if not texts and job.stdin is not None:
            inside(job).code(language, job.stdin.text, job.program)
        return None

    return handler


def _cypher(job: Job) -> Stream | None:
    texts = options(job.words, valued("-u -p -a -d -f --format")).operands or (
        [job.stdin.text] if job.stdin is not None else []
    )
    for text in texts:
        inside(job).code("cypher", text, job.program)
    return None


def _store(name: str) -> Callable[[Job], Stream | None]:
    def handler(job: Job) -> Stream | None:
        from interlock.analysis.datastores import queues as stores_queues

        reader: Callable[..., None] = getattr(stores_queues, name)
        reader(job.program.removesuffix(".sh"), job.words, inside(job))
        return None

    return handler


def rails(job: Job) -> Stream | None:
    """rails runner 'code', rails console < text, rails dbconsole < SQL."""
    found = options(job.words, valued("-e --environment"))
    inner = inside(job)
    if found.operands[:1] in (["runner"], ["r"]) and len(found.operands) > 1:
        code = found.operands[1]
        text = job.file_text(code) if code.endswith(".rb") else code
        inner.code("ruby", text if text is not None else hole(), "rails runner") if text is not None else job.effect(
            "run_script", code
        )
    elif found.operands[:1] in (["console"], ["c"]) and job.stdin is not None:
        inner.code("ruby", job.stdin.text, "rails console")
    elif found.operands[:1] in (["dbconsole"], ["db"]) and job.stdin is not None:
        inner.code("sql", job.stdin.text, "rails dbconsole")
    return None


def django(job: Job) -> Stream | None:
    """manage.py shell -c 'code', shell < text, dbshell < SQL."""
    found = options(job.words, valued("-c --command -i --settings --database --pythonpath"))
    inner = inside(job)
    if found.operands[:1] in (["shell"], ["shell_plus"]):
        for text in found.all("-c", "--command") or ([job.stdin.text] if job.stdin is not None else []):
            inner.code("python", text, "manage.py shell")
    elif found.operands[:1] == ["dbshell"] and job.stdin is not None:
        inner.code("sql", job.stdin.text, "manage.py dbshell")
    return None


def php_tool(job: Job) -> Stream | None:
    """artisan tinker --execute, drush php:eval, wp eval, wp db query."""
    found = options(job.words, valued("--execute"))
    inner = inside(job)
    words = found.operands
    for text in found.all("--execute"):
        inner.code("php", text, f"{job.program} tinker")
    if words[:1] == ["tinker"] and job.stdin is not None and not found.all("--execute"):
        inner.code("php", job.stdin.text, "tinker")
    if words[:1] in (["php:eval"], ["eval"], ["ev"], ["php-eval"]) and len(words) > 1:
        inner.code("php", words[1], f"{job.program} eval")
    if words[:2] in (["db", "query"],) and len(words) > 2:
        inner.code("sql", words[2], "wp db query")
    if words[:1] in (["sql:query"], ["sqlq"], ["sql-query"]) and len(words) > 1:
        inner.code("sql", words[1], "drush sql:query")
    return None


_STATEMENT = re.compile(
    r"(drop (\w+)|truncate table|delete from|alter (table|database|schema)) .+", re.IGNORECASE | re.DOTALL
)
_DROPPED = frozenset(
    "table database schema view index user role owned tablespace materialized keyspace collection".split()
)


def statement(job: Job) -> Stream | None:
    """DROP TABLE users, where a shell is expected: what it does in the console that it was meant for."""
    text = " ".join([job.program, *job.words])
    found = _STATEMENT.fullmatch(text)
    if found and (found[2] or "table").lower() in _DROPPED:
        inside(job).code("sql", text)
    return None


def _influx(job: Job) -> Stream | None:
    """influx -execute 'text', and the later influx with its own words."""
    for text in options(job.words, valued("-execute --execute -host -port -database -username -password")).all(
        "-execute", "--execute"
    ):
        read_statements(inside(job), text, "mysql")
    return _store("read_keys")(job)


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    **dict.fromkeys(("drop", "delete", "truncate", "alter"), statement),
    **dict.fromkeys(_SQL, sql_client),
    "bq": _sql_in("--query", "query", 0),
    "wrangler": _sql_in("--command", "d1 execute"),
    "turso": _sql_in("", "db shell", 1),
    "pscale": _sql_in("", "shell", 2),
    "prisma": _sql_in("", "db execute", 0),
    "heroku": _sql_in("-c --command", "pg:psql"),
    "supabase": _sql_in("--query -q", "db query", 0),
    "invoke-sqlcmd": powershell_sql,
    "redis-cli": redis,
    "valkey-cli": redis,
    "keydb-cli": redis,
    "mongosh": mongo,
    "mongo": mongo,
    "cqlsh": _code_option("cql", "-e --execute", "-u -p -k"),
    "cypher-shell": _cypher,
    **dict.fromkeys(
        (
            "kafka-topics",
            "kafka-topics.sh",
            "kafka-consumer-groups",
            "kafka-consumer-groups.sh",
            "kafka-configs",
            "kafka-configs.sh",
            "kafka-delete-records",
            "kafka-delete-records.sh",
            "kafka-acls",
            "kafka-acls.sh",
        ),
        _store("read_kafka"),
    ),
    **dict.fromkeys(("rabbitmqctl", "rabbitmqadmin"), _store("read_rabbit")),
    **dict.fromkeys(("etcdctl", "consul", "nats", "zkcli", "zkcli.sh"), _store("read_keys")),
    "influx": _influx,
    "rails": rails,
    "gitlab-rails": rails,
    "manage.py": django,
    "django-admin": django,
    **dict.fromkeys(("artisan", "drush", "wp"), php_tool),
}
