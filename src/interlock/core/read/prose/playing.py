"""What is embedded in a clause -> whether it would run there, and the reader of its language."""

from __future__ import annotations

import re
from typing import Protocol

from interlock.core.read.facts import Report
from interlock.core.read.prose import english_scope as scope
from interlock.core.read.prose.acts import Act, act
from interlock.core.read.prose.clauses import Tokens, is_operation
from interlock.core.read.prose.embedded import MARK, Embedded, Lifted, arguments
from interlock.core.read.prose.english import Clause
from interlock.core.read.prose.english_nouns import nouns
from interlock.core.read.prose.english_verbs import verb_forms


class Teller(Protocol):
    """Who is told what was found."""

    out: Report
    any: bool
    known: bool
    named: bool

    def act(self, one: Act) -> None: ...


# -- would it run? ----------------------------------------------------------------------------------------

_LAUNCHES = frozenset(
    "open opening do doing firing fire launch launching start starting spawn spawning enter entering type typing paste pasting"
    " quick hitting hit submit submitting throw throwing kick kicking so hence therefore thus".split()
)
_TELLING = frozenset(
    "explain explaining document documenting describe describing discuss mention quote answer summarize summarise note compare"
    " comparing translate teach report warn ask asking asked outline recap remind cite add adding append grep search searching look"
    " looking detect detecting block blocking forbid flag check checking test testing write writing".split()
)
_ASKING = frozenset("what how why whether".split())
_BESIDE = frozenset("between versus vs than like unlike except".split())
_NAMING = frozenset(
    "difference differences use uses usage usages occurrence occurrences mention mentions meaning semantics explanation danger dangers"
    " risk risks effect effects example examples warning warnings equivalent alias synonym anatomy history origin references reference"
    " docs documentation description summary syntax page section chapter article question questions alternative alternatives name names"
    " regex pattern string phrase text line word words entry matches hits calls aliases wrapper support".split()
)
# Verbs whose object is the text of a command.
_EDITS = frozenset(
    "replace replacing swap swapping remove removing delete deleting drop dropping rename renaming extract extracting strip stripping"
    " inline inlining comment commenting uncomment quote quoting".split()
)
_OF = frozenset("of to for about on behind with says saying reads reading containing called named titled".split())
# Verbs that put a text somewhere, and the places where a command is only read.
_PUTS = frozenset(
    "put putting include including place placing insert inserting paste pasting quote quoting add adding show showing stick".split()
)
_PAGES = frozenset(
    "slide slides docs doc documentation readme wiki chapter faq handbook training guide page blog article comment tutorial cheat-sheet cheatsheet changelog notes"
    " appendix glossary presentation deck lecture exercise book essay newsletter answer lesson workshop course poster quiz".split()
)
# What is told of a command, behind it.
_TOLD = frozenset(
    "means mean meant works stands was were had did failed fails crashed hung raises raised returns returned lacks prints printed exits"
    " exited hangs throws errors docs documentation manual man manpage page section semantics syntax usage example examples keyword"
    " snippet incident behaves".split()
)
_JUDGED = frozenset(
    "off forbidden banned not never blocked denied disallowed prohibited dangerous risky bad discouraged deprecated documented mentioned"
    " described explained rejected disabled refused unsafe harmful evil".split()
)


_RUNNING = frozenset("run running execute executing launch launching".split())


def running(words: Tokens, clause: Clause, lifted: Lifted, told: Teller) -> list[Embedded]:
    """The embedded things of a clause that its sentence would run."""
    found: list[Embedded] = []
    low = [word.lower() for word in words]
    named = told.named  # `the difference between x and y`
    for at, word in enumerate(words):
        if not word.startswith(MARK):
            named = named and low[at] in _JOINTS
        elif named or _is_named(low, at):
            named = True
        elif word in clause.marks or _is_launched(low, at, clause):
            thing = lifted.of(word)
            if clause.runs or not thing.kind.startswith("quoted_"):
                found.append(thing)
    told.named = named
    return found


_JOINTS = frozenset({"and", "or", ",", "vs", "versus", "with"})


def _is_named(low: Tokens, at: int) -> bool:
    """True where a command is only named: `what x does`, `the difference between x and y`, `uses of x`."""
    near = low[max(0, at - 3) : at]
    after = low[at + 1 : at + 6]
    if near and (
        near[-1] in _BESIDE
        or (near[-1] in _EDITS or (near[-1] == "the" and set(near) & _EDITS))
        or (near[-1] in _OF and set(low[max(0, at - 4) : at - 1]) & _NAMING and not set(low[:at]) & _RUNNING)
    ):
        return True
    if _ASKING & set(near):
        return True
    if (
        near
        and near[-1] in _PUTS
        and after[:1]
        and after[0] in ("in", "into", "on", "to", "as")
        and _PAGES & set(low[at + 1 : at + 9])
    ):
        return True  # `put x in the slides`
    if not after:
        return False
    return (
        after[0] in _TOLD or after[:2] == ["would", "do"] or (after[0] in ("is", "are") and bool(set(after) & _JUDGED))
    )


