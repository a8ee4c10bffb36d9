"""Reads words, variables and input that no description mentions for harmful commands, statements and calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import lru_cache, partial
from itertools import islice

from interlock.analysis.facts import HOLE, Command, Effect, Fact
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import any_word, describe, program_set, shipped_variables, word_set
from interlock.analysis.shell import Job

_NAME_PARTS = lazy_regex(r"[-_.]")
_TEXT = lazy_regex(r"[\s(!]")  # what every command, statement or call has
_LONGEST, _TRIALS = 4_000, 6  # characters of a text, and readings of it
_OPTION = lazy_regex(r"--?[a-z-]+")
_RUN_OPTION = lazy_regex(lambda: rf"--?[\w-]*(?:{any_word('running_options')})")
_SQL = lazy_regex(
    lambda: (
        rf"(?i)(?:^|[;=:\"'])\s*((?:drop|alter|remove)\s+(?:{any_word('altered_objects')})\s+[\w\"'`\[.]"
        r"|(?:drop|remove)\s+database|truncate\s+(?:table\s+)?[\w.\"`]+\s*(?:;|$)"
        r"|delete\s+(?:from\s+\S|storage\s+group|timeseries)|(?:match\s.*)?detach\s+delete)"
    )
)
_AT = lazy_regex(
    r"(?:(?:^|[^\w\s])\s*(?:\w+\s+)?(?:run|shell|exec\w*|system|call\S*|command|do|nop|script|python)[\s:=]+|^|[^\w\s.,~-])"
    r"\s*((?:/[\w./-]*/)?[a-z][\w.+-]*)(?=[\s,]+[-~/.\w$\"'])"
)
_STARTED = ("any", "python", "javascript", "ruby", "php", "perl")
_CODE_FILE = lazy_regex(lambda: rf"\.(?:{any_word('code_endings')})$")
_CLOSING = {'"': '"', "'": "'", "(": ")", "{": "}", "[": "]", "`": "`"}
_CALL = lazy_regex(r"""[("'`\[{]""")
_OUTSIDE = lazy_regex(r"(?:/private)?/(?:var/)?tmp(?:/|$)|/dev/shm/|(?:~|/home/[^/]+|/Users/[^/]+)/Downloads/")
_LOADED = lazy_regex(
    lambda: rf"(?i)-?-?[\w-]*(?:{any_word('loading_options')})[\w.-]*[=:\s]['\"]?(?:[\w-]+=)?(\S+?)['\"]?(?:\s|$)"
)


def read_loose_words(job: Job, handled: bool, known_words: bool) -> None:
    """Data (a message, a search, the name of a test) is left alone."""
    judges = not word_set("judges").isdisjoint((*_NAME_PARTS.split(job.program), *job.words[:2]))
    data, name, verbs = known_words or judges or describe(job.program).data, "", 0
    for word in job.words:
        option, value = _split(name, word)
        if not word.startswith("-"):
            verbs += 1
            data = data or (verbs <= 2 and word in word_set("data_verbs"))
        if _TEXT.search(value) and HOLE not in value:
            runs = _RUN_OPTION.search(option) is not None if data else not is_data(option)
            if runs and not judges:
                add_harm(job, value, f"{job.program} {option}".strip())
        elif data or not _read_written(job, option, value):
            # Code from where everybody can write: -S /tmp/x.sh, --plugin=name=/tmp/x, --config 'a.wrapper="/tmp/x"'.
            path = value.rpartition("=")[2].strip("\"'")
            named = path != value and _LOADED.search(value)
            if option and is_outside(path) and (named or _loads(job, option, path)):
                job.effect("run_script", path, "carried")
        name = word if word.startswith("-") and word != "--" and "=" not in word else ""
    if not (handled or data) and job.stdin.known:
        if not word_set("runs_input").isdisjoint(job.words) or _SQL.match(job.stdin.text):
            add_harm(job, job.stdin.text, job.program)


def is_outside(path: str) -> bool:
    return _OUTSIDE.match(path) is not None


def name_script(job: Job, path: str) -> None:
    job.effect("run_script", path, *(("carried",) if is_outside(path) else ()))


def _read_written(job: Job, option: str, path: str) -> bool:
    """Any made for this program alone, others where they are loaded."""
    session = job.session
    if not session.changed or not (path.startswith("/dev/fd/") or _loads(job, option, path)):
        return False
    if session.fetched(job.full(path)):
        if option and _loads(job, option, path):
            job.runs_download(path)
    elif text := job.written_text(path):
        add_harm(job, text, f"{job.program} {option}".strip())
    return True


def _loads(job: Job, option: str, path: str) -> bool:
    """By its own name, or a short one with a file of code."""
    if _LOADED.match(f"{option}={path}"):
        return True
    if len(option) != 2 or option in word_set("short_data"):
        return False
    if not path.startswith("/dev/fd/") and not _CODE_FILE.search(path):
        return False
    # Not for a described program that starts no code, and of which this option takes no value: `ls -l /tmp/x.sh` only lists.
    program = describe(job.program)
    starts = any(job.program in program_set(f"starts_{what}") for what in _STARTED)
    return starts or not program.name or option in program.value_flags


def is_data(option: str) -> bool:
    """Shown, searched or kept, in any program."""
    name = option.lower()
    ends = name in ("-desc", "--desc") or name.endswith(tuple(word_set("data_ends")))
    return option in {"-m", "-am", "-S", "-G", "-H"} or (ends and _OPTION.fullmatch(name) is not None)


def _split(before: str, word: str) -> tuple[str, str]:
    if word.startswith("-") and len(word) > 2:
        name, equals, value = word.partition("=")
        if equals and not _TEXT.search(name):
            return name, value
        return (word[:2], word[2:]) if word[1] != "-" else ("", word)
    return before, word


def read_loose_variable(job: Job, name: str, value: str) -> None:
    """A command, or a place that code is loaded from."""
    if HOLE in value and ":" not in value:
        return
    if _matches(name, "loads") and any(_OUTSIDE.match(place) and not _is_new(job, place) for place in value.split(":")):
        job.effect("run_script", value, "carried")
    elif (found := _LOADED.search(value)) and _OUTSIDE.match(found[1]):
        job.effect("run_script", found[1], "carried")
    elif _TEXT.search(value) and not _matches(name, "data"):
        add_harm(job, value, f"{name}=")


def _is_new(job: Job, place: str) -> bool:
    """In the folder that mktemp just made, where nobody else can write, and nothing was put there since."""
    if not any(place.startswith(f"{item.text.rstrip('/')}/") for item in describe("mktemp").prints):
        return False
    inside = f"{place}/"
    return not any(
        HOLE in word or f"{word}/".startswith(inside) or inside.startswith(f"{word}/")
        for fact in job.session.facts
        for word in (fact.words if isinstance(fact, Command) else (fact.target, fact.path))
    )


@lru_cache(maxsize=1024)
def _matches(name: str, kind: str) -> bool:
    return any(fnmatchcase(name.upper(), pattern) for pattern in shipped_variables()[kind])


def add_harm(job: Job, text: str, via: str) -> None:
    for language, part in islice(_readings(text), _TRIALS) if len(text) <= _LONGEST else ():
        facts = _trial(job, partial(Job.code, language=language, text=part), via)
        if _is_harm(facts):
            job.session.facts += facts
            return


def _readings(text: str) -> Iterator[tuple[str, str]]:
    plain = text.replace("\\ ", " ") if "\\ " in text else text
    if _SQL.match(text):
        yield "sql", text
    for found in _AT.finditer(plain):
        if is_program(found[1]):
            part = _enclosed(plain, found.start(), found.start(1))
            yield "shell", part.replace(",", " ") if part[len(found[1]) :][:1] == "," else part
    if statement := _SQL.search(text):
        yield "sql", text[statement.start(1) :].rstrip("\"'})")
    if _CALL.search(text):
        yield "other", text


def is_program(word: str) -> bool:
    from interlock.analysis.shell.programs import HANDLERS

    name = word.rpartition("/")[2].lower()
    described = describe(name)
    known = described.operands != "text" if described.name else name in HANDLERS
    return known or name in program_set("fetcher")  # whose output may be run


def _enclosed(text: str, opened: int, start: int) -> str:
    closing = _CLOSING.get(text[opened])
    end = text.find(closing, start) if closing else -1
    part = (text[start:end] if end > start else text[start:]).removesuffix("<CR>")
    part = part.partition("\n")[0] if opened else part  # a setting ends with its line
    return part[:-1] if part[-1:] in ("'", '"') and part.count(part[-1]) % 2 else part


def harm_of_words(job: Job, words: Sequence[str], told: bool) -> bool:
    """`told`: where a command stands, any known program counts."""
    facts = _trial(job, lambda trial: trial.run(words))
    return _is_harm(facts if told else [fact for fact in facts if isinstance(fact, Effect)])


def _trial(job: Job, read: Callable[[Job], object], via: str = "") -> list[Fact]:
    """Without effect on what is known so far."""
    session = job.session
    kept, session.facts = session.facts, []
    try:
        read(Job(job.host.child(), job.program, job.words, job.inside(via, ())))
        return session.facts
    finally:
        session.facts = kept


def _is_harm(facts: Sequence[Fact]) -> bool:
    harm = False
    for fact in facts:
        if isinstance(fact, Effect):
            if fact.verb == "unreadable":
                return False
            harm |= fact.verb in word_set("harmful_effects")
        elif not is_program(fact.program):
            return False
        else:
            described = describe(fact.program)
            harm |= bool(described.name) and not described.wrapper and len(fact.words) > 1
    return harm
