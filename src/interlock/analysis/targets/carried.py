"""What files carry: secrets by their names, and whatever this action copied, linked, packed or downloaded into them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from interlock.analysis.facts import APPROXIMATE, taints_in
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import program_set, word_set
from interlock.analysis.shell import NAMED_TAINTS, Job

LEAKS = frozenset({"secret", "environment"})
_NOTHING: frozenset[str] = frozenset()
_SECRET = frozenset({"secret"})
_WHOLE = frozenset({"home", "root"})  # with everything in them, keys included
_FOLLOWED = NAMED_TAINTS | {APPROXIMATE}
# Names that packers derive from that of their input.
_PACKED = lazy_regex(
    r"(.+)\.(?:gz|bz2|xz|lzma|zst|lz4|br|Z|zip|7z|rar|tar|tgz|gpg|asc|pgp|age|enc|cpt|b64|hex|uu)", re.I
)
_LEFT_OUT = frozenset({"--exclude", "--exclude-from", "-x", "-X"})  # the names behind them are not packed
_SETTING = lazy_regex(r"(?:--?)?[\w\[\].-]+=(?=.)")


def carries(job: Job, path: str) -> frozenset[str]:
    """`secret` and `environment` by name, origin or content, `download` by origin."""
    places = job.places(path)
    if "secret" in places or not _WHOLE.isdisjoint(places):
        return _SECRET
    session = job.session
    if not (session.carried or session.files or session.copies or session.links or session.packed):
        return _NOTHING  # most actions write nothing
    full = job.full(path)
    found = session.carried.get(full, _NOTHING)
    if full in session.files:
        found |= taints_in(session.files[full])
    if (origin := origin_of(job, path)) != path:
        full = origin
        found |= session.carried.get(full, _NOTHING)
        if job.place_of(full) == "secret":
            found |= _SECRET
    job.step(len(session.carried) // 16)
    for other, taints in session.carried.items():
        if other.startswith(f"{full}/") or full.startswith(f"{other}/"):
            found |= taints
    if not found and (packed := _PACKED.fullmatch(path)) and session.packed:
        return session.packed.get(job.full(packed[1]), _NOTHING)
    return found


def leaks_of(job: Job, paths: Iterable[str]) -> frozenset[str]:
    return _NOTHING.union(*(carries(job, path) for path in paths)) & LEAKS


def origin_of(job: Job, path: str) -> str:
    """The path itself for most."""
    session = job.session
    if not session.copies and not session.links:
        return path
    full = found = job.full(path)
    for _ in range(8):  # copies of copies
        found = session.links.get(found) or session.copies.get(found) or found
    return path if found == full else found


def put(job: Job, path: str, taints: frozenset[str]) -> None:
    if kept := taints & _FOLLOWED:
        full, carried = job.full(path), job.session.carried
        carried[full] = carried.get(full, _NOTHING) | kept


def pack(job: Job) -> None:
    """What one word carries, all others do afterwards, and names derived from it."""
    if job.program in program_set("converts"):  # one file into another: what was downloaded stays a download
        names = [job.full(word) for word in named_files(job.words)]
        if address := _address_of(job, names):
            packed = [found[1] for name in names if (found := _PACKED.fullmatch(name))]
            job.session.downloads.update(dict.fromkeys([*names, *packed], address))
    if _begins(job, (*job.described.unpacks, *job.described.packs_not)):
        return
    words = list(named_files(_packed_words(job.words)))
    taints = job.stdin.taints & LEAKS
    for word in words:
        carried = carries(job, word) & LEAKS
        if carried:
            job.session.packed[job.full(word)] = carried
            taints |= carried
    if taints:
        for word in words:
            if word not in ("-", ".", "..") and ":" not in word and not carries(job, word) & LEAKS:
                put(job, word, taints)


def _begins(job: Job, words: Iterable[str]) -> bool:
    """A letter may stand among others, and without a dash if it has none."""
    first = job.words[0] if job.words else ""
    letters = first.removeprefix("-")
    bundled = letters.isalpha()
    return any(
        word in ("*", first.partition("=")[0])
        or (bundled and len(letter) == 1 and letter in letters and (word == letter or letters != first))
        for word in words
        for letter in [word.removeprefix("-")]
    )


def unpack(job: Job) -> None:
    """A downloaded archive goes on as everything below the folder that it goes to."""
    if not _begins(job, job.described.unpacks):
        return
    found = job.options("-f --file -C --directory -d -o --one-top-level --exclude -x -P")
    archives = [*found.operands, *found.all("-f", "--file")]
    if address := _address_of(job, map(job.full, archives)):
        given = next((word[2:] for word in job.words if word.startswith("-o")), "")
        job.session.downloads[f"{job.full(found.value('-C', '--directory', '-d') or given or '.')}/"] = address


def _address_of(job: Job, paths: Iterable[str]) -> str:
    flows = "download" in job.stdin.taints
    return job.session.fetched(*paths) or ("the network" if flows else "")


def _packed_words(words: Sequence[str]) -> Iterator[str]:
    before = ""
    for word in words:
        if word.startswith("-"):
            before = word
            if not word.startswith("--exclude"):
                yield word
        elif before in word_set("not_packed"):
            before = ""
        elif before not in _LEFT_OUT:
            yield word


def copy_to(job: Job, sources: Sequence[str], target: str) -> None:
    for source in sources:
        put(job, target, carries(job, source))


def named_files(words: Iterable[str]) -> Iterator[str]:
    """Operands, values of options, `if=FILE`, `name=@FILE`, `-f/tmp/x`."""
    for word in words:
        if "=" in word:
            yield _SETTING.sub("", word, count=1).lstrip("@<")
        elif not word.startswith("-"):
            yield word.lstrip("@<")
        elif word[2:3] in ("/", "~", "."):
            yield word[2:]
