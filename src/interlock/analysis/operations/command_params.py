"""Finds command lines in an operation's parameters, and program names in its own name, and hands them to the shell reader."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from interlock.analysis.facts import Report
from interlock.analysis.lexicon.load import Patterns, WordLists
from interlock.analysis.operations.params import MAX_TEXT, short_keys, squash, truth
from interlock.analysis.operations.requests import as_json
from interlock.analysis.programs.load import called_programs, describe, program_set, shipped_programs

_PATTERNS = Patterns("command_params")
_LISTS = WordLists("command_params")

_OUTSIDE = frozenset({"env"})  # which may stand before any program
_SHORT: Mapping[str, str] = {"directories": "-d", "directory": "-d", "ignored": "-x"}
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MOST = 60


def run_named(segments: Sequence[tuple[str, ...]], params: Mapping[str, Any], out: Report) -> None:
    """Reports the command, when the words of the name are one."""
    words = [word for words in segments for word in words]
    words = words[words[:1] == ["mcp"] :]
    program, *before = called_programs().get(words[0], words[0]).split() if words else [""]
    if program not in program_set("operation_names") or len(words) > 6:
        return
    rest = [*before, *(word for word in words[1:] if word not in _LISTS.fillers and word != words[0])]
    if "-".join(rest[:2]) in program_set("said_subcommands"):
        rest = ["-".join(rest[:2]), *rest[2:]]  # git_filter_branch
    said = next((params[key] for key in _SUBCOMMANDS if isinstance(params.get(key), str)), "")
    rest += [said] if said.isalpha() and rest[-1:] != [said] else []  # docker_compose {"action": "down"}
    if not rest and "subcommand" not in params and program not in program_set("operation_alone"):
        return
    if program in program_set("operation_hyphens") and len(rest) > 2:
        rest = [rest[0], "-".join(rest[1:])]
    elif program in program_set("operation_colons") and len(rest) > 1:
        rest = [":".join(rest)]
    out.run([program, *rest, *switches(params), *placed(params)])


_SUBCOMMANDS = ("action", "command")


def switches(params: Mapping[str, Any]) -> list[str]:
    """The parameters that are flags of a command line."""
    found = []
    for key, value in list(params.items())[:_MOST]:
        short = squash(key)
        if not isinstance(key, str) or short in _LISTS.no_flags:
            continue
        if value is True or (isinstance(value, str) and truth(value) is True):
            found.append(_SHORT.get(short) or _flag(key))
        elif short == "mode" and isinstance(value, str) and value.lower() in _LISTS.modes:
            found.append(f"--{value.lower()}")
    return found


def _flag(key: str) -> str:
    if key.startswith("-"):
        return key
    name = _CAMEL.sub("-", key).replace("_", "-").lower()
    return f"-{name}" if len(name) == 1 else f"--{name}"


def placed(params: Mapping[str, Any]) -> list[str]:
    """The parameters that are operands of a command line."""
    keys = {squash(key): value for key, value in list(params.items())[:_MOST]}
    found: list[str] = []
    for key in _LISTS.in_order("placed"):
        value = keys.get(key)
        if isinstance(value, str) and value.strip():
            found += value.split()[:_MOST] if key in ("args", "flags", "options", "arguments", "extraargs") else [value]
        elif isinstance(value, (list, tuple)):
            found += [item for item in value[:_MOST] if isinstance(item, str)]
    return found


SHELL = frozenset(
    "command cmd commands shell bash commandline shellcommand script cmdline runcommand sh execcommand powershellscript line cliargs lua".split()
)
ARGUMENTS = frozenset(
    "args arguments argv subcommand operation action cliargs module modulename executable program binary".split()
)
_COMMAND_ENDS = ("command", "cmd", "commandline", "cmdline")
_ARGS = ("args", "arguments", "argv", "parameters", "params")
_STARTED = ("program", "executable", "binary", "exe", "bin", "file", "executablepath")
_WORDS_OF = ("args", "arguments", "argv", "cliargs", "subcommand", "operation", "action")
_CRON = re.compile(r"\s*(?:@\w+|(?:[\d*/,A-Za-z-]+\s+){5})(?:root\s+)?(\S.*)$", re.DOTALL)
_HOLDERS = ("action", "input", "request", "params", "exec")
_LUA_CALL = re.compile(r"redis\.p?call\s*\(([^()]{1,300})")
_LUA_WORD = re.compile(r"['\"]([^'\"]{0,200})['\"]|([\w.\[\]#]+)")


def is_command(key: str) -> bool:
    """True for a parameter that is named as a command line is: az_command, commandToRun."""
    return key.endswith(_COMMAND_ENDS) and key != "subcommand"


def feed(out: Report, keys: Mapping[str, Any], *taken: str) -> Report:
    """The report for a command beside which the text stands that it reads: {"command": "sh", "input": …}."""
    fed: Callable[[str], Report] | None = getattr(out, "fed", None)
    text = next(
        (text for key in _LISTS.in_order("fed") if key not in taken and (text := text_of(keys.get(key))).strip()), ""
    )
    return fed(text[:MAX_TEXT]) if text and fed is not None else out


def read_commands(words: Sequence[str], keys: Mapping[str, Any], language: str, out: Report) -> bool:
    """Reads every command that the parameters hold; True when there was one."""
    found = False
    for key in sorted(keys):
        if (key in SHELL or is_command(key)) and not (key == "lua" and language != "redis"):
            found = _command(key, words, keys, language, feed(out, keys, key)) or found
    if found:
        read_environment(keys, out)
        return True
    return _arguments(words, keys, language, out) or _held(words, keys, language, out)


def read_environment(keys: Mapping[str, Any], out: Report) -> None:
    """The variables that a command is given beside it, some of which programs run: {"command": …, "env": {"GIT_PAGER": …}}."""
    for given in (keys.get(key) for key in ("env", "environment", "envvars", "environmentvariables")):
        for name, value in list(given.items())[:_MOST] if isinstance(given, Mapping) else ():
            if isinstance(name, str) and name.isidentifier() and isinstance(value, str) and value.strip():
                out.shell(f"{name}={shlex.quote(value[:MAX_TEXT])} true")


def _command(key: str, words: Sequence[str], keys: Mapping[str, Any], language: str, out: Report) -> bool:
    value = keys[key]
    if isinstance(value, Mapping):
        return _command_object(language, value, out)
    if key == "commands" and isinstance(value, (list, tuple)) and value and isinstance(value[0], (list, tuple)):
        return _each(words, value, language, out)
    argv = argv_of(value, keys)
    text = text_of(value)
    if not _LISTS.network.isdisjoint(words) and _PATTERNS.unsets.search(text[:MAX_TEXT]):
        out.effect("act_unconfigure", "a device of the network")
    if language == "redis" and "redis." in text:
        _lua(text, out)
    elif language in _LISTS.stores and (argv or text):
        out.code(language, " ".join(argv) if argv else text)
    elif (
        language in _LISTS.scripts
        and key not in _LISTS.command_only
        and (language == "powershell" or not is_command(key))
    ):
        out.code(language, text or " ".join(argv))
    elif argv:
        out.run(_with_program(words, argv, keys))
    elif isinstance(value, (list, tuple)):
        for item in value[:200]:
            if isinstance(item, str):
                shell_text(item, out)
    elif isinstance(value, str) and value.strip():
        _shell(words, value, keys, out)
    else:
        return False
    return True


def _arguments(words: Sequence[str], keys: Mapping[str, Any], language: str, out: Report) -> bool:
    """Words without a command: of a tool that is a program, of a program that is named beside, or a whole command."""
    if language == "redis" and isinstance(keys.get("args"), (list, tuple)) and (argv := argv_of(keys["args"], {})):
        out.code("redis", " ".join(argv))
        return True
    if "ansible" in words and _ad_hoc(keys, out):
        return True
    program = next(filter(_is_runnable, map(_called, words)), "")
    if program and all(word in _LISTS.plain or _called(word) == program for word in words):
        return _program(program, keys, out)
    started = next((keys[key] for key in _STARTED if isinstance(keys.get(key), str)), "")
    if _LISTS.starts.isdisjoint(words):
        return False
    fed = feed(out, keys)
    argv = (argv_of(started, keys) or ([started] if fed is not out else [])) if started else []
    if argv:
        fed.run(argv)
        return True
    argv = argv_of(keys.get("argv"), {})
    if not argv and not started and isinstance(keys.get("args"), (list, tuple)):
        argv = argv_of(keys["args"], {})
        argv = argv if argv and argv[0] in shipped_programs() else []
    if argv:
        out.run(argv)
    return bool(argv)


def _held(words: Sequence[str], keys: Mapping[str, Any], language: str, out: Report) -> bool:
    """{"action": {"type": "exec", "command": […]}}."""
    for key in _HOLDERS:
        value = keys.get(key)
        if isinstance(value, Mapping):
            inner = short_keys(value)
            if any(
                _command(name, words, inner, language, out)
                for name in sorted(inner)
                if name in SHELL or is_command(name)
            ):
                return True
    return False


def _ad_hoc(keys: Mapping[str, Any], out: Report) -> bool:
    """ansible HOSTS -m MODULE -a ARGS."""
    module = next((keys[key] for key in ("module", "modulename") if isinstance(keys.get(key), str)), "")
    if not module:
        return False
    given = next((keys[key] for key in ("args", "moduleargs", "arguments", "command") if keys.get(key)), "")
    if isinstance(given, Mapping):
        given = " ".join(f"{name}={value}" for name, value in list(given.items())[:50])
    hosts = next(
        (keys[key] for key in ("hosts", "pattern", "host", "group", "inventory") if isinstance(keys.get(key), str)),
        "all",
    )
    out.run(["ansible", hosts, "-m", module, "-a", text_of(given) or str(given)])
    return True


def _lua(text: str, out: Report) -> None:
    """A script for Redis: each command that it calls."""
    for call in _LUA_CALL.findall(text[:MAX_TEXT])[:200]:
        words = [quoted or bare for quoted, bare in _LUA_WORD.findall(call)]
        if words:
            out.code("redis", " ".join(words))


def _command_object(language: str, value: Mapping[str, Any], out: Report) -> bool:
    """{"dropDatabase": 1}: a command of MongoDB is an object, its first key says what is done."""
    if language != "mongo":
        return False
    out.code("mongo", f"db.runCommand({as_json(value)})")
    return True


def _each(words: Sequence[str], value: Sequence[Any], language: str, out: Report) -> bool:
    """A list of commands, each of which is a list of words."""
    found = False
    for item in value[:200]:
        if argv := argv_of(item, {}):
            out.code(language, " ".join(argv)) if language == "redis" else out.run(_with_program(words, argv, {}))
            found = True
    return found


def argv_of(value: object, keys: Mapping[str, Any]) -> list[str]:
    """The words of a command that is given as a list, or as a program and its arguments."""
    if isinstance(value, (list, tuple)):
        words = [item for item in value[:1000] if isinstance(item, (str, int, float))]
        whole = len(words) == len(value[:1000]) and not any(isinstance(item, str) and " " in item for item in words[:1])
        return [str(item) for item in words] if whole and words else []
    if not isinstance(value, str):
        return []
    for key in _ARGS:
        rest = keys.get(key)
        if isinstance(rest, (list, tuple)) and rest and " " not in value.strip():
            return [value.strip(), *(str(item) for item in rest[:1000] if isinstance(item, (str, int, float)))]
        if isinstance(rest, str) and rest.strip() and " " not in value.strip():
            return [value.strip(), *_split(rest)]
    return []


def _split(text: str) -> list[str]:
    try:
        return shlex.split(text[:MAX_TEXT])
    except ValueError:
        return text.split()


def text_of(value: object) -> str:
    """Text as it is, or lines of text as one."""
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value[:500]):
        return "\n".join(value[:500])
    return ""


def _called(word: str) -> str:
    return called_programs().get(word, word)


def _is_runnable(name: str) -> bool:
    return name in program_set("operation_names") or name in program_set("tool_names")


def _with_program(words: Sequence[str], argv: list[str], keys: Mapping[str, Any]) -> list[str]:
    """A command of a tool that is named after its program: kubectl_generic {"command": "delete"} runs kubectl."""
    program = next(filter(_is_runnable, words), "")
    if words and program in program_set("operation_scripts") and not {"run", "script"}.isdisjoint(words):
        return [program, "run", *argv]
    script = next((name for name in map(_called, words) if name in program_set("operation_frameworks")), "")
    if script and not describe(argv[0].rstrip("0123456789.")).wrapper:  # python3
        return [script, *argv]
    if not program or words[-1] not in (program, *_LISTS.plain) or words[-1] == "exec" or "exec" in words[-2:-1]:
        return argv
    first = argv[0].rpartition("/")[2]
    if first == program or describe(first).wrapper or first in _OUTSIDE:
        return argv
    if first in program_set("operation_names") and program not in program_set("operation_wraps"):
        return argv
    rest = [*switches(keys), *placed(keys)] if len(argv) == 1 and "args" not in keys and "arguments" not in keys else []
    return [program, *argv, *_structured(keys), *rest]


def _structured(keys: Mapping[str, Any]) -> list[str]:
    """Flags that are given as an object: {"all": true, "n": "prod"}."""
    flags: Mapping[str, Any] = next(
        (keys[key] for key in ("flags", "options", "opts") if isinstance(keys.get(key), Mapping)), {}
    )
    found = switches(flags)
    for key, value in list(flags.items())[:60]:
        if isinstance(key, str) and isinstance(value, (str, int)) and not isinstance(value, bool):
            name = key if key.startswith("-") else f"-{key}" if len(key) == 1 else f"--{key}"
            found += [name, str(value)] if len(key) == 1 else [f"{name}={value}"]
    return found


def _shell(words: Sequence[str], text: str, keys: Mapping[str, Any], out: Report) -> None:
    if any("cron" in word for word in words) and (scheduled := _CRON.match(text[:MAX_TEXT])):
        text = scheduled[1]
    one = text.split(None, 1)[:1]
    if " " not in text.strip():
        whole = _with_program(words, one, keys)
        if len(whole) > len(one) and whole[0] not in program_set("operation_scripts"):
            out.run(whole)
            return
    prefixed = _with_program(words, one, {})
    shell_text(" ".join([*prefixed[:-1], text]), out)


def shell_text(text: str, out: Report) -> None:
    """Text that is given to a shell, of whichever system it was written for."""
    from interlock.analysis.windows_text import looks_like_windows

    text = text[: MAX_TEXT + 1]
    language = looks_like_windows(text, "")
    if language:
        out.code(language, text)
    else:
        out.shell(text)


def _program(program: str, keys: Mapping[str, Any], out: Report) -> bool:
    """A tool that is named like a program, and gets its words as arguments."""
    for key in _WORDS_OF:
        value = keys.get(key)
        if isinstance(value, str) and value.strip():
            argv = _split(value)
        elif isinstance(value, (list, tuple)) and value and all(isinstance(item, str) for item in value[:500]):
            argv = list(value[:500])
        else:
            continue
        first = next((key for key in ("subcommand", "operation") if isinstance(keys.get(key), str)), key)
        if first != key:
            argv = [*_split(keys[first]), *argv]
        start = [] if argv[:1] == [program] else [program]
        out.run([*start, *argv, *_structured(keys), *(_rest(keys) if key not in ("args", "arguments", "argv") else ())])
        return True
    return False


def _rest(keys: Mapping[str, Any]) -> list[str]:
    return [str(keys[key]) for key in ("kind", "resource", "resourcetype", "name") if isinstance(keys.get(key), str)]
