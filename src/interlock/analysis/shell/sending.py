"""What leaves this machine: by the description of a program, by its name and words, and with commits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from interlock.analysis.facts import HOLE, Command, hole_of, taints_in, without_holes
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.places import resolve
from interlock.analysis.programs import Program
from interlock.analysis.programs.load import describe, program_set
from interlock.analysis.programs.options import behind, holds, parse
from interlock.analysis.shell import Job, Reader, Stream
from interlock.analysis.shell.network import find_leaks, host_of, of_the_machine, send_stdin
from interlock.analysis.targets.carried import LEAKS, carries, copy_to, named_files

# host:path, but no drive and no ./a:b
_AWAY = lazy_regex(r"(scp|sftp)://.*|(\[[^\]]+\]|[^/\\:]{2,}):.*|[^/\\:]:(?![\\/]).*", re.DOTALL)


def is_away(path: str) -> bool:
    """Whether a path is on another host."""
    return _AWAY.fullmatch(path) is not None


def apply_sends(job: Job, program: Program) -> None:
    """Report what a command gives to others, by the description of its program."""
    found = parse(program, job.words)
    for item in program.sends:
        operands = behind(item.subcommand, found.operands)
        if operands is None or not holds(item, found):
            continue
        host = "".join(operands[:1]) if item.host == ("operand",) else found.value(*item.host) or ""
        if not (to := host or item.to):
            continue
        if item.stdin and item.content:
            send_stdin(job, to, host)
            continue
        leaks = frozenset[str]().union(*(carries(job, path) for path in found.all(*item.files))) & LEAKS
        if item.stdin and job.stdin is not None:
            leaks |= job.stdin.taints & LEAKS
        if item.words:
            leaks |= find_leaks(" ".join(job.words), "")
        if leaks:
            job.effect("send", to, *leaks)


def exchange(job: Job, sources: Sequence[str], target: str) -> None:
    """Files that go to HOST:PATH, or come from a stranger's."""
    if is_away(target):
        here = [path for path in sources if not is_away(path)]
        leaks = frozenset[str]().union(*(carries(job, path) for path in here)) & LEAKS
        if leaks or (here and of_the_machine(target)):
            job.effect("send", target, *(leaks or ("content",)))
        return
    copy_to(job, sources, target)
    for source in sources:
        if is_away(source) and of_the_machine(source):
            _mark_download(job, source, target)


def _mark_download(job: Job, address: str, target: str) -> None:
    """A file that comes from an address, under its own name or the one it is given; into a folder, under its name there."""
    session, cwd = job.host.session, job.host.cwds[0]
    name = re.split(r"[/:]", without_holes(address).split("?")[0].rstrip("/"))[-1]
    for path in (target, f"{target}/{name}") if target else (name,):
        if path not in (".", "..", ""):
            session.downloads[resolve(path, cwd)] = without_holes(address) or "the network"


def fetch(job: Job, program: Program) -> Stream | None:
    """aria2c, axel, lwp-download…: the files that they write."""
    found = parse(program, job.words)
    addresses = [word for word in found.operands if "://" in word]
    folder = found.value("-d", "--dir")
    given = found.value("-o", "-O", "--out", "--output") or "".join(
        word for word in found.operands[1:2] if "://" not in word
    )
    for address in addresses:
        _mark_download(job, address, f"{folder}/{given}" if folder else given)
    return Stream(hole_of({"download"}), frozenset({"download"}))


def exchange_commits(job: Job, program: Program) -> Stream | None:
    """git clone from a stranger, whose files are downloads; git push to one, or of a secret that was just added."""
    if "clone" in job.words:
        words = parse(program, job.words).operands
        if words[:1] == ["clone"] and len(words) > 1 and _ADDRESS.match(words[1]) and of_the_machine(words[1]):
            name = words[2] if len(words) > 2 else re.split(r"[/:]", words[1].rstrip("/"))[-1].removesuffix(".git")
            job.host.session.downloads[f"{resolve(name, job.host.cwds[0])}/"] = without_holes(words[1])
        if leaks := taints_in(" ".join(words[1:])) & LEAKS:
            job.effect("send", words[1], *leaks)
        return None
    if "push" not in job.words:
        return None
    found = parse(program, job.words)
    if found.operands[:1] != ["push"] or found.has("-n", "--dry-run"):
        return None
    remote = found.value("--repo") or "".join(found.operands[1:2])
    address = _added_remotes(job).get(remote, remote)
    if _ADDRESS.match(address) and (host := host_of(address)) and HOLE not in host:
        named_locally = "." not in host and host != "localhost"
        if named_locally or of_the_machine(address):
            job.effect("send", address, "content")
    if any(carries(job, word) & LEAKS for words in _words_behind(job, "add") for word in words if word[:1] != "-"):
        job.effect("send", address or "the remote", "secret")
    return None


_ADDRESS = lazy_regex(r"[a-z+]+://|[\w.-]+@[\w.-]+:")


