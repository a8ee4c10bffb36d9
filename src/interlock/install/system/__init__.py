"""`interlock install --system`: the steps that give the daemon its own user, each shown first; its units and configuration."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from interlock.config import load_config
from interlock.install.files import fill_file, read_state, write_file
from interlock.install.system import code
from interlock.install.system.code import CannotSetUp, why_writable

USER = "interlock"
_UNIT_FILES = Path(__file__).with_name("units")
PORT = 731  # below 1024: while the daemon is down, only root can bind it


class Layout(Struct, frozen=True):
    code: Path = Path("/opt/interlock")
    state: Path = Path("/var/lib/interlock")
    config: Path = Path("/etc/interlock/config.toml")
    run: Path = Path("/run/interlock")
    units: Path = Path("/etc/systemd/system")
    tmpfiles: Path = Path("/etc/tmpfiles.d/interlock.conf")
    link: Path = Path("/usr/local/bin/interlock")

    @property
    def python(self) -> Path:
        return self.code / "bin" / "python"

    @property
    def program(self) -> Path:
        return self.code / "bin" / "interlock"


def config_text(layout: Layout, users: Sequence[str], operators: Sequence[str]) -> str:
    """A new configuration; an operator's own keys are added to it by hand."""
    who = f"operators = {json.dumps(list(operators))}\n" if operators else ""
    words = _places(layout) | {"USERS": json.dumps(list(users)), "OPERATORS": who}
    return fill_file(_UNIT_FILES / "config.toml", words)


def unit_files(layout: Layout) -> dict[Path, str]:
    # Of both services, neither of which needs any of it.
    words = _places(layout) | {"HARDENED": (_UNIT_FILES / "hardened").read_text("utf-8").rstrip("\n")}
    units = {layout.units / path.name: fill_file(path, words) for path in sorted(_UNIT_FILES.glob("interlock*.*"))}
    return {layout.tmpfiles: f"d {layout.run} 0755 {USER} {USER} -\n", **units}


def _places(layout: Layout) -> dict[str, object]:
    return {
        "PYTHON": layout.python,
        "CODE": layout.code,
        "CONFIG": layout.config,
        "RUN": layout.run,
        "STATE": layout.state,
        "STATE_NAME": layout.state.name,
        "USER": USER,
        "PORT": PORT,
    }


_NOLOGIN = ("/usr/sbin/nologin", "/sbin/nologin", "/bin/false")
_UNITS = ("interlock-looker.socket", "interlock.socket", "interlock-looker.service", "interlock.service")
SECONDS = 120


class SystemStep(Struct, frozen=True):
    words: str
    needed: bool
    do: Callable[[], None]


def steps(layout: Layout, users: Sequence[str], operators: Sequence[str]) -> list[SystemStep]:
    check_users(users, operators)
    made = [
        SystemStep(f"make the user {USER}, who cannot log in", not _exists(USER), _make_user(layout)),
        SystemStep(
            f"copy Interlock's code to {layout.code}, where only root can change it",
            not code.is_installed(layout.code),
            lambda: code.copy_code(layout.code),
        ),
        SystemStep(f"make {layout.state}, for {USER} alone", not _is_state(layout), lambda: _state(layout)),
        _file(layout.config, _config(layout, users, operators)),
    ]
    if has_systemd():
        made += [_file(path, text) for path, text in unit_files(layout).items()]
    made.append(_link(layout))
    client = layout.code / "bin" / "interlock-hook"
    changed = any(step.needed for step in made)
    # With the copied code, whose Python is compiled in.
    build = [str(layout.python), "-I", "-m", "interlock.install.client_build", str(layout.config)]
    made.append(SystemStep(f"build {client}", changed or not client.exists(), lambda: _run(build)))
    if has_systemd():
        argv = ["systemctl", "is-active", "--quiet", *_UNITS]
        active = subprocess.run(argv, capture_output=True, timeout=SECONDS).returncode == 0
        made.append(SystemStep("start it, now and at every boot", changed or not active, _start))
    return made


def check_users(users: Sequence[str], operators: Sequence[str]) -> None:
    if os.geteuid() != 0:
        raise CannotSetUp("--system takes root: try `sudo interlock install --system`")
    if not users:
        raise CannotSetUp("name the user whose agents are guarded with --for NAME; root's cannot be")
    for name in (*users, *operators):
        if not _exists(name):
            raise CannotSetUp(f"there is no user {name!r}")
    if any(pwd.getpwnam(name).pw_uid == 0 or name == USER for name in users):
        raise CannotSetUp("the agents of root, and of the daemon itself, cannot be restricted")


