"""A sandbox plan as a bubblewrap command line, or on macOS as a profile for sandbox-exec; refuses where bubblewrap cannot run."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from interlock.identity.isolation import FOLDER, JOURNAL
from interlock.problems import ExpectedError
from interlock.sandbox import MountMode, SandboxMount, SandboxPlan

PROGRAM = "bwrap"
INSIDE = Path(__file__).with_name("inside.py")
_PROBE = ("--bind", "/", "/", "--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--unshare-ipc", "--", "/bin/true")
_PATIENCE = 20
_SWITCHES = (  # the settings by which a system can forbid it, and the values that allow it
    ("kernel.unprivileged_userns_clone", "1"),
    ("kernel.apparmor_restrict_unprivileged_userns", "0"),
    ("user.max_user_namespaces", "15000"),
)


class CannotJail(ExpectedError):
    """There can be no jail here; the message says why and what to do."""


def find_bubblewrap() -> str:
    program = shutil.which(PROGRAM, path="/usr/bin:/bin") or shutil.which(PROGRAM)
    if program is None:
        raise CannotJail("bubblewrap is missing: install the package `bubblewrap`")
    try:
        done = subprocess.run([program, *_PROBE], stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotJail(f"{program} does not run: {error}") from None
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise CannotJail(_why(lines[-1] if lines else f"{program} exits {done.returncode}"))
    return program


def _why(error: str) -> str:
    off = [f"`sysctl -w {name}={value}`" for name, value in _SWITCHES if _is_off(name)]
    if off:
        return f"{error}. this system forbids user namespaces; as root: {' and '.join(off)}"
    return f"{error}. are user namespaces allowed here? A container may need `--security-opt seccomp=unconfined`, or bubblewrap setuid root"


def _is_off(name: str) -> bool:
    try:
        value = Path("/proc/sys", *name.split(".")).read_text().strip()
    except OSError:
        return False
    return value == ("1" if "restrict" in name else "0")


class Handshake(Struct, frozen=True):
    info: int = -1  # bubblewrap writes the pid of the first process
    ready: int = -1  # the first process inside reports that the sandbox is complete
    go: int = -1  # and waits here
    journal: int = -1  # the socket by which the journal's supervisor outside gets its listener


def bubblewrap_argv(jail: SandboxPlan, program: str, files: Handshake | None = None, tty: bool = False) -> list[str]:
    """The whole command; without files, as a person would type it."""
    files = files or Handshake()
    words = [program, "--bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--ro-bind-try", "/sys", "/sys"]
    for mount in jail.world.in_order():
        words += _mount(mount)
    words += [*_runtime(jail), "--remount-ro", str(jail.state), "--chdir", str(jail.cwd)]
    words += ["--unshare-pid", "--unshare-ipc", "--die-with-parent", "--cap-drop", "ALL"]
    words += ["--info-fd", str(files.info)] if files.info >= 0 else []
    return [*words, "--", *_inside(jail, files, tty)]


def _inside(jail: SandboxPlan, files: Handshake, tty: bool) -> list[str]:
    flags = [flag for flag, on in (("tty", tty), ("scoped", not jail.abstract)) if on]
    enter = [jail.supervisor, "--enter", str(files.journal)] if files.journal >= 0 else []
    given = [str(files.ready), str(files.go), ",".join(flags), *enter, *jail.command]
    return [sys.executable, "-I", "-S", str(INSIDE), *given]


def _mount(mount: SandboxMount) -> list[str]:
    path = str(mount.path)
    if mount.how is MountMode.LINK:
        return ["--symlink", mount.target, path]
    if mount.how is MountMode.HIDE:
        perms = "1777" if path in ("/tmp", "/var/tmp") else "0755"
        return ["--perms", perms, "--tmpfs", path] if mount.folder else ["--ro-bind", "/dev/null", path]
    return ["--bind" if mount.how is MountMode.KEEP else "--ro-bind", path, path]


def _runtime(jail: SandboxPlan) -> list[str]:
    path, mounts = jail.runtime, jail.world.mounts
    hidden = any(one.how is MountMode.HIDE and path.is_relative_to(one.path) for one in mounts.values())
    return ["--perms", "0700", "--dir", str(path)] if hidden and path not in mounts else []


SANDBOX_EXEC = "/usr/bin/sandbox-exec"


def seatbelt_argv(jail: SandboxPlan) -> list[str]:
    return [SANDBOX_EXEC, "-p", seatbelt_profile(jail), *jail.command]


def seatbelt_profile(jail: SandboxPlan) -> str:
    """Allows by default and denies by mount; of several matching rules the last counts."""
    lines = ["(version 1)", "(allow default)"]
    for mount in jail.world.in_order():
        if mount.how is not MountMode.LINK:
            lines += _rules(mount)
    lines += _state(jail)
    lines += ["(deny process-info* (target others))", "(deny signal (target others))"]
    return "\n".join([*lines, "(allow signal (target same-sandbox))\n"])


def _rules(mount: SandboxMount) -> Iterator[str]:
    kind, path = "subpath" if mount.folder else "literal", _quoted(mount.path)
    if mount.how is MountMode.HIDE:
        yield f"(deny file* network-outbound ({kind} {path}))"
    elif mount.how is MountMode.FIX:
        yield f"(deny file-write* ({kind} {path}))"
    else:  # neither renamed nor removed
        yield f"(allow file* network-outbound ({kind} {path}))"
        yield f"(deny file-write-unlink (literal {path}))"


def _state(jail: SandboxPlan) -> Iterator[str]:
    yield f"(allow file-read* process-exec (subpath {_quoted(jail.state / 'bin')}))"
    yield f"(allow file-read* network-outbound (subpath {_quoted(jail.state / FOLDER)}))"
    yield f"(allow file* (subpath {_quoted(jail.state / FOLDER / JOURNAL)}))"
    yield f"(allow network-outbound file-read* (literal {_quoted(jail.state / 'interlock.sock')}))"


def _quoted(path: Path) -> str:
    text = str(path).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'
