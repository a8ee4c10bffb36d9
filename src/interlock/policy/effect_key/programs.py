"""Targets of a program from its words: repositories, infrastructure, clusters, containers, services, databases, and its own verbs."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from interlock.analysis.facts import Command, Effect, known
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.lexicon import verb_kind
from interlock.analysis.places import resolve
from interlock.analysis.programs.load import word_set
from interlock.analysis.programs.objects import in_repository, named_objects
from interlock.analysis.programs.options import options, valued
from interlock.analysis.read import read
from interlock.model import operation
from interlock.policy.effect_key.key import FAMILIES, REMOVE, RUN, STOP, UNTRACKED, WORKTREE, WRITE, EffectKey
from interlock.policy.effect_key.params import normal_spelling, noun
from interlock.redaction import redact

_GLOBAL = valued("-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env")
_REMOTE_URL = lazy_regex(r"(?:[a-z+]+://)?(?:[^@/]+@)?(.+?)(?:\.git)?/?$", re.IGNORECASE)
_STASH = lazy_regex(r"(?:stash@\{(\d+)\}|(\d+))$")
Target = tuple[str, bool]  # what is removed, and whether it is located by itself


def git_keys(command: Command) -> list[EffectKey]:
    """The keys of one git command; none where its targets cannot be resolved."""
    if not in_repository(command) or not all(map(known, command.words)):
        return []
    folder, name, rest = _split(command)
    reader = _READERS.get(name)
    if reader is None:
        return []
    found = [
        EffectKey(REMOVE, target, "" if located else folder, grantable=False)
        for target, located in reader(folder, rest)
    ]
    return list(dict.fromkeys(found))


def repository(command: Command) -> str:
    """The folder of the repository that a git command works in."""
    return _split(command)[0] if all(map(known, command.words)) else command.cwd


def ref_target(ref: str, remote: str = "") -> str:
    """`branch_main`, `tag_v1`; of a remote that is not the usual one with its name."""
    bare = ref.removeprefix("refs/").removeprefix("remotes/")
    kind, name = ("tag", bare[5:]) if bare.startswith("tags/") else ("branch", bare.removeprefix("heads/"))
    return f"{kind}_{remote}/{name}" if remote not in ("", "origin") else f"{kind}_{name}"


def _split(command: Command) -> tuple[str, str, list[str]]:
    """The folder of the repository, the subcommand, and the words behind it."""
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


def _paths(folder: str, words: Sequence[str], kind: str) -> list[Target]:
    """The named paths of a repository, or all of it."""
    full = [resolve(word, folder) for word in words if not word.startswith(":")] or [folder]
    return [(f"{kind}{path}", True) for path in full]


def _reset(folder: str, words: list[str]) -> list[Target]:
    found = options(words)
    return _paths(folder, (), WORKTREE) if found.has("--hard", "--merge", "--keep") else []


def _checkout(folder: str, words: list[str]) -> list[Target]:
    """Paths are restored over what was changed; `-f` drops every change; `-B` moves a branch."""
    found = options(words, valued("-b -B -c -C --orphan --conflict -s --source --pathspec-from-file"))
    moved = found.all("-B", "-C")
    if moved:
        return [(ref_target(name), False) for name in moved]
    if "--" in words:
        return _paths(folder, words[words.index("--") + 1 :], WORKTREE)
    if found.has("-f", "--force", "--discard-changes"):
        return _paths(folder, (), WORKTREE)
    return _paths(folder, found.operands, WORKTREE)


def _clean(folder: str, words: list[str]) -> list[Target]:
    return _paths(folder, options(words, valued("-e --exclude")).operands, UNTRACKED)


def _push(folder: str, words: list[str]) -> list[Target]:
    """The refs at the remote that are overwritten or deleted; without one, those that the repository is set to push."""
    found = options(words, valued("-o --push-option --receive-pack --exec --repo"))
    names = found.operands
    remote = _remote(found.value("--repo") or (names[0] if names else ""))
    if found.has("--mirror", "--all", "--prune", "--branches"):
        return [(ref_target("*", remote), False)]
    refs = [ref.lstrip("+").rpartition(":")[2] for ref in names[1:]]
    refs = [ref for ref in refs if ref] or (["tags/*"] if found.has("--tags") else ["HEAD"])
    return [(ref_target(ref, remote), False) for ref in refs]


def _remote(written: str) -> str:
    """A remote by its name, or its address without how it is reached."""
    if "/" not in written and ":" not in written:
        return written
    found = _REMOTE_URL.match(written)
    return (found[1] if found else written).replace(":", "/")


def _branch(folder: str, words: list[str]) -> list[Target]:
    found = options(words, valued("-u --set-upstream-to --contains --merged --no-merged --sort --format"))
    names = found.operands
    if found.has("-f", "--force", "-M", "-C") and not found.has("-d", "-D", "--delete"):
        names = names[:1] if found.has("-f", "--force") else names[-1:]
    return [(ref_target(name), False) for name in names]


def _tag(folder: str, words: list[str]) -> list[Target]:
    found = options(words, valued("-m -F -u --message --file --local-user"))
    names = found.operands if found.has("-d", "--delete") else found.operands[:1]
    return [(ref_target(f"tags/{name}"), False) for name in names]


def _update_ref(folder: str, words: list[str]) -> list[Target]:
    return [(ref_target(name), False) for name in options(words, valued("-m")).operands[:1]]


def _stash(folder: str, words: list[str]) -> list[Target]:
    names = options(words).operands
    if names[:1] == ["clear"]:
        return [("stash_*", False)]
    if names[:1] in (["drop"], ["pop"]):
        found = _STASH.search(names[1]) if len(names) > 1 else None
        return [(f"stash_{(found[1] or found[2]) if found else '0'}", False)]
    return []


def _history(folder: str, words: list[str]) -> list[Target]:
    return [("history", False)]


def _reflog(folder: str, words: list[str]) -> list[Target]:
    return [("reflog", False)]


def _worktree(folder: str, words: list[str]) -> list[Target]:
    names = options(words).operands
    return [(resolve(name, folder), True) for name in names[1:2]] if names[:1] == ["remove"] else []


def _rm(folder: str, words: list[str]) -> list[Target]:
    return [(resolve(name, folder), True) for name in options(words, valued("--pathspec-from-file")).operands]


def _named(kind: str, verbs: frozenset[str]) -> Callable[[str, list[str]], list[Target]]:
    def read(folder: str, words: list[str]) -> list[Target]:
        names = options(words).operands
        return [(f"{kind}_{name}", False) for name in names[1:]] if names[:1] and names[0] in verbs else []

    return read


def _whole_tree(folder: str, words: list[str]) -> list[Target]:
    return _paths(folder, (), WORKTREE)


_READERS: Mapping[str, Callable[[str, list[str]], list[Target]]] = MappingProxyType(
    {
        "reset": _reset, "checkout": _checkout, "switch": _checkout, "restore": _checkout, "clean": _clean, "push": _push,
        "branch": _branch, "tag": _tag, "update-ref": _update_ref, "stash": _stash, "filter-branch": _history,
        "filter-repo": _history, "rebase": _history, "worktree": _worktree, "rm": _rm, "read-tree": _whole_tree,
        "checkout-index": _whole_tree, "reflog": _reflog, "gc": _reflog, "prune": _reflog,
        "remote": _named("remote", frozenset({"rm", "remove"})), "submodule": _named("submodule", frozenset({"deinit"})),
    }
)  # fmt: skip


_PARTS = lazy_regex(r"[-:_./\s]+")
_LONGEST = 200
FORGE = "forge"  # where repositories are known by owner and name


def command_keys(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    """The keys of one command without known effects: by the targets in its words, else by its own text."""
    if all(map(known, command.words)):
        wraps = "wrapper" in command.traits  # what it runs is reported by itself
        found = [] if wraps else git_keys(command) or _by_description(command, before) or _by_verb(command)
        if found:
            return [EffectKey(one.family, one.target, one.place, grantable=False) for one in found]
    return [run_key(command)]


def run_key(command: Command) -> EffectKey:
    """A program whose effects are not known: its name and the words that are no flags, in its own folder."""
    words = sorted(
        word.lstrip("+") for word in redact([command.program, *command.words])[1:] if not word.startswith("-")
    )
    place = repository(command) if in_repository(command) else command.cwd
    return EffectKey(RUN, f"{command.program} {' '.join(words)}".strip()[:_LONGEST], place, grantable=False)


def _by_description(command: Command, before: Sequence[Command]) -> list[EffectKey]:
    """The objects that the description of the program names."""
    found: list[EffectKey] = []
    for one in named_objects(command, before):
        kind = noun(one.kind)
        family = _FAMILIES.get(one.effect) or _family(f"{one.effect}_{kind}")
        name = normal_spelling(one.name) if kind == "database" else one.name.removesuffix(".service")
        found.append(EffectKey(family, f"{kind}_{name}", one.place))
    return [one for one in found if one.family]


_FAMILIES = MappingProxyType({"remove": REMOVE, "stop": STOP, "write": WRITE})


# All other programs, by their own verb: `gh repo delete org/app`, `aws rds delete-db-instance`, `heroku apps:destroy shop`.


def _by_verb(command: Command) -> list[EffectKey]:
    found = _verb(command.words)
    if found is None:
        return []
    name, rest = found
    family = _family(name)
    if not family:
        return []
    ids = sorted({normal_spelling(word) for word in redact(["", *rest])[1:] if word} - {""})
    thing = _thing(name)
    located = [word for word in rest if "://" in word]
    if len(located) == 1:
        return [EffectKey(family, located[0].rstrip("/"))]
    hosted = thing == "repo" and len(ids) == 1 and "/" in ids[0]
    target = f"{thing}_{'_'.join(ids)}".strip("_")[:_LONGEST]
    return [EffectKey(family, target, FORGE if hosted else command.cwd)] if ids else []


def _verb(words: Sequence[str]) -> tuple[str, list[str]] | None:
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
    return None


@lru_cache(maxsize=512)
def _act(name: str) -> Effect | None:
    """What an operation of this name announces, by the lexicon of names."""
    for fact in read(operation(name, {})).facts:
        if isinstance(fact, Effect) and fact.verb.startswith("act_"):
            return fact
    return None


def _family(name: str) -> str:
    act = _act(name)
    return FAMILIES.get(act.verb, "") if act is not None else ""


def _thing(name: str) -> str:
    act = _act(name)
    return noun(act.target) if act is not None else ""