def has_systemd() -> bool:
    """Running, not only installed, as in a container."""
    return Path("/run/systemd/system").is_dir() and shutil.which("systemctl") is not None


def removal_steps(layout: Layout) -> Iterator[SystemStep]:
    """State and configuration stay, as they hold the record and the operators."""
    if has_systemd():
        stop = ["systemctl", "disable", "--quiet", "--now", *_UNITS]
        there = any(map(Path.exists, unit_files(layout)))
        yield SystemStep("stop it, and start it no more", there, lambda: _run(stop))
    for path in unit_files(layout):
        yield SystemStep(f"remove {path}", path.exists(), path.unlink)
    ours = layout.link.is_symlink() and os.readlink(layout.link) == str(layout.program)
    yield SystemStep(f"remove {layout.link}", ours, layout.link.unlink)
    yield SystemStep(f"remove {layout.code}", layout.code.exists(), lambda: shutil.rmtree(layout.code))
    yield SystemStep(f"remove {layout.run}", layout.run.exists(), lambda: shutil.rmtree(layout.run, ignore_errors=True))


def _config(layout: Layout, users: Sequence[str], operators: Sequence[str]) -> str:
    """With these users added; refuses to edit one that an operator changed."""
    if not layout.config.exists():
        return config_text(layout, users, operators)
    known = load_config(layout.config, {})
    text = layout.config.read_text("utf-8")
    present = known.separate.users, known.separate.operators
    wanted = tuple(tuple(dict.fromkeys((*old, *new))) for old, new in zip(present, (users, operators)))
    if wanted == present:
        return text
    if text == config_text(layout, *present):
        return config_text(layout, *wanted)
    add = f"add {', '.join(users)} to users in [separate] there, then run this again"
    raise CannotSetUp(f"{layout.config} was changed by hand: {add}")


def _file(path: Path, text: str) -> SystemStep:
    def write() -> None:
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        if why := why_writable(path.parent):
            raise CannotSetUp(why)
        write_file(path, text.encode())

    return SystemStep(f"write {path}", read_state(path).text != text, write)


def _make_user(layout: Layout) -> Callable[[], None]:
    shell = next((path for path in _NOLOGIN if Path(path).exists()), "/bin/false")
    argv = ["useradd", "--system", "--user-group", "--no-create-home", "--home-dir", str(layout.state)]
    return lambda: _run([*argv, "--shell", shell, "--comment", "Interlock", USER])


def _is_state(layout: Layout) -> bool:
    try:
        found = layout.state.lstat()
        own = found.st_uid == pwd.getpwnam(USER).pw_uid and found.st_mode & 0o077 == 0
        return own and not layout.state.is_symlink()
    except (OSError, KeyError):
        return False


def _state(layout: Layout) -> None:
    if why := why_writable(layout.state.parent):
        raise CannotSetUp(why)
    layout.state.mkdir(mode=0o700, exist_ok=True)
    if layout.state.is_symlink():
        raise CannotSetUp(f"{layout.state} is a link")
    owner = pwd.getpwnam(USER)
    os.chown(layout.state, owner.pw_uid, owner.pw_gid)
    layout.state.chmod(0o700)


def _link(layout: Layout) -> SystemStep:
    def make() -> None:
        layout.link.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        layout.link.symlink_to(layout.program)

    taken = layout.link.exists() or layout.link.is_symlink()
    return SystemStep(f"link {layout.link} to {layout.program}", not taken, make)


def _start() -> None:
    _run(["systemd-tmpfiles", "--create", "interlock.conf"])
    for words in (["daemon-reload"], ["enable", "--quiet", *_UNITS], ["restart", *_UNITS]):
        _run(["systemctl", *words])


def _exists(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


def _run(argv: Sequence[str]) -> None:
    run_tool(argv, SECONDS, {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C"})


def run_tool(argv: Sequence[str], seconds: float, env: Mapping[str, str] | None = None) -> None:
    """Raises CannotSetUp with the program's words where it fails."""
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds, env=env)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotSetUp(f"{argv[0]}: {error}") from None
    if done.returncode:
        said = " ".join((done.stderr or done.stdout).split())[-400:]
        raise CannotSetUp(f"`{' '.join(argv[:4])}` failed ({done.returncode}): {said}")
