"""The report of one reading of PowerShell: paths from where it started, registry keys, and the files that it wrote."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from interlock.analysis.code.program.walk import ProgramWalk
from interlock.analysis.windows import RelocatedReport, WrittenTexts, is_nothing

_REGISTRY = ("hklm:", "hkcu:", "hkcr:", "hku:", "registry::", "microsoft.powershell.core\\registry::")
_NAMES_ONLY = ("env:", "variable:", "function:", "alias:")
_TO_KEYS = {"delete": "delete", "truncate": "delete", "move": "delete", "write": "add", "overwrite": "add"}


class PsSession(Struct):
    """A Report that knows what a path means to PowerShell, which has registry keys and variables among them."""

    out: RelocatedReport
    files: WrittenTexts
    depth: int = 0  # of texts that are run inside each other

    def effect(self, verb: str, target: str = "", *traits: str) -> None:
        """An effect; on a registry key, the command of `reg` that has it, and on a name of the session, none."""
        path = self.out.relocate(target)
        if path.lower().startswith(_NAMES_ONLY) or (verb in ("write", "append", "truncate") and is_nothing(path)):
            return
        if verb in _TO_KEYS and (key := registry_key(path)):
            self.out.run(["reg", _TO_KEYS[verb], key, *["/f"] * (_TO_KEYS[verb] == "delete")])
        else:
            self.out.effect(verb, target, *traits)

    def run(self, argv: Sequence[str]) -> None:
        self.out.run(argv)

    def shell(self, text: str) -> None:
        self.out.shell(text)

    def code(self, language: str, text: str) -> None:
        self.out.code(language, text)

    def unreadable(self, what: str, *traits: str) -> None:
        self.out.unreadable(what, *traits)

    def step(self, count: int = 1) -> None:
        self.out.step(count)


def registry_key(path: str) -> str:
    """HKLM:Software, HKLM:\\Software, Registry::HKEY_LOCAL_MACHINE\\Software: the key as `reg` has it."""
    if not path.lower().startswith(_REGISTRY):
        return ""
    drive, colon, rest = path.split("::")[-1].partition(":")
    return f"{drive}\\{rest.lstrip(chr(92) + '/')}" if colon else drive


def session_of(walk: ProgramWalk) -> PsSession:
    """The session that a walk reports to."""
    assert isinstance(walk.out, PsSession)
    return walk.out


def files_of(walk: ProgramWalk) -> WrittenTexts:
    """The files that the session made, and those that calls of libraries fetched."""
    files = session_of(walk).files
    for path, url in walk.world.downloads.items():
        files.download(path, url)
    return files
