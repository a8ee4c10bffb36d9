"""Effects of file programs on paths: rm, mv, cp, dd, chmod, tee, sed -i."""

from __future__ import annotations

import re
from collections.abc import Callable

from interlock.analysis.facts import HOLE, hole, names_only
from interlock.analysis.places import resolve
from interlock.analysis.programs.options import options, valued
from interlock.analysis.shell import NOTHING, Job, Stream
from interlock.analysis.targets.carried import copy_to, origin_of, put

Handler = Callable[[Job], Stream | None]

_GLOB = re.compile(r"[*?\[]")
_READERS = frozenset(
    "cat less more head tail bat nl tac strings xxd od hexdump base64 base32 grep egrep fgrep rg awk cut sort uniq view jq yq "
    "diff cmp zcat cp scp tar zip gpg curl wget rsync pbcopy xclip".split()
)


_VIEWERS = frozenset(
    "cat less more head tail bat nl tac strings xxd od hexdump base64 base32 pbcopy xclip jq yq sort uniq cut paste column fold rev diff comm".split()
)
_SEARCHERS = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "ack"})
_QUIET = re.compile(r"-[a-zA-Z]*[cqlL][a-zA-Z]*|--(?:count|quiet|silent|files-with(?:out)?-match(?:es)?)")


def _marks(path: str, job: Job) -> tuple[str, ...]:
    """`bulk` for a glob, or for a list that is built at run time."""
    return ("bulk",) if _GLOB.search(path) or "bulk" in job.where.traits else ()


def remove(job: Job) -> Stream | None:
    """rm, and programs that delete what they are given."""
    found = options(job.words)
    recursive = found.has("-r", "-R", "--recursive", "--no-preserve-root") or job.program in _RECURSIVE
    for path in found.operands:
        job.effect("delete", path, *(("recursive",) if recursive else ()), *_marks(path, job))
    for flag in found.flags:
        if flag.startswith("-") and HOLE in flag and found.operands:  # rm $FLAGS dir: the flags may well be -rf
            for path in found.operands:
                job.effect("delete", path, "recursive", *_marks(path, job))
            break
    if not found.operands and job.stdin is not None and job.program in _RECURSIVE:
        job.effect("delete", hole(), "recursive", "bulk")
    return NOTHING


_RECURSIVE = frozenset({"rimraf", "del-cli", "rmtree", "premove", "rm-rf"})


def remove_directory(job: Job) -> Stream | None:
    for path in options(job.words).operands:
        job.effect("delete", path, "empty_only")
    return NOTHING


def shred(job: Job) -> Stream | None:
    found = options(job.words, valued("-n -s --iterations --size --random-source"))
    verb = "delete" if found.has("-u", "--remove") else "truncate"
    for path in found.operands:
        job.effect(verb, path, "shredded", *_marks(path, job))
    return NOTHING


def truncate(job: Job) -> Stream | None:
    found = options(job.words, valued("-s -r --size --reference"))
    size = found.value("-s", "--size") or ""
    for path in found.operands:
        grows = not size or size.startswith(("+", ">")) or re.fullmatch(r"[1-9]\d*[KMGT]B?", size) is not None
        job.effect("write" if grows else "truncate", path, *_marks(path, job))
    return NOTHING


def archive(job: Job) -> Stream | None:
    """zip -m, 7z -sdel: what goes into the archive is deleted."""
    found = options(job.words, valued("-x -i -t -b"))
    zips = job.program == "zip"
    moves = found.has("-m", "--move") if zips else "-sdel" in job.words  # to the others -m is a method: -m0=lzma
    for path in found.operands[1 if zips else 2 :]:
        job.effect("read", path, "whole")
        if moves:
            job.effect("delete", path, "recursive", *_marks(path, job))
    return None


def discard(job: Job) -> Stream | None:
    """gio remove, gio trash --empty, trash-empty."""
    found = options(job.words)
    if job.program == "trash-empty" or found.has("--empty"):
        job.effect("delete", "~/.local/share/Trash-content", "recursive")
    elif found.operands[:1] == ["remove"]:
        for path in found.operands[1:]:
            job.effect("delete", path, *_marks(path, job))
    return None


