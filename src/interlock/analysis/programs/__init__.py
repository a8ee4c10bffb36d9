"""Descriptions of programs, built from data: options, names, what a program runs, prints, sends and does to files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import asdict, replace

from interlock.analysis.packs import Pack, PackError, Words, only_keys, typed_field, word_list


class Conditions(Struct, frozen=True):
    subcommand: tuple[Words, ...] = ()  # behind one of these
    any_flag: Words = ()
    no_flag: Words = ()
    given: Mapping[str, str] = {}  # options -> pattern of their last value, "" where it has none


class Payload(Conditions, frozen=True):
    """What a program, or one of its subcommands, is given to run, and in which language.

    A language is `command` (the words of a command), `shell` (shell text), `data` (text that is never run), `sql` with or
    without a dialect behind it, the name of a language that is read, or one of those in `shell/payloads.py`.
    """

    words: str = ""  # the operands are one command or text, which has options of its own
    operands: str = ""  # each operand is a text
    file: str = ""  # the operand names a file
    interpreter: str = ""  # runs the command where it is a script of its language, or a module (-m)
    skip: int = 0  # this many operands come first
    opens: bool = False  # those are files that it reads
    behind: str = ""  # only the words behind this one
    mark: str = ""  # or behind the first that begins with this pattern, in any case of letters
    single: bool = False  # of which only the first counts
    any_word: str = ""  # only where a word has this pattern, in any case of letters
    prefixes: Words = ()  # words before the command that begin so belong to the program
    options: Mapping[str, str] = {}  # option -> language of its value
    files: Mapping[str, str] = {}  # option -> language of the file that it names
    settings: Mapping[str, Mapping[str, str]] = {}  # option -> name of a setting -> language
    implicit: Mapping[str, str] = {}  # file that it runs unasked -> language
    stdin: str = ""  # its standard input, where it is given nothing else to run
    value_flags: frozenset[str] = frozenset()  # options with values behind the subcommand, beside the program's own
    traits: Words = ()  # privileged, remote, container, bulk
    assigns: bool = False  # NAME=value may come before the command
    entry: Words = ()  # options that name the program before the command
    mounts: Words = ()  # options that give the command folders of this machine
    packages: Words = ()  # options that name the package that is fetched and run
    starts: frozenset[str] = frozenset()  # derived: first words of its subcommands
    asks: frozenset[str] = frozenset()  # derived: its options, where it is about nothing else


DERIVED = frozenset({"starts", "asks"})


class ObjectEffect(Conditions, frozen=True):
    """What a subcommand does to the objects that its operands and options name.

    A `*` in a subcommand stands for the name of an object (`service * stop`); as a kind it says that the first operand names it.
    """

    effect: str = ""  # one of `_KNOWN`; `named` for what the subcommand's own word means
    kind: str = ""  # container, database, namespace …
    option: Words = ()  # options that name objects as well
    file_option: Words = ()  # options that name files which list objects
    operands: int = -1  # so many of the operands name objects; all of them if it is negative
    everything: bool = False  # without a name it is every object of the kind
    place: Mapping[str, Words] = {}  # of the program where this is empty
    plain: frozenset[str] = frozenset()  # of the program where this is empty
    options_first: bool = False  # the words behind the first operand are somebody else's
    throwaway: str = ""  # `always` where another takes its place by itself, `name` where a name for tests tells as much


class PathEffect(Conditions, frozen=True):
    effect: str = ""  # read, write, append, overwrite, truncate, delete, move, chmod or chown
    of: str = "operands"  # operands, first, sources (all but the last), target (the last), setting
    skip: int = 0  # this many operands are no paths
    into: Words = ()  # options that name the target, so that every operand is a source
    option: Words = ()  # options whose values hold the settings
    setting: Words = ()  # names of NAME=path words
    source: Words = ()  # names of the NAME=path words that say where its content comes from
    creates: str = ""  # pattern in names of targets that it usually makes anew
    path: str = ""  # this path, whatever the words are
    traits: Words = ()
    traits_by: Mapping[str, Words] = {}  # trait -> options that bring it
    traits_but: Mapping[str, Words] = {}  # trait -> options that take it away
    mode: Words = ()  # options that give the rights that are set; `operand` for the first operand
    contents: str = ""  # where the new content comes from: copy, move, link (of the sources), stdin
    hosts: bool = False  # a path may be HOST:PATH
    listed: bool = False  # without operands it takes the names from its standard input


class StoreEffect(Conditions, frozen=True):
    """The first entry that holds counts."""

    effect: str = ""  # store_drop, store_delete, store_write, store_admin, store_read
    option: Words = ()  # options that name the object
    setting: Words = ()  # or the name of a NAME=object word
    at: int = 1  # or the place of the operand that does
    traits: Words = ()
    traits_for: Mapping[str, str] = {}  # trait -> pattern of the names for which it holds


class Sending(Conditions, frozen=True):
    to: str = ""  # who gets it, where no word names the host
    host: Words = ()  # options that name the host; `operand` for the first operand
    stdin: bool = False  # what flows in
    words: bool = False  # secrets among its words
    files: Words = ()  # the files that these options name
    content: bool = False  # whatever it is, and not only secrets


class Printed(Conditions, frozen=True):
    """What a program prints, as far as that is known before it runs."""

    by: str = ""  # the function of `shell/output.py` that computes it
    text: str = ""  # the text itself
    unknown: str = ""  # the name of what is printed, where its value is not known
    taints: Words = ()  # secret, environment, download, bulk, sql
    any_word: str = ""  # only where one of the first words has this pattern
    starts: frozenset[str] = frozenset()  # derived, as in Payload
    asks: frozenset[str] = frozenset()


class Program(Struct, frozen=True):
    name: str = ""  # what rules call it, whichever of its names is written
    aliases: Words = ()  # other names of the same program
    alike: Words = ()  # other programs whose words are read in the same way
    value_flags: frozenset[str] = frozenset()  # options that take the next word
    pair_flags: frozenset[str] = frozenset()  # options that take two words
    behind: Mapping[str, frozenset[str]] = {}  # first operand -> options with values after it
    single_dash: bool = False  # long options may have one dash
    abbreviates: bool = False  # the beginning of a long option with a value stands for it
    bare_bundle: bool = False  # the first word may be a bundle of options without a dash
    network: frozenset[str] | bool = False  # always, or for these subcommands
    dry_run: Words = ()  # words under which it changes nothing
    neutral: frozenset[str] = frozenset()  # subcommands that never put other files in the place of a target
    endings: Words = ()  # of the names of files that it runs
    unpacks: Words = ()  # first words with which it takes an archive apart
    packs_not: Words = ()  # and with which nothing that it is given is packed
    slash_flags: bool = False  # `/s` is an option
    wrapper: bool = False  # it only runs the command, code or script that it is given
    reader: Words = ()  # readers of its words, where the other keys cannot say what they do
    read_at: Mapping[str, frozenset[str]] = {}  # reader -> words of which it needs one
    script: bool = False  # a script of a project with this name is this program, whichever interpreter runs it
    # options whose value is a secret, by their form
    secrets: Mapping[str, Words] = {}
    carries: tuple[Payload, ...] = ()  # what it runs
    does: tuple[ObjectEffect, ...] = ()  # what it does to the objects that it names
    paths: tuple[PathEffect, ...] = ()  # what it does to files
    writes: Words = ()  # options that name a file which it writes
    stores: tuple[StoreEffect, ...] = ()  # what it does to an object of a queue or key-value service
    sends: tuple[Sending, ...] = ()  # what it gives to others
    quiet: bool = False  # it prints nothing of what it reads
    http: Mapping[str, Words] = {}  # part of a request -> options that give it
    place: Mapping[str, Words] = {}  # part of the place -> options that name it
    plain: frozenset[str] = frozenset()  # options and variables that tell neither which object is meant nor where it is
    kinds: Mapping[str, str] = {}  # short name of a kind -> kind
    operands: str = ""  # what its operands are, where they are no subcommands: code, files, names, text
    data: bool = False  # its words are text that it shows, searches, checks or keeps, and never runs
    # subcommands, with all words behind them, and options that rules alone judge
    ruled: tuple[Words, ...] = ()
    help: Words = ("--help", "--version")  # words for which it only prints
    options_first: bool = False  # an option behind its first operand is a word for somebody else
    subcommands: tuple[Words, ...] = ()  # of which it takes any unambiguous beginning
    dashed: frozenset[str] = frozenset()  # subcommands that are programs as well: git-push
    own_words: frozenset[str] = frozenset()  # its subcommands, where any other word is a script of the project
    short: Mapping[str, str] = {}  # a subcommand's other names -> the one that rules use
    variables: Words = ()  # variables with more of its options: TAR_OPTIONS, or PIP_* for each long option
    prints: tuple[Printed, ...] = ()  # what it prints, where that is known before it runs
    dialect: str = ""  # of a shell: the language that it reads
    migrations: Mapping[str, Words] = {}  # their folder, and the commands on them


_OPERANDS = ("", "code", "files", "names", "text")


def build_program(name: str, data: Pack) -> Program:
    """Raises PackError on anything that is not exactly right."""
    where = f"program {name}"
    only_keys(where, data, _PROGRAM_KEYS)
    _one_of(where, "operands", data.get("operands", ""), _OPERANDS)
    made = {key: _field(where, key, value) for key, value in data.items()}
    only_keys(f"{where}: read_at", made.get("read_at", {}), made.get("reader", ()))
    made["value_flags"] = made.get("value_flags", frozenset()).union(made.get("writes", ()))
    made.setdefault("data", data.get("operands") in ("names", "text"))
    return Program(name=name, **made)


def _field(where: str, key: str, value: Any) -> Any:
    if key in _ENTRIES:
        return tuple(_entry(where, item, _ENTRIES[key]) for item in value)
    if key in _OPTION_KEYS:
        return _option_lists(f"{where}: {key}", value, _OPTION_KEYS[key])
    if key in ("ruled", "subcommands"):
        return _paths(where, key, value)
    return _BUILDERS[key](where, value) if key in _BUILDERS else typed_field(where, key, value, getattr(_UNSAID, key))


def _paths(where: str, key: str, value: object) -> tuple[Words, ...]:
    return tuple(tuple(path.split()) for path in word_list(where, key, value))


def whole_words(program: Program, words: Sequence[str]) -> list[str]:
    """`ip r f` is `ip route flush`."""
    spelled = list(words)
    valued = program.value_flags
    places = [at for at, word in enumerate(words) if word[:1] != "-" and not (at and words[at - 1] in valued)][:4]
    for count in range(len(places), 0, -1):
        whole = program.short.get(" ".join(spelled[at] for at in places[:count]))
        if whole is not None:
            spelled[places[0] : places[count - 1] + 1] = whole.split()
            return spelled
    known: Sequence[Words] = program.subcommands
    for depth, at in enumerate(places):
        begins = [path for path in known if len(path) > depth and path[depth].startswith(spelled[at])]
        if not begins:
            break
        if all(path[depth] != spelled[at] for path in begins):
            spelled[at] = begins[0][depth]  # such programs take the first that fits
        known = [path for path in begins if path[depth] == spelled[at]]
    return spelled


def _entry(where: str, data: Pack, kind: type[Struct]) -> Any:
    """Each field has the type that it has by default."""
    usual: Any = kind()
    only_keys(where, data, [name for name in kind.__struct_fields__ if name not in DERIVED])
    made = {key: typed_field(where, key, value, getattr(usual, key)) for key, value in data.items()}
    made["subcommand"] = _paths(where, "subcommand", data.get("subcommand", []))
    if "starts" in kind.__struct_fields__:
        starts = frozenset(path[0] for path in made["subcommand"])
        made["starts"] = frozenset() if "*" in starts else starts
    for key, known in _KNOWN.get(kind, {}).items():
        _one_of(where, key, made.get(key, getattr(usual, key)), known)
    if kind is Payload:
        _complete_payload(where, made)
    elif kind is ObjectEffect:
        made["subcommand"] = made["subcommand"] or ((),)
        made["place"] = _option_lists(f"{where}: place", data.get("place", {}), _OPTION_KEYS["place"])
    for key in ("traits_by", "traits_but") if kind is PathEffect else ():
        made[key] = {trait: word_list(where, trait, flags) for trait, flags in made.get(key, {}).items()}
    return kind(**made)


def _complete_payload(where: str, made: dict[str, Any]) -> None:
    """Refuses a payload that says nothing of what is run."""
    sources = {*_ANY_WORDS, "options", "files", "settings"}
    if sources.isdisjoint(made):
        raise PackError(f"{where}: an entry of carries names none of {', '.join(sorted(sources))}")
    for key in made.keys() & {"options", "files"}:
        made[key] = _by_name(made[key])
    made["settings"] = {option: _by_name(names) for option, names in made.get("settings", {}).items()}
    named = (made.get(key, ()) for key in ("value_flags", "options", "files", "settings", "entry", "mounts"))
    made["value_flags"] = frozenset().union(*named)
    if made.keys().isdisjoint(_ANY_WORDS):
        made["asks"] = frozenset().union(*(made.get(key, ()) for key in ("options", "files", "settings")))


def _by_name(languages: Mapping[str, str]) -> dict[str, str]:
    return {name: language for names, language in languages.items() for name in names.split()}


def _one_of(where: str, key: str, value: Any, known: Iterable[str]) -> None:
    if value not in known:
        raise PackError(f"{where}: {key} is {value!r}, expected one of {', '.join(sorted(filter(None, known)))}")


_ANY_WORDS = frozenset({"words", "operands", "file", "implicit", "stdin"})  # sources that need no option
# `select` chooses a part of the place for later commands, `enter` runs a command in the object, after `reuse` its name may be another's;
# `replace` puts others of the kind in the place of some that it does not name.
_KNOWN: Mapping[type[Struct], Mapping[str, frozenset[str]]] = {
    ObjectEffect: {"effect": frozenset("create read remove stop write select enter reuse replace named".split())},
    StoreEffect: {"effect": frozenset("store_drop store_delete store_write store_admin store_read".split())},
    PathEffect: {
        "effect": frozenset("append chmod chown delete move overwrite read truncate write".split()),
        "of": frozenset("operands first sources target setting".split()),
        "contents": frozenset({"", "copy", "move", "link", "stdin"}),
    },
}
_OPTION_KEYS: Mapping[str, Sequence[str]] = {
    "http": (
        "method data json raw encoded form upload file header auth output url own_name in_query head next config folder saves items".split()
    ),
    "place": (
        "context namespace engine engine_env folder file part part_env host host_env port port_env name name_env needs environment only store "
        "repository machine".split()
    ),
    "secrets": ("apart", "glued", "pair", "subcommand"),  # -p X, -pX, -u NAME:X, and only behind these subcommands
    # The folder that new ones are written to, first words that add one, whole commands that apply all and that roll back the last, first
    # words (up to a colon) of everything that changes which are applied.
    "migrations": ("folder", "adds", "applies", "steps_back", "changes"),
}  # fmt: skip
_ENTRIES: Mapping[str, type[Struct]] = {
    "carries": Payload, "does": ObjectEffect, "paths": PathEffect, "stores": StoreEffect, "sends": Sending, "prints": Printed,
}  # fmt: skip


def _option_lists(where: str, data: Pack, known: Sequence[str]) -> dict[str, Words]:
    only_keys(where, data, known)
    return {key: word_list(where, key, words) for key, words in data.items()}


def _word_sets(where: str, data: Pack) -> dict[str, frozenset[str]]:
    return {key: frozenset(word_list(where, key, words)) for key, words in data.items()}


def extend_program(first: Program | None, second: Program) -> Program:
    """A description with everything that a second one says besides."""
    if first is None:
        return second
    said = asdict(second)
    said = {name: value for name, value in said.items() if value != getattr(_UNSAID, name)}
    both = {"value_flags": first.value_flags | second.value_flags, "dry_run": first.dry_run + second.dry_run}
    return replace(first, **{**said, **both})


_UNSAID = Program()
_PROGRAM_KEYS = frozenset(Program.__struct_fields__) - {"name"}
_BUILDERS: Mapping[str, Callable[[str, Any], Any]] = {
    "behind": _word_sets,
    "read_at": _word_sets,
    "network": lambda where, said: said if isinstance(said, bool) else frozenset(word_list(where, "network", said)),
    "reader": lambda where, said: word_list(where, "reader", [said] if isinstance(said, str) else said),
    "kinds": lambda where, said: {str(key): str(kind) for key, kind in said.items()},
    "short": lambda where, said: {name: whole for names, whole in said.items() for name in names.split(", ")},
}
