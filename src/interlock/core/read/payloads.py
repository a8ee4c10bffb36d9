"""The parameters of a generic operation -> the code, statement or request in them, given to its reader."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.core.read.facts import Report
from interlock.core.read.params import MAX_TEXT, squash
from interlock.core.read.request_params import as_json, is_request, read_request

_SHELL = frozenset(
    "command cmd commands shell bash commandline shellcommand script cmdline runcommand sh execcommand powershellscript".split()
)
_SQL = frozenset("sql statement statements sqlquery querystring sqlstatement rawsql sqltext querytext ddl".split())
_QUERY = frozenset("query q queries mutation document gql".split())
_CODE = frozenset(
    "code source expression function javascript js python pythoncode snippet program jscode cell pagefunction eval".split()
)
_ARGS = frozenset("args arguments argv parameters params".split())
_LANGUAGE = frozenset("language lang runtime interpreter kernel syntax shell".split())

# Words of a name that say which reader its code is for.
_LANGUAGES: Mapping[str, str] = {
    "redis": "redis", "valkey": "redis", "mongo": "mongo", "mongodb": "mongo", "mongosh": "mongo", "cassandra": "cql", "cql": "cql",
    "neo4j": "cypher", "cypher": "cypher", "memcached": "memcached", "python": "python", "python3": "python", "ipython": "python",
    "jupyter": "python", "py": "python", "node": "javascript", "nodejs": "javascript", "javascript": "javascript", "js": "javascript",
    "typescript": "javascript", "ts": "javascript", "deno": "javascript", "bun": "javascript", "browser": "javascript",
    "playwright": "javascript", "puppeteer": "javascript", "ruby": "ruby", "php": "php", "perl": "perl", "lua": "lua",
    "powershell": "powershell", "pwsh": "powershell", "bash": "shell", "sh": "shell", "zsh": "shell", "shell": "shell", "terminal": "shell",
    "sql": "sql", "psql": "sql", "postgres": "sql", "postgresql": "sql", "mysql": "sql", "sqlite": "sql", "groovy": "groovy",
    "jenkins": "groovy", "r": "r", "elixir": "elixir", "tcl": "tcl", "javascript_tool": "javascript", "page": "javascript",
    "mariadb": "sql", "clickhouse": "sql", "snowflake": "sql", "bigquery": "sql", "redshift": "sql", "supabase": "sql", "duckdb": "sql",
    "mssql": "sql", "oracle": "sql", "cockroach": "sql", "database": "sql", "db": "sql", "athena": "sql", "trino": "sql", "presto": "sql",
    "cmd": "cmd", "batch": "cmd",
}  # fmt: skip
_PROGRAMS = frozenset(
    "kubectl git docker aws gcloud az helm terraform gh npm yarn pnpm podman heroku flyctl vercel supabase psql redis pulumi ansible "
    "systemctl oc doctl firebase stripe gsutil bq eksctl pip cargo make brew apt terragrunt tofu nomad consul vault argocd flux rclone".split()
)
# Verbs that look at text, and never run it.
DOCUMENTARY = frozenset(
    "explain validate lint format parse preview search find grep describe translate summarize summarise review check estimate classify "
    "tokenize encode decode hash render simulate plan diff compare log lookup suggest quote dryrun analyze analyse highlight save store "
    "record comment draft compose annotate report whatif print display beautify".split()
)
_RUNNERS = frozenset(
    "run execute exec eval evaluate invoke call start launch submit perform do process apply query debug test interpret".split()
)
_STATEMENT = re.compile(
    r"\s*(?:--[^\n]*\n\s*|/\*.{0,500}?\*/\s*)*(?:select\b.+\bfrom\b|select\s+[\w*(']|delete\s+from\s|drop\s+(?:table|database|schema|view|index|user|role|"
    r"column|function|trigger|type|sequence|owned|tablespace|collection|keyspace|materialized)|truncate\s|insert\s+(?:into|overwrite)\s|update\s+\S+"
    r"\s+set\s|alter\s+\w+\s|create\s+(?:or\s+replace\s+)?\w+\s|grant\s.+\sto\s|revoke\s.+\sfrom\s|merge\s+into\s|with\s+\w+.{0,200}?\sas\s*\(|explain\s|"
    r"begin\b|exec(?:ute)?\s|call\s|do\s+\$|replace\s+into\s|vacuum|pragma\s|copy\s+\w)",
    re.IGNORECASE | re.DOTALL,
)
_GRAPHQL = re.compile(
    r"\s*(?:#[^\n]*\n\s*)*(mutation|query|subscription|fragment)\b[^{;]{0,300}\{|\s*\{\s*\w+[^:]{0,100}[{(]", re.DOTALL
)
_KUSTO = re.compile(
    r"\s*\.(drop|delete|purge|clear|alter|create|set|append|ingest|rename|move|replace|show)\b\s*(\w{0,40})",
    re.IGNORECASE,
)
_CYPHER = re.compile(
    r"\s*(?:optional\s+)?(?:match|merge|unwind|foreach)\s*\(.{0,2000}\b(?:delete|remove|set|return)\b",
    re.IGNORECASE | re.DOTALL,
)
_KEY_LANGUAGES: Mapping[str, str] = {
    "cypher": "cypher",
    "cypherquery": "cypher",
    "cql": "cql",
    "mongo": "mongo",
    "redis": "redis",
}
_PIECE = re.compile(r"\w+|[{}():]")
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*"')
Field = Callable[[str], None]


def read_payloads(words: Sequence[str], verb: str, params: Mapping[str, Any], field: Field, out: Report) -> bool:
    """Reads what the parameters would run; True when they held something that runs. `field` gets each GraphQL mutation."""
    keys = {squash(key): value for key, value in list(params.items())[:500] if isinstance(key, str)}
    if verb in DOCUMENTARY and not is_request(keys):
        return False
    found = read_request(words, keys, field, out)
    found = _commands(words, keys, out) or found
    found = _statements(words, verb, keys, field, out) or found
    return _code(words, verb, keys, out) or found


def _text(value: object) -> str:
    """Text as it is, or lines of text as one."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value[:500]):
        return "\n".join(value[:500])
    return ""


