"""What goes over the network: requests, downloads, transfers, and whatever leaves this machine."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from interlock.analysis.facts import HOLE, Command, taints_in, without_holes
from interlock.analysis.http import is_deletion_name, parse_requests, read_http
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import any_word, program_set, word_set, word_table
from interlock.analysis.programs.options import holding
from interlock.analysis.shell import DOWNLOADED, Job, Reader, Stream
from interlock.analysis.targets.carried import LEAKS, carries, copy_to, leaks_of, named_files

_SECRET_NAME = lazy_regex(f"{HOLE}[A-Z_]*(SECRET|PASSWORD|PASSWD|PRIVATE_KEY)[A-Z_]*{HOLE}")


def web(job: Job) -> Stream:
    words = [*job.words, *_config_words(job)] if "config" in job.described.http else job.words
    for request in parse_requests(job.described, words):
        job.step(5)
        url, output = request.url, request.output
        if not url:
            continue
        read_http(request.method, url, request.body, request.headers, job)
        _uploads(job, url, request.uploads, f"{url} {request.body}")
        if "items" in job.described.http and not (request.body or request.uploads):
            send_stdin(job, url)
        # `Authorization: Bearer $(gh auth token)` goes to the service that gave the token.
        signs_in = _ISSUERS.match(url) is not None
        kept = [one for one in request.headers if not (signs_in and one.lower().startswith("authorization:"))]
        headers, everything = " ".join(kept), " ".join(request.headers)
        if taints_in(headers) or (HOLE in everything and _is_foreign_token(everything, url)):
            job.effect("send", url, *(taints_in(headers) or ("secret",)))
        elif not (everything or signs_in) and (leaks := taints_in(" ".join(job.words)) & LEAKS):
            job.effect("send", url, *leaks)  # in a user agent, a cookie, a name to sign in with
        if output not in ("", "-", "/dev/stdout"):
            job.effect("write", output, "downloaded")
            if not output.startswith("/dev/"):
                job.session.download(job.full(output), url)
    return DOWNLOADED


def _config_words(job: Job) -> Iterator[str]:
    """In the files that curl -K names: `url=…`, `data @x`, `-X POST`."""
    flags = job.described.http["config"]
    given = any(word.startswith(flags) for word in job.words)
    for path in job.options().all(*flags) if given else ():
        text = job.stdin.text if path == "-" and job.piped else job.file_text(path) or ""
        for line in text.splitlines()[:_MOST_LINES]:
            name, _, value = re.sub(r"\s*[=:]\s*|\s+", "=", line.strip(), count=1).partition("=")
            if name and not name.startswith("#"):
                yield name if name.startswith("-") else f"--{name}"
                yield from [value.strip("\"'")] if value else []


_MOST_LINES = 200
_WEB = lazy_regex(r"(?:https?|wss?)://", re.IGNORECASE)
_METHODS = "DELETE|PURGE|PUT|PATCH|POST"
_REQUEST = lazy_regex(f"://|{_METHODS}")  # no request is without one of these
_PATH = lazy_regex(r"/\w+/[\w/]*\w$")
_TARGETS = lazy_regex(rf"(?m)^({_METHODS}) (https?://\S+)$")  # for vegeta, hurl
_RAW = lazy_regex(rf"({_METHODS}) (/\S*) HTTP/\d")


def named_request(job: Job) -> None:
    """An undescribed client's request: an address beside a method, or beside the body sent."""
    if not (job.piped or _REQUEST.search("\0".join(job.words))):
        return
    if job.stdin.known:
        for method, url in _TARGETS.findall(job.stdin.text)[:20]:
            read_http(method, url, "", (), job)
    methods = _METHODS.split("|")
    method = next((name for word in job.words if (name := word.rpartition("=")[2]) in methods), "")
    url = next(filter(_WEB.match, job.words), "")
    if method and any(value == method and name in word_set("method_options") for name, value in pairwise(job.words)):
        url = url or next(filter(_PATH.match, job.words), "")  # of a server that the client knows
    if not url:
        return
    body = next((text for option, text in pairwise(job.words) if option in word_set("body_options")), "")
    if not body and job.stdin.known and job.stdin.text.lstrip()[:1] == "{":
        body = job.stdin.text
    if method or body:
        read_http(method or "post", url, body, (), job)


