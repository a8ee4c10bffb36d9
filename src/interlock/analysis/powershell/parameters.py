"""Names and aliases of cmdlets, and the binding of a command's words to their parameters."""

from __future__ import annotations

from collections.abc import Sequence
from types import MappingProxyType

from msgspec import Struct, field

from interlock.analysis.powershell.values import Value, plain, texts

_ALIAS_ROWS = """
remove-item rm ri del erase rd rmdir
get-childitem gci ls dir
get-item gi
get-content gc cat type
set-content sc
add-content ac
clear-content clc
clear-item cli
new-item ni
move-item mi mv move
rename-item rni ren
copy-item cp copy cpi
invoke-expression iex
invoke-command icm
invoke-webrequest iwr curl wget
invoke-restmethod irm
start-process start saps
start-job sajb
stop-process kill spps
stop-service spsv
start-service sasv
foreach-object foreach %
where-object where ?
select-object select
sort-object sort
measure-object measure
group-object group
compare-object compare diff
tee-object tee
write-output echo write
out-host oh
out-gridview ogv
get-process ps gps
get-service gsv
get-command gcm
get-help help man
get-member gm
get-location pwd gl
set-location cd chdir sl
push-location pushd
pop-location popd
get-history history h ghy
get-alias gal
set-alias sal
new-alias nal
get-variable gv
set-variable sv set
new-variable nv
remove-variable rv
clear-variable clv
remove-itemproperty rp
set-itemproperty sp
get-itemproperty gp
set-item si
invoke-item ii
get-wmiobject gwmi
get-ciminstance gcim
remove-ciminstance rcim
remove-wmiobject rwmi
invoke-wmimethod iwmi
invoke-cimmethod icim
remove-job rjb
receive-job rcjb
remove-module rmo
import-module ipmo
remove-pssession rsn
enter-pssession etsn
select-string sls
format-table ft
format-list fl
format-wide fw
convert-path cvpa
resolve-path rvpa
test-path
clear-host cls clear
start-sleep sleep
new-psdrive mount ndr
remove-psdrive rdr
export-csv epcsv
import-csv ipcsv
clear-recyclebin
"""

ALIASES = MappingProxyType(
    {alias: row.split()[0] for row in _ALIAS_ROWS.split("\n") if row for alias in row.split()[1:]}
)

# Names that are also programs of other systems; with options no cmdlet has, they mean the program.
ALSO_PROGRAMS = frozenset({
    "rm", "ls", "cat", "cp", "mv", "rmdir", "curl", "wget", "kill", "ps", "diff", "tee", "sort", "man", "mount", "sleep",
    "echo", "type", "del", "rd", "erase", "dir", "copy", "move", "ren", "start", "set", "where",
})  # fmt: skip

# `name!` takes no value; the others stand in the order in which positions fill them.
_COMMON = (
    "erroraction ea warningaction wa informationaction errorvariable ev outvariable ov outbuffer pipelinevariable "
    "progressaction verbose! vb! debug! db! whatif! wi! confirm! cf!"
)
_PARAMETER_ROWS = """
remove-item: path | literalpath pspath lp filter include exclude credential stream recurse! force!
get-childitem: path filter | literalpath pspath lp include exclude depth attributes recurse! s! force! name! directory! ad! file! af! hidden! readonly! system! followsymlink!
get-item: path | literalpath lp filter include exclude stream force!
resolve-path: path | literalpath lp relative! relativebasepath
convert-path: path | literalpath lp
get-content: path | literalpath lp filter include exclude totalcount head first tail last readcount delimiter encoding stream raw! wait! force! asbytestream!
set-content: path value | literalpath lp filter include exclude encoding stream force! nonewline! passthru! asbytestream! append!
add-content: path value | literalpath lp filter include exclude encoding stream force! nonewline! passthru! asbytestream!
clear-content: path | literalpath lp filter include exclude stream force!
clear-item: path | literalpath lp filter include exclude force!
out-file: filepath encoding | path literalpath lp width inputobject append! force! noclobber! nonewline!
tee-object: filepath | path literalpath lp variable inputobject encoding append!
export-csv: path delimiter | literalpath lp encoding inputobject append! force! noclobber! notypeinformation! nti! useculture!
new-item: path | name itemtype type value target force!
move-item: path destination | literalpath lp filter include exclude force! passthru!
rename-item: path newname | literalpath lp force! passthru!
copy-item: path destination | literalpath lp filter include exclude tosession fromsession container! recurse! force! passthru!
invoke-expression: command |
invoke-webrequest: uri | method custommethod body infile outfile headers contenttype credential useragent websession sessionvariable proxy timeoutsec form authentication token maximumredirection usebasicparsing! usedefaultcredentials! skipcertificatecheck! passthru! resume! disablekeepalive!
invoke-restmethod: uri | method custommethod body infile outfile headers contenttype credential useragent websession sessionvariable proxy timeoutsec form authentication token maximumredirection usebasicparsing! usedefaultcredentials! skipcertificatecheck! passthru! followrellink! resume!
start-bitstransfer: source destination | displayname description priority transfertype credential asynchronous!
start-process: filepath argumentlist | args verb workingdirectory windowstyle credential redirectstandardoutput redirectstandarderror redirectstandardinput wait! nonewwindow! passthru! loaduserprofile! usenewenvironment!
invoke-item: path | literalpath lp
new-object: typename argumentlist | args comobject property strict!
foreach-object: process | begin end membername argumentlist inputobject remainingscripts throttlelimit timeoutseconds parallel asjob!
stop-process: id | name processname inputobject force! passthru!
set-alias: name value | scope option description force! passthru!
new-alias: name value | scope option description force! passthru!
set-variable: name value | scope option visibility description force! passthru!
new-variable: name value | scope option visibility description force! passthru!
get-variable: name | scope include exclude valueonly!
get-command: name argumentlist | commandtype type module syntax! all!
join-path: path childpath additionalchildpath | credential resolve!
split-path: path | literalpath parent! leaf! qualifier! noqualifier! leafbase! extension! isabsolute! resolve!
new-scheduledtaskaction: execute argument workingdirectory | id cimsession asjob!
new-service: name binarypathname | displayname description startuptype credential dependson
add-type: typedefinition | memberdefinition name namespace usingnamespace assemblyname path literalpath language referencedassemblies outputassembly outputtype passthru!
set-location: path | literalpath lp stackname passthru!
push-location: path | literalpath lp stackname passthru!
invoke-wmimethod: class name argumentlist | args path namespace computername inputobject credential
invoke-cimmethod: classname arguments methodname | name namespace query computername inputobject cimsession
"""


