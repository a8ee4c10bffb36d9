"""R, Groovy, Elixir, Julia, Java, PHP, Ruby and Tcl in, what they would do out."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.code.grammar_languages import read_elixir, read_java, read_julia, read_php, read_ruby
from interlock.analysis.code.lexing import Unparsed
from interlock.analysis.code.other import read_other
from interlock.analysis.code.syntax_tree import parsed
from interlock.analysis.code.tcl import read_tcl
from interlock.analysis.code.tokenised import read_groovy, read_r
from interlock.analysis.facts import hole
from recording_report import Fact, Recorder

READERS = {
    "r": read_r,
    "groovy": read_groovy,
    "elixir": read_elixir,
    "tcl": read_tcl,
    "java": read_java,
    "julia": read_julia,
    "php": read_php,
    "ruby": read_ruby,
}
HOME = hole("HOME")

DEEDS: list[tuple[str, str, list[Fact]]] = [
    ("r", 'unlink("src", recursive=TRUE)', [("delete", "src", "recursive")]),
    ("r", 'file.remove(list.files("src"))', [("delete", "src", "bulk")]),
    ("r", "for (f in dir()) unlink(f)", [("delete", "*", "bulk")]),
    ("r", 'system("ls"); system2("rm", c("-rf", "/"))', [("shell", "ls"), ("shell", "rm -rf /")]),
    ("r", 'd <- "src"; unlink(file.path(d, "x"), recursive = TRUE)', [("delete", "src/x", "recursive")]),
    ("r", "eval(parse(text=\"unlink('x')\"))", [("code", "r", "unlink('x')")]),
    ("r", 'source("http://x/y.R")', [("run_download", "http://x/y.R")]),
    ("r", 'DBI::dbExecute(con, "DROP TABLE t")', [("code", "sql", "DROP TABLE t")]),
    ("r", 'for (i in 1:2) unlink(paste0("a", i))', [("delete", "a1"), ("delete", "a2")]),
    ("groovy", 'for (i in 0..1) new File("a" + i).delete()', [("delete", "a0"), ("delete", "a1")]),
    ("groovy", '"rm -rf /".execute()', [("shell", "rm -rf /")]),
    ("groovy", '["rm", "-rf", "/"].execute().text', [("run", "rm", "-rf", "/")]),
    ("groovy", 'new File("src").deleteDir()', [("delete", "src", "recursive")]),
    ("groovy", 'new File("src").eachFileRecurse { it.delete() }', [("delete", "src", "bulk", "recursive")]),
    ("groovy", "node { stage('x') { sh 'ls' } }", [("shell", "ls")]),
    (
        "groovy",
        'evaluate(new URL("http://x/y").text)',
        [("fetch", "http://x/y"), ("run_download", "http://x/y")],
    ),
    (
        "julia",
        'if a rm("a") elseif b rm("b") else rm("c") end',
        [("delete", "a"), ("delete", "b"), ("delete", "c")],
    ),
    ("java", "new File(\"x\" + 'y').delete();", [("delete", "xy")]),
    ("php", "system(<<<A\nrm $x\nls\nA);", [("shell", f"rm {hole('x')}\nls")]),
    ("ruby", "File.delete(<<A.chomp)\n#{x}/a\nA\n", [("delete", f"{hole()}/a\n")]),
    ("elixir", "File.rm(~s(x))", [("delete", "x")]),
    ("elixir", 'File.rm_rf!("/"); File.rm("x")', [("delete", "/", "recursive"), ("delete", "x")]),
    ("elixir", 'System.cmd("rm", ["-rf", "/"])', [("run", "rm", "-rf", "/")]),
    ("elixir", 'Path.wildcard("*") |> Enum.each(&File.rm!/1)', [("delete", "*", "bulk")]),
    ("elixir", '"src" |> Path.join("x") |> File.rm_rf!()', [("delete", "src/x", "recursive")]),
    ("elixir", "Repo.delete_all(User)", [("sql_delete", "User", "unfiltered")]),
    ("elixir", "Repo.delete_all(from u in User, where: u.id == 1)", [("sql_delete", "User")]),
    ("elixir", 'System.shell("rm -rf #{System.get_env("HOME")}")', [("shell", f"rm -rf {HOME}")]),
    ("tcl", "set d /; exec rm -rf $d", [("run", "rm", "-rf", "/")]),
    ("tcl", "file delete -force src", [("delete", "src", "recursive")]),
    ("tcl", "foreach f [glob *] { file delete $f }", [("delete", "*", "bulk")]),
    ("tcl", 'spawn bash; send "rm -rf /\\r"; expect eof', [("run", "bash"), ("shell", "rm -rf /")]),
    ("tcl", "if {$x > [exec id]} { exec ls } else { puts hi }", [("run", "id"), ("run", "ls")]),
    ("tcl", "proc f {d} { file delete -force $d }; f /etc", [("delete", "/etc", "recursive")]),
    ("tcl", "foreach f {a b} { file delete $f }", [("delete", "a"), ("delete", "b")]),
    ("tcl", "file copy a b dir", [("read", "a"), ("read", "b"), ("write", "dir")]),
    ("tcl", "cd /etc; close [open hosts w]", [("truncate", "/etc/hosts")]),
    ("tcl", "eval [http::data [http::geturl http://x/y]]", [("fetch", "http://x/y"), ("run_download", "http://x/y")]),
    ("tcl", "[string reverse cexe] rm x", [("unreadable", "a function chosen at run time", "command")]),
    ("tcl", "exec rm -rf $env(HOME)", [("run", "rm", "-rf", HOME)]),
]

BENIGN = [
    ("r", 'x <- read.csv("a.csv"); print("unlink(1)") # unlink("x")\nx %>% filter(a == 1) %>% summarise(n = n())'),
    ("r", 'rm(list=ls()); cat("hello\\n")'),
    ("groovy", 'println "rm -rf /" // new File("x").delete()\n[1, 2].each { println it }'),
    ("elixir", 'IO.puts("File.rm_rf!") # File.rm_rf!("/")\nIO.inspect %{a: 1}'),
    ("tcl", 'puts "exec rm -rf /"\n# exec rm\nproc a {b} { return [expr {$b * 2}] }'),
    ("tcl", "while {$i < 3} { incr i }; for {set i 0} {$i < 3} {incr i} { puts $i }"),
]


@each(("language", "source", "told"), DEEDS)
def test_what_the_program_does_is_told(language: str, source: str, told: list[Fact]) -> None:
    out = Recorder()
    READERS[language](source, out)
    assert out.told == told


@pytest.mark.parametrize(("language", "source"), BENIGN)
def test_harmless_programs_tell_nothing(language: str, source: str) -> None:
    out = Recorder()
    READERS[language](source, out)
    assert [told for told in out.told if told[0] != "read"] == []


@each("language", ["r", "groovy", "elixir", "tcl", "php", "ruby"])
@each("source", ['f "abc', "{", "exec {" * 3000, "{" * 200])
def test_programs_that_do_not_parse_are_told(language: str, source: str) -> None:
    out = Recorder()
    READERS[language](source, out)
    assert any(told[0] == "unreadable" for told in out.told)


@pytest.mark.parametrize("piece", ["run(", "file{'a':", "deleteFile(", "file('a')", "`a "])
def test_the_net_for_other_languages_ends_on_long_texts(piece: str) -> None:
    read_other(
        piece * (100_000 // len(piece)), out := Recorder()
    )  # took half a minute when each call was followed to the end
    assert len(out.told) < 10_000


@each(("language", "source"), [("elixir", "a+" * 20_000 + "1"), ("julia", "a b " * 20_000)])
def test_a_statement_without_an_end_is_given_up_at_once(language: str, source: str) -> None:
    with pytest.raises(Unparsed, match="without an end"):
        parsed(language, source)


def test_more_clauses_than_a_parser_can_take_are_given_up_at_once() -> None:
    with pytest.raises(Unparsed, match="more clauses"):  # took ten seconds
        parsed("elixir", "receive do\n f -> a\nafter\n 100 -> b\nend\n" * 2_500)
    parsed("elixir", "case x do\n f -> a\nend\n" * 500)
