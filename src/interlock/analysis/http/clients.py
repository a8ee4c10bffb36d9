"""Parses the arguments of curl, wget and httpie into the requests they would send."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from msgspec import Struct, field


class HttpRequest(Struct, frozen=True):
    """One request, as the client would send it."""

    method: str
    url: str
    body: str = ""
    headers: tuple[str, ...] = ()
    uploads: tuple[str, ...] = ()  # files whose content leaves
    output: str = ""  # the file that the answer is written to
    to_stdout: bool = True


class _Draft(Struct):
    """The request, as far as the words were read."""

    method: str = ""
    urls: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    headers: list[str] = field(default_factory=list)
    uploads: list[str] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    remote_names: int = 0
    in_query: bool = False  # curl -G
    head: bool = False
    form: bool = False
    put: bool = False
    spider: bool = False
    folder: str = ""  # wget -P

    def requests(self, method: str, to_stdout: bool) -> list[HttpRequest]:
        """One request for each URL; outputs go to the URLs in order."""
        made = []
        for index, url in enumerate(self.urls):
            output = self.outputs[index] if index < len(self.outputs) else ""
            if not output and index < len(self.outputs) + self.remote_names:
                output = f"{self.folder.rstrip('/')}/{_base_name(url)}" if self.folder else _base_name(url)
            body = "&".join(self.body)
            if self.in_query:
                url, body = f"{url}{'&' if '?' in url else '?'}{body}" if body else url, ""
            shown = (to_stdout and not output) or output in ("-", "/dev/stdout")
            made.append(HttpRequest(method, url, body, tuple(self.headers), tuple(self.uploads), output, shown))
        return made


def _base_name(url: str) -> str:
    path = url.split("?", 1)[0].split("#", 1)[0].split("://", 1)[-1]
    name = path.rsplit("/", 1)[-1] if "/" in path else ""
    return name or "index.html"


# curl: which options take a word, and what that word does.
_CURL_TAKES = frozenset(
    "abstract-unix-socket alt-svc aws-sigv4 cacert capath cert cert-type ciphers config connect-timeout connect-to "
    "continue-at cookie "
    "cookie-jar crlfile curves data data-ascii data-binary data-raw data-urlencode delegation dns-interface "
    "dns-servers doh-url "
    "dump-header engine etag-compare etag-save expect100-timeout form form-string ftp-account ftp-method ftp-port "
    "hostpubmd5 header "
    "hsts interface ipfs-gateway json keepalive-time key key-type krb limit-rate local-port login-options mail-auth "
    "mail-from mail-rcpt "
    "max-filesize max-redirs max-time netrc-file noproxy oauth2-bearer output output-dir parallel-max pass "
    "pinnedpubkey preproxy proto "
    "proto-default proxy proxy-header proxy-user pubkey quote random-file range rate referer request request-target "
    "resolve retry "
    "retry-delay retry-max-time socks4 socks4a socks5 socks5-hostname speed-limit speed-time stderr telnet-option "
    "time-cond tls-max "
    "tls13-ciphers trace trace-ascii unix-socket upload-file url url-query user user-agent variable write-out".split()
)
_CURL_SHORT = {
    "A": "user-agent", "b": "cookie", "c": "cookie-jar", "C": "continue-at", "d": "data", "D": "dump-header",
    "e": "referer",
    "E": "cert", "F": "form", "H": "header", "K": "config", "m": "max-time", "o": "output", "P": "ftp-port",
    "Q": "quote",
    "r": "range", "t": "telnet-option", "T": "upload-file", "u": "user", "U": "proxy-user", "w": "write-out",
    "x": "proxy",
    "X": "request", "y": "speed-time", "Y": "speed-limit", "z": "time-cond", "h": "help-category",
    "G": "get", "I": "head", "O": "remote-name", "J": "remote-header-name",
}  # fmt: skip


def _curl_data(draft: _Draft, value: str) -> None:
    draft.body.append(value)
    if value.startswith("@") and len(value) > 1:
        draft.uploads.append(value[1:])


def _curl_urlencode(draft: _Draft, value: str) -> None:
    draft.body.append(value)
    name, at, path = value.partition("@")
    if at and "=" not in name:
        draft.uploads.append(path)


def _curl_form(draft: _Draft, value: str) -> None:
    draft.body.append(value)
    draft.form = True
    content = value.partition("=")[2]
    if content[:1] in ("@", "<"):
        draft.uploads.extend(part.split(";", 1)[0] for part in content[1:].split(",") if part)


def _curl_json(draft: _Draft, value: str) -> None:
    _curl_data(draft, value)
    draft.headers.append("Content-Type: application/json")


def _curl_upload(draft: _Draft, value: str) -> None:
    draft.put = True
    draft.uploads.append(value)


def _curl_raw(draft: _Draft, value: str) -> None:
    draft.body.append(value)


def _set_method(draft: _Draft, value: str) -> None:
    draft.method = value


_CURL_DOES: dict[str, Callable[[_Draft, str], None]] = {
    "request": _set_method,
    "data": _curl_data, "data-ascii": _curl_data, "data-binary": _curl_data, "data-raw": _curl_raw, "json": _curl_json,
    "data-urlencode": _curl_urlencode, "form": _curl_form, "form-string": _curl_raw, "upload-file": _curl_upload,
    "header": lambda draft, value: draft.headers.append(value),
    "output": lambda draft, value: draft.outputs.append(value),
    "url": lambda draft, value: draft.urls.append(value),
    "user": lambda draft, value: draft.headers.append(f"Authorization: {value}"),
}  # fmt: skip


def _curl_flag(draft: _Draft, name: str) -> None:
    if name == "get":
        draft.in_query = True
    elif name == "head":
        draft.head = True
    elif name in ("remote-name", "remote-name-all"):
        draft.remote_names += 1 if name == "remote-name" else 10_000


def _long_name(name: str) -> str:
    """curl takes the beginning of a long option for the option."""
    if name in _CURL_TAKES or name in ("get", "head", "remote-name"):
        return name
    found = [option for option in _CURL_TAKES if option.startswith(name)] if len(name) > 2 else []
    return min(found, key=len, default=name)


def parse_curl(words: Sequence[str]) -> list[HttpRequest]:
    """The requests of one curl command, given the words after its name; `--next` begins anew."""
    requests: list[HttpRequest] = []
    draft, index, options = _Draft(), 0, True
    while index < len(words):
        word = words[index]
        index += 1
        following = words[index] if index < len(words) else ""
        if word == "--" and options:
            options = False
        elif word in ("--next", "-:") and options:
            requests += _curl_requests(draft)
            draft = _Draft()
        elif word.startswith("--") and options:
            index += _curl_long(draft, word[2:], following)
        elif word.startswith("-") and len(word) > 1 and options:
            index += _curl_short(draft, word[1:], following)
        elif word:
            draft.urls.append(word)
    return requests + _curl_requests(draft)


def _curl_long(draft: _Draft, text: str, following: str) -> int:
    """One long option; how many further words it took."""
    name, equals, value = text.partition("=")
    name = _long_name(name)
    if name not in _CURL_TAKES:
        _curl_flag(draft, name)
        return 0
    if name in _CURL_DOES:
        _CURL_DOES[name](draft, value if equals else following)
    return 0 if equals else 1


def _curl_short(draft: _Draft, letters: str, following: str) -> int:
    """A bundle of short options; how many further words it took."""
    for place, letter in enumerate(letters):
        name = _CURL_SHORT.get(letter, "")
        if name not in _CURL_TAKES:
            _curl_flag(draft, name)
            continue
        value = letters[place + 1 :]
        if name in _CURL_DOES:
            _CURL_DOES[name](draft, value or following)
        return 0 if value else 1
    return 0


def _curl_requests(draft: _Draft) -> list[HttpRequest]:
    if draft.method:
        method = draft.method.upper()
    elif draft.head:
        method = "HEAD"
    elif draft.put:
        method = "PUT"
    else:
        method = "POST" if (draft.body and not draft.in_query) or draft.form else "GET"
    return draft.requests(method, to_stdout=True)


_WGET_TAKES = frozenset("aAeiotTwQUBPDIXRl")
_WGET_LONG = frozenset(
    "append-output execute input-file base output-file tries timeout wait waitretry quota user-agent "
    "directory-prefix domains "
    "include-directories exclude-directories reject accept level header user password referer load-cookies "
    "save-cookies certificate "
    "ca-certificate private-key limit-rate method body-data body-file post-data post-file output-document bind-address "
    "dns-timeout connect-timeout read-timeout max-redirect cut-dirs default-page http-user http-password "
    "proxy-user".split()
)


def parse_wget(words: Sequence[str]) -> list[HttpRequest]:
    """The requests of one wget command, given the words after its name."""
    draft, index, options = _Draft(), 0, True
    while index < len(words):
        word = words[index]
        index += 1
        following = words[index] if index < len(words) else ""
        if word == "--" and options:
            options = False
        elif word.startswith("--") and options:
            index += _wget_long(draft, word[2:], following)
        elif word.startswith("-") and len(word) > 1 and options:
            index += _wget_short(draft, word[1:], following)
        elif word:
            draft.urls.append(word)
    method = (draft.method or ("HEAD" if draft.spider else "POST" if draft.body or draft.uploads else "GET")).upper()
    if not draft.outputs and not draft.spider:
        draft.remote_names = len(draft.urls)
    elif draft.outputs:
        draft.outputs = draft.outputs[-1:] * max(1, len(draft.urls))
    return draft.requests(method, to_stdout=False)


def _wget_long(draft: _Draft, text: str, following: str) -> int:
    name, equals, value = text.partition("=")
    value = value if equals else following
    if name == "spider":
        draft.spider = True
    elif name == "method":
        draft.method = value
    elif name == "header":
        draft.headers.append(value)
    elif name == "directory-prefix":
        draft.folder = value
    elif name == "output-document":
        draft.outputs.append(value)
    elif name in ("post-data", "body-data"):
        draft.body.append(value)
    elif name in ("post-file", "body-file"):
        draft.uploads.append(value)
    return 1 if name in _WGET_LONG and not equals else 0


def _wget_short(draft: _Draft, letters: str, following: str) -> int:
    if letters[0] == "n" and len(letters) == 2:  # -nc, -nv, -np: two letters, one option
        return 0
    for place, letter in enumerate(letters):
        value = letters[place + 1 :]
        if letter == "O":
            draft.outputs.append(value or following)
        elif letter == "P":
            draft.folder = value or following
        elif letter not in _WGET_TAKES:
            continue
        return 0 if value else 1
    return 0


_METHOD = re.compile(r"[A-Za-z]+\Z")
_ITEM = re.compile(r"([^\s:=@]*)(:=@|=@|==|:=|:|=|@)", re.DOTALL)
_HTTPIE_TAKES = frozenset(
    "-a --auth -A --auth-type -o --output --session --session-read-only --proxy --timeout --verify --cert --cert-key "
    "-p --print --raw "
    "--pretty -s --style --boundary --max-redirects --format-options --response-charset --response-mime --ssl "
    "--ciphers".split()
)


def parse_httpie(words: Sequence[str]) -> list[HttpRequest]:
    """The request of one http, https or xh command, given the words after its name."""
    draft, index, plain = _Draft(), 0, list[str]()
    while index < len(words):
        word = words[index]
        index += 1
        name, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if name in _HTTPIE_TAKES:
            if not equals:
                value = words[index] if index < len(words) else ""
                index += 1
            _httpie_option(draft, name, value)
        elif word in ("-d", "--download"):
            draft.remote_names = 1
        elif not word.startswith("-") or len(word) == 1:
            plain.append(word)
    if len(plain) > 1 and _METHOD.match(plain[0]):
        draft.method = plain.pop(0).upper()
    draft.urls = plain[:1]
    for item in plain[1:]:
        _httpie_item(draft, item)
    return draft.requests(draft.method or ("POST" if draft.body or draft.uploads else "GET"), to_stdout=True)


def _httpie_option(draft: _Draft, name: str, value: str) -> None:
    if name in ("-o", "--output"):
        draft.outputs.append(value)
    elif name == "--raw":
        draft.body.append(value)
    elif name in ("-a", "--auth"):
        draft.headers.append(f"Authorization: {value}")


def _httpie_item(draft: _Draft, item: str) -> None:
    """One request item: a header, a query parameter, a field or a file."""
    found = _ITEM.match(item)
    if not found:
        return
    sign, value = found.group(2), item[found.end() :]
    if sign == ":":
        draft.headers.append(f"{found.group(1)}: {value}")
    elif sign == "==":
        return
    elif sign.endswith("@"):
        draft.uploads.append(value.split(";", 1)[0])
        draft.body.append(item)
    else:
        draft.body.append(item)
