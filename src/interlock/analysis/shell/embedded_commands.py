"""Programs whose options, settings or files embed commands: git -c, tar, rsync -e, make, ed, vim -c."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase

from interlock.analysis.code.loose_text import read_loose_variable
from interlock.analysis.places import resolve
from interlock.analysis.programs.options import options, valued
from interlock.analysis.shell import UNKNOWN, Job, Stream
from interlock.analysis.shell.payloads import run_words
from interlock.analysis.shell.sending import fetch_from_host, send_to_host
from interlock.analysis.targets.carried import copy_to

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
        elif name.lower() == "include.path" or value.startswith(("/", "~")):
            read_loose_variable(job, "GIT_CONFIG", value)
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
            job.effect("read", path, "whole")
    if ("x" in first and not first.startswith("--")) or found.has("-x", "--extract", "--get"):
        folder = found.value("-C", "--directory") or "."
        job.effect("write", folder)
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
    "pytest": (("conftest.py", "python"), ("test_*.py", "python"), ("*_test.py", "python")),
    "unittest": (("test*.py", "python"),),
    "pip": (("setup.py", "python"),),
    "pip3": (("setup.py", "python"),),
    "direnv": ((".envrc", "shell"),),
    "cargo": (("build.rs", "other"),),
    "tox": (("setup.py", "python"),),
}


def implicit(job: Job) -> Stream | None:
    """Programs that run a file of a set name: read when the action itself has written it."""
    for name, language in _IMPLICIT[job.program]:
        pattern = resolve(name, job.host.cwds[0])
        for path, text in list(job.host.session.files.items()):
            if fnmatchcase(path, pattern) and (
                job.program not in ("pip", "pip3") or "." in job.words or "-e" in job.words
            ):
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
    if target.endswith(":"):  # a host, whose folder is that of its user; `h:` is no drive here
        target += "."
    if any(flag.startswith("--del") for flag in found.flags):
        job.effect("delete", target, "recursive", "bulk", "mirror")
    if found.has("--remove-source-files"):
        for source in found.operands[:-1]:
            job.effect("delete", source, "recursive", "bulk")
    for source in found.operands[:-1] if ":" not in target else ():
        job.effect("read", source, "whole")
    if ":" in target:
        send_to_host(job, found.operands[:-1], target)
    else:
        copy_to(job, found.operands[:-1], target)
        fetch_from_host(job, found.operands[:-1], target)
    job.effect("write", target)
    return None


def emacs(job: Job) -> Stream | None:
    found = options(job.words, valued("--eval --execute -l --load -f --funcall"))
    for text in found.all("--eval", "--execute"):
        for inner in re.findall(r'\(shell-command(?:-to-string)?\s+"((?:[^"\\]|\\.)*)"', text):
            job.shell_text(inner.replace('\\"', '"'), "emacs --eval")
        for path in re.findall(r'\(delete-(?:file|directory)\s+"([^"]*)"', text):
            job.effect("delete", path, "recursive")
    return None


def make(job: Job) -> Stream | None:
    """make -f file target, SHELL=, and `--eval`."""
    from interlock.analysis.shell.build_files import read_make

    read_make(job)
    return None


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "git": git,
    "tar": tar,
    "gtar": tar,
    "bsdtar": tar,
    "rsync": rsync,
    "hash": hash_path,
    "terraform": terraform,
    "tofu": terraform,
    **dict.fromkeys(_IMPLICIT, implicit),
    "emacs": emacs,
    "make": make,
    "gmake": make,
}


def line_editor(job: Job) -> Stream | None:
    """ed, ex: a line that begins with ! is a command; all lines deleted and written is an emptied file."""
    lines = [line.strip().lstrip(":") for line in job.stdin.text.splitlines()] if job.stdin is not None else []
    for line in lines:
        if line.startswith("!"):
            job.shell_text(line[1:], job.program)
    report_emptied(job, lines, options(job.words, valued("-p -c -S -u")).operands)
    return None


_ALL_LINES = re.compile(r"(?:%|,|1\s*,\s*\$|g/[.^$]?/)\s*d(?:elete)?!?")
_WRITES = re.compile(r"(?:w|wq|x|wall|wqa|xa)!?")


def report_emptied(job: Job, lines: Sequence[str], files: Sequence[str]) -> None:
    """Reports a file whose lines an editor deletes to the last one, and then writes."""
    if any(map(_ALL_LINES.fullmatch, lines)) and any(map(_WRITES.fullmatch, lines)):
        for path in files:
            job.effect("truncate", path)


def vim(job: Job) -> Stream | None:
    found = options(job.words, valued("-c --cmd -S -u"))
    texts = [*found.all("-c", "--cmd"), *(word[1:] for word in job.words if word.startswith("+"))]
    for text in texts:
        job.code("vim", text, f"{job.program} -c")
    lines = [part.strip().lstrip(":") for text in texts for part in text.split("|")]
    report_emptied(job, lines, [word for word in found.operands if not word.startswith("+")])
    return None


EDITOR_HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "ed": line_editor,
    **dict.fromkeys(("vim", "vi", "nvim", "view", "gvim"), vim),
    "ex": lambda job: line_editor(job) or vim(job),
}
