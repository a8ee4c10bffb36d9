"""`interlock serve`: runs the daemon until it is stopped; refuses an unusable configuration."""

from __future__ import annotations

import argparse
import os
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

import interlock
from interlock.analysis.packs import PackError
from interlock.cli.command import OK, Args, CommandError, UsageError, command, wrong_usage
from interlock.cli.output import typed_name
from interlock.config import Config, load_config, tighten_mode
from interlock.identity.keys.signing import KeyFileError
from interlock.policy.policy import MODES
from interlock.runtime.adapters import read_adapters
from interlock.server.impact_helper import bind_and_drop_root
from interlock.web.sockets import CannotServe, inherited_sockets, is_taken

if TYPE_CHECKING:
    from interlock.runtime.state import State


def _port(text: str) -> int:
    if not text.isdigit() or not 0 <= int(text) <= 65_535:
        raise argparse.ArgumentTypeError(f"expected a port from 0 to 65535, got {text!r:.20}")
    return int(text)


@command({"modes": ", ".join(MODES)}, port={"type": _port})
def main(args: Args) -> int:
    with wrong_usage(ValueError):
        config = tighten_mode(load_config(args.config), args.safety_mode, "--safety-mode ")
        config = _with_free_port(config) if args.port is None else _with_port(config, args.port)
        adapters = read_adapters(config) if config.adapters else ()
        warnings = (*config.concerns(), *(words for loaded in adapters for words in loaded.warnings))
        config = replace(config, warnings=warnings)
    return _serve(config, args.system)


def _with_port(config: Config, port: int) -> Config:
    return replace(config, daemon=replace(config.daemon, port=port))


def _with_free_port(config: Config) -> Config:
    """Another port where the usual one is taken; a port that was chosen is never changed."""
    chosen = bool(config.path) and "port" in tomllib.loads(Path(config.path).read_text()).get("daemon", {})
    if chosen or "LISTEN_FDS" in os.environ or not is_taken(config):
        return config
    said = f"port {config.daemon.port} is taken, so a free one is used: daemon.port in the configuration chooses one"
    return replace(_with_port(config, 0), warnings=(*config.warnings, said))


def _serve(config: Config, system: bool) -> int:
    from interlock.server.daemon import LOG, log_to_stderr, serve  # FastAPI and the console: half a second

    log_to_stderr(config.log.level)
    for words in config.warnings:
        LOG.warning("%s", words)
    try:
        given = bind_and_drop_root(config) if system else inherited_sockets()
        serve(config, interlock.__version__, lambda state, port: _say(config, state, port), given)
    except PackError as error:
        raise UsageError(f"rules.files: {error}") from None
    except (CannotServe, KeyFileError) as error:
        raise CommandError(str(error)) from None
    return OK


def _say(config: Config, state: State, port: int) -> None:
    host = f"[{config.daemon.host}]" if ":" in config.daemon.host else config.daemon.host
    name = typed_name()
    print(f"Interlock answers on http://{host}:{port} and {config.socket_path}")
    if config.separate.on:
        print(f"agents of {', '.join(config.separate.users)} ask on {config.agents_socket}")
    print(f"policy {state.policy.name}, mode {state.mode}, isolation {state.strength}")
    missing = f"no configuration file; `{name} config path` says where one goes"
    print(f"configuration {config.path}" if config.path else missing)
    if not state.store.read(lambda tx: tx.operators()):
        print(f"Nobody can approve anything yet. In a terminal of your own: {name} operator add")
    else:
        console = config.console.public_url or f"http://localhost:{port}"
        print(f"After a start an operator signs in once: in the console, or with `{name} unlock`; then: {name} pending")
        print(f"The console, where held actions are answered: {console}/console")
    print(f"To guard a coding agent with it: {name} install")
    print("Ctrl-C stops it.", flush=True)