def _is_launched(low: Tokens, at: int, clause: Clause) -> bool:
    """`to fix the bug I'll do a quick x`: what shields the clause is not what is done with the command."""
    near = low[max(0, at - 3) : at]
    if not clause.shield or clause.denied or not _LAUNCHES & set(near):
        return False
    return not set(low[:at]) & _TELLING and not set(low[max(0, at - 6) : at]) & scope.NEGATIONS


# -- what does it do? -------------------------------------------------------------------------------------


def play(thing: Embedded, told: Teller) -> None:
    """Hands something embedded to the reader of its language."""
    kind = thing.kind.removeprefix("quoted_")
    if kind == "quote":
        return
    told.any = told.known = True
    if kind == "shell":
        _play_shell(thing.text, told)
    elif kind == "sql":
        told.out.code("sql", thing.text)
    elif kind == "code":
        told.out.code(thing.extra, thing.text)
        _play_method(thing.text, told)
    elif kind == "http":
        from interlock.core.read.http import read_http

        read_http(thing.extra, thing.text, "", (), told.out)
        _read_route(thing.text, told)
    elif kind == "call":
        from interlock.core.read.operation import read_operation

        read_operation(thing.text, arguments(thing.extra), "", told.out)


# A program for disks whose disk the sentence says in its own words: `wipefs -a on both disks`.
_AIMLESS = re.compile(
    r"^format [A-Za-z]:|^(?:sudo )?(?:wipefs|blkdiscard|sgdisk|mkfs(?:\.\w+)?|mkswap|badblocks)(?: -{1,2}(?!help|version|n\b)\S+)+$"
)
_CMDLET = re.compile(
    r"[A-Za-z]{3,12}-[A-Za-z]{3,40}(?=[\s|;]|$)(?:[^\n]*[A-Z-]|$)|(?:iwr|irm|iex|gci|ri|icm|saps)\s", re.ASCII
)
_CMD = re.compile(r"(?:robocopy|xcopy|takeown|icacls|vssadmin|wevtutil|bcdedit|diskpart|wbadmin|cipher|format|del|erase|rd|rmdir|reg|net|sc)\s(?:.*\s)?(?:/[A-Za-z]|[A-Za-z]:)", re.IGNORECASE)  # fmt: skip
_POSIX = frozenset("apt-get docker-compose ansible-playbook redis-cli ssh-keygen update-rc.d".split())


def _play_shell(text: str, told: Teller) -> None:
    first = text.split(None, 1)[0]
    if _CMD.match(text[:400]):
        told.out.code("cmd", text)
    elif first.lower() in _CMDLETS or (_CMDLET.match(text[:400]) and first.partition("-")[0].lower() in _VERBS):
        told.out.code("powershell", text)
    else:
        told.out.shell(text)
    if text.strip() == "git clean":
        told.out.effect("act_delete", "everything untracked", "one")  # the sentence leaves the flag to the reader
    if _AIMLESS.match(text[:400]):
        told.out.effect("act_disk", text[:120], "all")


_CMDLETS = frozenset("iwr irm iex gci icm saps ri".split())
_VERBS = frozenset(
    "add block clear copy disable dismount enable export format get grant initialize install invoke limit move new out publish remove"
    " rename repair reset restart resize restore revoke save select send set start stop suspend test unblock uninstall unlock"
    " unpublish unregister update write demote deny".split()
)
_LAST = re.compile(r"(?:^|[.>:])(\w{1,60})[!?]?(?:\(((?:[^()]|\([^()]*\)){0,400})\))?;?$")


# What a method of that name does stays inside the program.
_TAME_ENDS = (
    "mock",
    "mocks",
    "listener",
    "listeners",
    "child",
    "children",
    "attribute",
    "class",
    "state",
    "form",
    "queries",
    "handler",
)


def _play_method(text: str, told: Teller) -> None:
    """`crm.bulk_delete_objects(…)`: the name of a method of several words is that of an operation."""
    last = _LAST.search(text[:2000])
    if last and is_operation(last[1]) and not last[1].lower().endswith(_TAME_ENDS):
        from interlock.core.read.operation import read_operation

        read_operation(last[1], arguments(last[2] or ""), "", told.out)


