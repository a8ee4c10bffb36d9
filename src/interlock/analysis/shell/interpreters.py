"""Interpreters: the code that `python -c`, `node -e`, a script file or a pipe hands them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterator
from itertools import product

from interlock.analysis.facts import taints_in
from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import describe, described_program, dialect_of, word_table
from interlock.analysis.programs.options import CommandOptions, options
from interlock.analysis.shell import NOTHING, UNKNOWN, Job, Reader, Stream
from interlock.analysis.shell.build_files import read_deno_task, read_package_script
from interlock.analysis.shell.builtins import from_stdin, run_script
from interlock.analysis.shell.file_programs import read_files
from interlock.analysis.shell.imports import ENDINGS, module_text, read_imports
from interlock.analysis.shell.loose_text import add_harm, name_script
from interlock.analysis.shell.output import constant_output


def interpreter(job: Job) -> Stream | None:
    item = job.described.carries[0]
    language, code_flags, values = item.stdin, item.options, job.described.value_flags | item.value_flags
    words = _attached(job.words, language)
    if language == "python" and (module := _module(words)):
        return _python_module(job, module)
    found = options(words, values, stop_at_operand=True)
    found = _behind_unknown(words, found, code_flags, values)
    codes = found.all(*code_flags)
    if language == "perl":
        emptied = bool(codes) and all(map(_EMPTIES.fullmatch, codes))
        in_place = any(map(re.compile(r"-(?![MI])[a-zA-Z0]*i(\.\w+)?[a-zA-Z]*").fullmatch, words))
        for path in found.operands if in_place else ():
            job.effect("truncate" if emptied else "write", path, "edit")
    if language == "ruby" and "-run" in words and codes:  # the library of commands: rmdir, cp, httpd
        command = ["rm", "-r"] if codes[0].startswith("rm") else codes[:1]
        return job.run([*command, *found.operands], f"{job.program} -run")
    if codes:
        for code in codes if language not in ("perl", "ruby") else ["\n".join(codes)]:
            if "download" in taints_in(code):
                job.effect("run_download", "the network")
                continue
            if language == "python" and _BANG.search(code):
                code = _without_bangs(job, code)
            elif "/" in code and not _CODE_TEXT.search(code):  # kotlinc -script FILE
                if (text := job.file_text(code)) is None:
                    name_script(job, code)
                code = text or ""
            _read_code(job, language, code, f"{job.program} {next(iter(code_flags))}")
        return constant_output(language, codes)
    operands = found.operands
    checks = ("-c",) if language in ("ruby", "perl") else ()
    runs = language == "perl" and operands and "-c" not in words
    if found.has("-v", "-V", "--version", "-h", "--help", "--check", "-l", *checks) and not runs:
        return NOTHING
    if language in ("other", "csharp") and _read_operands(job, operands, language):
        return UNKNOWN
    if language == "javascript" and operands[:1] in (["run"], ["test"]):
        if operands[0] == "run" and len(operands) > 1:
            if operands[1].startswith(("/dev/fd/", "./")):
                return run_source(job, "javascript", operands[1], operands[2:])
            read_package_script(job, operands[1])
        return UNKNOWN
    if operands and operands[0] not in ("-", "/dev/stdin"):
        return run_source(job, language, operands[0], operands[1:])
    if (text := job.text_to_run()) is not None:
        _read_code(job, language, text, job.program)
    return UNKNOWN if job.piped else None


_CODE_TEXT = lazy_regex(r"[\s({\\]")


def _read_operands(job: Job, operands: list[str], language: str) -> bool:
    """Code among the operands (`crystal eval 'x'`, `latex '\\write18{…}'`), or flowing in behind a subcommand (`nim r -`)."""
    codes = [word for word in operands if _CODE_TEXT.search(word)]
    codes += [text for word in operands[1:] if word.startswith("/dev/fd/") and (text := job.file_text(word))]
    if not codes and operands[1:] and job.stdin.known:
        codes = [job.stdin.text]
    for code in codes:
        _read_code(job, language, code, job.program)
    return bool(codes)


def _read_code(job: Job, language: str, code: str, via: str, folder: str = "") -> None:
    """With its imports; in a language without a reader, any command among its words counts as well."""
    known, _, other = language.partition("+")
    job.code(known, code, via)
    if language == "other" or other:
        add_harm(job, code, via)
        return
    if language == "python" and job.piped and _PROMPTED.search(code):
        job.code("python", job.stdin.text, via)
    read_imports(job, known, code, folder)


_PROMPTED = lazy_regex(r"\b(?:interact|breakpoint|set_trace|InteractiveConsole|InteractiveInterpreter)\s*\(")


def _behind_unknown(
    words: list[str], found: CommandOptions, code_flags: Collection[str], values: frozenset[str]
) -> CommandOptions:
    """node --title x -e 'code': an unknown long option may take the next word, and code comes behind it."""
    if found.all(*code_flags) or len(found.operands) < 3 or len(found.operands) == len(words):
        return found
    before = words[len(words) - len(found.operands) - 1]
    if before.startswith("--") and "=" not in before and before != "--" and found.operands[1].startswith("-"):
        later = options(found.operands[1:], values, stop_at_operand=True)
        return later if later.all(*code_flags) else found
    return found


_BANG = lazy_regex(r"(?m)^[ \t]*!(.*)$")


def _without_bangs(job: Job, code: str) -> str:
    """IPython: a line that begins with ! is shell text."""
    for command in _BANG.findall(code):
        job.shell_text(command, f"{job.program} !")
    return _BANG.sub("", code)


def _attached(words: list[str], language: str) -> list[str]:
    """perl -ne 'code', python -Sc 'code': a bundle whose last letter takes code is split; node -p -e is one option."""
    if language == "javascript":
        pairs = zip(words, [*words[1:], ""])
        return [word for word, after in pairs if word not in ("-p", "--print") or after not in ("-e", "--eval")]
    letters = {"perl": "eE", "ruby": "e", "python": "c", "php": "r", "lua": "e"}.get(language)
    if letters is None:
        return words
    for index, word in enumerate(words):
        before, behind = words[:index], words[index + 1 :]
        bundle = re.fullmatch(r"-[a-zA-Z0-9]*", word)
        several = len(word) > 2
        if bundle and several and word[-1] in letters and word[:2] not in ("-M", "-I", "-m", "-r") and behind:
            return [*before, word[:-1], f"-{word[-1]}", *behind]
        if language != "python":
            continue
        if word[:2] in ("-c", "-m") and several and (bundle or word[1] == "m"):
            return [*before, word[:2], word[2:], *behind]
        if not word.startswith("-") and before[-1:] not in (["-W"], ["-X"]):
            break  # the script: what follows is its own
    return words


_EMPTIES = lazy_regex(r"\s*(?:\$_\s*=\s*(?:\"\"|''|undef)|undef\s*\(?\s*\$_\)?|s/\^?\.\*\$?//s?|)\s*;?\s*")


def _module(words: list[str]) -> list[str]:
    """The words behind python's own -m; none where a script or code comes first."""
    for before, (index, word) in zip(["", *words], enumerate(words, 1)):
        if word == "-m" or word == "-c" or (word[:1] != "-" and before not in ("-W", "-X")):
            return words[index:] if word == "-m" else []
    return []


