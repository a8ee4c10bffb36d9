"""Which words of a command line are secrets because of the program they are given to?"""

from __future__ import annotations

import re

from interlock.core.redact_shapes import placeholder
from interlock.core.redact_values import spared

_WORD = r"(?:'[^'\n]{0,512}'|\"(?:[^\"\\\n$`]|\\.){0,512}\"|[^\s'\"|;&<>()$`]{1,512})"
# Program -> its short flags that are followed by a secret, glued (`-pX`) or apart (`-p X`).
_GLUED = {
    "mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlslap mysqlpump mysqlbinlog mariadb mariadb-dump mariadb-admin": "p",
    "7z 7za 7zr rar unrar": "p",
}
_APART = {
    "sshpass": "p",
    "redis-cli valkey-cli": "a",
    "mongo mongosh mongodump mongorestore mongoexport mongoimport cqlsh mosquitto_pub mosquitto_sub rabbitmqadmin": "p",
    "docker podman nerdctl helm az oc skopeo buildah crane": "p",
    "ldapsearch ldapmodify ldapadd ldapdelete ldappasswd": "w",
    "sqlcmd bcp osql tsql mosquitto_passwd": "P",
    "zip unzip": "P",
    "influx clickhouse-client": "p",
}
_PAIRS = {
    "curl": "u U",
    "wget": "",
    "http https xh": "a",
    "lftp": "u",
    "smbclient rpcclient net": "U",
    "nxc crackmapexec": "p",
}
_LOGIN_ONLY = frozenset("docker podman nerdctl helm az oc skopeo buildah crane".split())  # elsewhere -p is a port


def _table(rows: dict[str, str]) -> dict[str, str]:
    return {program: flags for programs, flags in rows.items() for program in programs.split()}


_GLUED_BY, _APART_BY, _PAIRS_BY = _table(_GLUED), _table(_APART), _table(_PAIRS)
PROGRAMS = sorted({*_GLUED_BY, *_APART_BY, *_PAIRS_BY}, key=len, reverse=True)
_LINE = re.compile(rf"(?<![\w.<-])(?P<program>{'|'.join(map(re.escape, PROGRAMS))})(?P<rest>[ \t][^\n|;&]*)")
_LONG_USER = re.compile(rf"(?P<keep>(?<!\S)--(?:proxy-)?user(?:=|[ \t]{{1,4}}))(?P<word>{_WORD})")
_FED = re.compile(
    rf"(?P<keep>(?<![\w-])(?:echo|printf)(?:[ \t]+-[neE]{{1,3}})?[ \t]+(?:['\"]%s(?:\\n)?['\"][ \t]+)?)(?P<word>{_WORD})(?P<after>[ \t]{{0,8}}\|[ \t]{{0,8}}"
    r"(?:(?:/usr)?/?(?:bin/)?sudo[ \t](?:[^|;&\n]{0,40}[ \t])?-(?:[A-Za-z]{0,4}S)|[^|;&\n]{1,80}--(?:password|token|passphrase|pass)-?(?:stdin|fd[ =]0)))"
)
_CHPASSWD = re.compile(
    rf"(?P<keep>(?<![\w-])echo[ \t]+)(?P<word>{_WORD})(?P<after>[ \t]{{0,8}}\|[ \t]{{0,8}}(?:sudo[ \t]+)?chpasswd)"
)
_PASSIN = re.compile(r"(?P<keep>(?<!\S)-?-?pass(?:in|out|word)?[ =]pass:)(?P<word>[^\s'\"|;&<>()`$]{1,256})")
_HTPASSWD = re.compile(
    rf"(?P<keep>(?<![\w-])htpasswd[ \t]+-[A-Za-z]{{0,6}}b[A-Za-z]{{0,6}}[ \t]+\S{{1,256}}[ \t]+\S{{1,128}}[ \t]+)(?P<word>{_WORD})"
)
_LITERAL = re.compile(rf"(?P<keep>--from-literal(?:=|[ \t]{{1,4}})['\"]?[A-Za-z0-9_.-]{{1,128}}=)(?P<word>{_WORD})")


def redact_programs(text: str) -> str:
    """The text without the secrets that known programs take."""
    text = _LINE.sub(_line, text)
    if "user" in text:
        text = _LONG_USER.sub(_pair, text)
    if "|" in text and ("echo" in text or "printf" in text):
        text = _FED.sub(lambda found: _whole(found) + found["after"], text)
        text = _CHPASSWD.sub(lambda found: _pair(found) + found["after"], text)
    if "pass" in text:
        text = _PASSIN.sub(_whole, text)
        text = _HTPASSWD.sub(_whole, text)
    return _LITERAL.sub(_whole, text) if "--from-literal" in text else text


def argument_kinds(words: list[str]) -> dict[int, str]:
    """Of an argument list, which are secrets as a whole (`all`), behind a colon (`pair`) or behind their flag (`glued`)."""
    if not words:
        return {}
    program = words[0].rpartition("/")[2]
    glued, apart, pairs = _flags(program, " ".join(words[1:8]))
    out: dict[int, str] = {}
    for at, word in enumerate(words[1:], 1):
        before = words[at - 1]
        if len(word) > 2 and word[0] == "-" and word[1] in glued and word[2] != "-":
            out[at] = "glued"
        elif len(before) == 2 and before[0] == "-" and before[1] in apart and at > 1:
            out[at] = "all"
        elif (len(before) == 2 and before[0] == "-" and before[1] in pairs and at > 1) or before in (
            "--user",
            "--proxy-user",
        ):
            out[at] = "pair"
    return out


def _flags(program: str, rest: str) -> tuple[str, str, str]:
    apart = _APART_BY.get(program, "")
    if program in _LOGIN_ONLY and not re.search(r"(?:^|\s)login\b", rest):
        apart = ""
    return _GLUED_BY.get(program, ""), apart, _PAIRS_BY.get(program, "").replace(" ", "")


def _line(found: re.Match[str]) -> str:
    glued, apart, pairs = _flags(found["program"], found["rest"])
    rest = found["rest"]
    if glued:
        rest = re.sub(rf"(?P<keep>(?<!\S)-[{glued}])(?P<word>{_WORD})", _whole, rest)
    if apart:
        rest = re.sub(rf"(?P<keep>(?<!\S)-[{apart}][ \t]{{0,4}})(?P<word>{_WORD})", _whole, rest)
    if pairs:
        rest = re.sub(rf"(?P<keep>(?<!\S)-[{pairs}][ \t]{{0,4}})(?P<word>{_WORD})", _pair, rest)
    return found["program"] + rest


def _whole(found: re.Match[str]) -> str:
    word = found["word"]
    quote = word[0] if word[0] in "'\"" else ""
    inner = word.strip(quote) if quote else word
    if spared(inner) or (not quote and word.startswith("-")):
        return found["keep"] + word
    return f"{found['keep']}{quote}{placeholder('password')}{quote}"


def _pair(found: re.Match[str]) -> str:
    return found["keep"] + pair(found["word"])


def pair(word: str) -> str:
    """`user:password` (or `user%password`, `user,password`) without the password."""
    cut = re.match(r"[^:%,]{0,256}[:%,]", word)
    quote = word[0] if word[:1] in ("'", '"') else ""
    if cut is None or word[cut.end() : cut.end() + 2] == "//" or spared(word[cut.end() :].rstrip("'\"")):
        return word
    return cut[0] + placeholder("password") + quote
