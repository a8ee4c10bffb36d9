"""JavaScript and TypeScript source (Node, Bun, Deno, the MongoDB shell) -> the form that all languages share, and its effects."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from urllib.parse import unquote

from msgspec.structs import replace

from interlock.analysis.code import grammar
from interlock.analysis.code.grammar import Builder, Node, child_of, children, part, text_of
from interlock.analysis.code.language import CodeLanguage
from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.library import library, words
from interlock.analysis.code.performing.running import run_code
from interlock.analysis.code.program import nodes
from interlock.analysis.code.program.nodes import THIS, Closure, Made
from interlock.analysis.code.program.results import index, result
from interlock.analysis.code.program.statements import follow, takes_this
from interlock.analysis.code.program.values import (
    UNKNOWN,
    Class,
    LibraryCall,
    ProgramFunction,
    Sym,
    Value,
    origin,
    path_of,
)
from interlock.analysis.code.program.walk import Answer, ProgramWalk
from interlock.analysis.code.syntax_tree import errors, parsed
from interlock.analysis.code.templates import rules_of
from interlock.analysis.facts import HOLE, hole, known, without_holes

_CALLED = re.compile(r"\b(\w+)['\"\]]{0,3}\s{0,20}[(`]")
_GLOBALS = frozenset({"globalThis", "global", "window", "self", "top"})
_SCHEME = re.compile(r"^(?:node|npm|bun):")
_WAY = re.compile(r"(?:Sync|Async|One|Many)$")


def _parse(source: str) -> nodes.Program:
    """Errors count where they could do anything."""
    source = source.removeprefix("\ufeff")
    root = _tree(source.partition("\n")[2] if source.startswith("#!") else source)
    broken = [text_of(node) for node in errors(root)]
    body = _ScriptBuilder("javascript", rules_of("javascript", "javascript")).block(root.named_children)
    if any(HOLE in text for text in broken):
        return [*body, ast.Expr(nodes.call("<hole>"))], True
    nothing = all(child.type in ("ERROR", "comment") for child in root.named_children)
    called = {name for text in broken for name in _CALLED.findall(text)}
    risky = words("javascript")["risky"]  # ends or runs something
    risks = not risky.isdisjoint((*called, *(_WAY.sub("", name) for name in called)))
    return body, not broken or not (nothing or risks)


def _tree(source: str) -> Node:
    roots: list[Node] = []
    for key in ("javascript", "typescript"):
        try:
            roots.append(parsed(key, source))
        except Unparsed as problem:
            if problem.trait != "syntax" or (key == "typescript" and not roots):
                raise
        if roots and not roots[0].has_error:
            break
    return min(roots, key=lambda root: sum(1 + node.end_byte - node.start_byte for node in errors(root)))


# -- names: which block they belong to, and the patterns that give them values


class _ScriptBuilder(Builder):
    """Defines the functions of a block first."""

    def block(self, found: Iterable[Node]) -> list[ast.stmt]:
        def defines(node: Node) -> bool:
            return (part(node, "declaration") or node).type.endswith("function_declaration")

        return super().block(sorted(found, key=defines, reverse=True))


def _identifier(build: Builder, node: Node) -> Made:
    named = text_of(node)
    return nodes.call("<hole>") if HOLE in named else ast.Name(_called(build, named))


def _called(build: Builder, name: str) -> str:
    return next((scope[name] for scope in reversed(build.scopes) if name in scope), name)


def _titled(value: ast.expr, name: ast.expr | None) -> ast.expr:
    """A function without a name goes by the one that it is given to."""
    given = (getattr(name, part, None) for part in ("attr", "id", "value"))
    title = next((part for part in given if isinstance(part, str)), None)
    if isinstance(value, Closure) and not value.function.name and title is not None:
        value.function.name = title
    return value


def _bind(build: Builder, target: Node | None, value: ast.expr, declare: str = "block") -> list[ast.stmt]:
    kind = target.type if target else ""
    if target is None or kind in ("comment", "ERROR"):
        return []
    if kind in build.kinds["names"]:
        title = text_of(target)
        if declare == "block":  # where it hides a name of the code around, it is called differently
            *around, own = build.scopes
            hides = any(title in scope for scope in around)
            named = own.setdefault(title, f"{title}@{target.start_byte}" if hides else title)
        else:
            named = _called(build, title)
        name = ast.Name(named)
        value = _titled(value, name)
        return nodes.declare(name, value) if declare else nodes.assign(name, value)
    if kind in build.kinds["defaulted"]:
        filled = nodes.call("<default>", [value, build.expr(target, "right")])
        return _bind(build, part(target, "left"), filled, declare)
    if kind in ("object_pattern", "array_pattern"):
        return _take_apart(build, target, value, declare)
    if kind in ("rest_pattern", "parenthesized_expression"):
        return _bind(build, target.named_children[0], value, declare)
    place = build.expr(target)
    if isinstance(place, ast.Attribute) and isinstance(place.value, ast.Name) and place.value.id in _GLOBALS:
        place = ast.Name(place.attr)
    return nodes.assign(place, _titled(value, place))


def _take_apart(build: Builder, pattern: Node, value: ast.expr, declare: str) -> list[ast.stmt]:
    whole = value if isinstance(value, ast.Name) else ast.Name(f"<{pattern.start_byte}>")
    made = [] if whole is value else nodes.declare(whole, value)
    at = 0
    for child in pattern.children:
        at += child.type == ","
        if not child.is_named:
            continue
        rest, place = child.type == "rest_pattern", ast.Constant(at)
        piece: ast.expr = whole
        if pattern.type == "array_pattern":
            piece = nodes.item(whole, ast.Slice(place) if rest else place)
        elif not rest:
            piece = nodes.item(whole, _key(build, part(child, "key", "left") or child))
        made += _bind(build, part(child, "value") or child, piece, declare)
    return made


def _key(build: Builder, node: Node) -> ast.expr:
    return nodes.text(text_of(node)) if "identifier" in node.type else build.expr(node)


def _object_of(build: Builder, node: Node) -> Made:
    pairs: list[tuple[ast.expr | None, ast.expr]] = []
    for child in node.named_children:
        if child.type == "spread_element":
            pairs.append((None, build.parts(child)))
        elif child.type in build.kinds["members"]:
            key = _key(build, part(child, "key", "name") or child)
            pairs.append((key, _titled(build.expr(part(child, "value") or child), key)))
    return ast.Dict([key for key, _ in pairs], [value for _, value in pairs])


# -- operators and assignments


def _unary(build: Builder, node: Node) -> Made:
    """Short programs write `!0` for true."""
    made = grammar.negated(build, node)
    if isinstance(made, ast.UnaryOp) and isinstance(made.operand, ast.Constant) and node.children[0].type == "!":
        return ast.Constant(not made.operand.value)
    return made


def _assignment(build: Builder, node: Node) -> Made:
    around = "function" if node.parent and node.parent.type == "variable_declaration" else "block"
    declare = around if node.type == "variable_declarator" else ""
    return _bind(build, part(node, "left", "name"), build.expr(node, "right", "value"), declare)


# -- functions and classes


def _function(build: Builder, node: Node) -> Made:
    single = part(node, "parameter")
    given = [single] if single else children(node, "parameters")
    names, defaults, first, rest = list[str](), list[ast.expr](), list[ast.stmt](), ""
    for param in given:
        inner, default = part(param, "left", "pattern") or param, part(param, "right", "value")
        last = inner.type == "rest_pattern"
        inner = inner.named_children[0] if last else inner
        if inner.type in ("comment", "this"):
            continue
        plain = inner.type == "identifier"
        name = text_of(inner) if plain else f"<{inner.start_byte}>"
        build.scopes[-1][name] = name  # hides that of the code around
        first += [] if plain else _bind(build, inner, ast.Name(name))
        if last:
            rest = name
            continue
        names.append(name)
        if default or defaults:
            defaults.append(build.expr(default) if default else nodes.CONDITION)
    arrow = node.type == "arrow_function"
    if not arrow and not names and b"arguments" in (node.text or b""):
        rest = rest or "arguments"
    body = part(node, "body")
    block = body and body.type == "statement_block"
    inside = build.body(body) if block else [ast.Return(build.expr(body))]
    title = text_of(node, "name") if "function" in node.type else ""
    made = nodes.function(names, [*first, *inside], title, rest, defaults)
    made = made if arrow else _with_this(made)
    return [made] if node.type.endswith("function_declaration") else Closure(made)


def _with_this(function: ast.FunctionDef) -> ast.FunctionDef:
    function.args.kwonlyargs, function.args.kw_defaults = [ast.arg(THIS)], [None]
    return function


def _class_of(build: Builder, node: Node) -> Made:
    title = text_of(node, "name") or f"<{node.start_byte}>"
    bases = [build.parts(child) for child in node.named_children if child.type == "class_heritage"]
    body = [made for child in children(node, "body") for made in _class_part(build, child)]
    made: list[ast.stmt] = [ast.ClassDef(title, bases, [], body or [ast.Pass()], [])]
    return made if node.type.endswith("class_declaration") else nodes.Body([*made, ast.Expr(ast.Name(title))])


def _class_part(build: Builder, node: Node) -> list[ast.stmt]:
    """A function in a field is a method."""
    if node.type != "method_definition" and not node.type.endswith("field_definition"):
        return build.body(node)
    name = text_of(node, "property", "name")
    value = build.expr(node if node.type == "method_definition" else part(node, "value"))
    if not isinstance(value, Closure):
        return nodes.assign(ast.Name(name), value)
    value.function.name = "__init__" if name == "constructor" else name
    return [_with_this(value.function)]


def _for_in(build: Builder, node: Node) -> Made:
    over, each = build.expr(node, "right"), ast.Name(f"<{node.start_byte}>")
    if text_of(node, "operator") == "in":
        over = nodes.call("Object.keys", [over])
    given = _bind(build, part(node, "left"), each, "block" if part(node, "kind") else "")
    return nodes.loop(each, over, [*given, *build.body(node, "body")])


def _import_of(build: Builder, node: Node) -> Made:
    if any(child.type == "type" for child in node.children):
        return []
    source = nodes.call("require", [build.expr(node, "source")])
    clause = child_of(node, "import_clause")
    if clause is None:
        return source
    whole = ast.Name(f"<{node.start_byte}>")
    made = nodes.declare(whole, source)
    for child in clause.named_children:
        if child.type != "named_imports":
            made += _bind(build, child if child.type == "identifier" else child.named_children[0], whole)
            continue
        for one in child.named_children:
            made += _bind(build, part(one, "alias", "name"), nodes.member(whole, text_of(one, "name")))
    return made


def _export(build: Builder, node: Node) -> Made:
    if declared := part(node, "declaration"):
        return build.body(declared)
    return _titled(build.expr(node, "value"), nodes.text("default"))


def _member(walk: ProgramWalk, owner: Value, name: str) -> Value:
    if name == "constructor":
        maker = isinstance(owner, (ProgramFunction, Class)) or path_of(owner) in ("constructor", "?")
        return Sym("Function" if maker else "constructor", owner)
    if not isinstance(owner, Sym):
        return UNKNOWN
    path = f"{owner.path}.{name}"
    if owner.path in _GLOBALS:
        return walk.language.look_up(walk, name)
    if owner.path in library("javascript").environment and path not in library("javascript").calls:
        return "~" if name in ("HOME", "USERPROFILE") else hole(name if known(name) else "")
    if name in words("javascript")["transparent"]:
        return owner
    if name.lower() == "prisma":
        return Sym("prisma")
    if name in ("call", "apply", "bind"):
        return Sym(path, owner, traits=owner.traits)
    if name.endswith("Sync") and path not in library("javascript").calls:
        return walk.language.attribute(walk, owner, name.removesuffix("Sync"))
    return UNKNOWN


def _item(walk: ProgramWalk, owner: Value, key: Value) -> Value:
    named = isinstance(key, str) and known(key)
    if path_of(owner) in library("javascript").environment and not named:
        return hole()
    if isinstance(owner, (list, str)) and named and key.isdecimal() and len(key) < 7:
        return index(owner, int(key))
    member = named and (isinstance(owner, (list, str)) or (isinstance(owner, dict) and key in owner))
    return walk.language.attribute(walk, owner, key) if member else UNKNOWN


# -- modules and code


def _module(call: LibraryCall) -> Value:
    world, given, name = call.world, call.get(0), call.text(0)
    if isinstance(given, Sym) and origin(given, "file:"):
        return Sym("?")
    if name.startswith("data:") and "," in name:
        head, _, body = name.partition(",")
        world.execute(result("base64", [body]) if head.endswith("base64") else unquote(body))
    elif name.startswith((".", "/", "~")):
        if not name.endswith(".json"):
            world.effect("run_script", world.located(name))
    elif not without_holes(name):
        world.unreadable("a module that is chosen at run time", "payload")
    elif name.startswith(("http:", "https:")):
        world.effect("run_download", name)
    else:
        name = _SCHEME.sub("", name).replace("@aws-sdk/client-", "aws-sdk.", 1)
        return Sym(library("javascript").canonical(name))
    return Sym("?")


def _worker(call: LibraryCall) -> Value:
    if call.named.get("eval") is True:
        call.world.execute(call.get(0))
    elif known(call.text(0)):
        _module(call)
    return Sym("?")


def _new(call: LibraryCall) -> Value:
    made, *args = call.args
    if not isinstance(made, ProgramFunction) or not takes_this(made):
        return call.walk.call(made, args)
    thing: dict[str, Value] = {}
    given = follow(call.walk, ProgramFunction(made.node, made.scope, thing), args, {})
    return thing if given is None else given


_ANSWERS: Mapping[str, Answer] = {
    "require": lambda call: _module(call) if call.args else UNKNOWN,
    "worker_threads.Worker": _worker,
    # `Function("a", "b", "return …")`, whose last argument is the code
    "Function GeneratorFunction AsyncFunction": lambda call: (
        Sym("<made>", run_code(call.walk, call.args[-1])) if call.args else UNKNOWN
    ),
    "<made>": lambda call: call.owner,
    "<new>": _new,
}
_JAVASCRIPT = CodeLanguage(
    "JavaScript",
    "javascript",
    _parse,
    _ANSWERS,
    own_item=_item,
    own_member=_member,
    handed=lambda given: (  # functions get a connection, else an error and then the result
        [[given, given] if path_of(given) in words("javascript")["connections"] else [None, given, given]]
    ),
    lexical=True,
)
read_javascript = _JAVASCRIPT.read

# What the shell takes besides JavaScript, a line each.
_USE = re.compile(r"^([ \t]*)use[ \t]+([\w.-]+)[ \t]*;?[ \t]*$", re.M)
_SHOW = re.compile(r"^[ \t]*(?:show[ \t]+\w+|it|exit|quit|help)[ \t]*;?[ \t]*$", re.M)
read_mongo = replace(
    _JAVASCRIPT,
    name="MongoDB shell code",
    key="mongo",
    parse=lambda source: _parse(_SHOW.sub("", _USE.sub(r'\1db = db.getSiblingDB("\2");', source))),
).read
