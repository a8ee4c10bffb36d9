"""Computes the output of a command from its words alone: echo, printf, decoders, plain filters, constant prints of inline code."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.analysis.facts import HOLE, hole, hole_of, taints_in
from interlock.analysis.places import resolve
from interlock.analysis.programs.load import program_set
from interlock.analysis.programs.options import options, valued
from interlock.analysis.shell import UNKNOWN, Job, Stream
from interlock.analysis.shell.decode import decode_output, unescape
from interlock.analysis.targets.carried import carries, named_files

_DIRECTIVE = re.compile(r"%([-+ #0]*\d*(?:\.\d+)?)([sdqbiuxXoc%])")


def echo(job: Job) -> str:
    words = list(job.words)
    escapes, newline = job.host.dialect == "dash", True
    while words and re.fullmatch(r"-[neE]+", words[0]):
        flag = words.pop(0)
        escapes = escapes or "e" in flag
        newline = newline and "n" not in flag
    text = " ".join(words)
    return (unescape(text) if escapes else text) + ("\n" if newline else "")


def printf(words: list[str]) -> str:
    """The text that printf makes; the format is used again until the words are spent."""
    if not words:
        return ""
    form, items = words[0], list(words[1:])
    out: list[str] = []
    for _ in range(64):
        before = len(items)
        out.append(_DIRECTIVE.sub(lambda found: _directive(found, items), unescape(form)))
        if not items or len(items) == before:
            break
    return "".join(out)


def _directive(found: re.Match[str], items: list[str]) -> str:
    kind = found[2]
    if kind == "%":
        return "%"
    item = items.pop(0) if items else ("0" if kind in "dioxXu" else "")
    if kind == "b":
        return unescape(item)
    if kind == "c":
        return item[:1]
    if kind in "xXo" and item.isdigit():
        return format(int(item[:9]), kind)
    return item


def _cat(job: Job) -> Stream:
    files = [word for word in job.words if not word.startswith("-") or word == "-"]
    if not files or files == ["-"]:
        return job.stdin or UNKNOWN
    texts: list[str] = []
    taints: frozenset[str] = frozenset()
    for path in files:
        if path == "/dev/null":
            continue
        taints |= carries(job, path)
        if path in ENDLESS:
            taints |= {"endless"}
        if path.startswith("/etc/"):
            taints |= {"secret"}
        if job.host.session.fetched(resolve(path, job.host.cwds[0])):
            taints |= {"download"}
        found = job.file_text(path)
        texts.append(found if found is not None else hole_of(taints))
    return Stream("".join(texts), taints)


def _find(job: Job) -> Stream:
    from interlock.analysis.shell.item_runners import find_targets

    return Stream("\n".join(find_targets(job.words)) + "\n", frozenset({"bulk"}))


def _listing(job: Job) -> Stream:
    roots = [word for word in job.words if not word.startswith("-")]
    return Stream(
        "\n".join(f"{root.rstrip('/')}/*" if not re.search(r"[*?]", root) else root for root in roots) or "*",
        frozenset({"bulk"}),
    )


def _git(job: Job) -> Stream | None:
    found = options(job.words, valued("-C -c --git-dir --work-tree"))
    if found.operands[:1] == ["ls-files"]:
        return Stream("\n".join(found.operands[1:]) or "*", frozenset({"bulk"}))
    if found.operands[:1] == ["rev-parse"] and "--show-toplevel" in found.flags:
        return Stream(".")
    return (
        Stream(hole(), frozenset({"bulk"}))
        if found.operands[:1] in (["branch"], ["for-each-ref"], ["diff"], ["log"])
        else None
    )


def _seq(job: Job) -> Stream:
    numbers = [int(word) for word in job.words if re.fullmatch(r"-?\d{1,6}", word)]
    if not numbers:
        return UNKNOWN
    first, last = (numbers[0], numbers[-1]) if len(numbers) > 1 else (1, numbers[0])
    return Stream("\n".join(str(number) for number in range(first, last + 1)[:64]))


def _name_of(job: Job) -> Stream:
    """basename, dirname, realpath, readlink, which, command -v: computed from their last word."""
    names = [word for word in job.words if not word.startswith("-")]
    if not names:
        return UNKNOWN
    word = names[0]
    if job.program == "basename":
        word = word.rstrip("/").rpartition("/")[2]
        if len(names) > 1 and word.endswith(names[1]):
            word = word[: -len(names[1])]
    elif job.program == "dirname" and word in ("~", "~/"):
        word = "/home"
    elif job.program == "dirname":
        word = word.rstrip("/").rpartition("/")[0] or ("/" if word.startswith("/") else ".")
    return Stream(word)


def _mktemp(job: Job) -> Stream:
    return Stream("/tmp/tmp.interlock")


def _container(job: Job) -> Stream | None:
    """docker run -d prints the name of what it has just started."""
    return Stream(hole("container")) if {"run", "create"}.intersection(job.words[:2]) else None


def _found_processes(job: Job) -> Stream:
    """pgrep, lsof: a hole whose name records how the processes were selected."""
    return Stream(hole(":".join([job.program, *job.words])))


def _dump(job: Job) -> Stream:
    """A database's content on its way somewhere."""
    return Stream(hole_of({"secret"}), frozenset({"secret"}))


