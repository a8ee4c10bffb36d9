"""Derives the `EffectKey`s of an action: which effect on which target and where; denials, tickets, grants and limits compare them (R-22)."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from interlock.analysis.facts import Command, Effect, Fact, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.places import resolve
from interlock.analysis.programs.load import describe, shipped_programs
from interlock.analysis.programs.objects import NAMESPACE, OPERAND, cluster_place, database_place
from interlock.analysis.programs.options import options, valued
from interlock.analysis.read import read
from interlock.analysis.shell import show_command
from interlock.analysis.shell.interpreters import is_interpreter
from interlock.analysis.targets import happens_elsewhere
from interlock.model import Action, Assessment, Kind, Level, Span
from interlock.policy.effect_key.key import (
    FAMILIES,
    READS,
    REMOVE,
    SEND,
    SILENT,
    STOP,
    UNKNOWN,
    EffectKey,
    Relation,
    nearest,
    parse,
    relation,
)
from interlock.policy.effect_key.params import CLUSTER, DATABASE, REPOSITORY, noun, split_off, targets_in_params
from interlock.policy.effect_key.programs import FORGE, command_keys
from interlock.policy.registry import normalise_action
from interlock.redaction import redact

__all__ = ["EffectKey", "Relation", "effect_keys", "everyday_keys", "nearest", "parse", "path_keys", "relation"]


MOST = 200
LONGEST = 120  # characters of one target; of a longer one its hash counts as well
MORE = EffectKey("more", UNKNOWN, grantable=False)  # there are more than are listed
_OTHER = lazy_regex(r"[\W_]+")
_ALL_OF_IT = lazy_regex(r"(?:/\**)+$")  # `data/`, `data/*`; `data*` is more than data
_QUOTED = lazy_regex(r"""\b([\w@.:/-]*\d[\w@.:/-]*)|[:=(]\s*["']([^"']{1,80})["']""")  # numbers, ids, values in quotes
_STORES = ("sql_", "store_")
_BY_NAME_ALONE = frozenset({"table", "view", "collection"})  # as a statement in SQL has it
_DATA_NOUNS = _BY_NAME_ALONE | {"database", "schema", "index", "column", "keyspace"}
_GIT_NOUNS = frozenset({"branch", "tag", "ref", "stash", "commit", "worktree", "history", "force", "push", "reflog"})
_REF_KEYS = frozenset({"branch", "branch_name", "ref", "tag", "tag_name"})
_DEFAULT_SCHEMAS = frozenset({"public", "dbo", "main"})
_EVERYDAY = frozenset({REMOVE, SEND, STOP})  # harmless changes of rights are not those that were refused
_KINDS = ("database", "schema", "index", "user", "role")  # traits of a dropped object that is no table
Key = tuple[str, Span | None]  # what a finding points at


def effect_keys(action: Action, facts: Sequence[Fact], assessment: Assessment) -> tuple[EffectKey, ...]:
    """What the action does to what, where; for a program that names no target, its own text in its own place.

    Only what a rule held against it counts; and everything that a rule held against it does.
    """
    if assessment.level < Level.DESTRUCTIVE:
        return ()
    accused = {(f.subject, f.span) for f in assessment.findings if f.level >= Level.DESTRUCTIVE}
    found: dict[EffectKey, None] = {}
    told: set[Key] = set()  # by an effect
    heard: set[Key] = set()
    for key, effect, reads in _effects(action, facts, accused):
        found[effect] = None
        heard.add(key)
        if not reads and effect.known:
            told.add(key)
    commands = [fact for fact in facts if isinstance(fact, Command)]
    for at, fact in enumerate(commands):
        if (key := (show_command(fact.program, fact.words), fact.span)) in accused - told:
            place = place_of(fact, facts)
            own = command_keys(fact if fact.cwd else replace(fact, cwd=action.cwd), commands[:at])
            found |= dict.fromkeys(replace(one, place=place) if place else one for one in own)
            heard.add(key)
    if not found or accused - heard:
        found |= dict.fromkeys(_by_name(action))
    return _listed(action, facts, accused, list(found))


def _listed(action: Action, facts: Sequence[Fact], accused: set[Key], found: list[EffectKey]) -> tuple[EffectKey, ...]:
    """The keys up to the bound; a key whose target does not determine its place is covered by no grant."""
    found = [
        one if known(one.target) and known(one.place) else EffectKey(one.family, UNKNOWN, grantable=False)
        for one in found
    ]
    kept = found if len(found) <= MOST else [*found[: MOST - 1], MORE]
    away = happens_elsewhere(action, facts, accused)
    return tuple(replace(one, grantable=False) for one in kept) if away else tuple(kept)


def everyday_keys(action: Action, facts: Sequence[Fact]) -> tuple[EffectKey, ...]:
    """The keys of effects on named targets without any finding; only compared with denials."""
    found: dict[EffectKey, None] = {}
    for fact in facts:
        if isinstance(fact, Effect) and FAMILIES.get(fact.verb) in _EVERYDAY and fact.target and known(fact.target):
            found |= dict.fromkeys(one for one in _keys_of(action, fact, facts) if one.known)
    return tuple(found)[:MOST]


def path_keys(facts: Sequence[Fact]) -> tuple[EffectKey, ...]:
    """What happens to which path, harmful or not; a name without a slash is no path."""
    found = (
        fact for fact in facts if isinstance(fact, Effect) and fact.path and known(fact.path) and "/" in fact.target
    )
    return tuple(dict.fromkeys(EffectKey(FAMILIES.get(fact.verb, fact.verb), _path(fact)) for fact in found))[:MOST]


def _effects(action: Action, facts: Sequence[Fact], accused: set[Key]) -> Iterator[tuple[Key, EffectKey, bool]]:
    for fact in facts:
        if not isinstance(fact, Effect) or fact.verb in SILENT or (key := (fact.subject, fact.span)) not in accused:
            continue
        if not fact.target and not fact.verb.startswith(_STORES):
            continue
        for one in _keys_of(action, fact, facts):
            yield key, one, fact.verb in READS


def _keys_of(action: Action, fact: Effect, facts: Sequence[Fact]) -> list[EffectKey]:
    family = FAMILIES.get(fact.verb, fact.verb)
    if fact.verb.startswith("act_"):
        return _acted_on(action, family, fact.target)
    if not known(fact.target):
        return [EffectKey(family, UNKNOWN)]
    place = place_of(fact, facts)
    if fact.path or fact.place:
        return [EffectKey(family, _path(fact), place)]
    if fact.verb.startswith(_STORES):
        return [_stored(action, family, fact, facts, place)]
    if "://" in fact.target or ":/" in fact.target:
        return [EffectKey(family, _short(fact.target.partition("?")[0].rstrip("/")), place)]
    return [EffectKey(family, _short(_OTHER.sub("_", fact.target.casefold()).strip("_")), place)]


def _path(fact: Effect) -> str:
    """A path as it resolves, without its last slash."""
    return _ALL_OF_IT.sub("", fact.path or fact.target) or "/"


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}_{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _stored(action: Action, family: str, fact: Effect, facts: Sequence[Fact], away: str) -> EffectKey:
    """A table by its qualified name in its database; a whole database in its server."""
    place = away or store_place(action, fact, facts)
    kind = next((kind for kind in _KINDS if kind in fact.traits), "")
    parts = [_OTHER.sub("_", part.casefold()).strip("_") for part in fact.target.split(".")]
    name = ".".join(part for part in parts if part not in _DEFAULT_SCHEMAS or len(parts) == 1)
    if kind == "database":
        place = place.rpartition("/")[0] if place.startswith("db:") and "/" in place else place
        place = place if place.startswith("db:") else "db:"
    if not name and not kind:
        return EffectKey(family, "everything" if "all" in fact.traits else UNKNOWN, place)
    return EffectKey(family, _short(f"{kind}_{name}".strip("_")), place)


def _acted_on(action: Action, family: str, target: str) -> list[EffectKey]:
    """The targets of an announced effect: its noun, and the params that identify the object."""
    if not known(target):
        return [EffectKey(family, UNKNOWN)]
    thing, params = _turned(noun(target)), _params(action) or _said(action, noun(target))
    thing, place, rest = _placed(thing, params, action.cwd)
    targets, cut = targets_in_params(rest, thing, exact=thing in _GIT_NOUNS)
    kind = "" if thing in _BY_NAME_ALONE and all(targets) else f"{thing}_"
    found = [EffectKey(family, f"{kind}{target}".strip("_"), place) for target in targets]
    return [*found, EffectKey(family, UNKNOWN)] if cut else found


def _said(action: Action, thing: str) -> Mapping[str, object]:
    """Which one a sentence means that calls an operation by its name: `delete_user 4`, `delete_user(4)`, `delete_user {"id": 4}`."""
    if action.kind is not Kind.INTENT or "_" in thing:
        return {}
    named = [found for pair in _QUOTED.findall(action.text) if (found := next(filter(None, pair), ""))]
    return {"id": list(dict.fromkeys(named))} if named else {}


def _turned(thing: str) -> str:
    """`branch_main` for `main_branch`."""
    name, _, kind = thing.rpartition("_")
    return f"{kind}_{name}" if name and kind in ("branch", "tag") else thing


def _placed(thing: str, params: Mapping[str, object], cwd: str) -> tuple[str, str, Mapping[str, object]]:
    """The common noun of the target, its place (from the params, or the folder), and the params that identify it."""
    if thing in _GIT_NOUNS:
        where, rest = split_off(params, REPOSITORY)
        if thing in ("force", "push", "history") and (ref := _ref(rest)):
            thing, rest = "branch", {"branch": ref}
        return thing, _repository(where, cwd), rest
    if thing == "repo":
        where, rest = split_off(params, REPOSITORY | {"name"})
        whole = _repository(
            {**where, "repo": where.get("name") or where.get("repo") or where.get("repository") or ""}, ""
        )
        if "/" in whole.removeprefix("repository:"):
            return thing, FORGE, {"repo": whole.removeprefix("repository:")}
    if thing in _cluster_nouns():
        where, rest = split_off(params, CLUSTER if thing != "namespace" else CLUSTER - {"namespace"})
        if where or thing == "namespace":
            context = where.get("context") or where.get("kube_context") or where.get("cluster") or ""
            place = cluster_place(context, where.get("namespace", ""))
            return thing, place if thing != "namespace" else f"cluster:{context}/", rest
    if thing in _DATA_NOUNS:
        own = frozenset(name for name in DATABASE if thing in ("database", "schema") and "d" in name and "b" in name)
        where, rest = split_off(params, DATABASE - own)
        place = place_of_params(where, cwd)
        return thing, place if thing != "database" or place.startswith("db:") else "db:", rest
    return thing, cwd, params


@cache
def _cluster_nouns() -> frozenset[str]:
    """The kinds of objects in a cluster, by the descriptions of its clients."""
    clients = [program for program in shipped_programs().telling("kinds").values() if "context" in program.place]
    return frozenset(kind for one in clients for kind in one.kinds.values()) | {NAMESPACE, "job", "secret", "release"}


def _ref(params: Mapping[str, object]) -> str:
    named = [str(value) for key, value in params.items() if normalise_action(str(key)) in _REF_KEYS and value]
    return named[0].removeprefix("refs/heads/") if named else ""


def _repository(where: Mapping[str, str], cwd: str) -> str:
    """A repository by its folder, or by its owner and name."""
    path = next((where[key] for key in ("repository_path", "repo_path", "working_directory") if where.get(key)), "")
    name = where.get("repository") or where.get("repo") or ""
    if path or name.startswith(("/", ".", "~")):
        return resolve(path or name, cwd)
    owner = where.get("owner") or where.get("organization") or where.get("org") or ""
    whole = name if "/" in name or not owner else f"{owner}/{name}"
    return f"repository:{whole.casefold()}" if whole else cwd


def _by_name(action: Action) -> list[EffectKey]:
    """The keys of an action without findings: by the effect that its name implies, or by the name itself, for these targets."""
    if action.kind not in (Kind.OPERATION, Kind.TOOL):
        return [EffectKey(action.kind.value, normalise_action(action.text)[:200], action.cwd)]
    if action.fields.get("declared") is not None:  # the adapter's declaration replaces the meaning of the name
        bare = replace(action, fields={**action.fields, "declared": None})
        named = [fact for fact in read(bare).facts if isinstance(fact, Effect) and fact.verb.startswith("act_")]
        found = list(_effects(bare, named, {(fact.subject, fact.span) for fact in named}))
        if found:
            return [key for _, key, _ in found]
    targets, cut = targets_in_params(_params(action), "")
    name = normalise_action(action.text)[:200]
    found_ones = [EffectKey(action.kind.value, f"{name}_{target}".rstrip("_"), action.cwd) for target in targets]
    return [*found_ones, MORE] if cut else found_ones


def _params(action: Action) -> Mapping[str, object]:
    given = action.fields.get("params") or action.fields.get("input")
    return redact(given) if isinstance(given, Mapping) else {}


AWAY = frozenset({"remote", "container"})
_EXEC = valued(
    "-u --user -e --env -w --workdir -n --namespace --context -c --container --kubeconfig -v --volume --name -p --network -H --host"
)
_CLIENTS = valued(
    "-h --host -d --dbname --database -D -p -P --port -U -u --user --username -c --command -e --execute -f --file -q --query -v --set -S "
    "--server -o -F -R -T --eval --url --uri -n -a -i -x --pset"
)
_CONNECT = lazy_regex(r"""connect\(\s*(?:f|r|b)?["']([^"'\n]+)["']""")
_FILE_NAME = lazy_regex(r"\.(?:db|sqlite3?|duckdb)$|^[./~]")


def place_of(fact: Effect | Command, facts: Sequence[object]) -> str:
    """The name of where it happens; empty where it happens on this machine."""
    if not fact.traits & AWAY:
        return ""
    through = {step.split()[0] for step in fact.via if step.strip()}
    around = [one for one in facts if isinstance(one, Command) and one is not fact and one.program in through]
    leaves = [one for one in around if not one.traits & AWAY or _takes_to_host(one)]  # a shell inside goes nowhere
    near = [one for one in leaves if one.span == fact.span] or leaves
    return " ".join(dict.fromkeys(map(_reached, near))) or f"away:{' '.join(fact.via)}"


def _takes_to_host(wrapper: Command) -> bool:
    return OPERAND in describe(wrapper.program).place.get("host", ())


def _reached(wrapper: Command) -> str:
    if _takes_to_host(wrapper):
        found = options(wrapper.words, describe(wrapper.program).value_flags, stop_at_operand=True).operands
        return f"host:{found[0].rpartition('@')[2].casefold()}" if found else "host:"
    found = options(wrapper.words, _EXEC, stop_at_operand=False).operands
    names = [word for word in found if word not in ("exec", "run", "compose", "container", "debug")]
    return f"{wrapper.program}:{names[0]}" if names else f"{wrapper.program}:"


def store_place(action: Action, effect: Effect, facts: Sequence[object]) -> str:
    """The database that a statement goes to, as far as its client, its parameters or its code names one; else the agent's folder."""
    client = next(
        (one for one in facts if isinstance(one, Command) and one.span == effect.span and one.program in effect.via),
        None,
    )
    if client is not None and all(map(known, client.words)):
        found = _of_client(client)
        if found:
            return found
    if action.kind in (Kind.OPERATION, Kind.TOOL):
        given = action.fields.get("params") or action.fields.get("input")
        where, _ = split_off(given, DATABASE)
        return place_of_params(where, action.cwd)
    code = client is None or is_interpreter(client.program)
    connected = _CONNECT.search(action.text) if code else None
    if connected:
        return place_of_address(connected[1], client.cwd if client else action.cwd)
    return client.cwd if client is not None and client.cwd else action.cwd


def place_of_params(where: Mapping[str, str], cwd: str) -> str:
    """The place that parameters name; the agent's folder where they name none."""
    address = next(
        (where[key] for key in ("dsn", "url", "uri", "connection", "connection_string") if where.get(key)), ""
    )
    if address:
        return place_of_address(address, cwd)
    name = next((where[key] for key in ("database", "db", "dbname", "database_name", "db_name") if where.get(key)), "")
    host = next((where[key] for key in ("host", "hostname", "server", "endpoint") if where.get(key)), "")
    if name and not host and _FILE_NAME.search(name):
        return f"db:{resolve(name, cwd)}"
    return database_place(host, where.get("port", ""), name) if name or host else cwd


def place_of_address(address: str, cwd: str) -> str:
    """A database by its address: a URL, a file, or a name."""
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, port = parts.hostname or "", str(parts.port or "")
        except ValueError:
            return f"db:{address}"
        if (
            parts.scheme.startswith("sqlite") or parts.scheme == "file"
        ):  # three slashes are a relative path, four an absolute one
            return f"db:{resolve(parts.path.removeprefix('/'), cwd)}"
        return database_place(host, port, unquote(parts.path.lstrip("/")))
    if _FILE_NAME.search(address):
        return f"db:{resolve(address.removeprefix('file:'), cwd)}"
    return database_place("", "", address)


def _of_client(client: Command) -> str:
    """What a client's words and settings name; empty for its own defaults."""
    found = options(client.words, _CLIENTS)
    env = dict(client.env)
    program = describe(client.program)  # the operands of one that takes its options first are a statement
    names = [word for word in found.operands if " " not in word.strip() and not program.options_first]
    if "store" in program.place:
        return f"db:{resolve(names[0], client.cwd)}" if names else ""
    named = found.value("-d", "--dbname", "--database", "-D", "--url", "--uri") or (names[0] if names else "")
    named = named or env.get("DATABASE_URL") or env.get("PGDATABASE") or env.get("MYSQL_DATABASE") or ""
    host = found.value("-h", "--host", "-S", "--server") or env.get("PGHOST") or env.get("MYSQL_HOST") or ""
    if "://" in named:
        return place_of_address(named, client.cwd)
    return database_place(host, found.value("-p", "-P", "--port") or "", named) if named or host else ""
