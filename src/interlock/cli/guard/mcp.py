"""`interlock mcp` (alias `mcpaql-safety-dongle`): serves the execution safety loop as an MCP server over stdio."""

from __future__ import annotations

import json
import os
import sys
import tomllib
from pathlib import Path

import interlock
from interlock.cli.command import OK, Args, command, wrong_usage
from interlock.cli.main import main as interlock_main
from interlock.config import load_config
from interlock.loop.protocol.tools import ToolNaming
from interlock.mcp import PROMPT
from interlock.policy.policy import MODES, policy_of

ENVIRONMENT_MODE = "MCPAQL_SAFETY_LOOP"
MODE_WORDS = {"modes": ", ".join(MODES)}


@command(MODE_WORDS)
def main(args: Args) -> int:
    if args.print_prompt:
        print(PROMPT, end="")
        return OK
    with wrong_usage(OSError, ValueError):
        config = load_config(args.config)
        naming = ToolNaming.of(os.environ)
        policy = _policy(args.policy) if args.policy else ""
        token = agent_token(args.token_file)
    mode = safety_mode(args.safety_mode)
    from interlock.mcp.stdio import ServerOptions, run  # `mcp` takes a second

    options = ServerOptions(naming, policy, mode, args.strict_introspection, args.permission_prompt, token)
    return run(config, args.config, options, interlock.__version__)


def dongle() -> int:
    return interlock_main(["mcp", *sys.argv[1:]])


def _policy(path: Path) -> str:
    """The text of a policy; refuses one that the daemon would refuse with every call."""
    text = path.read_text(encoding="utf-8")
    policy_of(json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text), path.stem)
    return text


def agent_token(path: Path | None) -> str:
    """An agent's token, read from a file so that no argument or variable shows it."""
    if path is None:
        return ""
    token = path.read_text(encoding="utf-8").strip()
    if not token.startswith("agt_") or not token.isascii() or len(token.split()) != 1:
        raise ValueError(f"{path}: no agent token (agt_…)")
    return token


def safety_mode(flag: str | None) -> str:
    """R-12: the flag wins over the environment; an unknown word is enforcing, with a warning."""
    wanted = flag if flag is not None else os.environ.get(ENVIRONMENT_MODE, "")
    if wanted and wanted not in MODES:
        said = f"expected one of {', '.join(MODES)}, got {wanted!r:.40}; enforcing is used"
        print(f"interlock mcp: safety mode: {said}", file=sys.stderr)
        return "enforcing"
    return wanted
