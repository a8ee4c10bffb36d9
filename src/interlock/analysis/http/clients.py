"""Parses the words of an HTTP client into the requests that it would send, by the description of the program."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from interlock.analysis.programs import Program
from interlock.analysis.programs.options import CommandOptions, parse


class HttpRequest(Struct, frozen=True):
    """One request, as the client would send it."""

    method: str
    url: str
    body: str = ""
    headers: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()  # files whose content leaves
    output: str = ""  # the file that the answer is written to
    to_stdout: bool = True


def parse_requests(program: Program, words: Sequence[str]) -> list[HttpRequest]:
    """The requests of one command, given the words after its name; some clients begin anew behind a word."""
    batches: list[list[str]] = [[]]
    begins = program.http.get("next", ())
    for word in words:
        if word in begins:
            batches.append([])
        else:
            batches[-1].append(word)
    return [request for batch in batches for request in _Draft(program, parse(program, batch)).requests()]


class _Draft:
    """The parts of the requests of one batch of words."""

    def __init__(self, program: Program, found: CommandOptions) -> None:
        self.parts, self.found = program.http, found
        self.method = "".join(self.all("method")[-1:])
        self.headers = [*self.all("header"), *(f"Authorization: {value}" for value in self.all("auth"))]
        self.headers += ["Content-Type: application/json"] * len(self.all("json"))
        self.uploads = [*self.all("upload"), *self.all("file")]
        self.body: list[str] = []
        self.urls = [*filter(None, found.operands), *self.all("url")]
        for value in (*self.all("data"), *self.all("json")):
            self._add(value, [value[1:]] if value.startswith("@") and len(value) > 1 else [])
        for value in self.all("encoded"):
            name, at, path = value.partition("@")
            self._add(value, [path] if at and "=" not in name else [])
        for value in self.all("form"):
            content = value.partition("=")[2]
            files = content[1:].split(",") if content[:1] in ("@", "<") else []
            self._add(value, [part.split(";", 1)[0] for part in files if part])
        for value in self.all("raw"):
            self._add(value)
        if "items" in self.parts:
            self._read_items()

    def all(self, part: str) -> list[str]:
        return self.found.all(*self.parts.get(part, ()))

    def has(self, part: str) -> bool:
        return self.found.has(*self.parts.get(part, ()))

    def _add(self, value: str, uploads: Sequence[str] = ()) -> None:
        self.body.append(value)
        self.uploads += uploads

    def _read_items(self) -> None:
        """[METHOD] URL, and behind it headers, query parameters, fields and files."""
        if len(self.urls) > 1 and _METHOD.match(self.urls[0]):
            self.method = self.urls.pop(0)
        for item in self.urls[1:]:
            found = _ITEM.match(item)
            sign, value = (found[2], item[found.end() :]) if found else ("==", "")
            if found and sign == ":":
                self.headers.append(f"{found[1]}: {value}")
            elif sign != "==":
                self._add(item, [value.split(";", 1)[0]] if sign.endswith("@") else [])
        del self.urls[1:]

    def _verb(self) -> str:
        if self.method:
            return self.method.upper()
        if self.has("head"):
            return "HEAD"
        if self.all("upload"):
            return "PUT"
        return "POST" if (self.body and not self.has("in_query")) or self.all("form") or self.uploads else "GET"

    def requests(self) -> list[HttpRequest]:
        """One request for each URL; outputs go to the URLs in order, or the last to all of a client that saves its answers."""
        verb, outputs, saves = self._verb(), self.all("output"), "saves" in self.parts
        named = self.has("own_name") or (saves and not outputs and verb != "HEAD")
        folder = "".join(f"{one.rstrip('/')}/" for one in self.all("folder")[-1:])
        if saves:
            outputs = outputs[-1:] * len(self.urls)
        made = []
        for index, url in enumerate(self.urls):
            output = outputs[index] if index < len(outputs) else f"{folder}{_base_name(url)}" if named else ""
            body = "&".join(self.body)
            if self.has("in_query"):
                url, body = f"{url}{'&' if '?' in url else '?'}{body}" if body else url, ""
            shown = (not saves and not output) or output in ("-", "/dev/stdout")
            made.append(HttpRequest(verb, url, body, tuple(self.headers), tuple(self.uploads), output, shown))
        return made


def _base_name(url: str) -> str:
    path = url.split("?", 1)[0].split("#", 1)[0].split("://", 1)[-1]
    name = path.rsplit("/", 1)[-1] if "/" in path else ""
    return name or "index.html"


_METHOD = re.compile(r"[A-Za-z]+\Z")
_ITEM = re.compile(r"([^\s:=@]*)(:=@|=@|==|:=|:|=|@)", re.DOTALL)
