"""Cmdlets that run code, pass objects on, change the session or talk to the web, and their effects."""

from __future__ import annotations

from collections.abc import Sequence

from interlock.analysis.facts import HOLE, hole, known
from interlock.analysis.places import place
from interlock.analysis.powershell.file_cmdlets import FILE_CMDLETS, Cmdlet
from interlock.analysis.powershell.members import unpack
from interlock.analysis.powershell.parameters import Bound, cmdlets
from interlock.analysis.powershell.programs import run_line, run_program, run_value, split_line
from interlock.analysis.powershell.values import (
    Items,
    PsObject,
    PsReading,
    Records,
    Script,
    Value,
    combine,
    plain,
    source_url,
    spread,
    texts,
    unknown,
)
from interlock.analysis.windows import download_mark, plain_holes, wildcard


def invoke_web(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Invoke-WebRequest and its kin: something is fetched, sent or changed at an address."""
    url, method = (plain_holes(bound.text("uri")), bound.text("method", "custommethod").lower())
    if not known(method):
        session.out.unreadable("a web request whose method is made at run time", "payload")
    sent = [*texts(bound.given.get("body")), *(f"{hole(path)}" for path in bound.texts("infile")), *bound.texts("form")]
    request(session, url, method, sent)
    for path in bound.texts("infile"):
        session.out.effect("read", plain_holes(path))
    path = bound.text("outfile")
    if path:
        save(session, url, path)
    return [] if path else [download_mark(url)]


def request(session: PsReading, url: str, method: str, sent: Sequence[str]) -> None:
    """One request: something is fetched or changed, and what is not typed here is sent."""
    if method in ("delete", "put", "patch", "post"):
        session.out.effect("http", plain_holes(url), method)
    else:
        session.out.effect("fetch", plain_holes(url))
    if any(not known(text) or text.lower().startswith("env:") for text in sent):
        session.out.effect("send", plain_holes(url), *_sent_traits(sent))


def _sent_traits(sent: Sequence[str]) -> list[str]:
    """What is known of data that leaves: the whole environment, or what a secret file holds."""
    traits = ["environment"] if any(text.lower().startswith("env:") for text in sent) else []
    named = [name.replace("\\", "/") for text in sent for name in text.split(HOLE)[1::2]]
    return traits + (["secret"] if any(place(name) == "secret" for name in named if name) else [])


def save(session: PsReading, url: str, path: str) -> None:
    session.out.effect("write", plain_holes(path))
    session.files.download(path, url)


def start_bits(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Start-BitsTransfer: an address saved to a file, or a file sent to an address."""
    if bound.text("transfertype").lower().startswith("upload") or bound.text("destination").lower().startswith("http"):
        sent = [hole(path) for path in bound.texts("source")]
        session.out.effect("send", plain_holes(bound.text("destination")), *_sent_traits(sent))
        return []
    url = plain_holes(bound.text("source"))
    session.out.effect("fetch", url)
    save(session, url, bound.text("destination") or url.rpartition("/")[2])
    return []


def start_process(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Start-Process and Invoke-Item: a program, with its words in a list or in one text."""
    given = bound.given.get("argumentlist")
    words = texts(given) if isinstance(given, list) else split_line(plain(given)) if given is not None else []
    for program in bound.texts("filepath", "path", "literalpath"):
        if bound.text("verb").lower() == "runas":
            session.out.run(["start-process", "-Verb", "RunAs", plain_holes(program), *map(plain_holes, words)])
        run_program(session, program, words)
    return [hole("process")]


def new_object(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """New-Object: an object of a known kind, with its data."""
    if name := bound.text("comobject"):
        return [PsObject(f"com:{name.lower()}")]
    return [make_object(session, bound.text("typename"), [*spread(bound.given.get("argumentlist")), *bound.rest])]


def make_object(session: PsReading, kind: str, arguments: list[Value]) -> Value:
    """An object as `New-Object` or `[Kind]::new()` would make it."""
    name = kind.lower().removeprefix("system.")
    if name.endswith(("sockets.tcpclient", "sockets.udpclient", "sockets.socket")):
        session.socket = ":".join(text for one in arguments for text in texts(one))
    if name in ("io.fileinfo", "io.directoryinfo"):
        return Items(tuple(texts(arguments)))
    data = next((one for one in arguments if isinstance(one, bytes)), None)
    data = data or next((one.data for one in arguments if isinstance(one, PsObject)), None)
    note = next((unknown("", one) for one in arguments if source_url(one) is not None), "")
    return PsObject(name, note or " ".join(text for one in arguments for text in texts(one)), unpack(name, data))


def invoke_expression(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Invoke-Expression: its text is PowerShell."""
    given = [bound.given["command"]] if "command" in bound.given else piped
    return [made for value in given for made in run_value(session, value)]


def for_each(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """ForEach-Object: its blocks, once for every item of the pipe."""
    scripts = [value for value in [*bound.given.values(), *bound.rest] if isinstance(value, Script)]
    name = plain(bound.given.get("membername", "" if scripts else bound.given.get("process", ""))).lower()
    made: list[Value] = []
    for item in piped or [hole("_")]:
        if not session.more():
            break
        if name:
            made.append(session.invoke(session, item, name))
        for script in scripts:
            made += session.run_block(session, script, {"_": item})
    return made


def where_object(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Where-Object: the same items, or fewer of them."""
    scripts = [word.value for word in bound.words if isinstance(word.value, Script)]
    for script in scripts:
        session.run_block(session, script, {"_": piped[0] if piped else hole("_")})
    session.out.run([plain_holes(word) for word in bound.argv()])
    return [Records(item.noun, item.words, True) if isinstance(item, Records) else item for item in piped]


def pass_on(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Select-Object, Sort-Object and the like: what came in goes out."""
    session.out.run([plain_holes(word) for word in bound.argv()])
    return list(piped)


def write_output(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Write-Output: its words go down the pipe."""
    session.out.run([plain_holes(word) for word in bound.argv()])
    return [*piped, *(item for value in bound.rest for item in spread(value))]


def stop_process(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Stop-Process: all processes, where none is named."""
    argv = [*bound.argv(), *piped_words(piped)]
    whole = any(isinstance(item, Records) and not item.filtered and not item.words for item in piped)
    if (whole or "*" in bound.texts("name")) and not bound.has("whatif"):
        session.out.effect("kill", "", "all")
    session.out.run([plain_holes(word) for word in argv])
    return []


def piped_words(piped: Sequence[Value]) -> list[str]:
    """Which objects the pipe brings: the words that picked them, or `*` for all."""
    found: list[str] = []
    for item in piped:
        if isinstance(item, Records):
            found += list(item.words) or ([] if item.filtered else ["*"])
    return [word for word in found if not word.lower().startswith(("-wh", "-wi"))]  # its own rehearsal


def set_alias(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Set-Alias: another name for a command."""
    session.aliases[bound.text("name").lower()] = bound.text("value").lower()
    return []


def set_variable(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Set-Variable: the same as an assignment."""
    value = bound.given.get("value", piped[0] if piped else None)
    for name in bound.texts("name"):
        session.set(name, value)
    return []


def get_variable(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Get-Variable: what the variable holds."""
    return [session.get(name) for name in bound.texts("name")]


def get_command(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Get-Command: the name of the command; a pattern names the first cmdlet that it fits."""
    from fnmatch import fnmatchcase

    session.out.run([plain_holes(word) for word in bound.argv()])
    names = bound.texts("name")
    return [
        next((cmdlet for cmdlet in cmdlets().specs if wildcard(name) and fnmatchcase(cmdlet, name.lower())), name)
        for name in names
    ]


def join_path(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Join-Path: the parts with a backslash between."""
    made: Value = bound.given.get("path", piped[0] if piped else "")
    children = bound.texts("childpath", "additionalchildpath") + [text for one in bound.rest for text in texts(one)]
    for child in children:
        made = combine([plain(made).rstrip("\\/") if isinstance(made, str) else made, "\\", child.lstrip("\\/")])
    return [made]


def invoke_method(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Invoke-WmiMethod and Invoke-CimMethod: a new process is a command line, anything else goes to the rules."""
    given = bound.given.get("argumentlist", bound.given.get("arguments"))
    if "win32_process" in bound.text("class", "classname").lower():
        tables = [value for value in (*bound.given.values(), *bound.rest) if isinstance(value, dict)]
        line = tables[0].get("commandline") if tables else (spread(given) or [""])[0]
        run_line(session, line)
    else:
        session.out.run([plain_holes(word) for word in [*bound.argv(), *piped_words(piped)]])
    return []


def keep_command(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """New-ScheduledTaskAction and New-Service: a command line that will run later."""
    session.out.run([plain_holes(word) for word in bound.argv()])
    if line := bound.text("execute", "binarypathname"):
        run_line(session, f"{line} {bound.text('argument')}".strip())
    return [hole(bound.name)]


def add_type(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Add-Type: code of another language becomes part of the session."""
    for text in bound.texts("typedefinition", "memberdefinition"):
        session.out.code("other", text)
    return []


def set_location(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Set-Location and Push-Location: later paths are relative to it."""
    paths = bound.texts("path", "literalpath") or [text for value in piped for text in texts(value)]
    for path in paths[:1]:
        session.out.enter(plain_holes(path), remember=bound.name == "push-location")
    return []


def pop_location(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Pop-Location: back to where the last Push-Location started."""
    session.out.leave()
    return []


def get_location(session: PsReading, bound: Bound, piped: list[Value]) -> list[Value]:
    """Get-Location: here."""
    return ["."]


CMDLETS: dict[str, Cmdlet] = {
    **FILE_CMDLETS,
    "invoke-webrequest": invoke_web,
    "invoke-restmethod": invoke_web,
    "start-bitstransfer": start_bits,
    "start-process": start_process,
    "invoke-item": start_process,
    "new-object": new_object,
    "invoke-expression": invoke_expression,
    "foreach-object": for_each,
    "where-object": where_object,
    "select-object": pass_on,
    "sort-object": pass_on,
    "out-string": pass_on,
    "group-object": pass_on,
    "write-output": write_output,
    "stop-process": stop_process,
    "set-alias": set_alias,
    "new-alias": set_alias,
    "set-variable": set_variable,
    "new-variable": set_variable,
    "get-variable": get_variable,
    "get-command": get_command,
    "join-path": join_path,
    "invoke-wmimethod": invoke_method,
    "invoke-cimmethod": invoke_method,
    "new-scheduledtaskaction": keep_command,
    "new-service": keep_command,
    "add-type": add_type,
    "set-location": set_location,
    "push-location": set_location,
    "pop-location": pop_location,
    "get-location": get_location,
}


def cmdlet_name(session: PsReading, word: str) -> str:
    """The cmdlet that a word names, through aliases and module prefixes; the word itself for anything else."""
    name = word.lower()
    head, _, tail = name.rpartition("\\")
    if head and "-" in tail and ":" not in head and "." in head:
        name = tail
    for _ in range(4):
        name = session.aliases.get(name) or name
    return cmdlets().aliases.get(name, name)
