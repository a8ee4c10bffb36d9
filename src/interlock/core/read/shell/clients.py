"""Clients of databases, stores and web services: the statements and requests they carry."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.core.read.facts import HOLE, hole, hole_of, known, taints_in, without_holes
from interlock.core.read.places import resolve
from interlock.core.read.shell.options import options, valued
from interlock.core.read.shell.session import UNKNOWN, Job, Stream, is_production

# program -> dialect, options that carry SQL, options that name a file of SQL, other options with values
_SQL: dict[str, tuple[str, str, str, str]] = {
    "psql": ("postgres", "-c --command", "-f --file", "-d -h -p -U -v -o -L -F -R -P -T --dbname --host --port --username --set --variable --output"),
    "pgcli": ("postgres", "-c --command", "", "-d -h -p -u -U"),
    "mysql": ("mysql", "-e --execute", "", "-h -P -u -D -S --host --port --user --database --default-character-set --defaults-file"),
    "mariadb": ("mysql", "-e --execute", "", "-h -P -u -D -S --host --port --user --database"),
    "mycli": ("mysql", "-e --execute", "", "-h -P -u -D"),
    "sqlite3": ("sqlite", "-cmd", "-init", "-separator -nullvalue"),
    "sqlite": ("sqlite", "", "-init", ""),
    "duckdb": ("duckdb", "-c -s", "-f -init", ""),
    "clickhouse-client": ("clickhouse", "-q --query", "--queries-file", "-h --host --port -u --user -d --database --password --format"),
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
    "litecli": ("sqlite", "-e --execute", "", ""),
    "libsql": ("sqlite", "", "", ""),
}


def _inside(job: Job, via: str = "") -> Job:
    """The same command as a reporter for what it carries; production when its words or surroundings say so."""
    where = job.where.inside(via or job.program)
    context = [*job.words, *(value for _, value in job.where.env)]
    for name in ("PGHOST", "PGDATABASE", "PGSERVICE", "DATABASE_URL", "MYSQL_HOST", "MYSQL_DATABASE", "RAILS_ENV", "NODE_ENV", "APP_ENV", "DJANGO_SETTINGS_MODULE"):
        context += job.host.variables.get(name, [])
    if any(is_production(word) for word in context):
        where = job.where.inside(via or job.program, "production")
    return Job(job.host, job.program, job.words, where, job.stdin)


def sql_client(job: Job) -> Stream | None:
    dialect, code, files, others = _SQL[job.program]
    found = options(job.words, valued(code) | valued(files) | valued(others))
    inner = _inside(job)
    texts = found.all(*code.split())
    operands = found.operands
    if job.program in ("sqlite3", "sqlite", "duckdb") and operands:
        job.effect("read", operands[0])
    if job.program in ("sqlite3", "sqlite", "duckdb", "libsql") and len(operands) > 1:
        texts += operands[1:]
    elif (job.program in ("cockroach",) and operands[:1] != ["sql"]) or (job.program == "snow" and operands[:1] != ["sql"]):
        return None
    for path in found.all(*files.split()):
        if path in ("-", "/dev/stdin") and job.stdin is not None:
            texts.append(job.stdin.text)
        else:
            _sql_file(inner, path)
    if not texts and not found.all(*files.split()) and job.stdin is not None and not found.has("-l", "--list", "--version", "-V"):
        _piped_sql(inner, dialect)
    for text in texts:
        _read_sql(inner, text, dialect)
    from interlock.core.read.sql.made import generated_sql

    made = [generated_sql(text) for text in texts if known(text)]
    return Stream("\n".join(text for text in made if text), frozenset({"sql"})) if any(made) else UNKNOWN


def _piped_sql(job: Job, dialect: str) -> None:
    stream = job.stdin
    assert stream is not None
    if "download" in stream.taints:
        job.effect("run_download", "the network")
    elif stream.known or without_holes(stream.text).strip():
        _read_sql(job, stream.text, dialect)
    else:
        job.effect("run_script", hole(), "sql")


def _sql_file(job: Job, path: str) -> None:
    text = job.file_text(path)
    if text is not None:
        _read_sql(job, text, "")
    else:
        job.effect("run_script", path, "sql")


def _read_sql(job: Job, text: str, dialect: str) -> None:
    from interlock.core.read.sql import read_sql

    job.step(10)
    if job.program in ("sqlite3", "duckdb") and _scratch(job):
        job = ScratchJob(job.host, job.program, job.words, job.where, job.stdin)
    try:
        read_sql(text, job, dialect)
    except RecursionError:
        job.unreadable("SQL nested too deeply", "nesting")


class ScratchJob(Job):
    """A statement in a database that can be made again: only what reaches outside of it counts."""

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        if not verb.startswith("sql_") or verb == "sql_shell":
            super().effect(verb, target, *traits)


def _scratch(job: Job) -> bool:
    """A database in memory or among temporary files can be made again."""
    files = options(job.words, valued("-cmd -init -c -s -f")).operands
    if not files:
        return False
    return files[0] in (":memory:", "") or bool(re.match(r"/tmp/|/var/tmp/|/dev/shm/", resolve(files[0], job.host.cwds[0])))


def _sql_in(flags: str, subcommand: str = "", operand: int = -1) -> Callable[[Job], Stream | None]:
    """Programs that take SQL in an option or as an operand behind a subcommand."""
    names = valued(flags)

    def handler(job: Job) -> Stream | None:
        found = options(job.words, names | valued("--location --project_id --database -d -p --db --instance"))
        line = " ".join(found.operands)
        if (subcommand and not line.startswith(subcommand)) or found.has("--dry_run", "--dry-run"):
            return None
        for text in found.all(*sorted(names)):
            _read_sql(_inside(job), text, "")
        rest = found.operands[len(subcommand.split()) :]
        if 0 <= operand < len(rest) and " " in rest[operand]:
            _read_sql(_inside(job), rest[operand], "")
        elif operand >= 0 and job.stdin is not None and job.stdin.known and not rest[operand:]:
            _read_sql(_inside(job), job.stdin.text, "")
        return None

    return handler


def powershell_sql(job: Job) -> Stream | None:
    """Invoke-Sqlcmd -Query 'text'."""
    for flag, text in zip(job.words, job.words[1:], strict=False):
        if flag.lower() in ("-query", "-q"):
            _read_sql(_inside(job), text, "tsql")
    return None


def redis(job: Job) -> Stream | None:
    from interlock.core.read.stores import read_redis, read_redis_text

    inner = _inside(job)
    read_redis(job.words, inner)
    operands = options(job.words, valued("-h -p -n -a -u -s -r -i -d --user --pass --pipe-timeout")).operands
    if not operands and job.stdin is not None:
        read_redis_text(job.stdin.text, inner)
    return None


def mongo(job: Job) -> Stream | None:
    found = options(job.words, valued("--eval -u -p --host --port --username --password --authenticationDatabase -f --file"))
    inner = _inside(job)
    for text in found.all("--eval"):
        inner.code("mongo", text, f"{job.program} --eval")
    for path in [*found.all("-f", "--file"), *(word for word in found.operands if word.endswith(".js"))]:
        text = job.file_text(path)
        if text is not None:
            inner.code("mongo", text, f"{job.program} {path}")
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
            _inside(job).code(language, text, job.program)
        if not texts and job.stdin is not None:
            _inside(job).code(language, job.stdin.text, job.program)
        return None

    return handler


def _cypher(job: Job) -> Stream | None:
    texts = options(job.words, valued("-u -p -a -d -f --format")).operands or ([job.stdin.text] if job.stdin is not None else [])
    for text in texts:
        _inside(job).code("cypher", text, job.program)
    return None


def _store(name: str) -> Callable[[Job], Stream | None]:
    def handler(job: Job) -> Stream | None:
        from interlock.core.read import stores_queues

        reader: Callable[..., None] = getattr(stores_queues, name)
        reader(job.program.removesuffix(".sh"), job.words, _inside(job))
        return None

    return handler


_SECRET_NAME = re.compile(f"{HOLE}[A-Z_]*(SECRET|PASSWORD|PASSWD|PRIVATE_KEY)[A-Z_]*{HOLE}")


def web(job: Job) -> Stream:
    """curl, wget, httpie: the requests they send, the files they send or write, and what they print."""
    from interlock.core.read import http_words
    from interlock.core.read.http import read_http

    parser = {"curl": http_words.parse_curl, "wget": http_words.parse_wget}.get(job.program, http_words.parse_httpie)
    inner = Job(job.host, job.program, job.words, job.where, job.stdin)
    prints = False
    for request in parser(job.words):
        job.step(5)
        if not request.url:
            continue
        read_http(request.method, request.url, request.body, request.headers, inner)
        _uploads(job, request.url, request.uploads, f"{request.url} {request.body}")
        if request.output and request.output not in ("-", "/dev/stdout"):
            job.effect("write", request.output, "downloaded")
            full = resolve(request.output, job.host.cwds[0])
            if not request.output.startswith("/dev/"):
                job.host.session.downloads[full] = without_holes(request.url) or "the network"
        prints = prints or request.to_stdout
    return Stream(hole_of({"download"}), frozenset({"download"}))


def _uploads(job: Job, url: str, uploads: tuple[str, ...] | list[str], text: str) -> None:
    for path in uploads:
        if path in ("-", "@-", "/dev/stdin"):
            taints = job.stdin.taints if job.stdin is not None else frozenset()
            job.effect("send", url, *(taints & {"secret", "environment"}))
            continue
        secret = "secret" in job._places(path) or path.startswith(("/etc/", "~/."))
        job.effect("send", url, *(("secret",) if secret else ()))
    carried = taints_in(text) & {"secret", "environment"}
    if not carried and _SECRET_NAME.search(text):
        carried = frozenset({"secret"})
    if carried:
        job.effect("send", url, *carried)


def lookup(job: Job) -> Stream | None:
    """dig, nslookup, ping: a secret in the name that is asked for has left."""
    carried = taints_in(" ".join(job.words)) & {"secret", "environment"}
    if carried:
        job.effect("send", "a name server", *carried)
    return Stream(hole_of({"download"}), frozenset({"download"})) if job.program == "dig" else None


def netcat(job: Job) -> Stream:
    """nc host port: what flows in is sent; a store's text protocol is read."""
    operands = options(job.words, valued("-p -s -w -q -i -X -x -e -c -I -O -T")).operands
    if job.stdin is not None and operands:
        job.effect("send", " ".join(operands), *(job.stdin.taints & {"secret", "environment"}))
        language = {"6379": "redis", "11211": "memcached"}.get(operands[-1])
        if language and job.stdin.known:
            _inside(job).code(language, job.stdin.text)
    found = options(job.words, valued("-p -s -w -q -i -X -x -e -c"))
    for program in found.all("-e", "-c", "--exec", "--sh-exec"):
        job.effect("reverse_shell", program)
    return Stream(hole_of({"download"}), frozenset({"download"}))


