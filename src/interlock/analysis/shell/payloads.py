"""Runs what a program is given to run, by its description: commands, shell text, code, statements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import dropwhile, takewhile
from shlex import quote

from msgspec.structs import replace

from interlock.analysis.facts import HOLE, QUOTED, hole, known, without_holes
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs import Payload
from interlock.analysis.programs.load import describe, word_set
from interlock.analysis.programs.options import NO_VALUES, CommandOptions, holds, options
from interlock.analysis.shell import ELSEWHERE, UNKNOWN, Job, Reader, Stream
from interlock.analysis.shell.assignments import run_variables
from interlock.analysis.shell.data_clients import inside, read_statements, read_transfer
from interlock.analysis.shell.loose_text import add_harm, is_outside, name_script

_ESCAPE = lazy_regex(
    r"\s*(?:\+{1,2}|~)?(?:\\?!|(?:shell|system|sh)\s|\.(?:shell|system)\s)"
)  # to a shell, from a prompt of another language
_ADDRESS = lazy_regex(r"(git\+|git:|git@|https?:|github:|gitlab:|bitbucket:|gist:)")


def run_carried(job: Job, items: Sequence[Payload]) -> Stream | None:
    stream: Stream | None = None
    for item in items:
        words, via = _behind_subcommand(job, item)
        if words is None:
            continue
        found = _split(job, item, words)
        if not holds(item, found):
            continue
        texts = list(_texts(job, item, found))
        rest = _command_words(item, found, words) or _named_command(item, words)
        packages = [*rest[:1], *found.all(*item.packages)] if item.packages else []
        if address := next(filter(_ADDRESS.match, packages), ""):  # instead of a registry
            job.effect("run_download", address)
        for language, text in texts:
            read_carried(job, language, text, via, item.traits)
        if rest:
            rest = _interpreted(item, rest, found) if item.interpreter else rest
            stream = _run_command(job, item, rest, via, found)
        elif item.stdin and job.piped and not (texts or stream or found.all(*item.files)):
            if len(found.operands) >= item.skip and (fed := job.text_to_run()) is not None:
                if item.stdin.startswith("sql") and not known(fed) and not without_holes(fed).strip():
                    inside(job).effect("run_script", hole(), "sql")
                else:
                    read_carried(job, item.stdin, fed, via, item.traits)
        if item.opens and found.operands:
            job.effect("read", found.operands[0])
        if stream is None and item.stdin.startswith("sql"):
            stream = _printed([text for _, text in texts])
    return stream


def _printed(texts: Sequence[str]) -> Stream:
    """Statements that statements print, for the client they are piped into."""
    from interlock.analysis.sql.dynamic import generated_sql

    made = "\n".join(filter(None, map(generated_sql, filter(known, texts))))
    return Stream(made, frozenset({"sql"})) if made else UNKNOWN


def _behind_subcommand(job: Job, item: Payload) -> tuple[list[str] | None, str]:
    for path in item.subcommand or ((),):
        words, values = job.words, job.described.value_flags
        if path and path[0] not in words and path[0] != "*":
            continue
        for name in path:
            operands = options(words, values, stop_at_operand=True).operands
            if operands[:1] != [name] and (name != "*" or not operands):
                break
            words, values = operands[1:], values | job.described.behind.get(name, NO_VALUES)
        else:
            return _behind(item, words), " ".join([job.program, *path[-1:]])
    return None, ""


def _behind(item: Payload, words: list[str]) -> list[str] | None:
    """Behind another word, or behind a mark that may be attached: `/tr text`, `binPath=text`."""
    if item.any_word and not any(re.fullmatch(item.any_word, word, re.IGNORECASE) for word in words):
        return None
    if item.behind:
        return words[words.index(item.behind) + 1 :] if item.behind in words else None
    if not item.mark:
        return words
    for at, word in enumerate(words):
        if found := re.match(item.mark, word, re.IGNORECASE):
            rest = [word[found.end() :]] if found.end() < len(word) else words[at + 1 :]
            rest = list(dropwhile(lambda one: one.startswith(item.prefixes), rest))
            return rest[:1] if item.single else rest
    return None


def _split(job: Job, item: Payload, words: Sequence[str]) -> CommandOptions:
    """A command among the operands ends the program's own options."""
    job.step(len(words) // 4)
    values = job.described.value_flags | item.value_flags
    if not item.words:
        return options(words, values, pairs=job.described.pair_flags)
    found = options(words, values, stop_at_operand=True, pairs=job.described.pair_flags)
    while item.prefixes and found.operands and found.operands[0].startswith(item.prefixes):
        found = options(found.operands[1:], values, stop_at_operand=True)
    rest = found.operands[item.skip :]
    if item.skip and rest[:1] and rest[0][:1] == "-" != rest[0] and not found.all(*item.entry):  # flock FILE -c text
        more = options(rest, values, stop_at_operand=True)
        found.add(more)
        found.operands[item.skip :] = more.operands
    return found


def _named_command(item: Payload, words: Sequence[str]) -> list[str]:
    """start-stop-daemon --exec /bin/rm -- -rf x"""
    for at, word in enumerate(words):
        name, equals, value = word.partition("=")
        if item.options.get(name) == "command":
            rest = list(words[at + 1 :])
            value = value if equals else rest.pop(0) if rest else ""
            return [value, *(rest[rest.index("--") + 1 :] if "--" in rest else rest)]
    return []


def _command_words(item: Payload, found: CommandOptions, words: Sequence[str]) -> list[str]:
    if not item.words:
        return []
    if item.behind or item.mark:
        return list(words)
    rest = found.operands[item.skip :]
    rest = rest[1:] if rest[:1] == ["--"] else rest
    return [*(word for text in found.all(*item.entry) for word in text.split()), *rest] if item.entry else rest


def _interpreted(item: Payload, rest: list[str], found: CommandOptions) -> list[str]:
    """uv run x.py, uv run -m x"""
    if found.has("-m", "--module"):
        return [item.interpreter, "-m", *rest]
    is_script = found.has("-s", "--script") or rest[0].endswith(describe(item.interpreter).endings)
    return [item.interpreter, *rest] if is_script else rest


def _texts(job: Job, item: Payload, found: CommandOptions) -> Iterator[tuple[str, str]]:
    for name, language in item.options.items():
        yield from ((language, text) for text in found.all(name) if language != "command")
    for name, settings in item.settings.items():
        yield from (setting for text in found.all(name) for setting in _settings(text, settings))
    if item.implicit:
        yield from _written_files(job, item.implicit)
    named = [(path, language) for name, language in item.files.items() for path in found.all(name)]
    for text in found.operands[item.skip :] if item.operands else ():
        if re.fullmatch(r"[\w./~-]+\.(?:rb|js|sql|php|py|cql|cypher)", text):
            yield from _file_texts(job, text, item.operands)
        elif not (item.subcommand and item.operands.startswith("sql")) or " " in text:
            yield item.operands, text
    if item.file:
        named += [(path, item.file) for path in found.operands[item.skip : item.skip + 1]]
    for path, language in named:
        yield from _file_texts(job, path, language)


def _settings(text: str, languages: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """`NAME=text` or `NAME text`"""
    name, value = [*re.split(r"\s*=\s*|\s+", text.strip(), maxsplit=1), ""][:2]
    for pattern, language in languages.items():
        if fnmatchcase(name.lower(), pattern) and value.lower() != "none":
            yield language, value.lstrip("!")


def _written_files(job: Job, languages: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Those of a set name; one that the action fetched is a download that runs."""
    named = {job.full(name): language for name, language in languages.items()}
    for address in [
        one for path, one in job.session.downloads.items() if any(fnmatchcase(path, name) for name in named)
    ]:
        job.effect("run_download", address)
    for path, text in list(job.session.files.items()):
        yield from ((language, text) for name, language in named.items() if fnmatchcase(path, name))


def _file_texts(job: Job, path: str, language: str) -> Iterator[tuple[str, str]]:
    if job.runs_download(path):
        return
    piped = path in ("-", "/dev/stdin") and job.piped
    paths = (path, f"{path}.py") if language == "python" else (path,)
    text = job.text_to_run() if piped else job.first_text(paths)
    if text is not None:
        yield language, text
    elif piped:
        return
    elif language.startswith("sql"):
        inside(job).effect("run_script", path, "sql")
    elif language not in ("data", "cron", "transfer"):
        name_script(job, path)


def read_carried(job: Job, language: str, text: str, via: str, traits: Sequence[str] = ()) -> None:
    """Mere data is not read."""
    if language == "shell" and is_outside(text) and " " not in text and job.file_text(text) is None:
        name_script(job, text)
    elif language == "shell":
        job.shell_text(text, via, *traits)
    elif language.startswith("sql"):
        read_statements(inside(job, via, traits), text, language[4:])
    elif (reader := _TEXTS.get(language)) is not None:
        reader(job, text, via, traits)
    elif (commands := _COMMANDS.get(language)) is not None:
        for command in commands(text):
            job.shell_text(command, via, *traits)
        for path in re.findall(r'\(delete-(?:file|directory)\s+"([^"]*)"', text) if language == "elisp" else ():
            job.effect("delete", path, "recursive")
        if language == "shell_python":
            inside(job, via, traits).code("other", text, via)
    elif language != "data":
        inside(job, via, traits).code(language, text, via)


_CRON_LINE = lazy_regex(r"\s*(?:@\w+|(?:[\d*/,\-a-zA-Z]+\s+){5})(.*)")
_QUOTED = lazy_regex(r'"((?:[^"\\]|\\.)*)"')
_ELISP_SHELL = lazy_regex(r'\(shell-command(?:-to-string)?\s+"((?:[^"\\]|\\.)*)"')
_SHELL_PARTS = lazy_regex(r"[!$]\[([^\]\n]+)\]|[!$]\(([^)\n]+)\)")
_TEXTS: Mapping[str, Callable[[Job, str, str, Sequence[str]], object]] = {
    "program": lambda job, text, via, traits: job.effect("run_script", text, "carried"),
    "reverse": lambda job, text, via, traits: job.effect("reverse_shell", text),
    "loose": lambda job, text, via, traits: add_harm(job, text, via),
    "transfer": read_transfer,
}
# The commands in a text of another kind: lines for the prompt of a language of which some go to a shell, keys that are typed into a
# terminal, a time and the command for it, a list `["a", "b"]`, ext::COMMAND for an address, Emacs Lisp, Python with `![…]` and `$(…)`.
_COMMANDS: Mapping[str, Callable[[str], Iterable[str]]] = {
    "prompt": lambda text: [
        line[found.end() :] for line in text.replace(QUOTED, "").splitlines() if (found := _ESCAPE.match(line))
    ],
    "keys": lambda text: [
        " ".join(word for word in re.sub(r"\\n|\\r|\^M", "\n", text).split(" ") if word not in word_set("typed_keys"))
    ],
    "cron": lambda text: [
        found[1]
        for line in text.splitlines()[:200]
        if (found := _CRON_LINE.fullmatch(line)) and not line.lstrip().startswith("#")
    ],
    "quoted": lambda text: (
        [inner.replace('\\"', '"') for inner in _QUOTED.findall(text)] or [re.sub(r"^\w+=", "", text).strip("[]'")]
    ),
    "transport": lambda text: [re.sub(r"%[S ]", " ", text[5:])] if text.startswith("ext::") else [],
    "elisp": lambda text: [inner.replace('\\"', '"') for inner in _ELISP_SHELL.findall(text)],
    "shell_python": lambda text: ["\n".join(map("".join, _SHELL_PARTS.findall(text))) or text],
}


def _run_command(job: Job, item: Payload, rest: list[str], via: str, found: CommandOptions) -> Stream:
    if item.words == "own":  # more words for the program itself
        return run_words(job, [job.program, *rest], via, item.traits)
    if item.words not in ("command", "shell", ""):
        read_carried(job, item.words, " ".join(rest), via, item.traits)
        return UNKNOWN
    env = _assigned(rest, r"[A-Za-z_]\w*=") if item.assigns else []
    one_text = rest and " " in rest[0] and (len(rest) == 1 or "remote" in item.traits)
    if one_text or item.words == "shell":  # xterm -e 'rm -rf x': a shell takes it apart
        return job.shell_text(" ".join(rest), via, *item.traits)
    return run_words(job, rest, via, item.traits, env, _mounts(found.all(*item.mounts)))


def _assigned(rest: list[str], pattern: str) -> list[tuple[str, str]]:
    given = list(takewhile(re.compile(pattern, re.DOTALL).match, rest))
    del rest[: len(given)]
    return [(name, value) for name, _, value in (word.partition("=") for word in given)]


def _mounts(texts: Sequence[str]) -> dict[str, str]:
    """`OUTSIDE:INSIDE` or `source=OUTSIDE,target=INSIDE`: path inside -> path on the host."""
    mounts: dict[str, str] = {}
    for text in texts:
        parts = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
        host = parts.get("source") or parts.get("src")
        seen_as = parts.get("target") or parts.get("dst") or parts.get("destination")
        if host is None and text.startswith(("/", "~", ".", HOLE)):
            host, seen_as = [*text.split(":"), ""][:2]
        if host and seen_as and parts.get("type", "bind") == "bind":
            mounts[seen_as.rstrip("/")] = host
    return mounts


def run_words(
    job: Job,
    rest: list[str],
    via: str,
    traits: Sequence[str],
    env: Sequence[tuple[str, str]] = (),
    mounts: Mapping[str, str] | None = None,
) -> Stream:
    """What flows into a wrapper flows into its command."""
    job.step(len(rest) // 4)
    if not rest:
        return UNKNOWN
    where = job.inside(via, traits)
    host = job.host
    if not ELSEWHERE.isdisjoint(traits) and ELSEWHERE.isdisjoint(job.where.traits):
        host = host.child()
        host.elsewhere({inside: job.full(path) for inside, path in (mounts or {}).items()})
        host.where = where
    if env:
        where = replace(where, env=where.env + tuple(env))
        run_variables(host, env, where)
    return host.run(rest, where, job.stdin, wrapped=True)


# -- env: options of its own, one of which is a text

_ENV_VALUED = frozenset("-u -C -P -a -S --unset --chdir --argv0 --split-string".split())


def _env(job: Job) -> Stream | None:
    """env -S 'text', whose words come before the ones that follow."""
    rest, text = _env_words(job.words)
    if text is not None:
        return job.shell_text(" ".join([job.program, text.replace("\\_", " "), *map(quote, rest)]), f"{job.program} -S")
    return run_words(job, rest, job.program, (), _assigned(rest, ".*=")) if rest else None


def _env_words(words: Sequence[str]) -> tuple[list[str], str | None]:
    rest = list(words)
    while rest and rest[0].startswith("-") and (word := rest.pop(0)) != "--":
        option, value = _env_option(word)
        if option and value is None:
            value = rest.pop(0) if rest else ""
        if option in ("-S", "--split-string"):
            return rest, value
    return rest, None


def _env_option(word: str) -> tuple[str, str | None]:
    if not word.startswith("--"):
        at = next((at for at in range(1, len(word)) if f"-{word[at]}" in _ENV_VALUED), 0)
        return (f"-{word[at]}", word[at + 1 :] or None) if at else ("", None)
    name, equals, value = word.partition("=")
    return next((known for known in _ENV_VALUED if known.startswith(name)), ""), value if equals else None


READERS: dict[str, Reader] = {"assignments": _env}
