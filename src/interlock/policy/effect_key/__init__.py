"""Derives the `EffectKey`s of an action: which effect on which target and where; denials, tickets, grants and limits compare them (R-22)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from interlock.analysis.facts import Command, Effect, Fact, known, show_command
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon import verb_kind
from interlock.analysis.places import resolve
from interlock.analysis.programs.load import describe, word_set, word_table
from interlock.analysis.programs.objects import OPERAND, in_repository, named_objects
from interlock.analysis.programs.options import CommandOptions, options, valued
from interlock.analysis.read import read
from interlock.analysis.targets.ordering import happens_elsewhere
from interlock.model import Action, Assessment, Kind, Level, Span, operation
from interlock.policy.effect_key.key import (
    READS,
    REMOVE,
    RUN,
    SEND,
    SILENT,
    STOP,
    UNKNOWN,
    UNTRACKED,
    WORKTREE,
    WRITE,
    EffectKey,
    Relation,
    nearest,
    parse,
    relation,
)
from interlock.policy.effect_key.operations import (
    FORGE,
    acted_on,
    normal_spelling,
    noun,
    shortened,
    store_place,
    targets_in_params,
)
from interlock.policy.registry import normalise_action
from interlock.redaction import redact

__all__ = ["EffectKey", "Relation", "effect_keys", "everyday_keys", "nearest", "parse", "path_keys", "relation"]


MOST = 200
MORE = EffectKey("more", UNKNOWN, grantable=False)  # there are more than are listed
_OTHER = lazy_regex(r"[\W_]+")
_ALL_OF_IT = lazy_regex(r"(?:/\**)+$")  # `data/`, `data/*`; `data*` is more than data
_STORES = ("sql_", "store_")
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
    accused = {(finding.subject, finding.span) for finding in assessment.harmful}
    found: dict[EffectKey, None] = {}
    told: set[Key] = set()  # by an effect
    heard: set[Key] = set()
    for fact in facts:
        if isinstance(fact, Effect) and (key := (fact.subject, fact.span)) in accused:
            if own := _keys_of(action, fact, facts):
                heard.add(key)
            if fact.verb not in READS and any(one.known for one in own):
                told.add(key)
            found |= dict.fromkeys(own)
    commands = [fact for fact in facts if isinstance(fact, Command)]
    for at, one in enumerate(commands):
        if (key := (show_command(one.program, one.words), one.span)) in accused - told:
            place = place_of(one, facts)
            own = _command_keys(one if one.cwd else replace(one, cwd=action.cwd), commands[:at])
            found |= dict.fromkeys(replace(key, place=place) if place else key for key in own)
            heard.add(key)
    if not found or accused - heard:
        found |= dict.fromkeys(_by_name(action))
    return _listed(action, facts, accused, list(found))


def _listed(action: Action, facts: Sequence[Fact], accused: set[Key], found: list[EffectKey]) -> tuple[EffectKey, ...]:
    """Up to the bound; no grant covers a key whose target does not determine its place."""
    found = [
        one if known(f"{one.target}{one.place}") else EffectKey(one.family, UNKNOWN, grantable=False) for one in found
    ]
    kept = found if len(found) <= MOST else [*found[: MOST - 1], MORE]
    away = happens_elsewhere(action, facts, accused)
    return tuple(replace(one, grantable=False) for one in kept) if away else tuple(kept)


def everyday_keys(action: Action, facts: Sequence[Fact]) -> tuple[EffectKey, ...]:
    """Effects on named targets without any finding; only compared with denials."""
    found: dict[EffectKey, None] = {}
    for fact in facts:
        if isinstance(fact, Effect) and _family(fact) in _EVERYDAY and fact.target and known(fact.target):
            found |= dict.fromkeys(one for one in _keys_of(action, fact, facts) if one.known)
    return tuple(found)[:MOST]


def path_keys(facts: Sequence[Fact]) -> tuple[EffectKey, ...]:
    """Harmful or not; a name without a slash is no path."""
    found = (
        fact for fact in facts if isinstance(fact, Effect) and fact.path and known(fact.path) and "/" in fact.target
    )
    return tuple(dict.fromkeys(EffectKey(_family(fact), _path(fact)) for fact in found))[:MOST]


def _keys_of(action: Action, fact: Effect, facts: Sequence[Fact]) -> list[EffectKey]:
    """None for an effect that names none, or no target."""
    if fact.verb in SILENT or not (fact.target or fact.verb.startswith(_STORES)):
        return []
    family = _family(fact)
    if fact.verb.startswith("act_"):
        return acted_on(action, family, fact.target)
    if not known(fact.target):
        return [EffectKey(family, UNKNOWN)]
    place = place_of(fact, facts)
    if fact.path or fact.place:
        return [EffectKey(family, _path(fact), place)]
    if fact.verb.startswith(_STORES):
        return [_stored(action, family, fact, facts, place)]
    if "://" in fact.target or ":/" in fact.target:
        return [EffectKey(family, shortened(fact.target.partition("?")[0].rstrip("/")), place)]
    return [EffectKey(family, shortened(_words(fact.target)), place)]


def _words(text: str) -> str:
    return _OTHER.sub("_", text.casefold()).strip("_")


def _family(fact: Effect) -> str:
    return word_table("families").get(fact.verb, fact.verb)


def _path(fact: Effect) -> str:
    return _ALL_OF_IT.sub("", fact.path or fact.target) or "/"


def _stored(action: Action, family: str, fact: Effect, facts: Sequence[Fact], away: str) -> EffectKey:
    place = away or store_place(action, fact, facts)
    kind = next((kind for kind in _KINDS if kind in fact.traits), "")
    parts = list(map(_words, fact.target.split(".")))
    name = ".".join(part for part in parts if part not in _DEFAULT_SCHEMAS or len(parts) == 1)
    if kind == "database":
        place = (place.rpartition("/")[0] or place) if place.startswith("db:") else "db:"
    if not name and not kind:
        return EffectKey(family, "everything" if "all" in fact.traits else UNKNOWN, place)
    return EffectKey(family, shortened(f"{kind}_{name}".strip("_")), place)


def _by_name(action: Action) -> list[EffectKey]:
    if action.kind not in (Kind.OPERATION, Kind.TOOL):
        return [EffectKey(action.kind.value, normalise_action(action.text)[:200], action.cwd)]
    if action.fields.get("declared") is not None:  # the adapter's declaration replaces the meaning of the name
        bare = replace(action, fields={**action.fields, "declared": None})
        named = [fact for fact in read(bare).facts if isinstance(fact, Effect) and fact.verb.startswith("act_")]
        if found := [key for fact in named for key in _keys_of(bare, fact, named)]:
            return found
    targets, cut = targets_in_params(redact(action.params), "")
    name = normalise_action(action.text)[:200]
    found = [EffectKey(action.kind.value, f"{name}_{target}".rstrip("_"), action.cwd) for target in targets]
    return [*found, MORE] if cut else found


AWAY = frozenset({"remote", "container"})


def place_of(fact: Effect | Command, facts: Sequence[object]) -> str:
    """Empty on this machine."""
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
        return f"host:{''.join(found[:1]).rpartition('@')[2].casefold()}"
    found = options(wrapper.words, word_set("exec_values"), stop_at_operand=False).operands
    names = (word for word in found if word not in ("exec", "run", "compose", "container", "debug"))
    return f"{wrapper.program}:{next(names, '')}"


_PARTS = lazy_regex(r"[-:_./\s]+")
_LONGEST = 200


def _command_keys(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    if all(map(known, command.words)) and "wrapper" not in command.traits:  # what a wrapper runs is reported by itself
        found = _git_keys(command) or _by_description(command, before) or _by_verb(command)
        if found:
            return [replace(one, grantable=False) for one in found]
    return [_run_key(command)]


def _run_key(command: Command) -> EffectKey:
    shown = redact([command.program, *command.words])[1:]
    words = sorted(word.lstrip("+") for word in shown if not word.startswith("-"))
    located = in_repository(command) and all(map(known, command.words))
    place = _in_repository(command)[0] if located else command.cwd
    return EffectKey(RUN, f"{command.program} {' '.join(words)}".strip()[:_LONGEST], place, grantable=False)


def _by_description(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    found: list[EffectKey] = []
    for one in named_objects(command, before):
        kind = noun(one.kind)
        family = one.effect if one.effect in (REMOVE, STOP, WRITE) else _act(f"{one.effect}_{kind}")[0]
        name = normal_spelling(one.name) if kind == "database" else one.name.removesuffix(".service")
        found += [EffectKey(family, f"{kind}_{name}", one.place)] if family else []
    return found


def _by_verb(command: Command) -> list[EffectKey]:
    """All other programs: `gh repo delete org/app`, `aws rds delete-db-instance`, `heroku apps:destroy shop`."""
    name, rest = _verb(command.words)
    family, thing = _act(name) if name else ("", "")
    if not family:
        return []
    located = [word for word in rest if "://" in word]
    if len(located) == 1:
        return [EffectKey(family, located[0].rstrip("/"))]
    ids = sorted({normal_spelling(word) for word in redact(["", *rest])[1:]} - {""})
    hosted = thing == "repo" and len(ids) == 1 and "/" in ids[0]
    target = f"{thing}_{'_'.join(ids)}".strip("_")[:_LONGEST]
    return [EffectKey(family, target, FORGE if hosted else command.cwd)] if ids else []


def _verb(words: Sequence[str]) -> tuple[str, list[str]]:
    """The first words up to a verb, as the name of an operation; and the values behind it."""
    plain = [word for word in words if not word.startswith("-")]
    for at, word in enumerate(plain[:5]):
        parts = [part for part in _PARTS.split(word.lower()) if part]
        verb = next((part for part in parts if verb_kind(part) in word_set("removing_verbs") or part == "rb"), "")
        if verb:
            others = [part for part in parts if part != verb]
            thing = others or [part for part in _PARTS.split(plain[at - 1].lower()) if part][-1:] if at else others
            values = [word.partition("=")[2] for word in words if word.startswith("-") and "=" in word]
            return "_".join(["delete" if verb == "rb" else verb, *thing]), [*plain[at + 1 :], *values]
    return "", []


@lru_cache(maxsize=512)
def _act(name: str) -> tuple[str, str]:
    for fact in read(operation(name, {})).facts:
        if isinstance(fact, Effect) and fact.verb.startswith("act_"):
            return word_table("families").get(fact.verb, ""), noun(fact.target)
    return "", ""


_CHECKOUTS = ("checkout", "switch", "restore")
_GLOBAL = valued("-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env")
_REMOTE_URL = lazy_regex(r"(?:[a-z+]+://)?(?:[^@/]+@)?(.+?)(?:\.git)?/?$", re.IGNORECASE)
_STASH = lazy_regex(r"(?:stash@\{(\d+)\}|(\d+))$")


class _GitCall(Struct, frozen=True):
    folder: str
    options: CommandOptions
    words: list[str]


def _git_keys(command: Command) -> list[EffectKey]:
    folder, name, words = _in_repository(command)
    if not in_repository(command) or name not in _GIT:
        return []
    call = _GitCall(folder, options(words, valued(_TAKES.get(name, ""))), words)
    found = (EffectKey(REMOVE, target) for target in _GIT[name](call))
    return list(dict.fromkeys(one if one.anchored else replace(one, place=folder) for one in found))


def _in_repository(command: Command) -> tuple[str, str, list[str]]:
    found = options(command.words, _GLOBAL, stop_at_operand=True)
    env = dict(command.env)
    folder = command.cwd
    for step in found.all("-C"):
        folder = resolve(step, folder)
    tree = found.value("--work-tree") or env.get("GIT_WORK_TREE", "")
    store = found.value("--git-dir") or env.get("GIT_DIR", "")
    if tree:
        folder = resolve(tree, folder)
    elif store:
        folder = resolve(store, folder).removesuffix("/.git")
    return folder, found.operands[0] if found.operands else "", found.operands[1:]


def _ref_target(ref: str, remote: str = "") -> str:
    """`branch_main`, `tag_v1`; of a remote that is not the usual one with its name."""
    bare = ref.removeprefix("refs/").removeprefix("remotes/")
    kind, name = ("tag", bare[5:]) if bare.startswith("tags/") else ("branch", bare.removeprefix("heads/"))
    return f"{kind}_{remote}/{name}" if remote not in ("", "origin") else f"{kind}_{name}"


def _files(folder: str, words: Sequence[str], kind: str) -> list[str]:
    paths = [resolve(word, folder) for word in words if not word.startswith(":")]
    return [f"{kind}{path}" for path in paths or [folder]]


def _work_tree(git: _GitCall) -> list[str]:
    return [f"{WORKTREE}{git.folder}"]


def _checkout(git: _GitCall) -> list[str]:
    """Paths are restored over what was changed; `-f` drops every change; `-B` moves a branch."""
    if moved := git.options.all("-B", "-C"):
        return [_ref_target(name) for name in moved]
    if "--" in git.words:
        return _files(git.folder, git.words[git.words.index("--") + 1 :], WORKTREE)
    if git.options.has("-f", "--force", "--discard-changes"):
        return _work_tree(git)
    return _files(git.folder, git.options.operands, WORKTREE)


def _push(git: _GitCall) -> list[str]:
    """The refs at the remote; without one, those that the repository is set to push."""
    names = git.options.operands
    remote = git.options.value("--repo") or (names[0] if names else "")
    if "/" in remote or ":" in remote:  # an address, without how it is reached
        address = _REMOTE_URL.match(remote)
        remote = (address[1] if address else remote).replace(":", "/")
    if git.options.has("--mirror", "--all", "--prune", "--branches"):
        return [_ref_target("*", remote)]
    refs = [ref for word in names[1:] if (ref := word.lstrip("+").rpartition(":")[2])]
    return [_ref_target(ref, remote) for ref in refs or (["tags/*"] if git.options.has("--tags") else ["HEAD"])]


def _branch(git: _GitCall) -> list[str]:
    names, forced = git.options.operands, git.options.has("-f", "--force")
    if (forced or git.options.has("-M", "-C")) and not git.options.has("-d", "-D", "--delete"):
        names = names[:1] if forced else names[-1:]
    return [_ref_target(name) for name in names]


def _stash(git: _GitCall) -> list[str]:
    verb, *names = git.options.operands or [""]
    if verb in ("drop", "pop"):
        number = _STASH.search(names[0]) if names else None
        return [f"stash_{(number[1] or number[2]) if number else '0'}"]
    return ["stash_*"] if verb == "clear" else []


def _tag(git: _GitCall) -> list[str]:
    names = git.options.operands
    return [_ref_target(f"tags/{name}") for name in (names if git.options.has("-d", "--delete") else names[:1])]


def _behind(git: _GitCall, *verbs: str) -> list[str]:
    verb, *names = git.options.operands or [""]
    return names if verb in verbs else []


# By subcommand: the options that take a value, and the targets.
_TAKES = {
    **dict.fromkeys(_CHECKOUTS, "-b -B -c -C --orphan --conflict -s --source --pathspec-from-file"),
    "clean": "-e --exclude",
    "rm": "--pathspec-from-file",
    "push": "-o --push-option --receive-pack --exec --repo",
    "branch": "-u --set-upstream-to --contains --merged --no-merged --sort --format",
    "tag": "-m -F -u --message --file --local-user",
    "update-ref": "-m",
}
_GIT: Mapping[str, Callable[[_GitCall], list[str]]] = {
    **dict.fromkeys(_CHECKOUTS, _checkout),
    **dict.fromkeys(("read-tree", "checkout-index"), _work_tree),
    **dict.fromkeys(("filter-branch", "filter-repo", "rebase"), lambda git: ["history"]),
    **dict.fromkeys(("reflog", "gc", "prune"), lambda git: ["reflog"]),
    "reset": lambda git: _work_tree(git) if git.options.has("--hard", "--merge", "--keep") else [],
    "clean": lambda git: _files(git.folder, git.options.operands, UNTRACKED),
    "rm": lambda git: [resolve(name, git.folder) for name in git.options.operands],
    "push": _push,
    "branch": _branch,
    "tag": _tag,
    "update-ref": lambda git: [_ref_target(name) for name in git.options.operands[:1]],
    "stash": _stash,
    "worktree": lambda git: [resolve(name, git.folder) for name in _behind(git, "remove")[:1]],
    "remote": lambda git: [f"remote_{name}" for name in _behind(git, "rm", "remove")],
    "submodule": lambda git: [f"submodule_{name}" for name in _behind(git, "deinit")],
}
