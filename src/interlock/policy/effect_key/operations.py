"""Targets and place of an operation from its name and its parameters, however these are named and spelled, and the database of a statement."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any
from urllib.parse import unquote, urlsplit

from interlock.analysis.facts import Command, Effect, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon import is_plural, split_name
from interlock.analysis.places import resolve
from interlock.analysis.programs.load import describe, shipped_programs, word_set, word_table
from interlock.analysis.programs.objects import NAMESPACE, cluster_place, database_place
from interlock.analysis.programs.options import options
from interlock.analysis.shell.interpreters import is_interpreter
from interlock.canonical_json import normal_name
from interlock.model import Action, Kind
from interlock.policy.effect_key.key import UNKNOWN, EffectKey
from interlock.policy.registry import normalise_action
from interlock.redaction import redact

_OTHER = re.compile(r"[\W_]+")
_JOINS = re.compile(r"[\s_\-]+")  # `web-1`, `web_1` and `web 1` are one; `a.b` and `a-b` are two
_LONGEST = 80  # characters of one value
_MOST = 50  # targets, values and parameters that are read
_DEEPEST = 3
_QUOTED = lazy_regex(r"""\b([\w@.:/-]*\d[\w@.:/-]*)|[:=(]\s*["']([^"']{1,80})["']""")  # numbers, ids, values in quotes
_BY_NAME_ALONE = frozenset({"table", "view", "collection"})  # as a statement in SQL has it
_FILE_NAME = lazy_regex(r"\.(?:db|sqlite3?|duckdb)$|^[./~]")
_CONNECT = lazy_regex(r"""connect\(\s*(?:f|r|b)?["']([^"'\n]+)["']""")
FORGE = "forge"  # where repositories are known by owner and name


def acted_on(action: Action, family: str, target: str) -> list[EffectKey]:
    if not known(target):
        return [EffectKey(family, UNKNOWN)]
    thing = noun(target)
    params = redact(action.params) or _said(action, thing)
    name, _, what = thing.rpartition("_")
    if name and what in ("branch", "tag"):  # `branch_main` for `main_branch`
        thing = f"{what}_{name}"
    thing, place, rest = _placed(thing, params, action.cwd)
    targets, cut = targets_in_params(rest, thing, exact=thing in word_set("git_nouns"))
    kind = "" if thing in _BY_NAME_ALONE and all(targets) else f"{thing}_"
    found = [EffectKey(family, f"{kind}{target}".strip("_"), place) for target in targets]
    return [*found, EffectKey(family, UNKNOWN)] if cut else found


def _said(action: Action, thing: str) -> Mapping[str, object]:
    """Which one a sentence means that calls an operation by its name: `delete_user 4`, `delete_user(4)`, `delete_user {"id": 4}`."""
    if action.kind is not Kind.INTENT or "_" in thing:
        return {}
    named = dict.fromkeys(number or quoted for number, quoted in _QUOTED.findall(action.text))
    return {"id": list(named)} if named else {}


def _placed(thing: str, params: Mapping[str, object], cwd: str) -> tuple[str, str, Mapping[str, object]]:
    """The target's common noun, its place, and the params that identify it."""
    if thing in word_set("git_nouns"):
        where, rest = split_off(params, word_set("repository_params"))
        refs = [str(value) for key, value in rest.items() if normalise_action(key) in word_set("ref_params") and value]
        if thing in ("force", "push", "history") and refs:
            thing, rest = "branch", {"branch": refs[0].removeprefix("refs/heads/")}
        return thing, _repository(where, cwd), rest
    if thing == "repo":
        where, rest = split_off(params, word_set("repository_params") | {"name"})
        whole = _repository({**where, "repo": _first(where, "name repo repository")}, "")
        if "/" in whole.removeprefix("repository:"):
            return thing, FORGE, {"repo": whole.removeprefix("repository:")}
    if thing in _cluster_nouns():
        where, rest = split_off(params, word_set("cluster_params") - {thing})
        if where or thing == "namespace":
            context = _first(where, "context kube_context cluster")
            place = cluster_place(context, where.get("namespace", ""))
            return thing, place if thing != "namespace" else f"cluster:{context}/", rest
    if thing in word_set("data_nouns"):
        named = word_set("database_params")
        own = frozenset(name for name in named if thing in ("database", "schema") and "d" in name and "b" in name)
        where, rest = split_off(params, named - own)
        place = place_of_params(where, cwd)
        return thing, place if thing != "database" or place.startswith("db:") else "db:", rest
    return thing, cwd, params


@cache
def _cluster_nouns() -> frozenset[str]:
    clients = [program for program in shipped_programs().telling("kinds").values() if "context" in program.place]
    return frozenset(kind for one in clients for kind in one.kinds.values()) | {NAMESPACE, "job", "secret", "release"}


def _repository(where: Mapping[str, str], cwd: str) -> str:
    path, name = _first(where, "repository_path repo_path working_directory"), _first(where, "repository repo")
    if path or name.startswith(("/", ".", "~")):
        return resolve(path or name, cwd)
    owner = _first(where, "owner organization org")
    whole = name if "/" in name or not owner else f"{owner}/{name}"
    return f"repository:{whole.casefold()}" if whole else cwd


def _first(where: Mapping[str, str], names: str) -> str:
    return next((where[name] for name in names.split() if where.get(name)), "")


def noun(text: str) -> str:
    """Without articles, in the singular, in one of several words for it."""
    words = [word for word in _OTHER.split(normal_name(text)) if word and word not in word_set("articles")]
    same = word_table("same_nouns")
    return "_".join(same.get(one := (word[:-1] if is_plural(word) else word), one) for word in words)[:120]


def targets_in_params(given: object, about: str, exact: bool = False) -> tuple[tuple[str, ...], bool]:
    """The targets that the params name, and whether there are more of them; one empty text where they name none.

    `about` is the noun of what is done to them; `exact` keeps each name as it is written. Where a list stands for one of the names,
    each of its items is a target.
    """

    def spelled_out(value: str) -> str:
        return value.strip()[:_LONGEST] if exact else normal_spelling(value, about)

    pairs = list(_pairs(given, 0))[: _MOST * 2]
    named = [values for key, values in pairs if _is_name(key, about)]
    found = named or [values for key, values in pairs if word_set("aside").isdisjoint(_words(key))]
    beside = {spelled_out(value) for values in found if len(values) == 1 for value in values}
    several = dict.fromkeys(spelled_out(value) for values in found if len(values) > 1 for value in values[:_MOST])
    targets = ["_".join(sorted({*beside, one} - {""})) for one in several or [""]]
    cut = len(several) > _MOST or any(len(values) > _MOST for values in found) or len(beside) > _MOST
    return tuple(dict.fromkeys(text[:200] for text in targets[:_MOST])), cut


def split_off(given: Mapping[str, object], names: frozenset[str]) -> tuple[dict[str, str], dict[str, object]]:
    """The parameters of these names, and all the others."""
    where: dict[str, str] = {}
    rest: dict[str, object] = {}
    for key, value in given.items():
        name = "_".join(_words(str(key)))
        if name in names and _counts(value):
            where.setdefault(name, str(value))
        else:
            rest[str(key)] = value
    return where, rest


def _pairs(given: object, depth: int) -> Iterator[tuple[str, list[str]]]:
    if not isinstance(given, Mapping) or depth > _DEEPEST:
        return
    for key, value in given.items():
        if isinstance(value, Mapping):
            yield from _pairs(value, depth + 1)
        else:
            items = value if isinstance(value, list | tuple) else [value]
            if values := [_text(item) for item in items if _counts(item)]:
                yield str(key), values


def _text(value: Any) -> str:
    """A value as it is compared: 4.0 is 4."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _counts(value: Any) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool) and value != ""


def _is_name(key: str, about: str) -> bool:
    words = _words(key)
    return bool(words) and (
        words[-1] in word_set("identifying") or noun("_".join(words)) in (about, about.rpartition("_")[2])
    )


def _words(key: str) -> list[str]:
    return [word for segment in split_name(key) for word in segment]


def normal_spelling(value: str, about: str = "") -> str:
    """`WEB-1`, `web_1` and `vm web-1` are one vm."""
    text = _JOINS.sub("_", normal_name(value)).strip("_")
    return shortened(text.removeprefix(f"{about}_" if about else ""), _LONGEST)


def shortened(text: str, longest: int = 120) -> str:
    """Of a longer text its hash counts as well."""
    return text if len(text) <= longest else f"{text[:longest]}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def place_of_params(where: Mapping[str, str], cwd: str) -> str:
    """The agent's folder where they name none."""
    if address := _first(where, "dsn url uri connection connection_string"):
        return place_of_address(address, cwd)
    name = _first(where, "database db dbname database_name db_name")
    host = _first(where, "host hostname server endpoint")
    if name and not host and _FILE_NAME.search(name):
        return f"db:{resolve(name, cwd)}"
    return database_place(host, where.get("port", ""), name) if name or host else cwd


def place_of_address(address: str, cwd: str) -> str:
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", str(parts.port or "")
        except ValueError:
            return f"db:{address}"
        if parts.scheme == "file" or parts.scheme.startswith("sqlite"):  # three slashes are relative, four absolute
            return f"db:{resolve(parts.path.removeprefix('/'), cwd)}"
        return database_place(host, port, unquote(parts.path.lstrip("/")))
    if _FILE_NAME.search(address):
        return f"db:{resolve(address.removeprefix('file:'), cwd)}"
    return database_place("", "", address)


def store_place(action: Action, effect: Effect, facts: Sequence[object]) -> str:
    """As far as its client, its parameters or its code names a database; else the agent's folder."""
    commands = (one for one in facts if isinstance(one, Command) and one.span == effect.span)
    client = next((one for one in commands if one.program in effect.via), None)
    if client is not None and all(map(known, client.words)) and (found := _of_client(client)):
        return found
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        return place_of_params(split_off(action.params, word_set("database_params"))[0], action.cwd)
    cwd = client.cwd if client is not None else action.cwd
    code = client is None or is_interpreter(client.program)
    if code and (connected := _CONNECT.search(action.text)):
        return place_of_address(connected[1], cwd)
    return cwd or action.cwd


def _of_client(client: Command) -> str:
    """Empty for its own defaults."""
    found = options(client.words, word_set("database_client_values"))
    env = dict(client.env)
    program = describe(client.program)  # the operands of one that takes its options first are a statement
    names = [word for word in found.operands if " " not in word.strip() and not program.options_first]
    if "store" in program.place:
        return f"db:{resolve(names[0], client.cwd)}" if names else ""
    named = found.value("-d", "--dbname", "--database", "-D", "--url", "--uri") or (names[0] if names else "")
    named = named or env.get("DATABASE_URL") or env.get("PGDATABASE") or env.get("MYSQL_DATABASE") or ""
    if "://" in named:
        return place_of_address(named, client.cwd)
    host = found.value("-h", "--host", "-S", "--server") or env.get("PGHOST") or env.get("MYSQL_HOST") or ""
    return database_place(host, found.value("-p", "-P", "--port") or "", named) if named or host else ""
