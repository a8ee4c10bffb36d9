"""Programs that talk to the network: requests, uploads, downloads, and the command scripts of file transfer clients."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from interlock.analysis.facts import HOLE, hole_of, taints_in, without_holes
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.places import resolve
from interlock.analysis.programs import Program
from interlock.analysis.programs.options import parse
from interlock.analysis.shell import Job, Reader, Stream
from interlock.analysis.targets.carried import LEAKS, carries

_SECRET_NAME = lazy_regex(f"{HOLE}[A-Z_]*(SECRET|PASSWORD|PASSWD|PRIVATE_KEY)[A-Z_]*{HOLE}")


def web(job: Job, program: Program) -> Stream:
    """The requests of an HTTP client, the files that it sends or writes, and what it prints."""
    from interlock.analysis.http import parse_requests, read_http

    inner = Job(job.host, job.program, job.words, job.where, job.stdin)
    words = [*job.words, *_config_words(job, program)] if "config" in program.http else job.words
    for request in parse_requests(program, words):
        job.step(5)
        if not request.url:
            continue
        read_http(request.method, request.url, request.body, request.headers, inner)
        _uploads(job, request.url, request.uploads, f"{request.url} {request.body}")
        if "items" in program.http and not request.body and not request.uploads:
            send_stdin(job, request.url)
        headers = " ".join(one for one in request.headers if not _signs_in(one, request.url))
        everything = " ".join(request.headers)
        if taints_in(headers) or (HOLE in everything and _is_foreign_token(everything, request.url)):
            job.effect("send", request.url, *(taints_in(headers) or ("secret",)))
        elif not everything and (leaks := taints_in(" ".join(job.words)) & LEAKS) and not _ISSUERS.match(request.url):
            job.effect("send", request.url, *leaks)  # in a user agent, a cookie, a name to sign in with
        if request.output and request.output not in ("-", "/dev/stdout"):
            job.effect("write", request.output, "downloaded")
            full = resolve(request.output, job.host.cwds[0])
            if not request.output.startswith("/dev/"):
                job.host.session.downloads[full] = without_holes(request.url) or "the network"
    return Stream(hole_of({"download"}), frozenset({"download"}))


def _config_words(job: Job, program: Program) -> Iterator[str]:
    """The options in the files that curl -K names: `url=…`, `data @x`, `-X POST`."""
    flags = program.http["config"]
    if not any(word.startswith(flags) for word in job.words):
        return
    for path in parse(program, job.words).all(*flags):
        text = job.stdin.text if path == "-" and job.stdin is not None else job.file_text(path) or ""
        for line in text.splitlines()[:_MOST_LINES]:
            name, _, value = _CONFIG_LINE.sub("=", line.strip(), count=1).partition("=")
            if name and not name.startswith("#"):
                yield name if name.startswith("-") else f"--{name}"
                if value:
                    yield value.strip("\"'")


_CONFIG_LINE = lazy_regex(r"\s*[=:]\s*|\s+")
_MOST_LINES = 200
_WEB = lazy_regex(r"(?:https?|wss?)://", re.IGNORECASE)
_METHODS = frozenset("DELETE PURGE PUT PATCH POST".split())
_REQUEST = lazy_regex(r"://|DELETE|PURGE|PUT|PATCH|POST")  # no request is without one of these
_BODY_OPTIONS = frozenset("-d -b --data --body --json --data-raw --payload --message".split())
_METHOD_OPTIONS = frozenset({"-X", "-m", "-M", "--method", "--request"})
_PATH = lazy_regex(r"/\w+/[\w/]*\w$")
_TARGETS = lazy_regex(r"(?m)^(DELETE|PURGE|PUT|PATCH|POST) (https?://\S+)$")  # for vegeta, hurl
_RAW = lazy_regex(r"(DELETE|PURGE|PUT|PATCH|POST) (/\S*) HTTP/\d")


def named_request(job: Job) -> None:
    """The request of a client that nobody described: an address beside a method, or beside the body that it is sent."""
    if job.stdin is None and not _REQUEST.search("\0".join(job.words)):
        return
    from interlock.analysis.http import read_http

    if job.stdin is not None and job.stdin.known:
        for method, url in _TARGETS.findall(job.stdin.text)[:20]:
            read_http(method, url, "", (), job)
    method = next((name for word in job.words if (name := word.rpartition("=")[2]) in _METHODS), "")
    url = next((word for word in job.words if _WEB.match(word)), "")
    if method and any(option in _METHOD_OPTIONS and value == method for option, value in pairwise(job.words)):
        url = url or next(filter(_PATH.match, job.words), "")  # of a server that the client knows
    if not url:
        return
    body = next((text for option, text in pairwise(job.words) if option in _BODY_OPTIONS), "")
    if not body and job.stdin is not None and job.stdin.known and job.stdin.text.lstrip()[:1] == "{":
        body = job.stdin.text
    if method or body:
        read_http(method or "post", url, body, (), job)


def remote_procedure(job: Job, program: Program) -> Stream | None:
    """grpcurl HOST:PORT package.Service/Method: a call that is judged by its name."""
    from interlock.analysis.http import is_deletion_name, read_http

    words = parse(program, job.words).operands
    if words[1:2] and words[1] not in ("list", "describe") and is_deletion_name(re.split(r"[/.]", words[1])[-1]):
        read_http("delete", "/".join(words[:2]), "", (), job)
    return None


# Where the tokens of well-known programs come from, and so may go back to.
_ISSUERS = lazy_regex(
    r"https://(?:[\w-]+\.)*(?:github\.com|gitlab\.com|googleapis\.com|azure\.com|microsoft\.com|heroku\.com|amazonaws\.com|digitalocean\.com|fly\.io|cloudflare\.com)(?::443)?(?:/|$)"
)


def _signs_in(header: str, url: str) -> bool:
    """`Authorization: Bearer $(gh auth token)` to the service that gave the token."""
    return header.lower().startswith("authorization:") and _ISSUERS.match(url) is not None


def _uploads(job: Job, url: str, uploads: tuple[str, ...] | list[str], text: str) -> None:
    for path in uploads:
        if path in ("-", "@-", "/dev/stdin"):
            send_stdin(job, url)
            continue
        leaks = carries(job, path) & LEAKS
        if not leaks and path.startswith(("/etc/", "~/.")):
            leaks = frozenset({"secret"})
        job.effect("send", url, *(leaks or of_the_machine(url)))
    if leaks := find_leaks(text, url):
        job.effect("send", url, *leaks)
    elif HOLE * 2 in text.removeprefix(url):  # the output of a program
        job.effect("send", url, *of_the_machine(url))


def send_stdin(job: Job, to: str, host: str = "") -> None:
    """What flows in leaves: text in the command itself, or something of the machine."""
    if job.stdin is not None:
        leaks = job.stdin.taints & LEAKS or (
            frozenset({"secret"}) if _SECRET_NAME.search(job.stdin.text) else frozenset()
        )
        typed = job.stdin.known and "bulk" not in job.stdin.taints  # which `ls` and `find` print
        job.effect("send", to, *leaks, *(() if typed else of_the_machine(host or to)))
        if raw := _RAW.match(job.stdin.text):
            from interlock.analysis.http import read_http

            read_http(raw[1], f"http://{host or to}{raw[2]}", job.stdin.text.partition("\r\n\r\n")[2], (), job)


def find_leaks(text: str, url: str) -> frozenset[str]:
    """Secrets in a request: what flowed in, a variable with the name of a secret, or a token of another service than the one asked."""
    found = taints_in(text) & LEAKS
    if not found and HOLE in text and (_SECRET_NAME.search(text) or _is_foreign_token(text, url)):
        return frozenset({"secret"})
    return found


# Variables with the tokens of well-known services, and a part of the names of the hosts they are for.
_TOKENS = lazy_regex(
    f"{HOLE}(GITHUB|GH|GITLAB|NPM|NODE_AUTH|AWS|OPENAI|ANTHROPIC|SLACK|STRIPE|HEROKU|CLOUDFLARE|CF|DIGITALOCEAN|GOOGLE|AZURE|HF|HUGGINGFACE|PYPI|TWINE|DOCKER|SENTRY)"
    f"_[A-Z_]*(?:TOKEN|KEY|PAT|CREDENTIALS)[A-Z_]*{HOLE}"
)
_HOST_WORDS = {
    "gh": "github", "node_auth": "npm", "aws": "amazonaws", "cf": "cloudflare", "hf": "huggingface", "twine": "pypi", "google": "googleapis",
    "npm": "npm",
}  # fmt: skip


def _is_foreign_token(text: str, url: str) -> bool:
    host = host_of(url)
    return bool(host) and any(
        _HOST_WORDS.get(service.lower(), service.lower()) not in host and "." in host and not _is_private(host)
        for service in _TOKENS.findall(text)
    )


def host_of(url: str) -> str:
    """The host of an address or of HOST:PATH, in lower case."""
    found = _HOST.match(url)
    return found[1].lower().strip("[]").rstrip(".") if found else ""


def _is_private(host: str) -> bool:
    return _PRIVATE_HOST.fullmatch(host) is not None


def of_the_machine(url: str) -> tuple[str, ...]:
    """`content`, for data of a file or a program that is sent to an unknown host."""
    host = host_of(url)
    if (
        not host
        or HOLE in url.split("/", 3)[2 if "://" in url else 0]
        or _is_private(host)
        or _SERVICES.fullmatch(host)
    ):
        return ()
    return ("content",)


_HOST = lazy_regex(r"(?:[a-z][a-z0-9+.-]*://)?(?:[^/@\s]*@)?(\[[0-9a-fA-F:.]+\]|[^/:\s?#]+)", re.IGNORECASE)
# This machine, private networks and names of the local network; and the services that code, packages and clouds are kept with.
_PRIVATE_HOST = lazy_regex(
    r"[^.:]+|127(?:\.\d+){1,3}|::1|0\.0\.0\.0|10(?:\.\d+){3}|192\.168(?:\.\d+){2}|172\.(?:1[6-9]|2\d|3[01])(?:\.\d+){2}|169\.254(?:\.\d+){2}|"
    r"100\.(?:6[4-9]|[789]\d|1[01]\d|12[0-7])(?:\.\d+){2}|f[cd][0-9a-f:]+|fe80:.*|"
    r".*\.(?:local|localhost|internal|intranet|lan|home|corp|svc|test|ts\.net|cluster\.local|home\.arpa)"
)
_SERVICES = lazy_regex(
    r"(?:.*\.)?(?:github\.com|githubusercontent\.com|gitlab\.com|bitbucket\.org|codeberg\.org|sr\.ht|googlesource\.com|dev\.azure\.com|visualstudio\.com|"
    r"googleapis\.com|azure\.com|windows\.net|microsoft\.com|"
    r"amazonaws\.com|cloudflare\.com|heroku\.com|digitalocean\.com|npmjs\.(?:org|com)|pypi\.org|docker\.(?:io|com)|ghcr\.io|quay\.io|"
    r"crates\.io|rubygems\.org|maven\.org|sonatype\.(?:org|com)|packagist\.org|nuget\.org|jfrog\.io|fly\.io|vercel\.com|netlify\.com|"
    r"sentry\.io|codecov\.io|atlassian\.(?:net|com)|huggingface\.co|launchpad\.net|debian\.org|kernel\.org|savannah\.gnu\.org|gitea\.(?:com|io)|notabug\.org)"
)


def relay(job: Job, program: Program) -> Stream | None:
    text = " ".join(job.words)
    if re.search(r"(?i)\b(exec|system|shell):", text) and re.search(r"(?i)\b(tcp|udp|openssl|sctp)\d?(-\w+)?:", text):
        job.effect("reverse_shell", text)
    elif peer := _SOCAT_PEER.search(text):
        send_stdin(job, text, peer[1])
        for path in _SOCAT_FILE.findall(text):
            job.effect("send", text, *(carries(job, path) & LEAKS or of_the_machine(peer[1])))
    return Stream(hole_of({"download"}), frozenset({"download"}))


_SOCAT_PEER = lazy_regex(r"(?i)\b(?:tcp|udp|openssl|sctp|ssl)\d?(?:-connect|-sendto|-datagram)?:([^:,\s]+)")
_SOCAT_FILE = lazy_regex(r"(?i)\b(?:file|open|gopen|create):([^,\s]+)")


_DELETES = frozenset("rm mrm delete mdelete del mdel dele rmdir rmd".split())
_PUTS = frozenset("put mput reput send mirror".split())
_SEPARATED = lazy_regex(r"[;\n]|&&|\|\|")


def read_transfer(job: Job, text: str, via: str, traits: Sequence[str]) -> None:
    """The commands of a file transfer client."""
    for line in _SEPARATED.split(text):
        words = line.replace('"', "").replace("'", "").split()
        if words and words[0].startswith("!"):
            job.shell_text(line.strip()[1:], f"{job.program} !")
        elif words:
            _command(job, words[0].lstrip("-").lower(), words[1:])


def _command(job: Job, name: str, words: Sequence[str]) -> None:
    """`glob rm x*` and `rm -rf x` alike; `mirror --delete` makes the target what the source is."""
    if name == "glob" and words:
        name, words = words[0], words[1:]
    names = [word for word in words if not word.startswith("-")]
    flags = {letter for word in words if re.fullmatch(r"-\w+", word) for letter in word[1:]}
    if name == "mirror" and ("e" in flags or any(word.startswith("--delete") for word in words)):
        target = names[-1] if names else "."
        job.effect(
            "delete",
            target,
            "recursive",
            "bulk",
            "mirror",
            *(["remote"] if "R" in flags or "--reverse" in words else []),
        )
    elif name in _PUTS and (name != "mirror" or "R" in flags or "--reverse" in words):
        leaks = frozenset[str]().union(*(carries(job, path) for path in names)) & LEAKS
        if leaks:
            job.effect("send", job.program, *leaks)
    elif name in _DELETES:
        many = "r" in flags or name in ("mdelete", "mrm", "mdel") or any(set("*?[") & set(word) for word in names)
        for path in names:
            job.effect("delete", path, "remote", *(("recursive", "bulk") if many else ()))


READERS: dict[str, Reader] = {"web": web, "remote_procedure": remote_procedure, "relay": relay}
