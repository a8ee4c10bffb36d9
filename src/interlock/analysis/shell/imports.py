"""Reads the modules that a script imports from around it, as far as it reaches them."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import islice

from interlock.analysis.lazy_regex import lazy_regex
from interlock.analysis.programs.load import word_set
from interlock.analysis.shell import Job

MOST_MODULES = 40  # of one action
ALWAYS_IMPORTED = ("sitecustomize", "usercustomize")
_MAIN = lazy_regex(r"""if\s*\(?\s*__name__\s*==\s*["']__main__""")
_NAME = lazy_regex(r"\w+")
_DYNAMIC = lazy_regex(r"""(?:__import__|import_module|run_module)\(\s*["']([\w.]+)""")
_RELATIVE = {
    "javascript": re.compile(r"""(?:\brequire\s*\(\s*|\bfrom\s+|\bimport\s*\(?\s*)["'](\.{1,2}/[^"'\n]+)["']"""),
    "ruby": re.compile(r"""\brequire_relative[ \t(]+["']([^"'\n]+)["']"""),
}
ENDINGS = {  # of the files of a language, which a name of one may leave out
    "javascript": (".js", ".mjs", ".cjs", ".ts", "/index.js"),
    "python": (".py", "/__main__.py"),
    "ruby": (".rb",),
    "lua": (".lua",),
}


def read_imports(job: Job, language: str, code: str, folder: str = "") -> None:
    """`folder` is that of the code's file, else the working folder."""
    folder = job.full(folder or ".")
    imported = job.session.imported
    for path, text in _modules(job, language, code, folder):
        if path in imported or len(imported) >= MOST_MODULES:
            continue
        imported.add(path)
        job.code(language, _reached(language, text, code), f"import {posixpath.basename(path)}")
        read_imports(job, language, text, posixpath.dirname(path))


def _reached(language: str, module: str, importer: str) -> str:
    if language != "python":
        return module
    import ast

    try:
        tree = ast.parse(module, feature_version=(3, 11))  # as inline code is parsed
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return module
    lines, words = module.split("\n"), set(_NAME.findall(importer))
    left: list[tuple[str, int, int]] = []  # name, first and last line
    for node in tree.body:
        first = min(one.lineno for one in (node, *getattr(node, "decorator_list", ()))) - 1
        last = node.end_lineno or node.lineno
        if (name := getattr(node, "name", "")) or _MAIN.match(lines[first]):
            left.append((name, first, last))
        else:
            words.update(_NAME.findall("\n".join(lines[first:last])))
    while found := next((one for one in left if one[0] in words), None):
        left.remove(found)
        words.update(_NAME.findall("\n".join(lines[found[1] : found[2]])))
    dropped = {number for _, first, last in left for number in range(first, last)}
    return "\n".join(line for number, line in enumerate(lines) if number not in dropped)


def module_text(job: Job, name: str) -> str | None:
    """What `python -m name` runs."""
    written = next((text for _, text in _python_module(job, name, job.host.cwds[0], stored=False)), None)
    stored = (f"{name.replace('.', '/')}{ending}" for ending in ENDINGS["python"])
    return job.first_text(stored) if written is None else written


def _modules(job: Job, language: str, code: str, folder: str) -> Iterator[tuple[str, str]]:
    if language == "python":
        for name, base in _python_names(code, folder):
            yield from _python_module(job, name, base, name.partition(".")[0] not in word_set("first_modules"))
        for name in ALWAYS_IMPORTED:
            yield from _python_module(job, name, folder, stored=False)
    elif pattern := _RELATIVE.get(language):
        for name in dict.fromkeys(pattern.findall(code)):
            paths = (posixpath.normpath(f"{folder}/{name}{ending}") for ending in ("", *ENDINGS[language]))
            found = ((path, text) for path in paths if (text := job.file_text(path)) is not None)
            yield from islice(found, 1)


def _python_names(code: str, folder: str) -> Iterator[tuple[str, str]]:
    for source, names in re.findall(r"\bfrom\s+(\.*[\w.]*)\s+import\s+(\([^)]*\)|[^\n;#(]+)", code):
        dots = len(source) - len(source.lstrip("."))
        base = posixpath.normpath(f"{folder}{'/..' * (dots - 1)}") if dots else folder
        module = source[dots:]
        if module:
            yield module, base
        for name in _listed(names):
            yield f"{module}.{name}".lstrip("."), base
    for names in re.findall(r"(?m)(?:^|[;:])[ \t]*import\s+([\w., \t]+)", code):
        yield from ((name, folder) for name in _listed(names))
    yield from ((name, folder) for name in _DYNAMIC.findall(code))


def _listed(names: str) -> list[str]:
    return [words[0] for part in names.strip("() \t\n").split(",") if (words := part.split()) and words[0] != "*"]


def _python_module(job: Job, name: str, folder: str, stored: bool) -> Iterator[tuple[str, str]]:
    """A module and the packages around it; `stored`: also one from before the action."""
    base, written = folder, job.session.files
    for part in filter(str.isidentifier, name.split(".")):
        base = posixpath.join(base, part)
        for path in (f"{base}.py", f"{base}/__main__.py", f"{base}/__init__.py"):
            known = stored and (path in written or not path.endswith("/__main__.py"))
            if (text := job.file_text(path) if known else written.get(path)) is not None:
                yield path, text
                break