def punch(job: Job) -> Stream | None:
    """fallocate -p or -z takes content out of a file; otherwise it only makes room."""
    found = options(job.words, valued("-o -l -n --offset --length"))
    holes = found.has("-p", "--punch-hole", "-z", "--zero-range", "-c", "--collapse-range")
    for path in found.operands:
        job.effect("truncate" if holes else "write", path)
    return NOTHING


def dd(job: Job) -> Stream | None:
    settings = dict(word.split("=", 1) for word in job.words if "=" in word)
    source = settings.get("if", "")
    if source and not source.startswith("/dev/"):
        job.effect("read", source)
    target = settings.get("of")
    if target is not None:
        noise = source in ("/dev/zero", "/dev/null", "/dev/urandom", "/dev/random")
        image = re.search(r"\.(img|iso|bin|raw|qcow2|dd|swap|dat|tmp)$|swapfile|test", target) is not None
        job.effect("truncate" if noise and not image else "write", target)
        if not source and job.stdin is not None:
            job.host.session.files[resolve(target, job.host.cwds[0])] = job.stdin.text
    return NOTHING if target is not None else None


def move(job: Job) -> Stream | None:
    found = options(job.words, valued("-t -S --target-directory --suffix"))
    directory = found.value("-t", "--target-directory")
    paths = found.operands
    target = directory if directory is not None else (paths[-1] if len(paths) > 1 else "")
    sources = paths if directory is not None else paths[:-1]
    gone = target == "/dev/null"
    for path in sources:
        tree = ("recursive",) if gone and "." not in path.rpartition("/")[2] else ()
        job.effect("delete" if gone else "move", path, *tree, *_marks(path, job))
    if target and not gone:
        forced = (
            found.has("-f", "--force")
            and not target.endswith("/")
            and not found.has("-n", "--no-clobber", "-b", "--backup")
        )
        job.effect("overwrite" if forced else "write", target, *(("forced",) if forced else ()))
        _carry_all_over(job, sources, target)
    return NOTHING


def _carry_all_over(job: Job, sources: list[str], target: str) -> None:
    if len(sources) == 1:
        _carry_over(job, sources[0], target)
    else:
        copy_to(job, sources, target)
        for source in sources:
            _carry_over(job, source, f"{target}/")


def _carry_over(job: Job, source: str, target: str) -> None:
    """A file known to the reading keeps its text under its new name."""
    session, cwd = job.host.session, job.host.cwds[0]
    old, new = resolve(source, cwd), resolve(target, cwd)
    if target.endswith("/") or target in (".", ".."):
        new = resolve(f"{target.rstrip('/')}/{source.rpartition('/')[2]}", cwd)
    if old in session.files:
        session.files[new] = session.files[old]
    elif source == "/dev/stdin" and job.stdin is not None:
        session.files[new] = job.stdin.text
    if old in session.downloads:
        session.downloads[new] = session.downloads[old]
    session.copies[new] = old
    if job.program in ("mv", "gmv"):
        session.origins[new] = old


def copy(job: Job) -> Stream | None:
    found = options(job.words, valued("-t -S --target-directory --suffix -m -o -g --mode --owner --group"))
    directory = found.value("-t", "--target-directory")
    paths = found.operands
    target = directory if directory is not None else (paths[-1] if len(paths) > 1 else "")
    sources = paths if directory is not None else paths[:-1]
    if job.program == "install" and found.has("-d", "--directory"):
        return NOTHING
    mode = found.value("-m", "--mode")
    if mode and target:
        job.effect("chmod", target, *_mode_traits(mode))
    whole = ("whole",) if found.has("-r", "-R", "-a", "--recursive", "--archive") else ()
    for path in sources:
        if path not in ("/dev/null", "/dev/zero", "/dev/stdin"):
            job.effect("read", path, *whole)
    if target:
        empties = any(path in ("/dev/null", "/dev/zero", "/dev/urandom") for path in sources)
        forced = ("forced",) if job.program in ("cp", "gcp") and found.has("-f", "--force") else ()
        job.effect("truncate" if empties else "write", target, *forced)
        _carry_all_over(job, sources, target)
    return NOTHING


