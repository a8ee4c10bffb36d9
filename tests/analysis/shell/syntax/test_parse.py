"""Shell text -> nodes: what is a command, where words begin and end, and what of broken text is kept."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cases import each
from interlock.analysis.shell.syntax import MAX_DEPTH, ShellTooDeep, parse
from interlock.analysis.shell.syntax import nodes as n


def steps(_count: int) -> None:
    """A budget without end."""


def parsed(text: str) -> list[n.Node]:
    found, errors = parse(text, steps)
    assert not errors, errors
    return found


def plain(word: n.ShellWord) -> str:
    return "".join(part.text if isinstance(part, n.ShellText) else f"<{type(part).__name__}>" for part in word.parts)


def shape(node: n.Node) -> str:
    """A node in one line."""
    match node:
        case n.SimpleCommand():
            parts = [f"{item.name}{'+' * item.append}={shape_value(item)}" for item in node.assigns]
            parts += [plain(word) for word in node.words]
            parts += [f"{r.fd}{r.operator}{plain(r.target) if r.target else ''}" for r in node.redirects]
            return " ".join(parts)
        case n.ShellPipeline():
            return " | ".join(map(shape, node.stages))
        case n.AndOr():
            return shape(node.nodes[0]) + "".join(
                f" {op} {shape(item)}" for op, item in zip(node.operators, node.nodes[1:], strict=True)
            )
        case n.ShellGroup():
            return f"({shapes(node.body)})" if node.subshell else f"{{{shapes(node.body)}}}"
        case n.Branches():
            return f"if[{shapes(node.head)}]" + "".join(f"[{shapes(body)}]" for body in node.bodies)
        case n.ShellLoop():
            over = "" if node.items is None else f"{node.name} in {' '.join(map(plain, node.items))}: "
            return f"loop[{over}{shapes(node.head)}][{shapes(node.body)}]"
        case n.ShellFunction():
            return f"{node.name}() {shape(node.body)}"
        case n.Background():
            return f"{shape(node.node)} &"
        case n.Expression():
            return "[[" + " ".join(map(plain, node.words)) + "]]"


def shape_value(item: n.Assignment) -> str:
    if item.items is not None:
        return f"({' '.join(map(plain, item.items))})"
    return plain(item.value) if item.value else ""


def shapes(found: list[n.Node]) -> str:
    return "; ".join(map(shape, found))


SHAPES = [
    ("", ""),
    ("   \n\t\n", ""),
    ("# only words", ""),
    ("ls -la", "ls -la"),
    ("ls;pwd", "ls; pwd"),
    ("ls\npwd", "ls; pwd"),
    ("ls # comment\npwd", "ls; pwd"),
    ("echo a#b", "echo a#b"),
    ("echo a\\\nb", "echo ab"),
    ("ls \\\n -la", "ls -la"),
    ("a && b || c", "a && b || c"),
    ("a &&\n\n# why\nb", "a && b"),
    ("a | b |& c", "a | b | c"),
    ("a |\nb", "a | b"),
    ("a & b", "a &; b"),
    ("(a; b)", "(a; b)"),
    ("{ a; b; }", "{a; b}"),
    ("((1 + 2))", "[[1 + 2]]"),
    ("( (a) )", "((a))"),
    ("! a", "a"),
    ("time -p a", "a"),
    ("if a; then b; elif c; then d; else e; fi", "if[a; c][b][d][e]"),
    ("while a; do b; done", "loop[a][b]"),
    ("until a\ndo b\ndone", "loop[a][b]"),
    ("for x in 1 2; do b; done", "loop[x in 1 2: ][b]"),
    ("for x; do b; done", "loop[x in <ShellVariable>: ][b]"),
    ("for ((i=0;i<3;i++)); do b; done", "loop[[[i=0;i<3;i++]]][b]"),
    ("select x in a; do b; done", "loop[x in a: ][b]"),
    ("case x in a|b) c;; (d) e; f;; *) ;; esac", "if[][c][e; f][]"),
    ("case x in a) b ;& c) d ;;& esac", "if[][b][d]"),
    ("f() { a; }", "f() {a}"),
    ("f () ( a )", "f() (a)"),
    ("function f { a; }", "f() {a}"),
    ("function f() { a; }", "f() {a}"),
    ("f()\n{\na\n}", "f() {a}"),
    ("coproc a b", "a b &"),
    ("coproc N { a; }", "{a} &"),
    ("[[ -f x && ! $y =~ ^a ]]", "[[-f x && ! <ShellVariable> =~ ^a]]"),
    ("A=1 B=2 cmd x", "A=1 B=2 cmd x"),
    ("A=1", "A=1"),
    ("A+=1", "A+=1"),
    ("A=(a b c)", "A=(a b c)"),
    ("A=(a\nb # c\n)", "A=(a b)"),
    ("A= cmd", "A= cmd"),
    ("export A=1 B", "A=1 export B"),
    ("cmd A=1", "cmd A=1"),
    ("cmd > out", "cmd >out"),
    ("cmd 2>&1 >>log", "cmd 2>&1 >>log"),
    ("> out cmd", "cmd >out"),
    ("cmd <in >out 2>/dev/null", "cmd <in >out 2>/dev/null"),
    ("cmd &> all", "cmd &>all"),
    ("cmd >| f", "cmd >|f"),
    ("cmd <<< text", "cmd <<<text"),
    ("> f", ">f"),
    ("echo 2 >f", "echo 2 >f"),
    ("echo a2>f", "echo a2 >f"),
    ("cat <<EOF\nrm -rf /\nEOF\nls", "cat <<EOF; ls"),
    ("cat <<A <<B\n1\nA\n2\nB\nls", "cat <<A <<B; ls"),
    ("cat <<-E\n\tx\n\tE\nls", "cat <<-E; ls"),
    ("cat <<EOF; ls\nx\nEOF", "cat <<EOF; ls"),
    ("echo 'a b' \"c d\" e\\ f", "echo a b c d e f"),
    ("echo $'a\\tb\\x41\\101\\u00e9'", "echo a\tbAAé"),
    ("echo $x ${x} ${x:-y} $(a) `a` $((1+1)) <(a)", "echo <ShellVariable> <ShellVariable> <ShellVariable> <Substitution> <Substitution> <Arithmetic> <Substitution>"),
    ("echo a{b,c}d", "echo a{b,c}d"),
    ("ls !(a|b)", "ls !(a|b)"),
    ("if=1", "if=1"),
    ("echo if then fi", "echo if then fi"),
    ("echo }", "echo }"),
    ("ls\r\npwd\r\n", "ls; pwd"),
]  # fmt: skip


@each(("text", "expected"), SHAPES)
def test_text_becomes_the_nodes_a_shell_would_see(text: str, expected: str) -> None:
    assert shapes(parsed(text)) == expected


def walk(found: list[n.Node]) -> Iterator[n.SimpleCommand]:
    for node in found:
        match node:
            case n.SimpleCommand():
                yield node
            case n.ShellPipeline():
                yield from walk(node.stages)
            case n.AndOr():
                yield from walk(node.nodes)
            case n.ShellGroup():
                yield from walk(node.body)


def test_a_here_document_is_text_and_its_expansions_are_not() -> None:
    (node,) = parsed("cat <<EOF\na $x $(b)\nEOF\n")
    body = next(walk([node])).redirects[0].body
    assert body is not None and plain(body) == "a <ShellVariable> <Substitution>\n"
    (node,) = parsed("cat <<'EOF'\na $x $(b)\nEOF\n")
    body = next(walk([node])).redirects[0].body
    assert body is not None and plain(body) == "a $x $(b)\n"


@pytest.mark.parametrize("text", ["a; bb ccc | d", "  a && (bb; { ccc; })", "x=1 a <f\nbb"])
def test_a_span_points_at_the_command_in_the_text(text: str) -> None:
    for node in walk(parsed(text)):
        start, end = node.span
        assert text[start:end].split()[0] in ("a", "bb", "ccc", "d", "x=1")
        assert text[start:end].strip() == text[start:end] or text[start:end].strip()


BROKEN = [
    # text, what is wrong, the commands that are kept
    ("echo 'a", "a single quote is not closed", []),
    ('echo "a', "a double quote is not closed", []),
    ("echo `a", "a backtick is not closed", []),
    ("echo $(a", "expected ')', got 'the end'", ["a"]),
    ("echo ${a", "a ${ cannot be read", []),
    ("echo ${", "a ${ cannot be read", []),
    ("if a; then b", "expected elif or else or fi", ["a", "b"]),
    ("while a; do b", "expected done", ["a", "b"]),
    ("a |", "a command is missing at the end", ["a"]),
    ("a &&", "a command is missing at the end", ["a"]),
    ("( a", "expected ')', got 'the end'", ["a"]),
    ("a )", "unexpected ')'", ["a"]),
    ("a; fi", "unexpected 'f'", ["a"]),
    ("a >", "> goes nowhere", []),
    ("[[ a", "[[ is not closed", []),
    ("A=(a", "an array is not closed", []),
    ("case x in a) b", "expected ;; or esac", ["b"]),
    ("a; (b\nrm -rf /", "expected ')', got 'the end'", ["a", "b", "rm"]),
    ("a ) b\nrm -rf /", "unexpected ')'", ["a", "rm"]),
    ("echo 'a\nrm -rf /", "a single quote is not closed", ["rm"]),
]  # fmt: skip


def names(found: list[n.Node]) -> list[str]:
    out: list[str] = []
    for node in walk(found):
        if node.words and node.words[0].literal:
            out.append(node.words[0].literal)
    return out


@each(("text", "what", "kept"), BROKEN)
def test_broken_text_is_told_and_what_could_be_read_is_kept(text: str, what: str, kept: list[str]) -> None:
    found, errors = parse(text, steps)
    assert what in [str(error) for error in errors]
    assert set(kept) <= set(names(found)), names(found)


@pytest.mark.parametrize("opening", ["(", "$(", "{ ", "if ", "while ", "[[ $(", "${a:-", "<(", "f() { "])
def test_nesting_without_end_stops_with_a_reason(opening: str) -> None:
    _found, errors = parse(opening * (MAX_DEPTH * 20), steps)
    assert errors
    _found, errors = parse("echo " + "$(echo " * 500 + "x" + ")" * 500, steps)
    assert any(isinstance(error, ShellTooDeep) for error in errors)


def test_reading_takes_steps_in_proportion_to_the_text() -> None:
    def spent(text: str) -> int:
        total = 0

        def step(count: int) -> None:
            nonlocal total
            total += count

        parse(text, step)
        return total

    for piece in (
        "a;",
        "a|",
        "a&&",
        "a\n",
        "'x' ",
        "$x ",
        "$(a) ",
        "<(a) ",
        "a<<E\nx\nE\n",
        "(a);",
        "{ a;};",
        "[[ a ]];",
    ):
        once, tenfold = spent(piece * 100), spent(piece * 1000)
        assert tenfold <= 11 * once, piece
