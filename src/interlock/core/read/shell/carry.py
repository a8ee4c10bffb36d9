"""Programs that run commands named in their options, patterns or input: find, xargs, git -c, tar, vim…"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from interlock.core.read.facts import HOLE, hole
from interlock.core.read.places import resolve
from interlock.core.read.shell.options import options, valued
from interlock.core.read.shell.session import UNKNOWN, Job, Stream
from interlock.core.read.shell.unwrap import run_words

_ITEM = re.compile(r"\{[/.#%]*\d*\}")  # where GNU parallel puts each argument
_FIND_NAMES = frozenset({"-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"})
_FIND_REGEX = frozenset({"-regex", "-iregex"})
_FIND_TAKES = frozenset(
    "-amin -anewer -atime -cmin -cnewer -context -ctime -fls -fprint -fprint0 -fstype -gid -group -ilname -inum -links -lname -maxdepth "
    "-mindepth -mmin -mtime -newer -newermt -perm -printf -samefile -size -type -uid -used -user -xtype -D -files0-from".split()
)
_FIND_ACTIONS = frozenset({"-exec", "-execdir", "-ok", "-okdir"})


def find_targets(words: Sequence[str]) -> list[str]:
    """The paths that a find can reach, as globs: its roots joined with the names it asks for."""
    roots, names = _find_parts(words)
    bounded = "-maxdepth" in words and words[words.index("-maxdepth") + 1 : words.index("-maxdepth") + 2] == ["0"]
    if bounded:
        return roots
    if not names:
        return [f"{root.rstrip('/') or ''}/**" if root != "." else "./**" for root in roots]
    return [_joined(root, name) for root in roots for name in names[:16]]


def _joined(root: str, name: str) -> str:
    if name.startswith((root.rstrip("/") + "/", "/", "~")):
        return name.replace("/*/", "/**/")
    return f"{root.rstrip('/')}/**/{name.removeprefix('./').removeprefix('*/')}"


def _find_parts(words: Sequence[str]) -> tuple[list[str], list[str]]:
    roots: list[str] = []
    names: list[str] = []
    index = 0
    while index < len(words) and words[index] in ("-H", "-L", "-P"):
        index += 1
    while index < len(words) and not words[index].startswith("-") and words[index] not in ("(", "!", "\\("):
        roots.append(words[index])
        index += 1
    negated = False
    while index < len(words):
        word = words[index]
        if word in _FIND_ACTIONS:
            while index < len(words) and words[index] not in (";", "+"):
                index += 1
        elif word in ("!", "-not"):
            negated = True
            index += 1
            continue
        elif word in _FIND_NAMES and index + 1 < len(words):
            index += 1
            if (not negated and words[index + 1 : index + 2] != ["-prune"]) or (
                not negated and _acts_after_prune(words, index)
            ):
                names.append(words[index])
        elif word in _FIND_TAKES:
            index += 1
        elif word in _FIND_REGEX and index + 1 < len(words):
            index += 1
            ending = re.search(r"\\\.\(?\\?\(?([A-Za-z0-9]+)", words[index])
            if not negated:
                names.append(f"*.{ending[1]}" if ending else "*")
        negated = False
        index += 1
    return roots or ["."], names


def _acts_after_prune(words: Sequence[str], index: int) -> bool:
    """`-name X -prune -exec …` acts on X; `-name X -prune -o …` leaves X out."""
    rest = words[index + 2 :]
    return bool(rest) and rest[0] not in ("-o", "-or")


def _find_switches(words: Sequence[str]) -> set[str]:
    """The words that are primaries themselves, not the arguments of one or the words of an -exec."""
    found: set[str] = set()
    index = 0
    while index < len(words):
        word = words[index]
        if word in _FIND_ACTIONS:
            while index < len(words) and words[index] not in (";", "+"):
                index += 1
        elif word in _FIND_NAMES or word in _FIND_REGEX or word in _FIND_TAKES:
            index += 1
        else:
            found.add(word)
        index += 1
    return found


def find(job: Job) -> Stream | None:
    """find -delete, -exec, -execdir, -ok, -fprint."""
    words = job.words
    empty = ("empty_only",) if "-empty" in words else ()
    if "-delete" in _find_switches(words):
        for target in find_targets(words):
            job.effect("delete", target, "recursive", "bulk", *empty)
    for index, word in enumerate(words):
        if word in _FIND_ACTIONS:
            _find_exec(job, words, index)
        elif word in ("-fprint", "-fprintf", "-fls", "-fprint0") and index + 1 < len(words):
            job.effect("write", words[index + 1])
    return None


def _find_exec(job: Job, words: Sequence[str], index: int) -> None:
    command: list[str] = []
    for word in words[index + 1 :]:
        if word == ";" or (word == "+" and command and "{}" in command[-1]):
            break
        command.append(word)
    if not command:
        return
    shell = re.fullmatch(r"(ba|z|da|k|fi)?sh", command[0].rpartition("/")[2])
    for target in find_targets(words):
        filled = _filled(command, target)
        if not shell or (len(filled) > 2 and "{}" in " ".join(filled)):
            filled = [item.replace("{}", target) for item in filled]
        where = job.where.inside(f"find {words[index]}", "bulk")
        job.host.run(filled, where, None)


def _filled(command: Sequence[str], target: str) -> list[str]:
    return [target if item == "{}" else item for item in command]


def fd(job: Job) -> Stream | None:
    """fd PATTERN PATH -x command."""
    at = next((n for n, word in enumerate(job.words) if word in ("-x", "-X", "--exec", "--exec-batch")), None)
    if at is None:
        return None
    found = options(
        job.words[:at],
        valued(
            "-e --extension -t --type -E --exclude -d --max-depth -g-none --glob-none -c --changed-within --changed-before -S -o"
        ),
    )
    pattern, roots = (found.operands[0] if found.operands else ""), found.operands[1:] or ["."]
    names = [f"*.{ending}" for ending in found.all("-e", "--extension")] or (
        [pattern.strip("^$")] if pattern not in ("", ".") else []
    )
    targets = [f"{root.rstrip('/')}/**/{name}" for root in roots for name in names] or [
        f"{root.rstrip('/')}/**" for root in roots
    ]
    command = [word for word in job.words[at + 1 :] if word != ";"]
    if not command:
        return None
    for target in targets:
        filled = [re.sub(r"\{[/.]*\}", target, word) for word in command]
        if filled == command:
            filled = [*command, target]
        job.host.run(filled, job.where.inside("fd -x", "bulk"), None)
    return UNKNOWN


def xargs(job: Job) -> Stream | None:
    """xargs command: the words that flow in are added, unknown ones as a hole."""
    found = options(
        job.words,
        valued(
            "-a -d -E -I -L -n -P -s --arg-file --delimiter --max-lines --max-args --max-procs --max-chars --process-slot-var -J -R -S"
        ),
        stop_at_operand=True,
    )
    command = found.operands or ["echo"]
    job.step(len(command))
    path = found.value("-a", "--arg-file")
    source = job.stdin.text if job.stdin is not None else hole()
    if path is not None:
        source = job.file_text(path) or hole()
    mark = found.value("-I", "--replace", "-J") or ("{}" if found.has("-i", "-I", "--replace") else "")
    splits = r"[\n\0]+" if mark or found.has("-0", "--null", "-d", "--delimiter") else r"[\s\0]+"
    items = [item for item in re.split(splits, source) if item.strip()] or [hole()]
    bulk = job.stdin is None or HOLE in source or "bulk" in job.stdin.taints or len(items) > 1
    traits = ("bulk",) if bulk else ()
    where = job.where.inside("xargs", *traits)
    if mark:
        stream = UNKNOWN
        for item in items[:16]:
            stream = job.host.run([word.replace(mark, item) for word in command], where, None)
        return stream
    return job.host.run([*command, *items[:64]], where, None)


def parallel(job: Job) -> Stream | None:
    """GNU parallel: text with {} for each of its arguments."""
    words = list(job.words)
    items: list[str] = []
    for mark in (":::", "::::"):
        if mark in words:
            at = words.index(mark)
            items, words = (words[at + 1 :] if mark == ":::" else [hole()]), words[:at]
            break
    else:
        source = job.stdin.text if job.stdin is not None else hole()
        items = source.splitlines() or [hole()]
    found = options(
        words,
        valued(
            "-j -P -a -N -n -L -I -S -d -C --jobs --colsep --delay --retries --timeout --joblog --arg-file -J --results --tmpdir --load --memfree --tagstring"
        ),
        stop_at_operand=True,
    )
    command = " ".join(found.operands)
    if found.has("--dry-run", "--dryrun"):
        return UNKNOWN
    for item in items[:16]:
        if not command:
            job.shell_text(item, "parallel", "bulk")
            continue
        filled = [_ITEM.sub(item.replace("\\", "\\\\"), word) for word in found.operands]
        if filled == found.operands:
            filled.append(item)
        if len(found.operands) == 1:
            job.shell_text(" ".join(filled), "parallel", "bulk")
        else:
            job.run(filled, "parallel", "bulk")
    return UNKNOWN


# -- options that carry commands ------------------------------------------------------------------------

_GIT_VALUES = valued("-C -c --git-dir --work-tree --namespace --exec-path --config-env --super-prefix --attr-source")
_GIT_RUNS = re.compile(
    r"(core\.(pager|sshcommand|editor|fsmonitor|askpass|gitproxy)|pager\..*|sequence\.editor|diff\.external|diff\..*\.(command|textconv)|"
    r"merge\..*\.driver|filter\..*\.(clean|smudge|process)|credential\.helper|credential\..*\.helper|gpg\.program|gpg\..*\.program|"
    r"interactive\.difffilter|web\.browser|browser\..*\.cmd|difftool\..*\.cmd|mergetool\..*\.cmd|uploadpack\..*|remote\..*\.(uploadpack|receivepack|proxy)|"
    r"sendemail\.(smtpserver|tocmd|cccmd)|man\..*\.cmd|init\.templatedir)",
    re.IGNORECASE,
)


def git(job: Job) -> Stream | None:
    """git -c alias.x='!…' x, -c core.pager=…, bisect run, rebase --exec, submodule foreach, filter-branch."""
    found = options(job.words, _GIT_VALUES, stop_at_operand=True)
    aliases = {name[4:]: value for name, value in job.host.aliases.items() if name.startswith("git ")}
    for setting in found.all("-c"):
        name, _, value = setting.partition("=")
        if name.lower().startswith("alias."):
            aliases[name[6:]] = value
        elif _GIT_RUNS.fullmatch(name) and value:
            job.shell_text(value.lstrip("!"), f"git -c {name}")
    words = found.operands
    if words and words[0] in aliases:
        text = aliases[words[0]]
        if text.startswith("!"):
            job.shell_text(" ".join([text[1:], *words[1:]]), f"git alias {words[0]}")
        else:
            job.host.run(["git", *text.split(), *words[1:]], job.where.inside(f"git alias {words[0]}"), job.stdin)
        return UNKNOWN
    if words:
        _git_subcommand(job, words[0], words[1:])
    return None


def _git_subcommand(job: Job, verb: str, words: list[str]) -> None:
    if verb == "bisect" and words[:1] == ["run"]:
        run_words(job, words[1:], "git bisect run", ())
    elif verb == "submodule" and "foreach" in words:
        rest = [word for word in words[words.index("foreach") + 1 :] if word != "--recursive"]
        job.shell_text(" ".join(rest), "git submodule foreach")
    elif verb in ("rebase", "filter-branch", "difftool", "mergetool"):
        flags = valued(
            "-x --exec --tree-filter --index-filter --env-filter --msg-filter --commit-filter --tag-name-filter --extcmd --onto -s -X"
        )
        for text in options(words, flags).all(
            "-x",
            "--exec",
            "--tree-filter",
            "--index-filter",
            "--env-filter",
            "--msg-filter",
            "--commit-filter",
            "--extcmd",
        ):
            job.shell_text(text, f"git {verb} --exec" if verb == "rebase" else f"git {verb}")
    elif verb == "config":
        plain = [word for word in words if not word.startswith("-")]
        if len(plain) >= 2 and plain[0].lower().startswith("alias."):
            job.host.aliases[f"git {plain[0][6:]}"] = plain[1]
    elif verb in ("clone", "fetch", "pull", "ls-remote", "push", "remote"):
        for word in words:
            if word.startswith("ext::"):
                job.shell_text(re.sub(r"%(.)", lambda m: " " if m[1] in "S " else m[0], word[5:]), "git ext::")
        for text in options(words, valued("-u --upload-pack --receive-pack --exec -c")).all(
            "--upload-pack", "--receive-pack", "--exec"
        ):
            job.shell_text(text, "git --upload-pack")


def tar(job: Job) -> Stream | None:
    """tar --checkpoint-action=exec=…, --to-command, -I, --use-compress-program, --remove-files."""
    found = options(
        job.words,
        valued(
            "--checkpoint-action --to-command -I --use-compress-program --rsh-command --info-script -F --new-volume-script -f --file -C --directory -T --exclude"
        ),
    )
    for action in found.all("--checkpoint-action"):
        if action.startswith("exec="):
            job.shell_text(action[5:].strip("'\""), "tar --checkpoint-action")
    for text in found.all(
        "--to-command", "-I", "--use-compress-program", "--rsh-command", "--info-script", "-F", "--new-volume-script"
    ):
        job.shell_text(text, "tar")
    if found.has("--remove-files"):
        for path in found.operands:
            if not re.fullmatch(r"[a-zA-Z]+", path) or path == found.operands[-1]:
                job.effect("delete", path, "recursive")
    first = job.words[0] if job.words else ""
    if found.has("-c", "--create") or (not first.startswith("-") and "c" in first):
        for path in found.operands:
            job.effect("read", path)
    if ("x" in first and not first.startswith("--")) or found.has("-x", "--extract", "--get"):
        folder = found.value("-C", "--directory") or "."
        job.effect("write", folder)
        archive = found.value("-f", "--file")
        fetched = job.host.session.fetched(resolve(archive, job.host.cwds[0])) if archive else ""
        if fetched or (job.stdin is not None and "download" in job.stdin.taints):
            job.host.session.downloads[f"{resolve(folder, job.host.cwds[0])}/"] = fetched or "the network"
    return None


def hash_path(job: Job) -> Stream | None:
    """hash -p /bin/rm tidy: another name for a program."""
    if job.words[:1] == ["-p"] and len(job.words) > 2:
        job.host.aliases[job.words[2]] = job.words[1]
    return None


def terraform(job: Job) -> Stream | None:
    """plan -destroy -out=F, then apply F: the plan is what is run."""
    found = options(job.words, valued("-out -var -var-file -target -chdir"))
    files = job.host.session.files
    if found.operands[:1] == ["plan"] and found.has("-destroy") and found.value("-out"):
        files[f"plan#{found.value('-out')}"] = "destroy"
    elif found.operands[:1] == ["apply"] and any(f"plan#{word}" in files for word in found.operands[1:]):
        return job.run([job.program, "destroy", "-auto-approve"], f"{job.program} apply")
    return None


_IMPLICIT = {
    "pytest": (("conftest.py", "python"),),
    "pip": (("setup.py", "python"),),
    "pip3": (("setup.py", "python"),),
    "direnv": ((".envrc", "shell"),),
    "cargo": (("build.rs", "other"),),
    "tox": (("setup.py", "python"),),
}


def implicit(job: Job) -> Stream | None:
    """Programs that run a file of a set name: read when the action itself has written it."""
    for name, language in _IMPLICIT[job.program]:
        text = job.host.session.files.get(resolve(name, job.host.cwds[0]))
        if text is not None and (job.program not in ("pip", "pip3") or "." in job.words or "-e" in job.words):
            job.code(language, text, f"{job.program} {name}")
    return None


def rsync(job: Job) -> Stream | None:
    """rsync --delete removes at the destination; -e and --rsync-path carry commands."""
    found = options(
        job.words,
        valued(
            "-e --rsh --rsync-path --exclude --include --filter -f --files-from --exclude-from --include-from --log-file --bwlimit --port --password-file --backup-dir --suffix -T --temp-dir --chmod --chown --max-size --min-size"
        ),
    )
    for text in found.all("-e", "--rsh", "--rsync-path"):
        job.shell_text(text, "rsync -e")
    if found.has("-n", "--dry-run") or len(found.operands) < 2:
        return None
    target = found.operands[-1]
    if any(flag.startswith("--del") for flag in found.flags):
        job.effect("delete", target, "recursive", "bulk", "mirror")
    if found.has("--remove-source-files"):
        for source in found.operands[:-1]:
            job.effect("delete", source, "recursive", "bulk")
    job.effect("write", target)
    if ":" in target and any("secret" in job.places(source) for source in found.operands[:-1]):
        job.effect("send", target, "secret")
    return None


def vim(job: Job) -> Stream | None:
    found = options(job.words, valued("-c --cmd -S -u"))
    for text in [*found.all("-c", "--cmd"), *(word[1:] for word in job.words if word.startswith("+"))]:
        job.code("vim", text, f"{job.program} -c")
    return None


def emacs(job: Job) -> Stream | None:
    found = options(job.words, valued("--eval --execute -l --load -f --funcall"))
    for text in found.all("--eval", "--execute"):
        for inner in re.findall(r'\(shell-command(?:-to-string)?\s+"((?:[^"\\]|\\.)*)"', text):
            job.shell_text(inner.replace('\\"', '"'), "emacs --eval")
        for path in re.findall(r'\(delete-(?:file|directory)\s+"([^"]*)"', text):
            job.effect("delete", path, "recursive")
    return None


def _values_as_shell(flags: str, words_flag: str = "") -> Callable[[Job], Stream | None]:
    names = valued(flags)

    def handler(job: Job) -> Stream | None:
        found = options(job.words, names)
        for name in sorted(names):
            for text in found.all(name):
                job.shell_text(text, f"{job.program} {name}")
        return None

    return handler


def ripgrep(job: Job) -> Stream | None:
    """rg --pre: a program that sees every file."""
    found = options(job.words, valued("--pre --pre-glob -e -f -g -t -A -B -C -m"))
    for program in found.all("--pre"):
        job.effect("run_script", program, "carried")
    return None


def make(job: Job) -> Stream | None:
    """make -f file target, SHELL=, and `--eval`."""
    from interlock.core.read.scripts import read_make

    read_make(job)
    return None


def git_dashed(job: Job) -> Stream | None:
    return job.host.run(["git", job.program.removeprefix("git-"), *job.words], job.where.inside(job.program), job.stdin)


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "find": find,
    "gfind": find,
    "fd": fd,
    "fdfind": fd,
    "xargs": xargs,
    "gxargs": xargs,
    "parallel": parallel,
    "rush": parallel,
    "git": git,
    "tar": tar,
    "gtar": tar,
    "bsdtar": tar,
    "rsync": rsync,
    "hash": hash_path,
    "terraform": terraform,
    "tofu": terraform,
    **dict.fromkeys(_IMPLICIT, implicit),
    "vim": vim,
    "vi": vim,
    "nvim": vim,
    "view": vim,
    "ex": vim,
    "gvim": vim,
    "emacs": emacs,
    "rg": ripgrep,
    "nodemon": _values_as_shell("--exec -x"),
    "man": _values_as_shell("-P --pager"),
    "zip": _values_as_shell("-TT --unzip-command"),
    "sort": _values_as_shell("--compress-program"),
    "split": _values_as_shell("--filter"),
    "make": make,
    "gmake": make,
}
