"""Words that stand for other words (aliases, saved plans), and the scripts of editors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.code.loose_text import read_loose_variable
from interlock.analysis.places import resolve
from interlock.analysis.programs import Program
from interlock.analysis.programs.options import parse
from interlock.analysis.shell import UNKNOWN, Job, Reader, Stream

_ALIAS = "alias."
_HOOKS = "core.hookspath"


def aliases(job: Job, program: Program) -> Stream | None:
    """-c alias.x='!…' x, config alias.x …: subcommands that are other words; and settings that name a file with more of them."""
    found = parse(program, job.words, stop_at_operand=True)
    own = f"{job.program} "
    named = {name.removeprefix(own): value for name, value in job.host.aliases.items() if name.startswith(own)}
    for setting in found.all("-c"):
        name, _, value = setting.partition("=")
        if name.lower().startswith(_ALIAS):
            named[name[len(_ALIAS) :]] = value
        elif name.lower() == _HOOKS:
            _read_hooks(job, value)
        elif name.lower() == "include.path" or value.startswith(("/", "~")):
            read_loose_variable(job, "GIT_CONFIG", value)
    words = found.operands
    if words[:1] == ["config"]:
        plain = [word for word in words[1:] if not word.startswith("-")]
        if len(plain) > 1 and plain[0].lower() == _HOOKS:
            _read_hooks(job, plain[1])
        if len(plain) > 1 and plain[0].lower().startswith(_ALIAS):
            job.host.aliases[own + plain[0][len(_ALIAS) :]] = plain[1]
            if plain[1].startswith("!"):  # what it will run
                job.shell_text(plain[1][1:], f"{own}{plain[0]}")
    if words and words[0] not in named and not _is_own_word(program, words[0]):
        named |= _configured_aliases(job, found.value("-C") or "")
    if not words or words[0] not in named:
        return None
    text, via = named[words[0]], f"{own}alias {words[0]}"
    if text.startswith("!"):
        job.shell_text(" ".join([text[1:], *words[1:]]), via)
    else:
        job.host.run([job.program, *text.split(), *words[1:]], job.where.inside(via), job.stdin)
    return UNKNOWN


def _read_hooks(job: Job, folder: str) -> None:
    """The hooks that this action wrote itself, which run unasked from then on."""
    inside = f"{resolve(folder, job.host.cwds[0]).rstrip('/')}/"
    for path, text in list(job.host.session.files.items()):
        if path.startswith(inside):
            job.shell_text(text, f"{job.program} hook")


def _is_own_word(program: Program, word: str) -> bool:
    return word in program.dashed or word in program.neutral or any(path[0] == word for path in program.ruled)


def _configured_aliases(job: Job, folder: str) -> dict[str, str]:
    """The aliases in the user's and the repository's configuration, which the working folder may be deep inside of."""
    here = resolve(folder or ".", job.host.cwds[0])
    above = [here]
    while len(above) < _DEEPEST and "/" in above[-1].rstrip("/"):
        above.append(above[-1].rpartition("/")[0] or "/")
    inside = (f"{one.rstrip('/')}/.git/config" for one in above if one.startswith("/"))
    texts = [next((text for path in inside if (text := job.file_text(path)) is not None), None)]
    texts += [job.file_text(path) for path in ("~/.config/git/config", "~/.gitconfig")]
    found: dict[str, str] = {}
    for text in reversed(texts):
        section = ""
        for line in (text or "").replace("\\\n", " ").splitlines()[:2000]:
            if head := _SECTION.match(line):
                section = head[1].lower()
            elif section == "alias" and (named := _ALIASED.match(line)):
                found[named[1]] = named[2].strip('"').replace('\\"', '"')
    return found


_DEEPEST = 12  # folders above the working one
_SECTION = re.compile(r"[ \t]*\[[ \t]*([\w.-]+)")
_ALIASED = re.compile(r"[ \t]*([\w-]+)[ \t]*=[ \t]*(.*?)[ \t]*$")


def saved_plan(job: Job, program: Program) -> Stream | None:
    """plan -destroy -out=F, then apply F: the plan is what is run."""
    found = parse(program, job.words)
    files = job.host.session.files
    if found.operands[:1] == ["plan"] and found.has("--destroy") and found.value("--out"):
        files[f"plan#{found.value('--out')}"] = "destroy"
    elif found.operands[:1] == ["apply"] and any(f"plan#{word}" in files for word in found.operands[1:]):
        return job.run([job.program, "destroy", "-auto-approve"], f"{job.program} apply")
    return None


def line_editor(job: Job, program: Program) -> Stream | None:
    """ed, ex: a line that begins with ! is a command; all lines deleted and written is an emptied file."""
    lines = [line.strip().lstrip(":") for line in job.stdin.text.splitlines()] if job.stdin is not None else []
    for line in lines:
        if line.startswith("!"):
            job.shell_text(line[1:], job.program)
    report_emptied(job, lines, parse(program, job.words).operands)
    return None


_ALL_LINES = re.compile(r"(?:%|,|1\s*,\s*\$|g/[.^$]?/)\s*d(?:elete)?!?")
_WRITES = re.compile(r"(?:w|wq|x|wall|wqa|xa)!?")


def report_emptied(job: Job, lines: Sequence[str], files: Sequence[str]) -> None:
    """Reports a file whose lines an editor deletes to the last one, and then writes."""
    if any(map(_ALL_LINES.fullmatch, lines)) and any(map(_WRITES.fullmatch, lines)):
        for path in files:
            job.effect("truncate", path)


def vim(job: Job, program: Program) -> Stream | None:
    found = parse(program, job.words)
    texts = [*found.all("-c", "--cmd"), *(word[1:] for word in job.words if word.startswith("+"))]
    for text in texts:
        job.code("vim", text, f"{job.program} -c")
    for path in found.all("-S"):
        if path in ("/dev/stdin", "-") and job.stdin is not None:
            if "download" in job.stdin.taints:
                job.effect("run_download", "the network")
            job.code("vim", job.stdin.text, f"{job.program} -S")
        else:
            job.effect("run_script", path)
    lines = [part.strip().lstrip(":") for text in texts for part in text.split("|")]
    report_emptied(job, lines, [word for word in found.operands if not word.startswith("+")])
    return None


READERS: dict[str, Reader] = {
    "aliases": aliases,
    "saved_plan": saved_plan,
    "line_editor": line_editor,
    "vim": vim,
}
