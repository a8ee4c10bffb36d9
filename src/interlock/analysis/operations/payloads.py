"""Commands, code and statements in parameters, and text typed into a live process, handed to the reader of their language."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain, islice
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import Report
from interlock.analysis.http import root_fields
from interlock.analysis.lexicon import objects, verbs
from interlock.analysis.lexicon.load import Patterns, WordLists, WordMaps
from interlock.analysis.operations import params, requests
from interlock.analysis.operations.files import scheduled
from interlock.analysis.operations.params import MAX_TEXT, MAX_VALUES, Entry, Keys, bounded, each, short_keys
from interlock.analysis.operations.requests import URL_KEYS, Field
from interlock.analysis.programs.load import called_programs, describe, program_set, shipped_programs

_PATTERNS = Patterns("payloads")
_LISTS = WordLists("payloads")
_MAPS = WordMaps("payloads")
Words = tuple[str, ...]
_MOST_WORDS = 6  # of a name that is a command


def run_program(segments: tuple[Words, ...], given: Mapping[str, Any], keys: Keys, out: Report) -> str:
    """Reports the command line of a tool that is named like a known program; says whether `words` told it, or `options` alone."""
    if not (line := named_program(segments)):
        return ""
    own, known = line[0] in _runnable(), describe(line[0])
    another = own or (len(line) < 2 and (known.wrapper or language_of(line) == "shell"))  # whose command it is given
    order = (*(("c",) if line[0] in program_set("operation_names") else ()), *_LISTS.in_order("words_of"))
    given_to = (key for key in order if key in keys)
    said = [keys[key] for key in given_to if not (another and is_command(key) and not str(keys[key]).strip().isalpha())]
    argv = list(chain.from_iterable(map(_words, said)))
    whole = not _LISTS.args.isdisjoint(keys)
    looks = verbs().get(keys.text("action", "operation", "verb").lower()) == "read"  # no command says so
    if not whole and (looks or requests.is_request(keys)):
        return ""
    told = any(isinstance(value, str) and value.count(" ") > 1 for value in keys.values())
    options = not any(map(is_command, keys)) and (not told or any(len(key) == 1 for key in keys))  # and no sentence
    if not (argv and (own or known.name or whole)) and (own or line[0] in verbs() or not options):
        return ""
    by = "words" if argv else "options"
    if not whole:
        argv += [*_flags(given, "" if own else line[0], taken=_taken()), *_placed(keys, _LISTS.words_of)]
    # the words alone as well, beside `verb: get` and whatever else the server may ignore
    lines = [argv, *(one for one in map(_words, said if len(said) > 1 else ()) if one and one[0][:1] != "-")]
    for words in filter(None, lines):
        out.run([*line[: len(line) * (words[0] != line[0])], *words])
    return by if argv and (own or known.name) else ""


def names_tool(segments: tuple[Words, ...]) -> bool:
    """True for a name that begins with a command-line tool that servers are named after, such as git or terraform."""
    line = named_program(segments)
    return bool(line) and line[0] in _runnable()


def _words(value: object) -> list[str]:
    """The words of a command line in a parameter: a text, a list, or an object of options."""
    if isinstance(value, Mapping):
        return _flags(value, "options")
    return _split(value) if isinstance(value, str) else _texts(value)


def run_named(segments: tuple[Words, ...], given: Mapping[str, Any], keys: Keys, out: Report) -> None:
    """Reports the command, when the words of the name are one."""
    words = tuple(chain(*segments))
    program, *rest = _named_command(words[words[:1] == ("mcp",) :])
    if not program:
        return
    said = keys.text("action", "command")
    rest += [said] if said.isalpha() and rest[-1:] != [said] else []  # docker_compose {"action": "down"}
    if not rest and "subcommand" not in given and program not in program_set("operation_alone"):
        return
    if program in program_set("operation_hyphens") and len(rest) > 2:
        rest = [rest[0], "-".join(rest[1:])]
    elif program in program_set("operation_colons") and len(rest) > 1:
        rest = [":".join(rest)]
    out.run([program, *rest, *_flags(given), *_placed(keys)])


@lru_cache(maxsize=4096)
def named_program(segments: tuple[Words, ...]) -> Sequence[str]:
    """The program that a name is, as a command line: run_kubectl, redis-cli, adb_shell; an empty one for a name that says more."""
    words = tuple(chain(*segments[segments[0] == ("mcp",) :])) if segments else ()
    if not words or len(words) > _MOST_WORDS:
        return ()
    own = tuple(word for at, word in enumerate(words) if word not in _LISTS.plain and word not in words[:at])
    for said in (words, own):
        joined = [joint.join(said) for joint in ("-", "_", ".")[: len(said)]]
        joined += ["".join(said)] if any(word[-1].isdigit() for word in said) else []
        found = next((name for name in map(_called, joined) if describe(name.split()[0]).name), "")
        if found:
            return found.split()
    last = words[-1] if len(segments) > 1 and len(segments[-1]) == 1 else ""
    if last in shipped_programs() and not any(last in known for known in (verbs(), objects(), _LISTS.runners)):
        return (last,)  # nextcloud.occ
    if program := next(
        filter((_runnable() | program_set("operation_frameworks")).__contains__, map(_called, words)), ""
    ):
        return program.split() if all(word in _LISTS.plain or _called(word) == program for word in words) else ()
    known = len(segments) > 1 or any(word in verbs() or word in objects() for word in words)
    return () if known else ("_".join(words),)


@lru_cache(maxsize=4096)
def _named_command(words: Words) -> Sequence[str]:
    """The command that the words of a name are, an empty one where they are none."""
    program, *before = _called(words[0]).split() if words else [""]
    if program not in program_set("operation_names") or len(words) > _MOST_WORDS:
        return ("",)
    rest = [*before, *(word for word in words[1:] if word not in _LISTS.fillers and word != words[0])]
    if "-".join(rest[:2]) in program_set("said_subcommands"):
        rest = ["-".join(rest[:2]), *rest[2:]]  # git_filter_branch
    return program, *rest


def _flags(given: Mapping[str, Any], valued: str = "", taken: Collection[str] = ()) -> list[str]:
    """Parameters as flags of a command line: those that are true, and where they are all options of a program, those with a value."""
    found = []
    for key, value in islice(given.items(), MAX_VALUES):
        short = params.squash(key)
        if not isinstance(key, str) or short in _LISTS.no_flags or short in taken:
            continue
        if value is True or (isinstance(value, str) and params.truth(value) is True):
            found.append(_flag(_MAPS.flags.get(short) or _PATTERNS.camel.sub("-", key).replace("_", "-").lower()))
        elif short == "mode" and isinstance(value, str) and value.lower() in _LISTS.modes:
            found.append(_flag(value.lower()))
        elif valued in program_set("operation_assigns"):
            found.append(f"{key}={value}")
        elif valued and isinstance(value, (str, int)) and not isinstance(value, bool):
            found += [_flag(key), str(value)] if len(key) == 1 else [f"{_flag(key)}={value}"]
    return found


def _flag(name: str) -> str:
    return name if name.startswith("-") else f"-{name}" if len(name) == 1 else f"--{name}"


def _placed(keys: Keys, taken: Collection[str] = ()) -> list[str]:
    found: list[str] = []
    for key in (key for key in _LISTS.in_order("placed") if key in keys and key not in taken):
        given = [item for item in each(keys[key]) if isinstance(item, str) and item.strip()]
        found += given[0].split() if given and given[0] is keys[key] and key in _LISTS.split else given
    return found


_ENDS = ("command", "cmd", "commandline", "cmdline")


@lru_cache(maxsize=4096)
def is_command(key: str) -> bool:
    """True for a parameter that is named as a command line is: az_command, commandToRun."""
    return key in _LISTS.shell or (key.endswith(_ENDS) and key != "subcommand")


def feed(out: Report, keys: Keys, *taken: str) -> Report:
    """The report for a command beside which the text stands that it reads: {"command": "sh", "input": …}."""
    fed: Callable[[str], Report] | None = getattr(out, "fed", None)
    texts = (text_of(keys[key]) for key in _LISTS.in_order("fed") if key in keys and key not in taken)
    text = next(filter(str.strip, texts), "")
    return fed(bounded(text, out)) if text and fed is not None else out


class CommandParams(Struct, frozen=True):
    """Parameters that hold something to run, with the words of the name beside them and the language that these tell."""

    words: Sequence[str]
    keys: Keys
    language: str
    out: Report

    def read_commands(self) -> bool:
        inner = (replace(self, keys=short_keys(one)) for one in params.held_params(self.keys))
        for given in chain((self,), inner):  # {"action": {"type": "exec", "command": […]}}
            keys = given.keys
            named = [key for key in sorted(filter(is_command, keys)) if key != "lua" or self.language == "redis"]
            found = [given._command(key, keys[key], feed(self.out, keys, key)) for key in named]
            if any(found):  # programs run some of the variables beside it: {"command": …, "env": {"GIT_PAGER": …}}
                for held in keys.mappings(*_LISTS.in_order("environment")):
                    for name, value in islice(held.items(), MAX_VALUES):
                        if isinstance(name, str) and name.isidentifier() and isinstance(value, str) and value.strip():
                            self.out.shell(f"{name}={shlex.quote(value[:MAX_TEXT])} true")
                return True
        return self._arguments()

    def _command(self, key: str, value: object, out: Report) -> bool:
        words, language = self.words, self.language
        if isinstance(value, Mapping):  # {"dropDatabase": 1} is a command of MongoDB, its first key says what is done
            if language == "mongo":
                out.code("mongo", f"db.runCommand({requests.as_json(value)})")
            return language == "mongo"
        argv, text = argv_of(value, self.keys), text_of(value)
        if not _LISTS.network.isdisjoint(words) and _PATTERNS.unsets.search(text[:MAX_TEXT]):
            out.effect("act_unconfigure", "a device of the network")
        stored = language in _LISTS.stores
        script = language in _LISTS.scripts and key not in _LISTS.command_only
        if stored and (argv or text):
            in_lua = language == "redis" and "redis." in text
            out.code("lua" if in_lua else language, " ".join(argv) if argv and not in_lua else text)
        elif script and (language == "powershell" or not key.endswith(_ENDS)):
            out.code(language, text or " ".join(argv))
        elif argv:
            out.run(self._with_program(argv))
            for line in argv if key == "commands" else ():  # the words of one, or several
                out.shell(bounded(line, out))
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, str):
                    out.shell(bounded(item, out))
                elif isinstance(item, (list, tuple)):
                    self._command(key, item, out)
        elif text.strip():
            cron = scheduled(text[:MAX_TEXT]) if any("cron" in word for word in words) else ""
            text = cron or text
            out.shell(bounded(" ".join([*self._with_program(text.split(None, 1)[:1])[:-1], text]), out))
        return isinstance(value, (list, tuple)) or bool(text.strip())

    def _arguments(self) -> bool:
        """Words without a command: of a tool that is a program, of a program that is named beside, or a whole command."""
        words, keys, out = self.words, self.keys, self.out
        if "ansible" in words and (module := keys.text("module", "modulename")):  # ansible HOSTS -m MODULE -a ARGS
            given = next((keys[key] for key in ("args", "moduleargs", "arguments", "command") if keys.get(key)), "")
            pairs = given.items() if isinstance(given, Mapping) else ()
            said = " ".join(f"{name}={value}" for name, value in pairs) or text_of(given) or str(given)
            hosts = keys.text("hosts", "pattern", "host", "group", "inventory") or "all"
            out.run(["ansible", hosts, "-m", module, "-a", said])
            return True
        started, known = keys.text(*_LISTS.in_order("started")), shipped_programs()
        listed = next((argv for key in ("argv", "args") if (argv := argv_of(keys.get(key), Keys()))), [])
        whole = listed if not started and listed and (listed[0] in known or "argv" in keys) else []
        starts = not _LISTS.starts.isdisjoint(words) or started in known or (whole and whole[0] in known)
        if not starts or not _runnable().isdisjoint(named_program((tuple(words),))[:1]):
            return False
        fed = feed(out, keys)
        if argv := argv_of(started, keys) or ([started] if started and fed is not out else []):
            fed.run([*argv, *_placed(keys, _LISTS.words_of)] if started in known else argv)
        elif argv := whole:
            out.run(argv)
        return bool(argv)

    def _with_program(self, argv: list[str]) -> list[str]:
        """A command of a tool that is named after its program: kubectl_generic {"command": "delete"} runs kubectl."""
        words = self.words
        program = next(filter(_runnable().__contains__, words), "")
        if words and program in program_set("operation_scripts") and not {"run", "script"}.isdisjoint(words):
            return [program, "run", *argv]
        script = next((name for name in map(_called, words) if name in program_set("operation_frameworks")), "")
        if script and not describe(argv[0].rstrip("0123456789.")).wrapper:  # python3
            return [script, *argv]
        if not program or words[-1] not in (program, *_LISTS.plain) or "exec" in words[-2:]:
            return argv
        first = argv[0].rpartition("/")[2]
        if first in (program, "env") or describe(first).wrapper:  # env may stand before any program
            return argv
        if first in program_set("operation_names") and program not in program_set("operation_wraps"):
            return argv
        return [program, *argv]


def argv_of(value: object, keys: Keys) -> list[str]:
    if isinstance(value, (list, tuple)):
        words = _texts(value)
        return words if len(words) == len(value) and not any(" " in item for item in words[:1]) else []
    if not isinstance(value, str) or len(value.split()) != 1:
        return []
    rest = next(filter(None, (_words(keys[key]) for key in _LISTS.in_order("args") if key in keys)), [])
    return [value.strip(), *rest] if rest else []


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text[:MAX_TEXT])
    except ValueError:
        return text.split()


def _texts(value: object) -> list[str]:
    return [str(item) for item in each(value) if isinstance(item, (str, int, float))]


def text_of(value: object) -> str:
    """Text as it is, or lines of text as one."""
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return "\n".join(value)
    return value if isinstance(value, str) else ""


def _called(word: str) -> str:
    return called_programs().get(word, word)


def reads_as_command(text: str) -> bool:
    from interlock.analysis.prose.commands import is_command

    return is_command(text)


_runnable = cache(lambda: program_set("operation_names") | program_set("tool_names"))
_taken = cache(lambda: _LISTS.placed | _LISTS.words_of)
# Without one of these keys or a command line, parameters hold nothing that runs.
_stated = cache(lambda: _LISTS.sql | _LISTS.query | _MAPS.key_languages.keys())
_carrying = cache(lambda: _LISTS.code | _LISTS.arguments | _LISTS.language | URL_KEYS | _stated())


def read_payloads(words: Sequence[str], verb: str, keys: Keys, field: Field, out: Report) -> bool:
    """Reads what the parameters would run; True when they held something that runs. `field` gets each GraphQL mutation."""
    # a database runs a statement under any key; the query of a search is a text to look for, unless it is a statement
    open_keys = keys.keys() if verb in _LISTS.runners or verb in _MAPS.languages else _LISTS.query & keys.keys()
    loose = set[str]()
    database = open_keys and ("query" in words or language_of(words) in _LISTS.databases)
    if database and _LISTS.remarks.isdisjoint(words):
        loose = {key for key in open_keys - _LISTS.remarks if is_statement(text_of(keys[key]))}
    if not loose and _carrying().isdisjoint(keys) and not any(map(is_command, keys)):
        return False
    of_text = verb in _LISTS.of_text or not _LISTS.formatters.isdisjoint(words[-1:])
    plain = verb == "explain" or not isinstance(keys.get("command"), Mapping)
    if (of_text or verb in _LISTS.documentary) and plain and not requests.is_request(keys):
        behind = words[len(words) - list(reversed(words)).index(verb) :] if verb in words else ()
        if of_text or not _LISTS.texts.isdisjoint(behind or words):
            return False  # explain_query, lint, save_snippet; find_rows {"sql": …} runs what it is given
        keys = Keys({key: keys[key] for key in keys if is_command(key) or key in _LISTS.sql or key in loose})
    named = (_MAPS.languages.get(value.strip().lower()[:20]) for value in keys.texts(_LISTS.in_order("language")))
    language = next(filter(None, named), "") or language_of(words)
    found = requests.read_request(words, keys, field, out)
    found = CommandParams(words, keys, language, out).read_commands() or found
    for key in sorted((_stated() | loose) & keys.keys()):
        for text in each(keys[key]):
            if isinstance(text, Mapping):
                text = short_keys(text).text(*sorted(_LISTS.sql | _LISTS.query))
            if isinstance(text, str) and text.strip():
                found = _statement(words, key, text[: MAX_TEXT + 1], field, out) or found
    if language == "javascript":  # a script for a page may click, and may send away what the page holds
        for text in map(text_of, map(keys.get, sorted(_LISTS.code | {"script"}))):
            requests.read_page_script(text, field, out)
    if language or verb in _LISTS.runners or "code" in words:
        found = _code(verb, keys, language, out) or found
    return found


def read_texts(
    words: Words, entries: list[Entry], deepest: int, statements: bool, deletions: bool, out: Report
) -> bool:
    """Reads the statements that stand deeper in the parameters, and reports what texts of a language without a reader delete."""
    told, macro, found = frozenset[str](), not _LISTS.macros.isdisjoint(words), False
    if deepest:
        told = _stated() if language_of(words) in _LISTS.databases else _LISTS.sql if statements else told
    for key, _, value, depth, _ in entries:
        if not isinstance(value, (str, list)) or len(text := text_of(value)[:MAX_TEXT]) < 7:
            continue
        if depth and key in told and is_statement(text):
            out.code("sql", bounded(text, out))
            found = True
        asked = _PATTERNS.macro if macro or key in _LISTS.macros else _PATTERNS.erases
        if deletions and key not in _LISTS.remarks and (match := asked.search(text)):
            out.effect("act_delete", " ".join(match[0].split())[:200], *(("bulk",) if "*" in match[0] else ()))
            return True
    return found


def language_of(words: Iterable[str]) -> str:
    known = [_MAPS.languages[word] for word in words if word in _MAPS.languages]
    telling = [language for language in known if language not in ("shell", "sql")]
    return telling[-1] if telling else max(known, default="")


def _statement(words: Sequence[str], key: str, text: str, field: Field, out: Report) -> bool:
    out.step()
    if kusto := _PATTERNS.kusto.match(text):
        return requests.read_acts([f"{kusto[1]}_{kusto[2]}" if kusto[1].lower() != "show" else "show"], field)
    if _PATTERNS.graphql.match(text):
        return requests.read_acts(_mutations(text), field) or True
    language = _MAPS.key_languages.get(key) or ("cypher" if _PATTERNS.cypher.match(text) else language_of(words))
    if language in ("cypher", "cql", "redis", "mongo"):
        out.code(language, text)
    elif key in _LISTS.sql or language == "sql" or _PATTERNS.statement.match(text):
        out.code("sql", text)
    else:
        return False
    return True


def is_statement(text: str) -> bool:
    return _PATTERNS.statement.match(text[:5000]) is not None


def _mutations(text: str) -> list[str]:
    """The fields that a GraphQL mutation calls, and those of mutations in its strings, to be run in bulk."""
    inner = (string for string in _PATTERNS.strings.findall(text) if "mutation" in string)
    found = [name for string in inner for name in _mutations(string[1:-1])]
    query = _PATTERNS.strings.sub('""', text)
    start = query.find("mutation")
    return [*found, *(root_fields(query[start:]) if start >= 0 else ())]


def _code(verb: str, keys: Keys, language: str, out: Report) -> bool:
    found = False
    bodies = _LISTS.bodies if verb in _LISTS.runners and not _LISTS.language.isdisjoint(keys) else frozenset[str]()
    for key in sorted((_LISTS.code | bodies) & keys.keys()):
        text = text_of(keys[key])
        if not text.strip() or (key == "program" and " " not in text.strip()):
            continue
        looks = "python" if _PATTERNS.python.search(text) else "other"
        named = language or _MAPS.code_keys.get(key) or ("javascript" if _PATTERNS.javascript.search(text) else looks)
        out.shell(text) if named == "shell" else out.code(named, text)
        found = True
    return found