def _python_module(job: Job, rest: list[str]) -> Stream:
    module = rest[0].removesuffix(".__main__")
    if (text := module_text(job, module)) is not None:
        _read_code(job, "python", text, f"{job.program} -m {module}")
        return UNKNOWN
    command = word_table("fed_modules").get(module, module) if len(rest) == 1 else module
    return job.host.run([command, *rest[1:]], job.where.inside(f"{job.program} -m"), job.stdin)


# Behind the name of a folder, or of a script without its ending.
_UNNAMED = {"python": ("/__main__.py",), "javascript": (".js", "/index.js")}


def _script_path(job: Job, language: str, path: str) -> str:
    """`node .`, `node x` or `python3 folder` of the action's own."""
    if not job.session.changed:
        return path
    written, full = {*job.session.files, *job.session.downloads}, job.full(path)
    return next((full + ending for ending in ("", *ENDINGS.get(language, ())) if full + ending in written), path)


def run_source(job: Job, language: str, path: str, args: list[str]) -> Stream:
    """Some are tools whose words matter more than their text."""
    path = _script_path(job, language, path)
    name = path.rpartition("/")[2].lower()
    if describe(name).script:
        return job.host.run([name, *args], job.where.inside(job.program), job.stdin)
    if found := job.script(path, *(f"{path.rstrip('/')}{ending}" for ending in _UNNAMED.get(language, ()))):
        _read_code(job, language, found[1], f"{job.program} {path}", posixpath.dirname(found[0]))
    return UNKNOWN


def executable(job: Job, path: str) -> Stream:
    if (script := job.script(path)) is None:
        return UNKNOWN
    text = script[1]
    found = re.match(r"#!\s*(?:\S*/)?(?:env\s+(?:-S\s+)?)?(\S+)", text)
    language = word_table("languages").get(posixpath.splitext(path)[1])
    program = found[1].rpartition("/")[2] if found else ""
    interpreter = described_program(program)
    if interpreter is not None and "interpreter" in interpreter.reader:
        _read_code(job, interpreter.carries[0].stdin, text, path, posixpath.dirname(path))
    elif language and not program:
        job.code(language, text, path)
    elif "\0" in text[:1000] or (program and not dialect_of(program)):
        job.effect("run_script", path)
    else:
        return run_script(job, path, job.words, path, dialect_of(program) or "bash")
    return UNKNOWN


