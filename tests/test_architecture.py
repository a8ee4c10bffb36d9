"""Imports point one way, what decides touches nothing, names are used once, and ordinary commands load nothing heavy."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from cases import each
from repository import ROOT

PACKAGE = ROOT / "src" / "interlock"
FILES = sorted(path for path in PACKAGE.rglob("*.py") if path.stat().st_size)
MAX_LINES = 450
MAX_FILES = 30  # in one folder
MAX_INNER_IMPORTS = 120  # in functions

# From what knows least to what knows most: a package imports what stands above it here, and its neighbours on the same line where that is said.
LAYERS = (
    "model times local_times problems strict_json socket_peers",
    "schema canonical_json",
    "records",
    "analysis",
    "error_codes",
    "redaction",
    "adapters",
    "policy",
    "config",
    "ports",
    "runtime storage audit identity approvals notify impact snapshots journal agents",
    "engine",
    "loop plans",
    "startup maintenance",
    "client",
    "install",
    "web",
    "hooks console mcp proxy sdk sandbox",
    "server",
    "cli",
    "__main__",
)
NEIGHBOURS = frozenset(LAYERS[10].split())  # the services that the engine works with
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names.split()}
MOUNTED = {"hooks", "console", "mcp"}  # by the server, which is one process with them

# What decides touches nothing: everything in these folders and modules, but for the files that load their data.
PURE_PARTS = """
    model.py times.py canonical_json.py strict_json.py error_codes.py problems.py schema.py ports.py records redaction analysis policy
    adapters/conditions.py adapters/danger.py adapters/levels.py adapters/local_servers.py adapters/quota.py
    approvals/__init__.py approvals/denials.py approvals/display.py approvals/grant_coverage.py approvals/statements.py
    audit/__init__.py audit/decision_entries.py audit/export.py audit/verify.py config/channels.py config/plans.py config/settings.py config/values.py
    engine/decide.py engine/explain.py identity/passkey_proofs.py impact/inspection.py journal/undo_model.py loop/state.py notify/__init__.py plans/draft.py snapshots/__init__.py
""".split()
LOADERS = frozenset(
    {
        "analysis/packs.py",
        "analysis/code/dialects/__init__.py",
        "analysis/code/library.py",
        "analysis/code/templates.py",
        "analysis/lexicon/load.py",
        "analysis/powershell/parameters.py",
        "analysis/programs/load.py",
        "analysis/rules/load.py",
        "policy/load.py",
    }
)
# Without a clock, a file, a process, an environment or chance.
PURE = frozenset(
    "__future__ array ast base64 binascii bisect codecs collections contextlib copy decimal difflib enum fnmatch fractions "
    "functools hashlib heapq hmac html importlib itertools json logging math operator posixpath ntpath re shlex stat string "
    "struct sys textwrap tomllib types typing unicodedata urllib.parse warnings zlib".split()
)
LIBRARIES = frozenset({"cel", "msgspec", "re2", "sqlglot", "tree_sitter", "tree_sitter_javascript"})
IMPURE_NAMES = frozenset("open print input exec eval compile breakpoint __import__ globals".split())
IMPURE_ATTRIBUTES = frozenset(
    {
        "codecs.open",
        "importlib.resources",
        "logging.basicConfig",
        "logging.info",
        "logging.warning",
    }
    | {"logging.StreamHandler", "logging.FileHandler", "warnings.warn"}
)
HEAVY = frozenset(
    "sqlglot typer click rich cel yaml prompt_toolkit tree_sitter tree_sitter_javascript mcp tomllib asyncio ssl http.server sqlite3".split()
)


PURE_FILES = [
    path
    for path in FILES
    if {PACKAGE / part for part in PURE_PARTS} & {path, *path.parents}
    and path.relative_to(PACKAGE).as_posix() not in LOADERS
]


def name(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(tree(path)))


@cache
def imports(path: Path) -> tuple[tuple[str, int], ...]:
    """Each module that a file imports, with its line."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, int]]:
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{name(path)}:{node.lineno}: relative import"
            module = node.module or ""
            yield module, node.lineno
            yield from ((f"{module}.{alias.name}", node.lineno) for alias in node.names if module == "interlock")


def at_import(path: Path) -> Iterator[tuple[str, int]]:
    """Each module that is imported as soon as the file is."""
    lazy = {
        line
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for line in range(node.lineno + 1, (node.end_lineno or 0) + 1)
    }
    skipped = lazy | typing_only(path)
    return ((module, line) for module, line in imports(path) if line not in skipped)


def module(path: Path) -> str:
    parts = ("interlock", *path.relative_to(PACKAGE).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module(path): path for path in FILES}