def _language(words: Sequence[str], keys: Mapping[str, Any]) -> str:
    for key in _LANGUAGE & keys.keys():
        value = keys[key]
        if isinstance(value, str) and value.strip().lower()[:20] in _LANGUAGES:
            return _LANGUAGES[value.strip().lower()[:20]]
    known = [_LANGUAGES[word] for word in reversed(words) if word in _LANGUAGES]
    telling = [language for language in known if language not in ("shell", "sql")]
    return next(iter(telling or sorted(known, reverse=True)), "")


# -- commands ---------------------------------------------------------------------------------------------


def _commands(words: Sequence[str], keys: Mapping[str, Any], out: Report) -> bool:
    found = False
    language = _language(words, keys)
    for key in sorted(_SHELL & keys.keys()):
        value = keys[key]
        if isinstance(value, Mapping):
            found = _command_object(language, value, out) or found
            continue
        if key == "commands" and isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
            found = _each(words, value, keys, language, out) or found
            continue
        argv = argv_of(value, keys)
        if language in ("redis", "mongo", "cypher", "cql", "memcached", "sql") and (argv or _text(value)):
            out.code(language, " ".join(argv) if argv else _text(value))
        elif (
            language in ("powershell", "cmd", "python", "javascript", "ruby", "php", "perl", "lua", "groovy")
            and key not in _COMMAND_ONLY
        ):
            out.code(language, _text(value) or " ".join(argv))
        elif argv:
            out.run(_with_program(words, argv))
        elif isinstance(value, (list, tuple)):
            for item in value[:200]:
                if isinstance(item, str):
                    out.shell(item)
        elif isinstance(value, str) and value.strip():
            _shell(words, value, out)
        else:
            continue
        found = True
    if (
        not found
        and language == "redis"
        and isinstance(keys.get("args"), (list, tuple))
        and (argv := argv_of(keys["args"], {}))
    ):
        out.code("redis", " ".join(argv))
        return True
    if not found and len(words) == 1 and words[0] in _PROGRAMS:
        found = _program(words[0], keys, out)
    return found