class Spec(Struct, frozen=True):
    """The parameters of one cmdlet."""

    positional: tuple[str, ...]
    named: tuple[str, ...]
    switches: frozenset[str]


def _spec(row: str) -> tuple[str, Spec]:
    name, _, rest = row.partition(":")
    positions, _, others = rest.partition("|")
    all_named = [*positions.split(), *others.split(), *_COMMON.split()]
    switches = frozenset(word[:-1] for word in all_named if word.endswith("!"))
    return name, Spec(tuple(positions.split()), tuple(word.rstrip("!") for word in all_named), switches)


SPECS = MappingProxyType(dict(_spec(row) for row in _PARAMETER_ROWS.strip().split("\n")))
_EXACT = MappingProxyType({
    "wi": "whatif", "cf": "confirm", "lp": "literalpath", "pspath": "literalpath", "s": "recurse", "ea": "erroraction",
    "args": "argumentlist", "type": "itemtype", "processname": "name", "first": "head", "last": "tail",
})  # fmt: skip


class CmdletWord(Struct, frozen=True):
    """One word of a command: a value, or a parameter that may carry one."""

    value: Value = None
    flag: str = ""
    has_value: bool = False

    def shown(self) -> list[str]:
        """The word for the rules."""
        if not self.flag:
            text = _shown(self.value)
            return [f"'{text}'" if text.startswith("-") else text]  # a value, whatever it looks like
        return [f"-{self.flag}:{_shown(self.value)}" if self.has_value else f"-{self.flag}"]


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "$true" if value else "$false"
    if value is None:
        return "$null"
    return ",".join(texts(value))


class Bound(Struct):
    """The words of a command, each with the parameter it belongs to."""

    name: str
    words: list[CmdletWord]
    given: dict[str, Value] = field(default_factory=dict)
    rest: list[Value] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)  # flags that the cmdlet does not have

    def has(self, switch: str) -> bool:
        """True for a switch that is on; what only rehearses must be surely on."""
        value = self.given.get(switch, False)
        return value is True or value == 1 if switch == "whatif" else value is not False

    def texts(self, *names: str) -> list[str]:
        """The texts given for any of these parameters."""
        return [text for name in names if name in self.given for text in texts(self.given[name])]

    def text(self, *names: str) -> str:
        """The text given for the first of these parameters that was given."""
        return next((plain(self.given[name]) for name in names if name in self.given), "")

    def argv(self) -> list[str]:
        """The command as written, for rules."""
        return [self.name, *(text for word in self.words for text in word.shown())]


def bind(name: str, words: Sequence[CmdletWord]) -> Bound:
    """Sort the words of a command by parameter, as PowerShell would."""
    bound = Bound(name, list(words))
    spec = SPECS.get(name)
    if spec is None:
        bound.rest = [word.value for word in words if not word.flag]
        bound.given = {word.flag.lower(): word.value if word.has_value else True for word in words if word.flag}
        return bound
    loose: list[Value] = []
    queue = list(reversed(words))
    while queue:
        word = queue.pop()
        if not word.flag:
            loose.append(word.value)
            continue
        parameter = _parameter(spec, word.flag.lower())
        if not parameter:
            bound.strange.append(word.flag)
        elif parameter in spec.switches:
            bound.given[parameter] = word.value if word.has_value else True
        elif word.has_value:
            bound.given[parameter] = word.value
        elif queue and not queue[-1].flag:
            bound.given[parameter] = queue.pop().value
    free = [name for name in spec.positional if name not in bound.given]
    bound.given.update(zip(free, loose))
    bound.rest = loose[len(free) :]
    return bound


def _parameter(spec: Spec, flag: str) -> str:
    """The parameter that a flag means; abbreviations count, and a switch wins over a parameter with a value."""
    if flag in spec.named:
        return _EXACT.get(flag, flag) if _EXACT.get(flag, flag) in spec.named else flag
    found = [name for name in spec.named if name.startswith(flag)]
    return next((name for name in found if name in spec.switches), found[0] if found else "")