def _environment(job: Job) -> Stream | None:
    """env, export -p, set: all variables; printenv NAME: one of them."""
    names = [word for word in job.words if not word.startswith("-")]
    if job.program == "printenv" and names:
        secret = any(SECRET_NAME.fullmatch(hole(name)) for name in names)
        return Stream(hole_of({"secret"}), frozenset({"secret"})) if secret else None
    return None if names else Stream(hole_of({"environment"}), frozenset({"environment"}))


SECRET_NAME = re.compile(f"{HOLE}[A-Z_]*(SECRET|PASSWORD|PASSWD|PRIVATE_KEY|TOKEN|API_KEY)[A-Z_]*{HOLE}")
_SECRET_WORDS = re.compile(
    r".*(secret_access_key|password|session_token)|--export-secret-keys|find-(generic|internet)-password|dump-keychain|--reveal|get-secret-value|get-session-token|secrets?|kv|lookup|get-parameters?|"
    r"--with-decryption|print-access-token|create-access-key|password|read|show"
)


# Commands that print the path of a cache.
_CACHES = {
    ("brew", "--cache"): "~/Library/Caches/Homebrew", ("pip", "cache dir"): "~/.cache/pip", ("pip3", "cache dir"): "~/.cache/pip",
    ("uv", "cache dir"): "~/.cache/uv", ("go", "env GOCACHE"): "~/.cache/go-build", ("yarn", "cache dir"): "~/.cache/yarn",
    ("npm", "config get cache"): "~/.npm/_cacache", ("poetry", "config cache-dir"): "~/.cache/pypoetry", ("ccache", "-k cache_dir"): "~/.cache/ccache",
}  # fmt: skip


def _cache(job: Job) -> Stream | None:
    found = _CACHES.get((job.program, " ".join(job.words)))
    return Stream(f"{found}\n") if found else None


_KEEPERS = frozenset("gpg security op pass vault secret-tool bw kubectl aws gcloud doppler".split())
# The words with which a program prints the token or the keys that it signs in with.
_OWN_TOKEN = {
    "gh": {"auth", "token"}, "az": {"account", "get-access-token"}, "heroku": {"auth:token"}, "kubectl": {"config", "view", "--raw"},
    "oc": {"whoami", "-t"}, "gcloud": {"auth", "print-identity-token"}, "doctl": {"auth", "token"}, "fly": {"auth", "token"},
}  # fmt: skip


def _secret(job: Job) -> Stream | None:
    """Commands that print secrets."""
    own = _OWN_TOKEN.get(job.program)
    found = (own is not None and own <= set(job.words)) or (
        job.program in _KEEPERS and any(_SECRET_WORDS.fullmatch(word) for word in job.words[:4])
    )
    return Stream(hole_of({"secret"}), frozenset({"secret"})) if found else None


def _constant(job: Job) -> Stream | None:
    """awk 'BEGIN{print "…"}', jq -rn '"…"'."""

    texts = [word for word in job.words if not word.startswith("-")]
    found = constant_output(job.program, texts[:1])
    return found if found.known else None


_PRINTERS: dict[str, Callable[[Job], Stream | str | None]] = {
    "echo": echo,
    "printf": lambda job: printf(job.words),
    "cat": _cat,
    "find": _find,
    "fd": _find,
    "ls": _listing,
    "git": _git,
    "seq": _seq,
    "basename": _name_of,
    "dirname": _name_of,
    "realpath": _name_of,
    "readlink": _name_of,
    "which": _name_of,
    "mktemp": _mktemp,
    "pwd": lambda job: Stream(job.host.cwds[0] or hole("PWD")),
    "true": lambda job: Stream(""),
    ":": lambda job: Stream(""),
    "env": _environment,
    "printenv": _environment,
    **dict.fromkeys(("set", "export", "declare", "typeset"), _environment),
    **dict.fromkeys(("pg_dump", "pg_dumpall", "mysqldump", "mongodump"), _dump),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _container),
    **dict.fromkeys(("awk", "jq"), _constant),
    "type": _name_of,
    **dict.fromkeys(("pgrep", "pidof", "lsof", "fuser"), _found_processes),
    "lynx": lambda job: Stream(hole_of({"download"}), frozenset({"download"})),
    **dict.fromkeys((*_KEEPERS, *_OWN_TOKEN), _secret),
    **dict.fromkeys({program for program, _ in _CACHES}, _cache),
    "yes": lambda job: Stream(f"{' '.join(job.words) or 'y'}\n", frozenset({"endless"})),
}