_FRAMEWORKS = {"artisan": ("php", "artisan"), "django": ("python", "manage.py"), "manage": ("python", "manage.py")}
_COMMAND_ONLY = frozenset({"shell", "bash", "sh", "shellcommand"})


def _command_object(language: str, value: Mapping[str, Any], out: Report) -> bool:
    """{"dropDatabase": 1}: a command of MongoDB is an object, its first key says what is done."""
    if language != "mongo":
        return False
    out.code("mongo", f"db.runCommand({as_json(value)})")
    return True


def _each(words: Sequence[str], value: Sequence[Any], keys: Mapping[str, Any], language: str, out: Report) -> bool:
    """A list of commands, each of which is a list of words."""
    found = False
    for item in value[:200]:
        if argv := argv_of(item, {}):
            out.code(language, " ".join(argv)) if language == "redis" else out.run(_with_program(words, argv))
            found = True
    return found


def argv_of(value: object, keys: Mapping[str, Any]) -> list[str]:
    """The words of a command that is given as a list, or as a program and its arguments."""
    if isinstance(value, (list, tuple)):
        words = [item for item in value[:1000] if isinstance(item, (str, int, float))]
        whole = len(words) == len(value[:1000]) and not any(isinstance(item, str) and " " in item for item in words[:1])
        return [str(item) for item in words] if whole and words else []
    if not isinstance(value, str):
        return []
    for key in _ARGS & keys.keys():
        rest = keys[key]
        if isinstance(rest, (list, tuple)) and rest and " " not in value.strip():
            return [value.strip(), *(str(item) for item in rest[:1000] if isinstance(item, (str, int, float)))]
        if isinstance(rest, str) and rest.strip() and " " not in value.strip():
            return [value.strip(), *_split(rest)]
    return []


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text[:MAX_TEXT])
    except ValueError:
        return text.split()


def _with_program(words: Sequence[str], argv: list[str]) -> list[str]:
    program = next((word for word in words if word in _PROGRAMS), "")
    if words and words[-1] == "run" and program in ("npm", "yarn", "pnpm"):
        return [program, "run", *argv]
    if _FRAMEWORKS.keys() & set(words) and argv[0] not in ("php", "python", "python3"):
        return [*next(_FRAMEWORKS[word] for word in words if word in _FRAMEWORKS), *argv]
    if program and words[-1] in (program, "command", "exec", "run", "cli", "execute") and "exec" not in words[-2:-1]:
        if argv[0].rpartition("/")[2] not in (program, "sh", "bash", "sudo", "env") and words[-1] != "exec":
            return [program, *argv]
    return argv


def _shell(words: Sequence[str], text: str, out: Report) -> None:
    prefixed = _with_program(words, text.split(None, 1)[:1])
    shell_text(" ".join([*prefixed[:-1], text]), out)


def shell_text(text: str, out: Report) -> None:
    """Text that is given to a shell, of whichever system it was written for."""
    from interlock.core.read.windows.shape import looks_like_windows

    text = text[: MAX_TEXT + 1]
    language = looks_like_windows(text, "")
    if language:
        out.code(language, text)
    else:
        out.shell(text)


def _program(program: str, keys: Mapping[str, Any], out: Report) -> bool:
    """A tool that is named like a program, and gets its words as arguments."""
    for key in ("args", "arguments", "argv", "subcommand", "operation", "action"):
        value = keys.get(key)
        if isinstance(value, str) and value.strip():
            out.run([program, *_split(value), *_rest(keys, key)])
            return True
        if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value[:500]):
            out.run([program, *value[:500]])
            return True
    return False