def tls(job: Job) -> Stream | None:
    """openssl s_client: a raw connection."""
    if job.words[:1] != ["s_client"]:
        return None
    if job.stdin is not None and job.stdin.taints & {"secret", "environment"}:
        job.effect("send", "openssl s_client", *(job.stdin.taints & {"secret", "environment"}))
    job.effect("fetch", "openssl s_client")
    return Stream(hole_of({"download"}), frozenset({"download"}))


def gist(job: Job) -> Stream | None:
    """gh gist create FILE: what it publishes."""
    if job.words[:2] == ["gist", "create"] and any("secret" in job._places(word) for word in job.words[2:] if not word.startswith("-")):
        job.effect("send", "a gist", "secret")
    return None


def socat(job: Job) -> Stream | None:
    text = " ".join(job.words)
    if re.search(r"(?i)\b(exec|system|shell):", text) and re.search(r"(?i)\b(tcp|udp|openssl|sctp)\d?(-\w+)?:", text):
        job.effect("reverse_shell", text)
    elif job.stdin is not None:
        job.effect("send", text, *(job.stdin.taints & {"secret", "environment"}))
    return Stream(hole_of({"download"}), frozenset({"download"}))


def send_files(job: Job) -> Stream | None:
    """scp, rclone copy…: a secret that leaves; scp -S names a program to run."""
    for program in options(job.words, valued("-S -i -P -o -F -c -l -J")).all("-S"):
        job.shell_text(program, f"{job.program} -S")
    for word in job.words:
        if not word.startswith("-") and ":" not in word and "secret" in job._places(word):
            if any(":" in other for other in job.words if other != word):
                job.effect("send", next(other for other in job.words if ":" in other), "secret")
    return None


