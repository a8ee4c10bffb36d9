"""PowerShell text -> its effects; what cannot be read is reported as unreadable."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from interlock.analysis.facts import Report, hole, known, without_holes
from interlock.analysis.powershell.calls import run_call
from interlock.analysis.powershell.file_cmdlets import write_file
from interlock.analysis.powershell.members import index, member, static_member
from interlock.analysis.powershell.nodes import (
    Array,
    Assign,
    Body,
    Branch,
    Cast,
    Chain,
    Choose,
    Each,
    Expr,
    Number,
    Postfix,
    PsExpression,
    PsFunction,
    PsGroup,
    PsLoop,
    PsPipeline,
    PsRedirect,
    PsTable,
    PsText,
    PsTooDeep,
    PsType,
    PsVariable,
    ScriptBlock,
    Statement,
    Unary,
)
from interlock.analysis.powershell.objects import call_method, call_static
from interlock.analysis.powershell.operators import binary, cast, unary
from interlock.analysis.powershell.parse import parse
from interlock.analysis.powershell.values import (
    Items,
    PsObject,
    PsReading,
    Records,
    Script,
    Value,
    choice,
    combine,
    merge,
    plain,
    single,
    spread,
    texts,
    variable_key,
)
from interlock.analysis.windows import RelocatedReport, WrittenTexts, plain_holes

_MAX_DEPTH = 8


def read_powershell(source: str, out: Report) -> None:
    """Reports all effects of this text, and the text that cannot be read."""
    report = RelocatedReport(out)
    session = PsReading(report, run_block, run_text, _invoke, _run, value_of, WrittenTexts(report))
    try:
        run_text(session, source)
    except (RecursionError, MemoryError):
        out.unreadable("PowerShell that is nested too deeply", "nesting")
    if session.socket is not None and session.commanded:
        out.effect("reverse_shell", plain_holes(session.socket))


def run_text(session: PsReading, text: str) -> list[Value]:
    """Read a text as PowerShell, in a session that may already know some names."""
    if session.depth >= _MAX_DEPTH:
        session.out.unreadable("PowerShell inside PowerShell, too deep to follow", "nesting")
        return []
    body, trouble = parse(text, session.out.step)
    session.depth += 1
    made = _run(session, body)
    session.depth -= 1
    if trouble is not None:
        nested = isinstance(trouble, PsTooDeep)
        what = "PowerShell that is nested too deeply" if nested else "PowerShell that does not parse"
        session.out.unreadable(what, "nesting" if nested else "syntax")
    return made


def run_block(session: PsReading, script: Script, names: dict[str, Value]) -> list[Value]:
    """Run a script block with some names bound; what it assigns stays known, as it does for ForEach-Object."""
    before = {key: session.variables.get(key) for key in names}
    session.variables.update(names)
    for param in script.block.params:
        if param.default is not None and variable_key(param.name) not in session.variables:
            session.set(param.name, value_of(session, param.default))
    made = _run(session, script.block.body)
    for key, value in before.items():
        if value is None:
            session.variables.pop(key, None)
        else:
            session.variables[key] = value
    return made


def _invoke(session: PsReading, value: Value, name: str) -> Value:
    """`value | ForEach-Object name`: a member, or a method without arguments."""
    acts = isinstance(value, (Items, Records)) and name in ("delete", "kill", "stop", "terminate", "remove")
    return call_method(session, value, name, []) if acts else member(value, name)


def _run(session: PsReading, body: Body) -> list[Value]:
    made: list[Value] = []
    for statement in body:
        made += _statement(session, statement)
    return made


def _statement(session: PsReading, statement: Statement) -> list[Value]:
    session.out.step()
    return _STATEMENTS[type(statement)](session, statement)


def _pipeline(session: PsReading, pipeline: PsPipeline) -> list[Value]:
    values: list[Value] = []
    for element in pipeline.elements:
        if isinstance(element, PsExpression):
            values = spread(value_of(session, element.value))
        else:
            values = run_call(session, element, values)
        for redirect in element.redirects:
            _redirect(session, redirect, values, isinstance(element, PsExpression))
    return values


def _redirect(session: PsReading, redirect: PsRedirect, values: Sequence[Value], constant: bool) -> None:
    target = value_of(session, redirect.target)
    content = list(values) if values or constant else [hole("output")]
    for path in texts(target):
        write_file(session, path, content, redirect.append)


def _assign(session: PsReading, assign: Assign) -> list[Value]:
    made = single(_statement(session, assign.value))
    if assign.operator != "=":
        made = binary(assign.operator[:-1], value_of(session, assign.target), made)
    _store(session, assign.target, made)
    return []


def _store(session: PsReading, target: Expr, value: Value) -> None:
    if isinstance(target, Cast):
        _store(session, target.value, cast(target.type, value))
    elif isinstance(target, PsVariable):
        session.set(target.name, value)
    elif isinstance(target, Array):
        items = value if isinstance(value, list) else [value]
        last = len(target.items) - 1
        for at, one in enumerate(target.items):  # the last name gets all that is left
            rest = at == last and len(items) > len(target.items)
            _store(session, one, items[at:] if rest else items[at] if at < len(items) else None)
    elif isinstance(target, Postfix):
        _store_member(session, target, value)


def _store_member(session: PsReading, target: Postfix, value: Value) -> None:
    """`$table.key = value` and `$table['key'] = value`; other objects keep nothing."""
    base = value_of(session, Postfix(target.base, target.accesses[:-1]) if target.accesses[1:] else target.base)
    last = target.accesses[-1]
    key = value_of(session, last.name if last.name is not None else last.arguments[0])
    if isinstance(base, dict):
        base[plain(key).lower()] = value


def _branch(session: PsReading, branch: Branch) -> list[Value]:
    for head in branch.heads:
        _statement(session, head)
    before, ends = session.variables, list[dict[str, Value]]()
    made: list[Value] = []
    for body in branch.bodies:
        session.variables = dict(before)
        made += _run(session, body)
        ends.append(session.variables)
    session.variables = _joined(ends) if ends else before
    return made + _run(session, branch.always)


def _joined(ends: Sequence[dict[str, Value]]) -> dict[str, Value]:
    """What the names hold after branches: the same, or one of several."""
    if len(ends) == 1:
        return ends[0]
    names = {name for end in ends for name in end}
    return {name: merge([end[name] for end in ends if name in end]) for name in names}


def _loop(session: PsReading, loop: PsLoop) -> list[Value]:
    before = dict(session.variables)
    _run(session, loop.heads)
    made = _run(session, loop.body)
    for name, value in session.variables.items():
        if name in before and before[name] is not value and not isinstance(value, PsObject):
            session.variables[name] = hole(name)
    return made


def _each(session: PsReading, each: Each) -> list[Value]:
    items = [item for value in _statement(session, each.items) for item in spread(value)]
    made: list[Value] = []
    for item in items or [hole(each.name)]:
        if not session.more():
            break
        session.set(each.name, item)
        made += _run(session, each.body)
    return made


def _define(session: PsReading, function: PsFunction) -> list[Value]:
    session.functions[function.name] = function.block
    return []


_STATEMENTS: dict[type, Callable[[PsReading, Any], list[Value]]] = {
    PsPipeline: _pipeline,
    Assign: _assign,
    Branch: _branch,
    PsLoop: _loop,
    Each: _each,
    PsFunction: _define,
}


def value_of(session: PsReading, node: Expr) -> Value:
    """The value of an expression, as far as it is known; its effects are reported."""
    session.out.step()
    return _VALUES[type(node)](session, node)


def _text(session: PsReading, node: PsText) -> Value:
    parts = [part if isinstance(part, str) else value_of(session, part) for part in node.parts]
    return parts[0] if len(parts) == 1 and node.bare else combine(parts)


def _chain(session: PsReading, node: Chain) -> Value:
    value = value_of(session, node.first)
    if len(node.rest) > 8 and all(operator == "+" for operator, _ in node.rest) and isinstance(value, str):
        return combine([value, *(value_of(session, operand) for _, operand in node.rest)])
    for operator, operand in node.rest:
        value = binary(operator, value, value_of(session, operand))
    return value


def _table(session: PsReading, node: PsTable) -> Value:
    made: dict[str, Value] = {}
    for key, statement in node.pairs:
        made[plain(value_of(session, key)).lower()] = single(_statement(session, statement))
    return made


def _group(session: PsReading, node: PsGroup) -> Value:
    made = _run(session, node.body)
    return [item for value in made for item in spread(value)] if node.array else single(made)


def _array(session: PsReading, node: Array) -> Value:
    return [value_of(session, item) for item in node.items]


def _choose(session: PsReading, node: Choose) -> Value:
    value_of(session, node.condition)
    options = [text for branch in node.branches for text in texts(value_of(session, branch))]
    return choice(options) if options else None


def _unary(session: PsReading, node: Unary) -> Value:
    value = value_of(session, node.value)
    if node.operator in ("++", "--"):
        if isinstance(node.value, PsVariable):
            session.set(node.value.name, binary("+", value, 1))
        return value
    return unary(node.operator, value)


def _postfix(session: PsReading, node: Postfix) -> Value:
    value = value_of(session, node.base)
    for access in node.accesses:
        session.out.step()
        arguments = [value_of(session, argument) for argument in access.arguments]
        if access.name is None:
            value = index(value, arguments[0])
            continue
        name = plain(value_of(session, access.name)).lower()
        if access.call and not known(name) and not without_holes(name):
            session.out.unreadable("a method whose name is made at run time is called", "command")
        kind = value.note if isinstance(value, PsObject) and value.kind == "type" else None
        if kind is not None and access.static:
            value = call_static(session, kind, name, arguments) if access.call else static_member(kind, name)
        else:
            value = call_method(session, value, name, arguments) if access.call else member(value, name)
    return value


_VALUES: dict[type, Callable[[PsReading, Any], Value]] = {
    PsText: _text,
    Number: lambda session, node: node.value,
    PsVariable: lambda session, node: session.get(node.name),
    PsType: lambda session, node: PsObject("type", node.name),
    Cast: lambda session, node: cast(node.type, value_of(session, node.value)),
    Unary: _unary,
    Chain: _chain,
    Array: _array,
    PsTable: _table,
    PsGroup: _group,
    ScriptBlock: lambda session, node: Script(node),
    Postfix: _postfix,
    Choose: _choose,
}