def link(job: Job) -> Stream | None:
    found = options(job.words, valued("-t -S"))
    if len(found.operands) < 2:
        return NOTHING
    source, target = found.operands[0], found.operands[-1]
    forced = found.has("-f", "--force")
    _carry_over(job, source, target)
    if found.has("-s", "--symbolic"):
        job.host.session.links[resolve(target, job.host.cwds[0])] = resolve(source, job.host.cwds[0])
    if source == "/dev/null":
        job.effect("truncate", target)
    else:
        job.effect("overwrite" if forced else "write", target, "link")
    return NOTHING


def tee(job: Job) -> Stream | None:
    found = options(job.words)
    append = found.has("-a", "--append")
    stream = job.stdin
    empty = stream is not None and stream.known and not stream.text.strip() and not append
    for path in found.operands:
        job.effect("append" if append else "truncate" if empty else "write", path, *(stream.taints if stream else ()))
        if stream is not None:
            full = resolve(path, job.host.cwds[0])
            before = job.host.session.files.get(full, "") if append else ""
            job.host.session.files[full] = before + stream.text
            if "download" in stream.taints:
                job.host.session.downloads[full] = "the network"
            put(job, path, stream.taints)
    return stream


def change_mode(job: Job) -> Stream | None:
    found = options([word for word in job.words if not re.fullmatch(r"-[rwxXst]+", word)], valued("--reference"))
    dropped = [word for word in job.words if re.fullmatch(r"-[rwxXst]+", word) and not re.fullmatch(r"-[r]", word)]
    operands = found.operands if not dropped else [*dropped, *found.operands]
    if found.value("--reference") is not None or len(operands) < 2:
        operands = ["", *operands] if found.value("--reference") else operands
    recursive = found.has("-R", "--recursive")
    mode, paths = (operands[0], operands[1:]) if operands else ("", [])
    marks = [*_mode_traits(mode), *(("recursive",) if recursive else ())]
    for path in paths:
        job.effect("chmod", path, *marks, *_marks(path, job))
    return NOTHING


def _mode_traits(mode: str) -> list[str]:
    if re.fullmatch(r"[0-7]{3,5}", mode):
        digits = mode[-3:]
        special = int(mode[:-3] or "0", 8)
        found = ["setuid"] if special & 6 else []
        if int(digits[2]) & 2:
            found.append("world_writable")
        if int(digits[2]) & 4:
            found.append("world_readable")
        if digits in ("000",) or digits[0] == "0":
            found.append("no_access")
        return found
    found = []
    for part in mode.split(","):
        clause = re.fullmatch(r"([ugoa]*)([-+=])([rwxXst]*)", part)
        if not clause:
            continue
        who, sign, what = clause[1], clause[2], clause[3]
        if "s" in what and sign != "-":
            found.append("setuid")
        if "w" in what and sign != "-" and ("o" in who or "a" in who):
            found.append("world_writable")
        if "r" in what and sign != "-" and ("o" in who or "a" in who):
            found.append("world_readable")
        if (sign == "-" and ("r" in what or "w" in what) and (not who or "a" in who or "u" in who)) or (
            sign == "=" and not what
        ):
            found.append("no_access")
    return found


def change_owner(job: Job) -> Stream | None:
    found = options(job.words, valued("--reference --from"))
    recursive = found.has("-R", "--recursive")
    paths = found.operands if found.value("--reference") else found.operands[1:]
    for path in paths:
        job.effect("chown", path, *(("recursive",) if recursive else ()))
    return NOTHING


