"""What would a forced push take away? Of what this session made and pushed itself, nothing that cannot be pushed again."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence

from interlock.looker.budget import Unclear
from interlock.looker.deed import Deed
from interlock.looker.git_words import words_of
from interlock.looker.opened import contents

_LEASE = "--force-with-lease"
_DELETED = ("refs/tags/", "refs/heads/")
_KINDS = {"tags": "tag", "heads": "branch"}
_PLAIN = frozenset({"-u", "--set-upstream", "--no-verify", "--force-if-includes"})
# Branches that others work on, whoever pushed last.
_SHARED = re.compile(
    r"(?:main|master|trunk|develop|development|dev|stable|next|staging|production|prod|gh-pages|(?:release|hotfix)s?\b.*)",
    re.IGNORECASE,
)
# Settings by which a push means more than the branch that is checked out.
_ODD = re.compile(
    r"^\s*(?:push\s*=|mirror\s*=\s*true|pushdefault\s*=|pushremote\s*=|default\s*=\s*matching)|^\s*\[include",
    re.IGNORECASE | re.MULTILINE,
)
_REMOTE = re.compile(r'^\[branch "(.+)"\][^\[]*?^\s*remote\s*=\s*(\S+)', re.MULTILINE)


def push(deed: Deed, rest: Sequence[str]) -> None:
    """Tells what the remote had when it was last asked; raises Unclear where no lease proves that it has no more, or the branch is not the session's."""
    words = words_of(rest, valued=("-o", "--push-option"))
    if words.flags == {"--delete"} and len(words.names) == 2:
        _own_ref(deed, *words.names)
        return
    source, remote, branch = _meant(deed, words.names)
    lease = [flag for flag in words.flags if flag.partition("=")[0] == _LEASE]
    old = deed.history.ref(f"refs/remotes/{remote}/{branch}")
    new = deed.history.resolve(source)
    if old is None or new is None or not deed.repository.objects.has(old):
        raise Unclear("what the remote has now cannot be seen from here")
    dropped = len(deed.history.beyond([old], [new]))
    deed.tally.note(f"the remote had {dropped} commit{'s' if dropped != 1 else ''} that this drops")
    strange = words.flags - _PLAIN - set(lease)
    if len(lease) != 1 or strange or words.paths or not _expects(deed, lease[0], branch, old):
        raise Unclear("what the remote has now cannot be seen from here")
    if _shared(deed, remote, branch) or not _own(deed, branch):
        raise Unclear("the branch may have the work of others")
    deed.tally.note(f"the old commit is here: {old.hex()[:12]}")
    deed.tally.kept += 1


def _own_ref(deed: Deed, remote: str, ref: str) -> None:
    """A tag or a branch at the remote: this session made it, and pushed it there; of a branch, what the remote had last is here."""
    own, (_, kind, name) = deed.standing.own, ref.split("/", 2) if ref.startswith(_DELETED) else ("", "", "")
    made = _KINDS.get(kind, "")
    if not made or not own.ref(deed.repository, made, name) or not own.ref(deed.repository, "pushed", name, remote):
        raise Unclear("it may be somebody else's")
    if made == "branch":
        old = deed.history.ref(f"refs/remotes/{remote}/{name}")
        if old is None or not deed.repository.objects.has(old) or _shared(deed, remote, name):
            raise Unclear("the branch may have the work of others")
        deed.tally.note(f"the old commit is here: {old.hex()[:12]}")
    deed.tally.found = True
    deed.tally.kept += 1


def _meant(deed: Deed, names: Sequence[str]) -> tuple[str, str, str]:
    """What is pushed, where to, and as which branch."""
    here = deed.history.branch().removeprefix("refs/heads/")
    if len(names) == 2:
        remote, (source, _, branch) = names[0], names[1].partition(":")
        source = source.removeprefix("refs/heads/")
        branch = (branch or (here if source == "HEAD" else source)).removeprefix("refs/heads/")
        if not source or not branch or source.startswith("+") or branch.startswith("refs/"):
            raise Unclear("what the remote has now cannot be seen from here")
        return source, remote, branch
    settings = os.fsdecode(contents(os.path.join(deed.repository.shared, "config"), deed.budget, 1 << 20))
    for place in (".gitconfig", ".config/git/config"):
        path = os.path.join(deed.standing.home, place)
        if deed.standing.home and os.path.isfile(path):
            settings += "\n" + os.fsdecode(contents(os.path.realpath(path), deed.budget, 1 << 20))
    if len(names) > 1 or not here or _ODD.search(settings):
        raise Unclear("what is pushed is not known here")
    remotes = [remote for name, remote in _REMOTE.findall(settings) if name == here]
    return here, names[0] if names else (remotes[0] if remotes else "origin"), here


def _expects(deed: Deed, lease: str, branch: str, old: bytes) -> bool:
    """Whether the lease is for the commit that is known here: by itself, or because it names that one."""
    _, given, value = lease.partition("=")
    if not given:
        return True
    name, named, expected = value.partition(":")
    return name.removeprefix("refs/heads/") == branch and (not named or deed.history.resolve(expected) == old)


def _shared(deed: Deed, remote: str, branch: str) -> bool:
    try:
        head = contents(os.path.join(deed.repository.shared, "refs", "remotes", remote, "HEAD"), deed.budget, 4_096)
    except OSError:
        head = b""
    return bool(_SHARED.fullmatch(branch)) or os.fsdecode(head).strip() == f"ref: refs/remotes/{remote}/{branch}"


def _own(deed: Deed, branch: str) -> bool:
    own = deed.standing.own
    return own.ref(deed.repository, "branch", branch) or own.ref(deed.repository, "pushed", branch)
