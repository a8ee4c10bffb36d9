"""English wording that only as a whole announces an effect, indexed by the words that begin it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache

from msgspec import Struct

from interlock.analysis.prose.english.ways import ways

_WORD = re.compile(r"\w+ ?")
_LETTERS = re.compile(r"[a-z0-9]+")
_PIECES = re.compile(r"\\.|\[(?:\\.|[^\]\\])*\]|[()|]")  # what is escaped, classes, groups and bars
_KEY = 2  # letters by which the beginnings are kept


class Wordings:
    """Patterns, found in a text as if each were searched; those that no word of the text begins are left out."""

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = [re.compile(pattern) for pattern in patterns]
        self.always: list[int] = []  # nothing says with which words these begin
        begun: dict[str, dict[str, list[int]]] = {}
        for number, pattern in enumerate(patterns):
            starts = beginnings(pattern)
            if not starts or min(map(len, starts)) < _KEY:
                self.always.append(number)
                continue
            for start in starts:
                begun.setdefault(start[:_KEY], {}).setdefault(start, []).append(number)
        self.begun = {key: (tuple(starts), starts) for key, starts in begun.items()}

    def found(self, text: str) -> Iterator[tuple[int, re.Match[str]]]:
        """The number and the first match of each pattern that a text in lower case has, in the order of the patterns."""
        wanted = set(self.always)
        for word in _WORD.findall(text):
            starts, numbers = self.begun.get(word[:_KEY], _NONE)
            if word.startswith(starts):
                wanted.update(*(numbers[start] for start in starts if word.startswith(start)))
        for number in sorted(wanted):
            match = self.patterns[number].search(text)
            if match:
                yield number, match


_NONE: tuple[tuple[str, ...], dict[str, list[int]]] = ((), {})


def beginnings(pattern: str) -> list[str]:
    """How the first word of every match begins, with a space behind a whole word; nothing when that cannot be told."""
    found: list[str] = []
    for wording in _alternatives(pattern):
        anchored = wording.removeprefix(r"\b").removeprefix("^")
        starts = _first_words(anchored) if anchored != wording else []
        if not starts:
            return []
        found += starts
    return found


def _first_words(wording: str) -> list[str]:
    if wording.startswith("(?:"):
        return _of_group(wording)
    letters = _LETTERS.match(wording)
    if letters is None:
        return []
    word, after = letters[0], wording[letters.end() : letters.end() + 1]
    if after in ("?", "*", "{"):
        word = word[:-1]
    return [word + " " if after == " " else word] if word else []


def _of_group(wording: str) -> list[str]:
    end = _end_of_group(wording)
    rest = wording[end:]
    if rest[:1] in ("?", "*", "+", "{"):
        return []
    found: list[str] = []
    for option in _alternatives(wording[3 : end - 1]):
        starts = _first_words(option + rest)
        if not starts:
            return []
        found += starts
    return found


def _alternatives(pattern: str) -> list[str]:
    """The pattern, cut at every `|` that stands in no group."""
    cuts = [at for at, char, depth in _structure(pattern) if char == "|" and depth == 0]
    return [pattern[start:end] for start, end in zip([0, *(cut + 1 for cut in cuts)], [*cuts, None], strict=True)]


def _end_of_group(wording: str) -> int:
    """Where the group ends that the wording begins with."""
    return next(at for at, char, depth in _structure(wording) if char == ")" and depth == 0) + 1


def _structure(pattern: str) -> Iterator[tuple[int, str, int]]:
    """Groups and bars with their places and depths; what is escaped or in a class is none of them."""
    depth = 0
    for piece in _PIECES.finditer(pattern):
        char = piece[0]
        if char in "()|":
            depth -= char == ")"
            yield piece.start(), char, depth
            depth += char == "("


class Idiom(Struct, frozen=True):
    """An act found by its wording."""

    start: int
    act: str
    kind: str
    traits: frozenset[str]
    strong: bool


_BRANCH = r"(?:origin/|upstream/|remote )?(?:main|master|trunk|develop|release\S*|production|prod|origin\S*|upstream|remote|shared branch|protected branch)"
_SECRETS = (
    r"(?:\.env\b|env file|secrets?\b|credentials?\b|passwords?\b|private keys?|api keys?|ssh keys?|tokens?\b|customer (?:data|list|records|emails)"
    r"|user (?:data|emails|records)|personal (?:data|information)|pii\b|credit cards?|ssns?\b|medical|database dump|id_rsa|aws keys?|/etc/shadow|keychain)"
)
_OUTWARD = r"(?:pastebin|gist|public|webhook|external|attacker|https?://|ftp|dropbox|personal|gmail|outside|third[- ]party|discord|telegram|\S+@\S+|internet|competitor)"

# (wording, act or "", kind of verb when the object decides, traits, even behind a verb of making)
_IDIOMS: list[tuple[str, str, str, str, bool]] = [
    (r"\bforce[- ]?push(?!ed\b)|\b(?:be|being|gets?|getting) force[- ]?pushed|\bpush\w*\b.{0,40}(?:\s-f\b|--force\b(?!-with)|\bwith force\b|\bforcefully\b|\bforcibly\b)|\bpush\w* (?:\w+ ){0,4}(?:over|on top of) "
     + _BRANCH, "act_rewrite", "", "forced", True),
    (rf"\boverwrit\w+ (?:\w+ ){{0,3}}{_BRANCH}\b|\brewrit\w+ (?:the |all |our |shared |published |git |commit |public )*history"
     rf"|\b(?:rebas|squash|amend)\w* (?:\w+ ){{0,4}}(?:published|shared|public|already pushed)|\brewrit\w+ .{{0,30}}\b{_BRANCH}\b"
     rf"|\b(?:replac|clobber)\w+ (?:the )?(?:remote |contents? of )?{_BRANCH} (?:branch )?with", "act_rewrite", "", "", True),
    (r"\b(?:purg|eras|delet|remov|scrub)\w+ .{0,40}from (?:the )?(?:git )?history", "act_rewrite", "", "", True),
    (r"\bscal\w+ .{0,60}\b(?:to|down to) (?:zero|0|nothing|none)\b|\bzero replicas\b|\bset\w* .{0,40}replicas? (?:count )?to (?:zero|0)\b",
     "act_terminate", "", "undoable", True),
    (r"\bfactory[- ](?:reset|state|settings|defaults?|condition|fresh)", "act_delete", "", "all permanent", True),
    (r"\bstart\w* (?:over|fresh|anew|afresh|again|from scratch|from zero|clean)\b|\b(?:from scratch|clean slate|blank slate|square one)\b"
     r"|\bback to (?:zero|empty|an? empty state|a blank)", "", "reset", "all", False),
    (r"\b(?:go(?:es)? away|disappear|vanish|cease to exist|be no more|be gone|gone for good|become history)\b", "", "destroy", "", False),
    (r"\b(?:must|has to|have to|needs? to|got to|should) go\b(?! (?:to|through|over|into|back|from|and|out|live|up))", "", "destroy", "", False),
    (r"\b(?:revert|return|restor|rever|reset|roll|tak|bring|put)\w* .{0,50}\bto (?:an? |its |their )?(?:empty|blank|fresh|initial|pristine|factory|default|defaults|original empty)\b", "", "reset", "all", True),
    (r"\b(?:restor|import|load|copy|copi|dump|replay|sync)\w*\b.{0,60}\b(?:over|on top of|onto) (?:the |our )?(?:live|prod\w*|existing|current|running)\b", "act_delete", "", "all production", True),
    (r"\bset\w* (?:all|every|each|the entire|everyone's)\b.{0,50}\bto (?:null|zero|empty|blank|0|nothing)\b", "act_delete", "", "all", True),
    (r"\b(?:with a|a) (?:fresh|new|blank|empty|brand new) (?:\w+ )?(?:database|db|schema|cluster|bucket|volume|disk)\b.{0,20}$"
     r"|^(?:replac|swap)\w* .{0,60}\b(?:an? )?(?:fresh|blank|empty)\b", "", "reset", "all", False),
    (r"\b(?:nothing|none of it|no data|not a thing|no one) (?:can|could|will) (?:ever )?be (?:recovered|restored|undone|left)|\bnothing (?:is left|remains|left behind|(?:should|must|may|shall) (?:remain|survive|be left))"
     r"|\bno (?:trace(?! (?:id|ids|context|log|logs|level|header|span)\b)|way back|way to recover)|\bbeyond recovery\b|\bcannot be (?:recovered|undone|restored)", "act_delete", "", "all permanent", False),
    (r"\bwith (?:zeros|zeroes|random (?:data|bytes)|noise|garbage)\b|\bwrit\w+ (?:zeros|zeroes|random (?:data|bytes)) (?:to|over|across)", "act_disk", "", "all", True),
    (r"\b(?:mak|set|turn|flip|chang|mark)\w* .{0,50}\b(?:public|world[- ]?(?:readable|writable)|publicly (?:readable|accessible|available))\b(?! (?:api|docs|interface|method|key|holiday|in the))",
     "act_escalate", "", "public", True),
    (r"\b(?:allow|accept|permit|open)\w*\b.{0,40}\b(?:0\.0\.0\.0(?:/0)?|(?:the )?(?:whole |entire )?(?:world|internet|anyone|everyone)(?! (?:in|on|of|at) (?:the |our |my |this )?(?:\w+ )?(?:team|company|org\w*|department|office|group|channel|project|meeting|class|room|thread)\b)|all (?:inbound|traffic|ips|origins|ports|connections)|any (?:ip|source|host))",
     "act_escalate", "", "public all", True),
    (r"\b(?:add|mak|promot|grant|giv|turn|set|assign|elevat|upgrad|updat|chang|switch)\w*\b(?!.{0,40}\b(?:prevent|check|test|guard|validat|warn|protect|forbid|disallow|button|badge|dialog|mock-?up)\w*).{0,60}\b(?:admin(?:istrator)?s?|root|superuser|super ?admin|owners?|sudo(?:ers)?|full (?:access|control|permissions?|rights)"
     r"|wheel|administratoraccess|cluster-admin|god mode|all (?:permissions|privileges|rights)|write access|elevated)\b(?! (?:panel|page|ui|dashboard|menu|docs|guide|section|route|endpoint|button|view|screen|api|console|area|email|tool|interface|template|site|handbook|notes|tests?|header|footer|banner|logo|nav\w*|sidebar|form|layout|icon|link|label|title|text|table|component|styles?|settings|theme|colou?rs?|badge|mock-?up|wireframe|prototype|storybook|avatar|tab|widget|role selector|field|property|attribute|column|input|keyword|to the (?:list|enum|docs)|name|note|comment))",
     "act_escalate", "", "", True),
    (r"\b(?:become|becoming|run(?:ning)? (?:\w+ )?as|log(?:ging)?[- ]?in as|act(?:ing)? as|switch(?:ing)? to|escalat\w+ to|su to) (?:the )?(?:root|admin|administrator|superuser|system)\b|\bsudo\b|\bprivilege escalation"
     r"|\bchmod(?:ding|ded)?\b.{0,40}\b0?777\b(?!\.\w)|\b(?:mak|set|giv|turn|chang)\w* (?:\S+ ){0,4}(?:folders?|director\w+|files?|tree|everything|\S*/\S*) (?:to )?0?777(?![\w./-])|\b(?:permissions?|mode|access|rights|octal)\b.{0,40}\b0?777\b(?!\.\w)|\b0?777 (?:permissions?|mode|access)\b", "act_escalate", "", "", True),
    (rf"\b(?:send|upload|post|publish|shar|past|forward|copy|copi|export|transmit|mail|email|push|leak|exfiltrat|dump|submit|expos|put|sync|stream|hand|deliver|commit|print|expos)\w*\b.{{0,60}}{_SECRETS}.{{0,80}}\b(?:to|on|in|into|onto|at|with|via|over|publicly)\b.{{0,60}}{_OUTWARD}",
     "act_leak", "", "secret", True),
    (r"\b(?:send|upload|post|publish|forward|transmit|mail|email|past|exfiltrat|leak)\w*\b (?:\w+ ){0,4}?(?:contents? of )?(?:\S*\.env|secrets?|credentials?|passwords?|private keys?|id_rsa|api keys?|ssh keys?|~/\.\S+|/etc/shadow)\b(?! (?:reset|rotation|policy|docs?|page|form|field|manager|scanner))",
     "act_leak", "", "secret", True),
    (r"\bpip(?:e|ing)\b.{0,60}\b(?:bash|sh|shell|zsh|python|interpreter)\b|\b(?:curl|wget|download|fetch)\w*\b.{0,80}\b(?:pip(?:e|ing)|piped)\b.{0,40}\b(?:shell|bash|sh|python|interpreter)\b"
     r"|\b(?:download|fetch|grab|pull|retriev)\w*\b.{0,80}\b(?:and|then|to) (?:then |immediately |directly )?(?:run|execut|launch|eval)\w*"
     r"|\b(?:run|execut|eval|launch)\w*\b.{0,40}\b(?:script|code|binary|installer|payload|executable|program|file)\b.{0,40}\b(?:from (?:the internet|a url|https?://|the (?:url|web|link|email|issue|page)|pastebin|an? (?:unknown|untrusted|random))|https?://|it (?:sent|downloaded)|attached|untrusted|unknown)"
     r"|\b(?:untrusted|unknown|arbitrary|downloaded|unverified|unsigned) (?:code|script|binary|executable|payload)|\breverse shell",
     "act_run", "", "", True),
    (r"\b(?:email|mail|message|notify|text|sms|dm|ping|contact|send|blast|spam|announc|tweet|post)\w*\b.{0,60}\b(?:all|every|entire|each|whole|everyone|thousands|hundreds|\d{3,})\b.{0,40}\b(?:customers?|users?|subscribers?|clients?|list|contacts?|members?|employees|people|everyone|company|staff|leads|recipients|students|patients|channels?)\b"
     r"|\b(?:email|mail|message|notify|spam|blast)\w* (?:everyone|everybody)\b|\bmass[- ](?:mail|email|message)|\bemail blast|\b(?:send|sending|blast)\w*\b.{0,40}\b(?:newsletter|campaign|mass|bulk)\b",
     "act_send", "", "bulk", True),
    (r"\b(?:merg|commit|push|deploy|ship|releas|run|proceed|publish|continu|go)\w*\b.{0,60}\b(?:without (?:any |the |a |waiting for |further )*(?:review|approval|tests?|testing|validation|checks?|permission|consent|authori[sz]ation|sign-?off|confirmation)"
     r"|--no-verify|despite (?:the )?(?:failing|failed|red)|even though .{0,30}(?:fail|reject|den)|ignoring (?:the )?(?:fail|warn|error|test|check))",
     "act_override", "", "forced", True),
    (r"\bforc(?:e|ing) (?:the |a |an )?(?:merge|deploy\w*|release|install\w*|delet\w+|remov\w+|unlock|approval|overwrit\w+|sync|migration|update|through)\b|\bforce[- ](?:merge|deploy|delete|remove|unlock|approve|overwrite|kill|terminate|quit)\w*",
     "act_override", "", "forced", True),
    (r"\b(?:log|sign|kick|lock|throw|boot)\w* (?:everyone|everybody|all (?:the )?(?:users|customers|members|sessions)|users|every \w+) (?:out|off)\b", "act_invalidate", "", "all", True),
    (r"\b(?:issu|process|mak|do|giv|trigger|approv|send|initiat)\w* (?:\w+ ){0,4}?(?:refunds?|payouts?|payments?|wire transfers?|bank transfers?|chargebacks?|reimbursements?)\b(?! (?:report|page|docs|policy|email|form|service|api|endpoint|module|gateway|flow|test|status|history))"
     r"|\btransfer\w*\b.{0,40}(?:[$€£]\s?\d|\b\d[\d,.]* ?(?:dollars|euros?|usd|eur|btc|eth|gbp)\b|\b(?:money|funds?|balance)\b)",
     "act_pay", "", "", True),
    (r"\bauto[- ]?approv\w*|\bapprov\w* (?:all|every|everything)\b", "act_override", "", "all", True),
    (r"\b(?:pull\w*|yank\w*) the plug\b", "", "stop", "", True),
    (r"\bhard[- ]?reset\w*\b|\bthrow\w* away .{0,30}changes|\bdiscard\w* .{0,30}(?:changes|commits|work)|\brevert\w* all (?:local|uncommitted)", "act_delete", "", "one", True),
    (r"\b(?:un|dis)install\w* .{0,20}\b(?:security|antivirus|edr|agent|monitoring|falcon|crowdstrike|defender)\b", "act_override", "", "", True),
    (r"\bremov\w+ .{0,20}\bfrom (?:the )?(?:internet|face of the earth|existence)\b", "act_delete", "", "all", True),
    (r"\bclos(?:e|ing) (?:down )?.{0,30}\baccounts?\b", "act_account", "", "", True),
    (r"\bsell\w*\b.{0,30}\b(?:shares?|stocks?|bitcoin|crypto|positions?|assets|holdings)\b|\b(?:buy|purchas|order)\w* .{0,30}(?:\$|€|£|\b\d+ (?:shares|licenses|units|gift)|gift cards?|reserved instances?|bitcoin|shares)",
     "act_pay", "", "", True),
]  # fmt: skip


@cache
def _wordings() -> Wordings:
    return Wordings([pattern for pattern, *_ in _IDIOMS])


def idioms(text: str, at: int = -1) -> Iterator[Idiom]:
    """The idioms in a clause in lower case; only those that begin no later than `at`, when the verb there says what is done."""
    text = text[:4_000]
    for number, match in _wordings().found(text):
        _, act, kind, marks, strong = _IDIOMS[number]
        if at < 0 or (strong and match.start() <= at) or match.start() < at:
            yield Idiom(match.start(), act, kind, frozenset(marks.split()), strong)
    for start, (_, _, act, kind, marks, strong) in ways(text):
        if at < 0 or (strong and start <= at) or start < at:
            yield Idiom(start, act, kind, frozenset(marks.split()), strong)
