"""Reads the functions of a program that nothing called; what nothing can call does nothing to targets that it would be given."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from interlock.analysis.code.library import words
from interlock.analysis.code.program.functions import follow
from interlock.analysis.code.program.walk import ProgramWalk


def read_uncalled(tree: ast.Module, walk: ProgramWalk) -> None:
    """Read what nothing called: first what is never named, as that may call the rest."""
    if all(id(func.node) in walk.followed for func in walk.defined):
        return
    nodes = list(ast.walk(tree))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    members = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    idle = frozenset[int]() if _finds_by_name(nodes, names | members) else _idle_in(tree, names, members)
    never = _never_run(nodes) if walk.language.lexical else frozenset()
    for named in (False, True):
        for func in walk.defined:  # grows while inner functions are met
            name = getattr(func.node, "name", "")
            if name not in never and id(func.node) not in walk.followed and (name in names or name in members) is named:
                walk.world.idle = id(func.node) in idle
                follow(walk, func, [], {})
    walk.world.idle = False


def _never_run(nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The names of functions that nothing but their definition mentions; none where text is run that could."""
    targets = {id(node.targets[0]) for node in nodes if isinstance(node, ast.Assign)}
    targets |= {id(node.target) for node in nodes if isinstance(node, (ast.AnnAssign, ast.NamedExpr))}
    named = [node for node in nodes if isinstance(node, (ast.Name, ast.Attribute)) and id(node) not in targets]
    exports = [node.value for node in nodes if isinstance(node, ast.Assign) and _exports(node)]
    handed_out = {id(part) for value in exports for part in (value, *ast.iter_child_nodes(value))}
    mentioned = {node.id if isinstance(node, ast.Name) else node.attr for node in named if id(node) not in handed_out}
    defined = {node.name for node in nodes if isinstance(node, ast.FunctionDef)}
    return frozenset() if mentioned & {"eval", "Function"} else frozenset(defined - mentioned - {"", "__init__"})


def _exports(node: ast.Assign) -> bool:
    """Whether a program only hands something out to those that would load it."""
    target: ast.expr = node.targets[0]
    while isinstance(target, ast.Attribute):
        target = target.value
    return isinstance(target, ast.Name) and target.id in ("exports", "module") and target is not node.targets[0]


_Function = ast.FunctionDef | ast.AsyncFunctionDef


def _finds_by_name(nodes: Sequence[ast.AST], used: set[str]) -> bool:
    """Whether anything could find a function by a name that is not written out."""
    imported = {alias.name.partition(".")[0] for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    imported |= {str(node.module).partition(".")[0] for node in nodes if isinstance(node, ast.ImportFrom)}
    return not words("python")["dynamic"].isdisjoint(used | imported)


def _idle_in(tree: ast.Module, names: set[str], members: set[str]) -> frozenset[int]:
    """The ids of functions and methods that nothing mentions."""
    found: set[int] = set()
    for node in tree.body:
        if isinstance(node, _Function) and _plain(node) and node.name not in names:
            found.add(id(node))
        elif isinstance(node, ast.ClassDef) and not (node.bases or node.keywords or node.decorator_list):
            methods = (one for one in node.body if isinstance(one, _Function) and _plain(one))
            found |= {id(one) for one in methods if one.name not in members}
    return frozenset(found)


def _plain(node: _Function) -> bool:
    """Not handed to anybody by a decorator, and not called by the language itself."""
    return not node.decorator_list and not node.name.startswith("__")