def _read_route(url: str, told: Teller) -> None:
    """`/orgs/acme/suspend`: a route that ends in a verb does what the verb says to what stands in front."""
    pieces = [piece for piece in re.split(r"[/:]", url.partition("?")[0].lower()) if piece]
    known = verb_forms().get(pieces[-1]) if pieces else None
    if known is None or known[1] != "base" or known[2] in ("do", "look", "make", "send", "format", "grant"):
        return
    things = [nouns()[piece] for piece in pieces[:-1] if piece in nouns()]
    kind, traits, _ = things[-1] if things else ("", (), False)
    told.act(act(known[2], kind, url[:120], frozenset(traits)))


# -- operations by name -----------------------------------------------------------------------------------

_CALLS = frozenset("call calling calls use using invoke invoking run running execute executing trigger triggering operation tool then with"
                   " via , function to and perform performing by endpoint".split())  # fmt: skip
_PASCAL = re.compile(r"[A-Z][a-z]{2,20}(?:[A-Z]{1,5}[a-z]{0,20}){1,6}$")
_PIECES = re.compile(r"[A-Z]+[a-z]*")
_PARTS = frozenset(
    "Button Modal Dialog Component Icon Form Page Event Error Exception Handler Test Request Response Command View Zone Service Policy"
    " Controller Action Box Down Shadow Menu Link Label Field Screen Panel Hook Context Provider Store Spec Listener Args Input Output"
    " Result Type Class Model Job Worker Queue Task Flow Helper Util Utils Factory Builder Manager Config Option Options Flag".split()
)
_CALLED_ON = frozenset({"on", "for", "against", "with", "in", "across", "to"})


def read_operations(words: Tokens, told: Teller) -> None:
    """Names of operations where a sentence calls them: at its start, or after a word of calling."""
    edits = words[0].lower() in _EDITS
    for at, word in enumerate(words):
        called = at > 0 and _is_called(words, at)
        if edits and called and words[at - 1].lower() not in _PLAINLY:
            continue  # `replace the call stopAll with haltAll`
        if at and not called:
            continue
        name = word[:1].lower() + word[1:] if not at and "_" in word else word
        if name in _INSIDE or (not is_operation(name) and not (_is_api_call(words, at, called))):
            continue
        from interlock.core.read.operation import read_operation

        told.any = told.known = True
        read_operation(name, _params(words[at + 1 :]), "", told.out)


_PLAINLY = frozenset("calling running invoking executing triggering via using by then and".split())
# Methods of libraries for tables and models, which change what is in memory.
_INSIDE = frozenset(
    "reset_index drop_duplicates drop_na drop_nulls drop_null drop_level drop_vars set_index zero_grad clear_output clear_session remove_columns reset_rng"
    " reset_seed reset_parameters reset_states reset_default_graph remove_stopwords truncate_sequences pad_sequences remove_nodes_from"
    " remove_edges_from drop_first dropDuplicates dropna clear_figure empty_cache reset_peak_memory_stats remove_outliers drop_missing removeChild"
    " resetForm resetState clearTimeout clearInterval removeEventListener deleteContents removeClass removeAttribute truncateText".split()
)


def _is_called(words: Tokens, at: int) -> bool:
    """`call the operation x`; not `the function x lacks a test`."""
    before = words[at - 1].lower()
    if before in _NOUNS:
        return at == 1 or any(word.lower() in _CALLS - _NOUNS - {"to", "and", ",", "with"} for word in words[: at - 1])
    return before in _CALLS


_NOUNS = frozenset({"operation", "tool", "function", "endpoint"})


def _is_api_call(words: Tokens, at: int, called: bool) -> bool:
    """`StopLogging on the trail`: a verb and a thing in capitals, where a sentence calls it."""
    word = words[at]
    if not word[:1].isupper() or not _PASCAL.match(word):
        return False
    pieces = _PIECES.findall(word)
    known = verb_forms().get(pieces[0].lower())
    if known is None or known[1] != "base" or pieces[-1] in _PARTS:
        return False
    after = words[at + 1].lower() if at + 1 < len(words) else ""
    return called or after in _CALLED_ON


def _params(words: Tokens) -> dict[str, str]:
    """`on project/config.json`: the path that an operation is said to work on."""
    if words and re.match(r"[~.]?/|~", words[0]):
        return {"path": words[0]}
    for at, word in enumerate(words[:6]):
        if word.lower() in ("on", "for", "to", "in", "with", "at") and at + 1 < len(words):
            target = words[at + 1]
            if "/" in target or re.search(r"\w\.\w{1,5}$", target):
                return {"path": target}
    return {}