def imported(path: Path, at_once: bool) -> set[str]:
    """The modules of Interlock that a file imports, as soon as it is imported itself (`at_once`) or ever."""
    skipped = {id(node) for node in inner_nodes(path)} if at_once else set()
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and id(node) not in skipped and node.lineno not in typing_only(path):
            wanted = {f"{node.module}.{alias.name}" for alias in node.names}  # a module, or a name in one
            found |= (wanted & MODULES.keys()) | ({str(node.module)} if wanted - MODULES.keys() else set())
    return found & MODULES.keys() - {"interlock"}  # which imports its names on first use


@cache
def inner_nodes(path: Path) -> tuple[ast.AST, ...]:
    """Everything inside functions."""
    functions = [node for node in nodes(path) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    return tuple(inner for function in functions for inner in ast.walk(function) if inner is not function)


def test_every_module_can_be_imported_first() -> None:
    """No cycle among what modules import as soon as they are: in one, it depends on the order whether anything works."""
    TopologicalSorter({name: imported(path, at_once=True) for name, path in MODULES.items()}).prepare()


def test_imports_inside_functions_hide_no_cycle() -> None:
    """Only the readers of `analysis` call each other in a circle: shell text holds code, operations and prose that hold shell text."""
    outside = {name: path for name, path in MODULES.items() if not name.startswith("interlock.analysis")}
    graph = {name: imported(path, at_once=False) & outside.keys() for name, path in outside.items()}
    TopologicalSorter(graph).prepare()


def test_imports_stand_at_the_top_of_their_file() -> None:
    """An import inside a function is for a library or a part that takes long to load, and that most runs do not need."""
    inner = {
        name(path): sum(isinstance(node, ast.Import | ast.ImportFrom) for node in dict.fromkeys(inner_nodes(path)))
        for path in FILES
    }
    assert sum(inner.values()) <= MAX_INNER_IMPORTS, {path: count for path, count in inner.items() if count > 2}


def part(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def typing_only(path: Path) -> set[int]:
    """The lines that only a type checker reads."""
    return {
        line
        for node in nodes(path)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for line in range(node.lineno, (node.end_lineno or 0) + 1)
    }


def own_imports(path: Path) -> Iterator[tuple[str, int]]:
    """The part of Interlock behind each import that happens when the code runs."""
    skipped = typing_only(path)
    for found, line in imports(path):
        other = found.removeprefix("interlock").removeprefix(".").split(".")[0]
        if found.split(".")[0] == "interlock" and line not in skipped and other in RANK:
            yield other, line


@each("path", [path for path in FILES if part(path) != "__init__"], ids=name)
def test_imports_point_one_way(path: Path) -> None:
    own = part(path)
    assert own in RANK, f"{name(path)}: {own!r} has no place in LAYERS"
    for other, line in own_imports(path):
        fine = RANK[other] < RANK[own] or other == own or {own, other} <= NEIGHBOURS
        assert fine, f"{name(path)}:{line}: {own} imports {other}"


@each("path", [path for path in FILES if part(path) != "__init__"], ids=name)
def test_no_interface_imports_another_ones_internals(path: Path) -> None:
    interfaces, own = RANK["server"] - 1, part(path)
    for other, line in own_imports(path):
        if own != other and RANK[other] >= interfaces and own != "cli":
            assert (own == "server" and other in MOUNTED) or own == "__main__", f"{name(path)}:{line}: imports {other}"


def test_a_class_name_is_used_once() -> None:
    places: dict[str, set[str]] = {}
    for path in FILES:
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, set()).add(name(path))
    assert {word: sorted(found) for word, found in places.items() if len(found) > 1} == {}


def test_the_state_of_a_process_is_never_copied() -> None:
    """A copy would keep what the process has replaced since: a call carries what governs it (`Judged.in_force`) instead."""
    home = PACKAGE / "runtime" / "state.py"
    copies = [
        f"{name(path)}:{node.lineno}"
        for path in FILES
        if path == home or module(home) in imported(path, at_once=False)
        for node in nodes(path)
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("replace", "copy")) and node.args
        if ast.unparse(node.args[0]) in ("state", "self.state", "self._state", "self" if path == home else "")
    ]
    assert copies == []


def test_no_folder_is_a_heap() -> None:
    sizes = Counter(path.parent for path in PACKAGE.rglob("*.py"))
    assert {name(folder): size for folder, size in sizes.items() if size > MAX_FILES} == {}


def test_every_part_that_is_called_pure_exists() -> None:
    assert [part for part in (*PURE_PARTS, *LOADERS) if not (PACKAGE / part).exists()] == []


@each("path", PURE_FILES, ids=name)
def test_what_decides_imports_only_what_is_pure(path: Path) -> None:
    for module, line in imports(path):
        top = module.split(".")[0]
        fine = top in ("interlock", *LIBRARIES) or top in PURE or module in PURE or module.rpartition(".")[0] in PURE
        assert fine, f"{name(path)}:{line}: imports {module}"


