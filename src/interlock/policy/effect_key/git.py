"""Targets of a git command: the repository, and its refs, working tree, stashes or history."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from interlock.analysis.facts import Command, known
from interlock.analysis.places import resolve
from interlock.analysis.programs.objects import in_repository
from interlock.analysis.programs.options import options, valued
from interlock.policy.effect_key.key import REMOVE, UNTRACKED, WORKTREE, EffectKey

_GLOBAL = valued("-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env")
_REMOTE_URL = re.compile(r"(?:[a-z+]+://)?(?:[^@/]+@)?(.+?)(?:\.git)?/?$", re.IGNORECASE)
_STASH = re.compile(r"(?:stash@\{(\d+)\}|(\d+))$")
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