def _words_behind(job: Job, verb: str) -> Iterator[tuple[str, ...]]:
    """The words behind a subcommand of Git, of each such command before this one."""
    job.step(len(job.host.session.facts) // 16)
    for fact in job.host.session.facts:
        if isinstance(fact, Command) and fact.program == job.program and verb in fact.words[:3]:
            yield fact.words[fact.words.index(verb) + 1 :]


def _added_remotes(job: Job) -> dict[str, str]:
    """The remotes that this very action adds or changes."""
    return {
        words[-2]: words[-1]
        for words in _words_behind(job, "remote")
        if len(words) > 2 and words[0] in ("add", "set-url")
    }


# Programs whose name or first words say that they pass something on; and such that hand it to anyone who has a link.
_SENDER = lazy_regex(r".*(?:upload|paste.+|(?<!^pb)(?<!^wl-).paste|share|send(?!mail)|transfer|wormhole|gist).*")
_OPEN = lazy_regex(r".*(?:pastebin|.paste|transfer|0x0|filebin).*")
_SENDS = lazy_regex(
    r"(?:.*[-_.:])?(?:upload|send|share|paste|publish|transfer|attach|beam|put)(?:er|s|file|object|blob)?(?:[-_.:].*)?"
)
_COPIES = frozenset({"cp", "copy", "copyto", "sync", "mv", "move", "moveto", "rcat", "mirror"})
_POSTS = frozenset({"create", "comment", "edit", "upload", "note", "update", "review", "api"})
_RECEIVES = frozenset({"receive", "get", "cat", "relay", "download"})
# First words of secret stores, where a secret is meant to go; options that name what a program signs in with or is set up by.
_STORES = lazy_regex(
    r"(?:.*[-_:])?(?:secrets?|secretsmanager|env|vars?|variables?|config|keyvault|kv|parameter|credentials?|login|auth|keys?)(?:[-_:].*)?"
)
_IDENTITY = lazy_regex(
    r"-[ikceE]|--?(?:.*[-_])?(?:key|keyfile|cert|certificate|identity|env|config|kubeconfig|creds?|credentials?|cacert|pem|netrc|cookies?|"
    r"profile|token|password|passphrase|inventory)(?:[-_]?file|[-_]path)?"
)
_DATA = lazy_regex(
    r"|-[fFda]|--?(?:.*[-_])?(?:file|data|body|upload|attach|attachment|input|content|payload|src|source|from)"
)
_URL = lazy_regex(r"(?:https?|ftps?|wss?|tcp)://|[\w.-]+@[\w.-]+:|[a-z0-9-]+(?:\.[a-z0-9-]+)+:[\d/~]", re.IGNORECASE)


@lru_cache(maxsize=1024)
def _is_sender(program: str) -> bool:
    return program in program_set("sender") or _SENDER.fullmatch(program) is not None


@lru_cache(maxsize=1024)
def _says_send(word: str) -> bool:
    return len(word) < _LONGEST_VERB and _SENDS.fullmatch(word) is not None


_LONGEST_VERB = 60


def send_named(job: Job) -> Stream | None:
    """Programs that their name, their first words or an address beside a file make a sender: what they are given leaves."""
    words = job.words
    valued = describe(job.program).value_flags
    front = [word for before, word in pairwise(("", *words[:5])) if before not in valued]
    head = [word for word in front if not word.startswith("-")][:3]
    by_name = _is_sender(job.program) or any(map(_says_send, head))
    if job.program in program_set("forge"):
        by_name = not _POSTS.isdisjoint(head)
    to = next((word for word in words if ":" in word and _URL.match(word)), "")
    if not by_name and not _COPIES.isdisjoint(head):
        to = next((word for word in words if ":" in word and not word.startswith("-")), "")
        by_name = bool(to)
    to = to or _host_given(words)
    stranger = bool(to) and bool(of_the_machine(to))
    if not (by_name or stranger) or any(map(_STORES.fullmatch, head)):
        return None
    given = [path for path in _given(words, by_name, _is_sender(job.program)) if path != to]
    leaks = frozenset[str]().union(*(carries(job, path) for path in given), taints_in(" ".join(words))) & LEAKS
    if job.stdin is not None:
        leaks |= job.stdin.taints & LEAKS
    if leaks:
        job.effect("send", to or job.program, *leaks)
    elif _is_open(job.program, head) and _RECEIVES.isdisjoint(head):
        if given or (job.stdin is not None and not job.stdin.known):
            job.effect("send", to or job.program, "content")
    return None


def _is_open(program: str, head: Sequence[str]) -> bool:
    """Whether anyone who has a link gets what is sent; some programs are told so by their first word."""
    if program in program_set("link"):
        return head[:1] in (["send"], ["upload"])
    return program in program_set("open") or _OPEN.match(program) is not None


def _host_given(words: Sequence[str]) -> str:
    """The host that an option names, where it has a name outside this network."""
    for option, value in pairwise(words):
        if option[:1] == "-" and "." in value and _HOST_OPTION.fullmatch(option) and _HOST.fullmatch(value):
            return value
    return ""


_HOST_OPTION = lazy_regex(
    r"-[hHbsSn]|--?(?:host(?:name)?|server|brokers?|bootstrap-servers?|endpoint|url|uri|addr(?:ess)?|connect)"
)
_HOST = lazy_regex(r"(?:[a-z][a-z0-9+.-]*://)?[\w-]+(?:\.[\w-]+)+(?::\d+)?(?:/\S*)?", re.IGNORECASE)


def _given(words: Sequence[str], by_name: bool, sender: bool) -> Iterator[str]:
    """The files among the words that are passed on: not what a program signs in with or is set up by; a sender's -i is its input."""
    before = ""
    for word in words:
        option = word.partition("=")[0] if word.startswith("-") and "=" in word else before
        if ((sender and option == "-i") or not _IDENTITY.fullmatch(option)) and (by_name or _DATA.fullmatch(option)):
            yield from named_files((word,))
        before = word if word.startswith("-") else ""


READERS: dict[str, Reader] = {"commits": exchange_commits, "fetch": fetch}