def _rest(keys: Mapping[str, Any], used: str) -> list[str]:
    value = keys.get("args") if used != "args" else None
    if isinstance(value, (list, tuple)):
        return [str(item) for item in value[:500]]
    return [str(keys[key]) for key in ("kind", "resource", "resourcetype", "name") if isinstance(keys.get(key), str)]


# -- statements -------------------------------------------------------------------------------------------


def _statements(words: Sequence[str], verb: str, keys: Mapping[str, Any], field: Field, out: Report) -> bool:
    found = False
    for key in sorted((_SQL | _QUERY | _KEY_LANGUAGES.keys()) & keys.keys()):
        value = keys[key]
        texts = [value] if isinstance(value, str) else value[:200] if isinstance(value, (list, tuple)) else ()
        for text in texts:
            if isinstance(text, Mapping):
                text = next((item for name, item in text.items() if squash(name) in _SQL | _QUERY), "")
            if isinstance(text, str) and text.strip():
                found = _statement(words, key, text[: MAX_TEXT + 1], field, out) or found
    return found


def _statement(words: Sequence[str], key: str, text: str, field: Field, out: Report) -> bool:
    out.step()
    if kusto := _KUSTO.match(text):
        field(f"{kusto[1]}_{kusto[2]}" if kusto[1].lower() != "show" else "show")
        return True
    if _GRAPHQL.match(text):
        for name in _mutations(text):
            field(name)
        return True
    language = _KEY_LANGUAGES.get(key) or ("cypher" if _CYPHER.match(text) else _language(words, {}))
    if language in ("cypher", "cql", "redis", "mongo"):
        out.code(language, text)
    elif key in _SQL or language == "sql" or _STATEMENT.match(text):
        out.code("sql", text)
    else:
        return False
    return True


def is_statement(text: str) -> bool:
    """True for text that begins as a statement of SQL does."""
    return _STATEMENT.match(text[:5000]) is not None


def _mutations(text: str) -> list[str]:
    """The fields that a GraphQL mutation calls."""
    query = _STRINGS.sub('""', text)
    start = query.find("mutation")
    if start < 0:
        return []
    names: list[str] = []
    braces = brackets = 0
    for piece in _PIECE.findall(query[start:]):
        braces += (piece == "{") - (piece == "}")
        brackets += (piece == "(") - (piece == ")")
        if piece == ":" and braces == 1 and not brackets and names:
            names.pop()  # an alias; the field's own name follows
        elif braces == 1 and not brackets and piece not in "{}():":
            names.append(piece)
    return names[:50]


# -- code ------------------------------------------------------------------------------------------------


def _code(words: Sequence[str], verb: str, keys: Mapping[str, Any], out: Report) -> bool:
    language = _language(words, keys)
    if not (language or verb in _RUNNERS or "code" in words):
        return False
    if verb in ("create", "write", "update", "add", "set", "edit", "upload", "insert", "post", "send", "generate"):
        return False
    found = False
    for key in sorted(_CODE & keys.keys()):
        text = _text(keys[key])
        if not text.strip():
            continue
        named = language or (
            "python"
            if key.startswith("python")
            else "javascript"
            if key in ("js", "javascript", "jscode", "pagefunction")
            else ""
        )
        if named == "shell":
            out.shell(text)
        else:
            out.code(named or _guess(text), text)
        found = True
    return found


def _guess(text: str) -> str:
    """Which language code without a name is in."""
    if re.search(r"\b(?:const|let|var|=>|require\(|function|await)\b|=>|;\s*$", text):
        return "javascript"
    return "python" if re.search(r"\b(?:import|def|print|from)\b|^\s*\w+\(|\.\w+\(", text) else "other"