def upload_object(job: Job) -> Stream | None:
    """aws s3 cp ~/.aws/credentials s3://…"""
    for word in job.words:
        if not word.startswith("-") and "://" not in word and "/" in word and "secret" in job._places(word):
            job.effect("send", next((other for other in job.words if "://" in other), "the cloud"), "secret")
    found = options(job.words, valued("--query-string --sql --sql-statement --statement --parameters"))
    for line in found.all("--parameters"):
        for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line) if "command" in line else ():
            job.shell_text(text.replace('\\"', '"'), "aws ssm", "remote")
    texts = found.all("--query-string", "--sql", "--statement")
    for text in texts:
        _read_sql(_inside(job), text, "")
    return None


def mail(job: Job) -> Stream | None:
    if job.stdin is not None and job.stdin.taints & {"secret", "environment"}:
        job.effect("send", "mail", *(job.stdin.taints & {"secret", "environment"}))
    found = options(job.words, valued("-s -a -A -r -c -b"))
    for path in found.all("-a", "-A"):
        if "secret" in job._places(path):
            job.effect("send", "mail", "secret")
    return None


def rails(job: Job) -> Stream | None:
    """rails runner 'code', rails console < text, rails dbconsole < SQL."""
    found = options(job.words, valued("-e --environment"))
    inner = _inside(job)
    if found.operands[:1] in (["runner"], ["r"]) and len(found.operands) > 1:
        code = found.operands[1]
        text = job.file_text(code) if code.endswith(".rb") else code
        inner.code("ruby", text if text is not None else hole(), "rails runner") if text is not None else job.effect("run_script", code)
    elif found.operands[:1] in (["console"], ["c"]) and job.stdin is not None:
        inner.code("ruby", job.stdin.text, "rails console")
    elif found.operands[:1] in (["dbconsole"], ["db"]) and job.stdin is not None:
        inner.code("sql", job.stdin.text, "rails dbconsole")
    return None