def run_module(job: Job) -> Stream | None:
    words = job.options().operands
    does, what = [*words, "", ""][:2]
    if what and does == "task":
        read_deno_task(job, what)
        return UNKNOWN
    if what and does == "eval":
        job.code("javascript", what, "deno eval")
    elif what not in ("", "-") and does == "run":
        if what.startswith(("http:", "https:")):
            job.effect("run_download", what)
        elif what.startswith(("npm:", "jsr:")):
            package, given = re.sub(r"(?<!^)@[^/]*$", "", what[4:]), job.words[job.words.index(what) + 1 :]
            return job.run([package, *given], "deno run")
        else:
            return run_source(job, "javascript", what, words[2:])
    elif words in ([], ["run"], ["run", "-"]) and (text := job.text_to_run()) is not None:
        job.code("javascript", text, "deno")
    return None


def awk(job: Job) -> None:
    found = job.options(stop_at_operand=True)
    for code in found.all("-e", "--source"):
        job.code("awk", code)
    if not found.has("-f", "--file", "-e", "--source", "-E", "--exec") and found.operands:
        code, *words = found.operands
        if job.piped and re.search(r'\|\s*"(ba|z|da|k)?sh"', code):
            from_stdin(job, "bash", [])
        job.at(job.where.marked("bulk") if job.piped else job.where).code("awk", code)
        files = [path for path in words if "=" not in path]
        in_place = "inplace" in found.all("-i", "--include")
        for path in files if in_place else ():
            job.effect("write", path, "edit")
        read_files(job, () if in_place else files)
    for path in found.all("-f", "--file", "-i", "--include", "-E", "--exec"):
        if (text := job.file_text(path)) is not None:
            job.code("awk", text, f"{job.program} -f")


_APPLE_SHELL = lazy_regex(
    r"(?:\b(?:do\s+(?:shell\s+)?script|write\s+text)\s+|\.do(?:Shell)?Script\s*\(\s*|\$\.system\s*\(\s*)"
    r"""(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)')""",
    re.IGNORECASE,
)
_APPLICATION = lazy_regex(r"""\bApplication\(\s*["'`]([^"'`\n]*)""")
_METHOD = lazy_regex(r"\.(\w+)\(")


def applescript(job: Job) -> None:
    found = job.options()
    texts = found.all("-e")
    if not texts and job.piped:
        texts = [job.text_to_run() or job.stdin.text]
    for text in texts:
        if re.search(r"(?i)\b(?:shut down|restart|log out)\b", text):
            job.run(["shutdown", "now"], "osascript")
        elevated = ["privileged"] * ("administrator privileges" in text)
        for inner in map("".join, _APPLE_SHELL.findall(text)):
            job.shell_text(re.sub(r"\\(.)", r"\1", inner), "osascript", *elevated)
    code = "\n".join(texts)
    orders = _orders(code)
    if (found.value("-l") or "").lower() == "javascript":
        job.code("javascript", code)
        named = product(*map(dict.fromkeys, (_APPLICATION.findall(code), _METHOD.findall(code))))
        orders = ((application, [method]) for application, method in named)
    for application, order in orders:
        job.run([f"{application}.app", *order], "osascript")


def _orders(text: str) -> Iterator[tuple[str, list[str]]]:
    """Between `tell` and `end tell`, or behind `tell … to`."""
    told: list[str] = []
    for line in text.splitlines():
        tell = re.match(r'(?i)\s*tell\s+app(?:lication)?\s+"([^"\n]*)"(?:\s+to\b(.*))?', line)
        if tell and tell[2] is None:
            told.append(tell[1])
        elif line.split()[:2] == ["end", "tell"]:
            del told[-1:]
        elif tell or (told and line.strip()):
            application, order = tell.groups() if tell else (told[-1], line)
            yield application, [word.strip('"') for word in re.findall(r'"[^"]*"|[^\s"]+', order)]


def compiled(job: Job) -> Stream | None:
    """go run FILE, cargo script FILE"""
    for word in job.words[1:] if job.words[:1] in (["run"], ["script"], ["-run"]) else ():
        if word.endswith((".go", ".rs", ".java", ".kt", ".zig", ".c", ".cs")) or word.startswith("/dev/fd/"):
            return run_source(job, _by_ending(word), word, [])
    return None


def compiler(job: Job) -> None:
    """A source that the action wrote is about to be run."""
    for word in job.words:
        text = job.written_text(word) if word.endswith((".c", ".cc", ".cpp", ".rs", ".go", ".java")) else None
        if text:
            job.code(_by_ending(word), text, job.program)
    if "-" in job.words and job.stdin.known:
        job.code("other", job.stdin.text, job.program)


def _by_ending(path: str) -> str:
    return word_table("languages").get(f".{path.rpartition('.')[2]}", "other")


READERS: dict[str, Reader] = {
    "interpreter": interpreter,
    "awk": awk,
    "module_runner": run_module,
    "applescript": applescript,
    "compiled": compiled,
    "compiler": compiler,
}


def is_interpreter(name: str) -> bool:
    program = described_program(name)
    return program is not None and program.wrapper and bool(program.reader)