@each("path", PURE_FILES, ids=name)
def test_what_decides_does_no_input_or_output(path: Path) -> None:
    for node in nodes(path):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in IMPURE_NAMES, f"{name(path)}:{node.lineno}: calls {node.func.id}()"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used = f"{node.value.id}.{node.attr}"
            assert used not in IMPURE_ATTRIBUTES, f"{name(path)}:{node.lineno}: uses {used}"
            assert node.value.id != "sys" or node.attr == "version_info", f"{name(path)}:{node.lineno}: uses {used}"
        if isinstance(node, ast.ImportFrom):
            assert node.module != "sys", f"{name(path)}:{node.lineno}: imports from sys"


@each("path", PURE_FILES, ids=name)
def test_modules_named_at_run_time_are_pure_too(path: Path) -> None:
    for node in nodes(path):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            asked = ast.unparse(node.args[0]).lstrip("f").strip("'\"")
            pure = ("interlock.analysis.", "interlock.policy.", "tree_sitter_")
            assert asked.startswith(pure) or asked in LIBRARIES, f"{name(path)}:{node.lineno}: imports {asked}"


@each("path", PURE_FILES, ids=name)
def test_what_decides_changes_no_globals(path: Path) -> None:
    for node in nodes(path):
        assert not isinstance(node, ast.Global), f"{name(path)}:{node.lineno}: global"


@each("path", [path for path in FILES if RANK.get(part(path), 99) < RANK["client"]], ids=name)
def test_heavy_libraries_are_imported_where_they_are_needed(path: Path) -> None:
    """At the top only of a module that nothing else has at its top."""
    heavy = [(wanted, line) for wanted, line in at_import(path) if wanted.split(".")[0] in HEAVY - {"tomllib"}]
    importers = [name(other) for other in FILES if heavy and module(path) in imported(other, at_once=True)]
    assert not importers, f"{name(path)}: imports {heavy} at once, and so do {importers}"


@each("path", FILES, ids=name)
def test_the_first_line_of_a_file_says_which_question_it_answers(path: Path) -> None:
    first = path.read_text().split("\n", 1)[0]
    assert first.startswith('"""') and first.endswith('"""') and len(first) > 12, f"{name(path)}: {first!r}"


@each("path", FILES, ids=name)
def test_no_file_is_two_things(path: Path) -> None:
    lines = len(path.read_text().splitlines())
    assert lines <= MAX_LINES, f"{name(path)}: {lines} lines, at most {MAX_LINES}"


def loaded_by(code: str) -> set[str]:
    run = subprocess.run(
        [sys.executable, "-c", f"import sys\n{code}\nprint(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    return set(run.stdout.split())


@pytest.mark.parametrize(
    "text", ["git status", "rm -rf /", "curl -s localhost | jq .", "kubectl get pods", "echo hi > a; ls -la"]
)
def test_an_ordinary_command_loads_nothing_heavy(text: str) -> None:
    loaded = loaded_by(f"import interlock; interlock.assess('git status'); interlock.assess({text!r})")
    assert not loaded & (HEAVY - {"tomllib"})


def test_importing_the_package_loads_no_rules() -> None:
    loaded = loaded_by("import interlock")
    assert not loaded & HEAVY
    assert "interlock.analysis.rules.load" not in loaded


def test_nothing_in_the_repository_depends_on_files_outside_it() -> None:
    outside = "../" + "shared"
    for path in [*FILES, *(ROOT / "tests").rglob("*.py"), ROOT / "Makefile", ROOT / "pyproject.toml"]:
        assert outside not in path.read_text(), path.relative_to(ROOT)


def test_every_requirement_that_the_code_cites_is_explained() -> None:
    pattern = re.compile(r"\b(?:ESL|AE|OOB|LC|DL|GK|CT|TL|ERR|EP|INT|RL|X|C|R)-\d{1,2}\b")
    sources = [*FILES, *PACKAGE.glob("analysis/rules/*.toml")]
    cited = {found for path in sources for found in pattern.findall(path.read_text())}
    explained = set(tomllib.loads((ROOT / "docs" / "internals" / "requirements.toml").read_text())["requirements"])
    assert cited <= explained, f"docs/internals/requirements.toml does not list {sorted(cited - explained)}"


def test_the_fallback_loads_no_state_and_no_keys() -> None:
    """A hook without a daemon starts for every call: what only a daemon needs would double its time."""
    loaded = loaded_by("import interlock.engine.fallback")
    assert not loaded & (HEAVY - {"tomllib"} | {"cryptography", "interlock.runtime.state", "interlock.storage.sqlite"})