def output(job: Job) -> Stream:
    """What the command prints, as far as that is known."""
    printer = _PRINTERS.get(job.program)
    if printer is not None:
        found = printer(job)
        if isinstance(found, str):
            named = frozenset({"secret"}) if SECRET_NAME.search(found) else frozenset()
            return Stream(found, taints_in(found) | named)
        if found is not None:
            return found
    taints = job.stdin.taints if job.stdin is not None else frozenset()
    plain = decode_output(job)
    if plain is not None:
        return Stream(plain, taints)
    if job.program in _LIMITS:
        taints -= {"endless"}
    if job.program in program_set("filter"):
        return _filtered(job, taints)
    if job.program in _ENCODERS:
        taints = taints.union(*(carries(job, word) for word in named_files(job.words)))
        return Stream(hole_of(taints), taints)
    kept = taints & {"secret", "environment", "download", *(("endless",) if job.program == "tr" else ())}
    return Stream(hole_of(kept), kept) if kept else UNKNOWN


ENDLESS = frozenset({"/dev/zero", "/dev/urandom", "/dev/random"})
_LIMITS = frozenset({"head", "sed", "awk", "grep", "tail", "sort"})  # they end, or print a part
_ENCODERS = frozenset(
    "base64 gzip bzip2 xz zstd tar zip openssl gpg xxd od hexdump jq yq gunzip zcat bzcat xzcat uuencode age base32 basenc rev tr dd pigz lz4 "
    "unzip gpg2 rage".split()
)


def _filtered(job: Job, taints: frozenset[str]) -> Stream:
    taints = taints.union(*(carries(job, word) for word in job.words if not word.startswith("-")))
    if job.stdin is None:
        return Stream(hole_of(taints), taints)
    if job.program in ("awk", "sed", "cut") and HOLE not in job.stdin.text and "bulk" not in job.stdin.taints:
        return Stream(_edited(job, job.stdin.text), taints)
    return Stream(job.stdin.text, taints)


def _edited(job: Job, text: str) -> str:
    """sed 's/a/b/' on known text; other edits are not followed."""
    if job.program == "sed":
        scripts = [word for word in job.words if not word.startswith("-")]
        found = re.fullmatch(r"s(.)(.{1,60}?)\1(.{0,60}?)\1g?", scripts[0], re.DOTALL) if len(scripts) == 1 else None
        if found and re.fullmatch(r"\^?[\w .,:;_#@%-]*", found[2]):
            if found[2].startswith("^"):
                head = found[2][1:]
                return "".join(
                    found[3] + line[len(head) :] if line.startswith(head) else line for line in text.splitlines(True)
                )
            return text.replace(found[2], found[3])
        return text if scripts and re.fullmatch(r"\d*[dp]", scripts[0]) else hole()
    columns = re.fullmatch(r"-c(\d+)-", job.words[0]) if job.program == "cut" and len(job.words) == 1 else None
    if columns:
        return "".join(line[int(columns[1]) - 1 :] for line in text.splitlines(True))
    return hole()


_PLAIN_PRINT = re.compile(
    r"""\s*(?:print|puts|console\.log|echo|process\.stdout\.write)\s*\(?\s*(["'])((?:(?!\1)[^\\]|\\.)*)\1\s*\)?\s*;?\s*""",
    re.DOTALL,
)
_AWK = re.compile(r"""\s*BEGIN\s*\{\s*print((?:\s*"[^"\\]*")+)\s*;?\s*\}\s*""")
_JQ = re.compile(r'\s*"([^"\\]*)"\s*')
_PACKED = re.compile(r"""\s*print\s*\(?\s*pack\s*\(?\s*["']H\*["']\s*,\s*["']([0-9a-fA-F]+)["']\s*\)?\s*\)?\s*;?\s*""")
_HEX = re.compile(r"""\s*print\(\s*bytes\.fromhex\(\s*["']([0-9a-fA-F]+)["']\s*\)\.decode\(\s*\)\s*\)\s*;?\s*""")
_BASE64 = re.compile(
    r""".*\bprint\(\s*(?:base64\.b64decode|b64decode|atob)\(\s*b?["']([A-Za-z0-9+/=]+)["']\s*\)(?:\.decode\([^)]*\))?\s*\)\s*;?\s*""",
    re.DOTALL,
)


def constant_output(language: str, codes: list[str]) -> Stream:
    """The text that one short program prints; unknown for anything that is not plainly a constant."""
    if len(codes) != 1 or len(codes[0]) > 4000:
        return UNKNOWN
    code = codes[0]
    plain = _PLAIN_PRINT.fullmatch(code)
    if plain:
        from interlock.analysis.shell.decode import unescape

        return Stream(unescape(plain[2]))
    constant = _AWK.fullmatch(code) if language == "awk" else _JQ.fullmatch(code) if language == "jq" else None
    if constant:
        return Stream("".join(re.findall(r'"([^"]*)"', constant[0])))
    packed = _PACKED.fullmatch(code) or _HEX.fullmatch(code)
    if packed:
        return Stream(bytes.fromhex(packed[1][: len(packed[1]) // 2 * 2]).decode("utf-8", "replace"))
    encoded = _BASE64.fullmatch(code)
    if encoded:
        from interlock.analysis.shell.decode import decode_base64

        return Stream(decode_base64(encoded[1]) or "")
    return UNKNOWN