def remote_procedure(job: Job) -> None:
    """grpcurl HOST:PORT package.Service/Method: judged by its name."""
    words = job.options().operands
    if words[1:2] and words[1] not in ("list", "describe") and is_deletion_name(re.split(r"[/.]", words[1])[-1]):
        read_http("delete", "/".join(words[:2]), "", (), job)


# Where the tokens of well-known programs come from, and so may go back to.
_ISSUERS = lazy_regex(lambda: rf"https://(?:[\w-]+\.)*(?:{_any_of('issuers')})(?::443)?(?:/|$)")


def _any_of(kind: str) -> str:
    return "|".join(map(re.escape, sorted(word_set(kind))))


def _uploads(job: Job, url: str, uploads: Sequence[str], text: str) -> None:
    for path in uploads:
        if path in ("-", "@-", "/dev/stdin"):
            send_stdin(job, url)
            continue
        leaks = carries(job, path) & LEAKS or ({"secret"} if path.startswith(("/etc/", "~/.")) else ())
        job.effect("send", url, *(leaks or of_the_machine(url)))
    if leaks := find_leaks(text, url):
        job.effect("send", url, *leaks)
    elif HOLE * 2 in text.removeprefix(url):  # the output of a program
        job.effect("send", url, *of_the_machine(url))


def send_stdin(job: Job, to: str, host: str = "") -> None:
    if not job.piped:
        return
    host, text = host or to, job.stdin.text
    leaks = job.stdin.taints & LEAKS or (("secret",) if _SECRET_NAME.search(text) else ())
    typed = job.stdin.known and "bulk" not in job.stdin.taints  # which `ls` and `find` print
    job.effect("send", to, *leaks, *(() if typed else of_the_machine(host)))
    if raw := _RAW.match(text):
        read_http(raw[1], f"http://{host}{raw[2]}", text.partition("\r\n\r\n")[2], (), job)


def find_leaks(text: str, url: str) -> frozenset[str]:
    named = HOLE in text and (_SECRET_NAME.search(text) or _is_foreign_token(text, url))
    return taints_in(text) & LEAKS or frozenset({"secret"} if named else ())


# Variables with the tokens of well-known services.
_TOKENS = lazy_regex(lambda: f"{HOLE}({_any_of('token_services')})_[A-Z_]*(?:TOKEN|KEY|PAT|CREDENTIALS)[A-Z_]*{HOLE}")


def _is_foreign_token(text: str, url: str) -> bool:
    host = host_of(url)
    if "." not in host or _PRIVATE_HOST.fullmatch(host):
        return False
    hosts = word_table("token_hosts")
    return any(hosts.get(name, name) not in host for name in map(str.lower, _TOKENS.findall(text)))


def host_of(url: str) -> str:
    """The host of an address or HOST:PATH, in lower case."""
    found = _HOST.match(url)
    return found[1].lower().strip("[]").rstrip(".") if found else ""


def of_the_machine(url: str) -> tuple[str, ...]:
    """`content`, for data of a file or program that goes to an unknown host."""
    host = host_of(url)
    known = HOLE not in url.split("/", 3)[2 if "://" in url else 0]
    return ("content",) if host and known and not (_PRIVATE_HOST.fullmatch(host) or _SERVICES.fullmatch(host)) else ()