def django(job: Job) -> Stream | None:
    """manage.py shell -c 'code', shell < text, dbshell < SQL."""
    found = options(job.words, valued("-c --command -i --settings --database --pythonpath"))
    inner = _inside(job)
    if found.operands[:1] in (["shell"], ["shell_plus"]):
        for text in found.all("-c", "--command") or ([job.stdin.text] if job.stdin is not None else []):
            inner.code("python", text, "manage.py shell")
    elif found.operands[:1] == ["dbshell"] and job.stdin is not None:
        inner.code("sql", job.stdin.text, "manage.py dbshell")
    return None


def php_tool(job: Job) -> Stream | None:
    """artisan tinker --execute, drush php:eval, wp eval, wp db query."""
    found = options(job.words, valued("--execute"))
    inner = _inside(job)
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


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    **dict.fromkeys(_SQL, sql_client),
    "bq": _sql_in("--query", "query", 0),
    "wrangler": _sql_in("--command", "d1 execute"),
    "turso": _sql_in("", "db shell", 1),
    "prisma": _sql_in("", "db execute", 0),
    "gcloud": upload_object,
    "aws": upload_object,
    "gsutil": upload_object,
    "az": upload_object,
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
    **dict.fromkeys(("kafka-topics", "kafka-topics.sh", "kafka-consumer-groups", "kafka-consumer-groups.sh", "kafka-configs", "kafka-configs.sh", "kafka-delete-records", "kafka-delete-records.sh", "kafka-acls", "kafka-acls.sh"), _store("read_kafka")),
    **dict.fromkeys(("rabbitmqctl", "rabbitmqadmin"), _store("read_rabbit")),
    **dict.fromkeys(("etcdctl", "consul", "nats", "zkcli", "zkcli.sh", "influx"), _store("read_keys")),
    **dict.fromkeys(("curl", "wget", "http", "https", "xh", "xhs", "httpie", "curlie"), web),
    **dict.fromkeys(("nc", "ncat", "netcat"), netcat),
    "telnet": netcat,
    "socat": socat,
    **dict.fromkeys(("dig", "nslookup", "host", "ping", "drill"), lookup),
    "openssl": tls,
    "gh": gist,
    **dict.fromkeys(("scp", "rclone", "sftp", "croc", "wormhole", "s5cmd", "s3cmd", "mc"), send_files),
    **dict.fromkeys(("mail", "mailx", "mutt", "sendmail", "msmtp", "s-nail"), mail),
    "rails": rails,
    "manage.py": django,
    "django-admin": django,
    **dict.fromkeys(("artisan", "drush", "wp"), php_tool),
}
