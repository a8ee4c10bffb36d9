"""The daemon as a service of one user: systemd, launchd, or started by hooks; and `undo.wrap`, set once tried."""

from __future__ import annotations

import os
import plistlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from interlock.agents.jsonc import EditError
from interlock.agents.toml_edit import BEGIN, END, parse_toml, toml_lines, with_block, without_block
from interlock.client import NoDaemon, find_daemon
from interlock.config import Config, config_path, load_config
from interlock.engine.fallback import start_daemon
from interlock.install.files import FileProblem, fill_file, read_state, remove_file, replace_file, write_file
from interlock.install.system import SystemStep, run_tool
from interlock.install.system.code import CannotSetUp
from interlock.journal.undo import wrapping_problem
from interlock.socket_peers import peer_of

SYSTEMD, LAUNCHD, HOOKS = "systemd", "launchd", "hooks"
UNIT = "interlock.service"
LABEL = "interlock.daemon"
START_SECONDS = 30.0
_TOOL_SECONDS = 20.0
_SYSTEMCTL = ("systemctl", "--user")
_KEPT = ("XDG_STATE_HOME", "XDG_CONFIG_HOME")  # without which the daemon would look for its files elsewhere


def find_manager() -> str:
    """The service manager of this user's session; HOOKS where none runs, as in a container."""
    if sys.platform == "darwin" and shutil.which("launchctl"):
        return LAUNCHD
    return SYSTEMD if shutil.which("systemctl") and _has_systemd() else HOOKS


def service_file(manager: str) -> Path | None:
    if manager == SYSTEMD:
        return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "systemd" / "user" / UNIT
    return Path.home() / "Library" / "LaunchAgents" / f"{LABEL}.plist" if manager == LAUNCHD else None


def service_text(manager: str, config: Config) -> str:
    """It names this Python by its absolute path."""
    argv = [sys.executable, "-I", "-m", "interlock", "serve"]
    argv += ["--config", os.path.abspath(config.path)] if config.path else []
    kept = {key: os.environ[key] for key in _KEPT if os.environ.get(key)}
    if manager == LAUNCHD:
        data = {"Label": LABEL, "ProgramArguments": argv, "RunAtLoad": True, "KeepAlive": {"SuccessfulExit": False}}
        return plistlib.dumps(data | ({"EnvironmentVariables": kept} if kept else {})).decode()
    environment = "".join(f"Environment={_quoted(f'{key}={value}')}\n" for key, value in kept.items())
    words = {"ARGV": " ".join(map(_quoted, argv)), "ENVIRONMENT": environment}
    return fill_file(Path(__file__).with_name("user.service"), words)


def start_steps(manager: str, config: Config) -> Iterator[SystemStep]:
    path = service_file(manager)
    if path is None:
        words = f"let hooks start the daemon where none runs (hooks.start_daemon in {settings_file(config)})"
        setting = {"hooks": {"start_daemon": True}}
        yield SystemStep(words, not config.hooks.start_daemon, lambda: _change_settings(config, setting))
        yield SystemStep("start the daemon now", not is_running(config), lambda: _start_detached(config))
        return
    text = service_text(manager, config)
    changed = read_state(path).text != text
    yield SystemStep(f"write {path}", changed, lambda: write_file(path, text.encode()))
    pid = daemon_process(config)
    words = "start the daemon now, and at every login" + (f", in place of process {pid}" if pid else "")
    yield SystemStep(words, changed or not is_running(config), lambda: _start(manager, path, config))


def _services() -> Iterator[tuple[str, Path]]:
    for manager in (SYSTEMD, LAUNCHD):
        if (path := service_file(manager)) is not None and path.is_file():
            yield manager, path


def restart(config: Config) -> None:
    """Starts the daemon anew, so that settings written since its start count."""
    if service := next(_services(), None):
        _start(*service, config)
    else:
        _stop(daemon_process(config), config)
        _start_detached(config)


def stop_steps(config: Config) -> Iterator[SystemStep]:
    for manager, path in _services():
        yield SystemStep("start the daemon no more at a login", True, partial(_disable, manager))
        yield SystemStep(f"remove {path}", True, path.unlink)
    if pid := daemon_process(config):
        yield SystemStep(f"stop the daemon (process {pid})", True, lambda: _stop(pid, config))
    if config.path and BEGIN in Path(config.path).read_text("utf-8"):
        yield SystemStep(f"take what init wrote out of {config.path}", True, lambda: switch_off(config))


def data_steps(config: Config) -> Iterator[SystemStep]:
    if config.folder.is_dir():
        words = f"delete {config.folder}: the record, the operators and the copies for `interlock undo`"
        yield SystemStep(words, True, lambda: shutil.rmtree(config.folder))
    folder = settings_file(config).parent
    if not config.separate.on and folder.name == "interlock" and folder.is_dir():
        yield SystemStep(f"delete {folder}: the configuration", True, lambda: shutil.rmtree(folder))


def is_running(config: Config) -> bool:
    try:
        find_daemon(config).get("/status", 5.0)
    except NoDaemon:
        return False
    return True


