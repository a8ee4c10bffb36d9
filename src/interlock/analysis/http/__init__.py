"""The words of an HTTP client -> the requests that it would send -> their effects on the server."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby, zip_longest
from typing import NamedTuple
from urllib.parse import unquote, unquote_plus, urlsplit

from msgspec import Struct

from interlock.analysis.facts import HOLE, Report
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon import object_kind, split_name, verbs
from interlock.analysis.operations.effects import ending
from interlock.analysis.operations.names import parse_name
from interlock.analysis.operations.params import each, parse_json, short_keys
from interlock.analysis.programs import Program
from interlock.analysis.programs.load import any_word, word_set
from interlock.analysis.programs.options import CommandOptions, parse


class HttpRequest(Struct, frozen=True):
    method: str
    url: str
    body: str = ""
    headers: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()  # files whose content leaves
    output: str = ""  # the file that the answer is written to


def parse_requests(program: Program, words: Sequence[str]) -> list[HttpRequest]:
    """Some clients begin anew behind a word."""
    begins = program.http.get("next", ())
    batches = (list(batch) for begin, batch in groupby(words, begins.__contains__) if not begin)
    return [request for batch in batches for request in _Draft(program, parse(program, batch)).requests()]


class _Draft:
    def __init__(self, program: Program, found: CommandOptions) -> None:
        self.parts, self.found = program.http, found
        self.method = "".join(self.all("method")[-1:])
        self.headers = [*self.all("header"), *(f"Authorization: {value}" for value in self.all("auth"))]
        self.headers += ["Content-Type: application/json"] * len(self.all("json"))
        self.uploads = [*self.all("upload"), *self.all("file")]
        self.urls = [*filter(None, found.operands), *self.all("url")]
        plain, encoded, form = [*self.all("data"), *self.all("json")], self.all("encoded"), self.all("form")
        self.body = [*plain, *encoded, *form, *self.all("raw")]
        self.uploads += [value[1:] for value in plain if value[:1] == "@" and value[1:]]
        self.uploads += [
            path for name, at, path in (value.partition("@") for value in encoded) if at and "=" not in name
        ]
        contents = (value.partition("=")[2] for value in form)
        files = (part for text in contents if text[:1] in ("@", "<") for part in text[1:].split(","))
        self.uploads += [part.split(";", 1)[0] for part in files if part]
        if "items" in self.parts:
            self._read_items()

    def all(self, part: str) -> list[str]:
        return self.found.all(*self.parts.get(part, ()))

    def has(self, part: str) -> bool:
        return self.found.has(*self.parts.get(part, ()))

    def _read_items(self) -> None:
        """[METHOD] URL, then headers, query parameters, fields and files."""
        if len(self.urls) > 1 and re.match(r"[A-Za-z]+\Z", self.urls[0]):
            self.method = self.urls.pop(0)
        for item in self.urls[1:]:
            found = _ITEM.match(item)
            sign, value = (found[2], item[found.end() :]) if found else ("==", "")
            if found and sign == ":":
                self.headers.append(f"{found[1]}: {value}")
            elif sign != "==":
                self.body.append(item)
                self.uploads += [value.split(";", 1)[0]] * sign.endswith("@")
        del self.urls[1:]

    def requests(self) -> list[HttpRequest]:
        """Outputs go to the URLs in order, or the last to all of a client that saves its answers."""
        posts = (self.body and not self.has("in_query")) or self.all("form") or self.uploads
        implied = "HEAD" if self.has("head") else "PUT" if self.all("upload") else "POST" if posts else "GET"
        verb, outputs, saves = self.method.upper() or implied, self.all("output"), "saves" in self.parts
        named = self.has("own_name") or (saves and not outputs and verb != "HEAD")
        folder = "".join(f"{one.rstrip('/')}/" for one in self.all("folder")[-1:])
        if saves:
            outputs = outputs[-1:] * len(self.urls)
        made = []
        for url, output in zip_longest(self.urls, outputs[: len(self.urls)]):
            if output is None:
                name = re.split(r"[?#]", url)[0].split("://", 1)[-1].partition("/")[2].rpartition("/")[2]
                output = f"{folder}{name or 'index.html'}" if named else ""
            body = "&".join(self.body)
            if self.has("in_query"):
                url, body = f"{url}{'&' if '?' in url else '?'}{body}" if body else url, ""
            made.append(HttpRequest(verb, url, body, tuple(self.headers), tuple(self.uploads), output))
        return made


_ITEM = re.compile(r"([^\s:=@]*)(:=@|=@|==|:=|:|=|@)", re.DOTALL)


_READS = frozenset({"get", "head", "options", "trace", "propfind"})
_OVERRIDE = lazy_regex(r"x-(?:http-)?method(?:-override)?\s*:\s*(\w+)", re.IGNORECASE)
_MONEY = lazy_regex(lambda: rf"(?:^|/)(?:{any_word('money_paths')})(?:/|$)")
_BODY_READ = 200_000
_SEARCH_HOSTS = lazy_regex(r"(?:^|[.\-_])(?:es|elastic\w*|opensearch\w*)(?:[.\-_\d]|$)")


def read_http(method: str, url: str, body: str, headers: Sequence[str], out: Report) -> None:
    out.step()
    verb = (method or "get").strip().lower()
    place = urlsplit_safely(url)
    if verb not in _READS or verb == "get":  # the method of an override header, which the server obeys
        overrides = (_OVERRIDE.match(header.strip()) for header in headers)
        verb = next((found[1].lower() for found in overrides if found), verb)
    for text in (body[:_BODY_READ], place.query):  # in a form or the address, which many frameworks obey
        if "_method" in text and (field := re.search(r"(?i)(?:^|[&?\s{,\"'])_method[\"']?\s*[=:]\s*[\"']?(\w+)", text)):
            verb = field[1].lower()
    if verb in ("purge", "unlink", "ban", "unlock"):  # methods that caches and WebDAV add
        verb = "delete"
    traits = ("local",) if place.host in {"localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"} else ()
    if HOLE in verb:
        out.unreadable("an HTTP method made at run time", "payload")
        return
    if verb not in _READS or place.port:  # the query of a search is a text to look for
        _read_statement(place.query, body, out)
    if verb in _READS:
        out.effect("fetch", url, *traits)
        return
    parts = [part for part in place.path.split("/") if part]
    if parts and (effect := _searched(verb, place, body, parts)):
        out.effect(*effect)
        return
    if verb == "post" and _deletes_by_graphql(place.path, body):
        verb = "delete"
    elif verb != "delete" and (_path_deletes(place.path) or _body_deletes(body) or _field_ends(verb, place.path, body)):
        traits = ("deletes", *traits)
    elif _MONEY.search(place.path.lower()) and f".{place.host}".endswith(
        tuple(f".{one}" for one in word_set("money_hosts"))
    ):
        traits = ("payment", *traits)
    out.effect("http", url, verb, *traits)


class UrlParts(NamedTuple):
    host: str
    port: str
    path: str
    query: str


def urlsplit_safely(url: str) -> UrlParts:
    """The parts of a URL, with or without a scheme; nothing is refused."""
    text = url.strip()
    if text.startswith((":", "/")):  # httpie's :3000/path
        text = "localhost" + text
    if "://" not in text[:16]:
        text = "http://" + text
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").lower()
    except ValueError:
        return UrlParts(text, "", "", "")
    port = parts.netloc.rpartition(":")[2]
    return UrlParts(host, port if port.isdecimal() else "", unquote(parts.path), parts.query)


def _path_deletes(path: str) -> bool:
    """/admin/tsdb/delete_series, /v1/deleteUser, /v1/projects/x:delete; a part of its own is left to the rules."""
    last = path.rstrip("/").rpartition("/")[2].rpartition(":")[2][:100]
    if (method := last.rpartition(".")[2])[:1].isupper():  # users.DeleteUser
        last = method
    lowered = last.lower()
    if not any(word in lowered for word in word_set("ending_hints")):
        return False
    words = [word for segment in split_name(last) for word in segment if word not in word_set("ending_how")]
    kind = verbs().get(words[0], "") if words and not last.startswith("_") else ""
    if kind not in word_set("ending_kinds"):
        return False
    if len(words) == 1:
        return path.endswith(f":{last}") or words[0] in word_set("ending_alone") or last.lower() != words[0]
    object = object_kind(tuple(words[1:]))[0]
    return object != "light" and bool(object or kind == "delete")


_BODY_ACTIONS = lazy_regex(
    r"^\s*\{[^{}\[\]]{0,300}\"(?:action|op|operation|method|command|verb|cmd)\"\s*:\s*\"([\w.:-]{3,60})\"",
    re.IGNORECASE,
)
_FORM_ACTIONS = lazy_regex(
    r"(?:^|&)(?:action|op|operation|method|command|verb|cmd)=([\w.:-]{3,60})(?:&|$)", re.IGNORECASE
)
_BODY_DELETES = lazy_regex(
    r"\s*(?:<delete>|\{\s*\"delete\"\s*:\s*[\[{\"])|.*\"(?:_deleted|(?:drop|delete|purge|wipe|truncate)_?all)\"\s*:\s*true",
    re.IGNORECASE | re.DOTALL,
)


def _body_deletes(body: str) -> bool:
    """{"action": "delete", …}, <delete><query>…, {"delete": {"query": …}}"""
    text = body[:_BODY_READ]
    if not any(word in text for word in word_set("body_hints")):
        return False
    if _BODY_DELETES.match(text):
        return True
    named = _BODY_ACTIONS.match(text) or _FORM_ACTIONS.search(text)
    return named is not None and any(is_deletion_name(part) for part in re.split(r"[.:]", named.group(1)))


def _field_ends(verb: str, path: str, body: str) -> bool:
    """PATCH /users/3 {"active": false}: an update whose new value ends what it is about."""
    if verb not in ("patch", "put") or not body.lstrip().startswith("{"):
        return False
    nouns = [part for part in path.split("/") if part.isalpha()]
    acts = parse_name(split_name(f"update_{nouns[-1]}"))[1] if nouns else []
    fields = short_keys(parse_json(body) or {}).items() if acts else ()
    return any(ending(acts[0], key, value) for key, value in fields)


_STATEMENT = lazy_regex(
    r"(?:^|.*&)(?:q|query|sql|stmt)=([^&]{5,5000})|\{.{0,200}?\"(?:sql|query|q|stmt|statement)\"\s*:\s*\"([^\"]{5,5000})\"|\s*((?:drop|truncate|delete\s+from|alter|detach)\s.+)",
    re.I | re.S,
)


def _read_statement(query: str, body: str, out: Report) -> None:
    """?query=DROP TABLE t, or the body itself."""
    for text in (query, body[:_BODY_READ]):
        if found := _STATEMENT.match(text):
            statement = unquote_plus(found[1] or "") or found[2] or found[3]
            if statement and _DESTROYS.match(statement):
                out.code("sql", statement)


_DESTROYS = lazy_regex(
    lambda: (
        rf"(?i)\s*(?:drop\s+(?:{any_word('dropped_by_http')})|truncate\s|delete\s+from|(?:alter|detach)\s+table|detach\s+database)"
    )
)


def _searched(verb: str, place: UrlParts, body: str, parts: Sequence[str]) -> tuple[str, ...]:
    """Whole indices go by their bare name; none for another server than Elasticsearch or OpenSearch, or a mere read."""
    first, last = parts[0], parts[-1]
    if last == "_delete_by_query" and verb == "post":
        index = first if len(parts) > 1 else "_all"
        return "store_delete", index, *["unfiltered"] * _matches_all(body, place.query)
    if last == "_update_by_query" and verb == "post":
        return "store_write", first
    engine = place.port in ("9200", "9201") or bool(_SEARCH_HOSTS.search(place.host))
    if verb != "delete" or not (engine or list(parts) in (["_all"], ["*"])):
        return ()
    if len(parts) == 1:
        if first == "_all" or first.startswith("*"):
            return "store_drop", first, "all"
        return () if first.startswith("_") else ("store_drop", first, "index")
    if first == "_data_stream":
        return "store_drop", parts[1], "all" if parts[1] == "*" else "index"
    if first == "_snapshot":
        return "store_drop", "/".join(parts[1:]), "collection"
    if parts[1] in ("_doc", "_source") or (first not in word_set("search_paths") and len(parts) == 3):
        return "store_delete", "/".join(parts)
    return ()


def _matches_all(body: str, query: str) -> bool:
    if "q=" in query:
        return any(part in ("q=*", "q=*:*", "q=%2A") for part in query.split("&"))
    asked = parse_json(body) if body.strip() else {}
    if asked is None:
        return "match_all" in body and HOLE not in body
    wanted = asked.get("query") if isinstance(asked, dict) else None
    if not wanted or not isinstance(wanted, dict):
        return True
    parts = [wanted]
    if isinstance(wanted.get("bool"), dict):
        clauses = filter(None, wanted["bool"].values())
        parts = [part for clause in clauses for part in each(clause)]
    return "max_docs" not in asked and all("match_all" in part for part in parts if isinstance(part, dict))


def _deletes_by_graphql(path: str, body: str) -> bool:
    text = body[:_BODY_READ]
    if "mutation" not in text or not ("graphql" in path.lower() or '"query"' in text):
        return False
    asked = parse_json(text)
    query = asked.get("query", "") if isinstance(asked, dict) else text
    if not isinstance(query, str) or "mutation" not in query:
        return False
    fields = re.sub(r'"(?:[^"\\]|\\.)*"', '""', query)
    return any(is_deletion_name(name) for name in root_fields(fields[fields.find("mutation") :]))


def root_fields(query: str) -> list[str]:
    """The names at the first level of a selection, arguments left out."""
    names: list[str] = []
    braces = brackets = 0
    for piece in re.findall(r"\w+|[{}():]", query):
        braces += (piece == "{") - (piece == "}")
        brackets += (piece == "(") - (piece == ")")
        if braces != 1 or brackets or piece in "{}()":
            continue
        if piece == ":":
            del names[-1:]  # an alias; the field's own name follows
        else:
            names.append(piece)
    return names


def is_deletion_name(name: str) -> bool:
    """True for the name of a call that deletes, as GraphQL fields and remote procedures have them."""
    return name.lower().startswith(tuple(word_set("call_deletes"))) or name.endswith(tuple(word_set("call_deleted")))