def sed(job: Job) -> Stream | None:
    """sed: its script may run or write; -i edits its files in place."""
    found = options(job.words, valued("-e -f --expression --file -l"))
    in_place = any(
        word.startswith(("-i", "--in-place")) or re.fullmatch(r"-[nEerzs]*i[^=]*", word) for word in job.words
    )
    scripts = found.all("-e", "--expression")
    operands = list(found.operands)
    if not scripts and not found.all("-f", "--file") and operands:
        scripts = [operands.pop(0)]
    scripts += [text for path in found.all("-f", "--file") if (text := job.file_text(path)) is not None]
    from interlock.analysis.code.sed import read_sed

    for script in scripts:
        read_sed(script, Job(job.host, job.program, job.words, job.where.inside("sed"), job.stdin), in_place)
    if in_place:
        deletes_all = any(re.fullmatch(r"(1,\$|\$!?)?\s*d", script.strip()) for script in scripts)
        kept = any(re.search(r"^-i.+|--in-place=.+", word) for word in job.words)
        for path in operands:
            job.effect(
                "truncate" if deletes_all else "write", path, "edit", *(("kept",) if kept else ()), *_marks(path, job)
            )
        return NOTHING
    shown = () if names_only(job.program, [word for word in job.words if word not in operands]) else ("shown",)
    for path in operands:
        job.effect("read", path, *shown)
    return None


def make_directory(job: Job) -> Stream | None:
    for path in options(job.words, valued("-m --mode")).operands:
        job.effect("write", path, "create")
    return NOTHING


def touch(job: Job) -> Stream | None:
    for path in options(job.words, valued("-t -d -r --date --reference")).operands:
        job.effect("append", path, "create")
    return NOTHING


def read_files(job: Job) -> Stream | None:
    """Programs that show or pass on what their operands name."""
    skip = (
        1
        if job.program in ("grep", "egrep", "fgrep", "rg", "awk", "jq", "yq")
        and "-e" not in job.words
        and "-f" not in job.words
        else 0
    )
    found = options(
        job.words,
        valued("-n -c -m -A -B -C -e -f --include --exclude -d -F -k -t -o --max-count")
        if job.program != "cat"
        else frozenset(),
    )
    shown = ("shown",) if _shows(job, found.operands[skip:]) else ()
    for path in found.operands[skip:]:
        if not path.startswith(("http:", "https:")):
            job.effect("read", origin_of(job, path.removeprefix("@")), *shown)
    return None


def _shows(job: Job, paths: list[str]) -> bool:
    """Whether its output contains values of its input: not where it only counts, tests, or prints names."""
    if job.program in _SEARCHERS:
        return not any(_QUIET.fullmatch(word) for word in job.words)
    return job.program in _VIEWERS and not names_only(job.program, [word for word in job.words if word not in paths])


def kill(job: Job) -> Stream | None:
    """kill -9 -1 reaches every process; kill PID one."""
    words = list(job.words)
    if "-l" in words or "-L" in words or "-0" in words:
        return NOTHING
    everything = job.program == "killall5"
    targets: list[str] = []
    signalled = False
    index = 0
    while index < len(words):
        word = words[index]
        if word in ("-s", "-n", "--signal"):
            index += 2
            signalled = True
            continue
        if word == "--":
            targets += words[index + 1 :]
            break
        if word.startswith("-") and not signalled and not (word == "-1" and index + 1 >= len(words)):
            signalled = True
        else:
            targets.append(word)
        index += 1
    everything = everything or "-1" in targets
    job.effect("kill", " ".join(targets), *(("all",) if everything else ()))
    return NOTHING


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(
        ("rm", "unlink", "grm", "rimraf", "del-cli", "srm", "wipe", "rm-rf", "rmtree", "safe-rm", "secure-delete"),
        remove,
    ),
    "rmdir": remove_directory,
    "shred": shred,
    "truncate": truncate,
    **dict.fromkeys(("zip", "7z", "7za", "7zz"), archive),
    **dict.fromkeys(("gio", "trash-empty"), discard),
    "scrub": shred,
    "fallocate": punch,
    "dd": dd,
    "gdd": dd,
    "dcfldd": dd,
    "mv": move,
    "gmv": move,
    "cp": copy,
    "gcp": copy,
    "install": copy,
    "ln": link,
    "tee": tee,
    "sponge": tee,
    "chmod": change_mode,
    "chown": change_owner,
    "chgrp": change_owner,
    "sed": sed,
    "gsed": sed,
    "mkdir": make_directory,
    "touch": touch,
    "kill": kill,
    "killall5": kill,
    **dict.fromkeys(
        (name for name in _READERS if name not in ("cp", "scp", "tar", "rsync", "curl", "wget", "gpg", "zip")),
        read_files,
    ),
}