def until_running(config: Config, seconds: float = START_SECONDS) -> bool:
    end = time.monotonic() + seconds
    while not is_running(config):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def daemon_process(config: Config) -> int:
    """Serves the socket, and is this user's; else 0."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe, suppress(OSError):
        probe.settimeout(5)
        probe.connect(str(config.socket_path))
        peer = peer_of(probe)
        return peer[0] if peer is not None and peer[1] == os.getuid() else 0
    return 0


def settings_file(config: Config) -> Path:
    return Path(config.path) if config.path else config_path()


def add_channel(config: Config, url: str) -> Path:
    path = settings_file(config)
    secret = path.with_name("channel-url")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_file(secret, url.encode() + b"\n", 0o600)
    secret.chmod(0o600)
    channel = {"name": "me", "kind": "apprise", "url_file": secret.name}
    _change_settings(config, {"channels": {"send": [channel]}})
    return path


def _change_settings(config: Config, tables: Mapping[str, Mapping[str, Any]]) -> None:
    """Adds tables to init's block; refuses a file that defines them already."""
    path = settings_file(config)
    state = read_state(path)
    block = "\n".join(toml_lines(tables)).strip()
    try:
        own, rest = _own_settings(state.text or "")
        wraps = own.pop("undo", None)
        block = "\n".join(toml_lines({**own, **tables})).strip()
        text = with_block(rest or None, block)
        text = with_setting(text) if wraps else text
    except EditError:
        raise CannotSetUp(f"{path} has such a table already; add this to it:\n{block}") from None
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    replace_file(state, text.encode(), 0o600)


def _own_settings(text: str) -> tuple[dict[str, Any], str]:
    own: dict[str, Any] = {}
    while BEGIN in text:
        said = parse_toml(text.partition(BEGIN)[2].partition(END)[0])
        own |= {"undo": said} if "wrap" in said else said  # whose block can be inside [undo]
        text = without_block(text) or ""
    return own, text


def _start_detached(config: Config) -> None:
    path = settings_file(config)
    start_daemon(load_config(path) if path.is_file() else config)


def _start(manager: str, path: Path, config: Config) -> None:
    _stop(daemon_process(config), config)  # another one has the state folder; the service takes its place
    if manager == LAUNCHD:
        _disable(manager)
        _run("launchctl", "bootstrap", f"gui/{os.getuid()}", str(path))
    else:
        for words in (["daemon-reload"], ["enable", UNIT], ["restart", UNIT]):
            _run(*_SYSTEMCTL, *words)


def _disable(manager: str) -> None:
    if manager == LAUNCHD:
        subprocess.run(["launchctl", "bootout", f"gui/{os.getuid()}/{LABEL}"], capture_output=True)
    elif _has_systemd():
        _run(*_SYSTEMCTL, "disable", "--now", UNIT)


def _stop(pid: int, config: Config) -> None:
    """Waits until it has ended, after which nothing writes into the state folder."""
    if not pid:
        return
    end = time.monotonic() + START_SECONDS
    with suppress(ProcessLookupError):
        if daemon_process(config) == pid:
            os.kill(pid, signal.SIGTERM)
        while time.monotonic() < end:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)  # where this very process has started it
            os.kill(pid, 0)
            time.sleep(0.05)
        raise CannotSetUp(f"the daemon (process {pid}) did not stop")


def _quoted(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    return f'"{escaped}"'


def _run(*argv: str) -> None:
    run_tool(argv, _TOOL_SECONDS)


def _has_systemd() -> bool:
    try:
        _run(*_SYSTEMCTL, "show-environment")
    except CannotSetUp:
        return False
    return True


_TABLE = re.compile(r"^\[undo\][ \t]*(?:#[^\n]*)?\n", re.MULTILINE)


def switch_on(config: Config) -> str:
    """Why calls stay unwrapped; empty where it is on. A value that somebody wrote stays."""
    path = settings_file(config)
    try:
        current = read_state(path)
        text = current.text or ""
        if "wrap" in parse_toml(text).get("undo", {}):
            return "" if config.undo.wrap else f"undo.wrap is false in {path}"
        after = with_setting(text)
        if not (why := wrapping_problem(config)):
            replace_file(current, after.encode(), 0o644)
        return why
    except EditError as error:
        return f"{path}: {error}"
    except FileProblem as error:
        return str(error)


def switch_off(config: Config) -> None:
    """Takes back what init and install wrote; raises FileProblem."""
    current = read_state(settings_file(config))
    if BEGIN not in (current.text or ""):
        return
    try:
        _, text = _own_settings(current.text or "")
    except EditError as error:
        raise FileProblem(f"{current.path}: {error}") from None
    if not text:
        remove_file(current)
    else:
        tomllib.loads(text)
        replace_file(current, text.encode(), current.mode)


def with_setting(text: str) -> str:
    """In a block of its own; refuses a file that nothing can be added to."""
    table = _TABLE.search(text)
    key, at = ("wrap", table.end()) if table else ("undo.wrap", 0)
    block = f"\n{BEGIN}\n{key} = true\n{END}\n"
    whole = text[:at] + (block if at else block[1:]) + text[at:]
    with suppress(EditError, LookupError):
        if parse_toml(whole)["undo"]["wrap"] is True:
            return whole
    raise EditError("write wrap = true into its table [undo]")