_HOST = lazy_regex(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?(\[[0-9a-fA-F:.]+\]|[^/:\s?#]+)", re.IGNORECASE)
# This machine, private networks and names of the local network; and the services that code, packages and clouds are kept with.
_PRIVATE_HOST = lazy_regex(
    r"[^.:]+|127(?:\.\d+){1,3}|::1|0\.0\.0\.0|10(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|169\.254(?:\.\d+){2}|"
    r"100\.(?:6[4-9]|[789]\d|1[01]\d|12[0-7])(?:\.\d+){2}|f[cd][0-9a-f:]+|fe80:.*|"
    r".*\.(?:local|localhost|internal|intranet|lan|home|corp|svc|test|ts\.net|cluster\.local|home\.arpa)"
)
_SERVICES = lazy_regex(lambda: rf"(?:.*\.)?(?:{_any_of('services')})")


def relay(job: Job) -> Stream:
    text = " ".join(job.words)
    if re.search(r"(?i)\b(exec|system|shell):", text) and re.search(r"(?i)\b(tcp|udp|openssl|sctp)\d?(-\w+)?:", text):
        job.effect("reverse_shell", text)
    elif peer := re.search(r"(?i)\b(?:tcp|udp|openssl|sctp|ssl)\d?(?:-connect|-sendto|-datagram)?:([^:,\s]+)", text):
        send_stdin(job, text, peer[1])
        for path in re.findall(r"(?i)\b(?:file|open|gopen|create):([^,\s]+)", text):
            job.effect("send", text, *(carries(job, path) & LEAKS or of_the_machine(peer[1])))
    return DOWNLOADED


# host:path, but no drive and no ./a:b
_AWAY = lazy_regex(r"(scp|sftp)://.*|(\[[^\]]+\]|[^/\\:]{2,}):.*|[^/\\:]:(?![\\/]).*", re.DOTALL)


def is_away(path: str) -> bool:
    return _AWAY.fullmatch(path) is not None


def apply_sends(job: Job) -> None:
    found = job.options()
    for item, operands in holding(job.described.sends, found):
        host = "".join(operands[:1]) if item.host == ("operand",) else found.value(*item.host) or ""
        to = host or item.to
        if to and item.stdin and item.content:
            send_stdin(job, to, host)
            continue
        leaks = leaks_of(job, found.all(*item.files))
        if item.stdin:
            leaks |= job.stdin.taints & LEAKS
        if item.words:
            leaks |= find_leaks(" ".join(job.words), "")
        if to and leaks:
            job.effect("send", to, *leaks)


def exchange(job: Job, sources: Sequence[str], target: str) -> None:
    """Files that go to HOST:PATH, or come from a stranger's."""
    if is_away(target):
        here = [path for path in sources if not is_away(path)]
        if sent := leaks_of(job, here) or (here and of_the_machine(target)):
            job.effect("send", target, *sent)
        return
    copy_to(job, sources, target)
    for source in sources:
        if is_away(source) and of_the_machine(source):
            _mark_download(job, source, target)


def _mark_download(job: Job, address: str, target: str) -> None:
    """Under its own or the given name; into a folder, under its name there."""
    name = re.split(r"[/:]", without_holes(address).split("?")[0].rstrip("/"))[-1]
    for path in (target, f"{target}/{name}") if target else (name,):
        if path not in (".", "..", ""):
            job.session.download(job.full(path), address)


def fetch(job: Job) -> Stream:
    found = job.options()
    folder = found.value("-d", "--dir")
    addresses = [word for word in found.operands if "://" in word]
    given = found.value("-o", "-O", "--out", "--output") or "".join({*found.operands[1:2]} - {*addresses})
    for address in addresses:
        _mark_download(job, address, f"{folder}/{given}" if folder else given)
    return DOWNLOADED


def exchange_commits(job: Job) -> None:
    """git clone from a stranger, whose files are downloads; git push to one, or of a secret just added."""
    found = job.options()
    words = found.operands
    address = "".join(words[1:2])
    if "clone" in job.words:
        if words[:1] == ["clone"] and _REMOTE.match(address) and of_the_machine(address):
            name = words[2] if len(words) > 2 else re.split(r"[/:]", address.rstrip("/"))[-1].removesuffix(".git")
            job.session.downloads[f"{job.full(name)}/"] = without_holes(address)
        if leaks := taints_in(" ".join(words[1:])) & LEAKS:
            job.effect("send", address, *leaks)
        return
    if words[:1] != ["push"] or found.has("-n", "--dry-run"):
        return
    remote = found.value("--repo") or address
    added = [words for words in _words_behind(job, "remote") if len(words) > 2 and words[0] in ("add", "set-url")]
    address = {words[-2]: words[-1] for words in added}.get(remote, remote)
    if _REMOTE.match(address) and (host := host_of(address)) and HOLE not in host:
        if ("." not in host and host != "localhost") or of_the_machine(address):
            job.effect("send", address, "content")
    if any(carries(job, word) & LEAKS for words in _words_behind(job, "add") for word in words if word[:1] != "-"):
        job.effect("send", address or "the remote", "secret")


_REMOTE = lazy_regex(r"[a-z+]+://|[\w.-]+@[\w.-]+:")


def _words_behind(job: Job, verb: str) -> Iterator[tuple[str, ...]]:
    job.step(len(job.session.facts) // 16)
    for fact in job.session.facts:
        if isinstance(fact, Command) and fact.program == job.program and verb in fact.words[:3]:
            yield fact.words[fact.words.index(verb) + 1 :]


# Programs whose name or first words say that they pass something on; and such that hand it to anyone who has a link.
_SENDER = lazy_regex(r".*(?:upload|paste.+|(?<!^pb)(?<!^wl-).paste|share|send(?!mail)|transfer|wormhole|gist).*")
_OPEN = lazy_regex(r".*(?:pastebin|.paste|transfer|0x0|filebin).*")
_SENDS = lazy_regex(lambda: rf"(?:.*[-_.:])?(?:{any_word('sending')})(?:er|s|file|object|blob)?(?:[-_.:].*)?")
_STORES = lazy_regex(lambda: rf"(?:.*[-_:])?(?:{any_word('secret_stores')})(?:[-_:].*)?")
_IDENTITY = lazy_regex(lambda: rf"-[ikceE]|--?(?:.*[-_])?(?:{any_word('identity_options')})(?:[-_]?file|[-_]path)?")
_CONTENT = lazy_regex(lambda: rf"|-[fFda]|--?(?:.*[-_])?(?:{any_word('content_options')})")
_ADDRESS = lazy_regex(
    r"(?:https?|ftps?|wss?|tcp)://|[\w.-]+@[\w.-]+:|[a-z0-9-]+(?:\.[a-z0-9-]+)+:[\d/~]", re.IGNORECASE
)


@lru_cache(maxsize=1024)
def _is_sender(program: str) -> bool:
    return program in program_set("sender") or _SENDER.fullmatch(program) is not None


@lru_cache(maxsize=1024)
def _says_send(word: str) -> bool:
    return len(word) < 60 and _SENDS.fullmatch(word) is not None  # no verb is longer


def send_named(job: Job) -> None:
    """What a program is given leaves, where its name, first words or an address beside a file make it a sender."""
    words = job.words
    valued = job.described.value_flags
    front = pairwise(("", *words[:5]))
    head = [word for before, word in front if before not in valued and not word.startswith("-")][:3]
    sender = _is_sender(job.program)
    by_name = sender or any(map(_says_send, head))
    if job.program in program_set("forge"):
        by_name = not word_set("posting").isdisjoint(head)
    to = next((word for word in words if ":" in word and _ADDRESS.match(word)), "")
    if not by_name and not word_set("copying").isdisjoint(head):
        to = next((word for word in words if ":" in word and not word.startswith("-")), "")
        by_name = bool(to)
    options = (pair for pair in pairwise(words) if pair[0][:1] == "-" and "." in pair[1])  # a host outside this network
    to = to or next((at for name, at in options if _HOST_OPTION.fullmatch(name) and _HOST_NAME.fullmatch(at)), "")
    if not (by_name or (to and of_the_machine(to))) or any(map(_STORES.fullmatch, head)):
        return
    given = [path for path in _given(words, by_name, sender) if path != to]
    if leaks := leaks_of(job, given) | ((taints_in(" ".join(words)) | job.stdin.taints) & LEAKS):
        job.effect("send", to or job.program, *leaks)
        return
    is_open = job.program in program_set("open") or _OPEN.match(job.program) is not None  # to anyone with a link
    if job.program in program_set("link"):  # where the first word says so
        is_open = head[:1] in (["send"], ["upload"])
    if is_open and word_set("receiving").isdisjoint(head) and (given or (job.piped and not job.stdin.known)):
        job.effect("send", to or job.program, "content")


_HOST_OPTION = lazy_regex(lambda: rf"-[hHbsSn]|--?(?:{any_word('host_options')})")
_HOST_NAME = lazy_regex(r"(?:[a-z][a-z0-9+.-]*://)?[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:/\S*)?", re.IGNORECASE)


def _given(words: Sequence[str], by_name: bool, sender: bool) -> Iterator[str]:
    """The files passed on: not what a program signs in with or is set up by; a sender's -i is its input."""
    for before, word in pairwise(("", *words)):
        option = before if before.startswith("-") else ""
        option = word.partition("=")[0] if word.startswith("-") and "=" in word else option
        if ((sender and option == "-i") or not _IDENTITY.fullmatch(option)) and (by_name or _CONTENT.fullmatch(option)):
            yield from named_files((word,))


READERS: dict[str, Reader] = {
    "web": web,
    "remote_procedure": remote_procedure,
    "relay": relay,
    "commits": exchange_commits,
    "fetch": fetch,
}
