"""`interlock mcp` (alias `mcpaql-safety-dongle`): serves the execution safety loop as an MCP server over stdio."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tomllib
from collections.abc import Sequence
from pathlib import Path

import interlock
from interlock.cli.main import main as command
from interlock.config import ConfigError, load_config
from interlock.loop.protocol.tools import SurfaceSettingError, ToolNaming
from interlock.mcp import PROMPT
from interlock.policy.policy import MODES, policy_of

FAILED, USAGE = 1, 2
ENVIRONMENT_MODE = "MCPAQL_SAFETY_LOOP"


def main(argv: Sequence[str]) -> int:
    """Serve until stdin ends; returns 2 for invalid settings."""
    return _main(_parser().parse_args(argv))


def dongle() -> int:
    """`mcpaql-safety-dongle`, as seed 001 calls it."""
    return command(["mcp", *sys.argv[1:]])


def _main(given: argparse.Namespace) -> int:
    if given.print_prompt:
        print(PROMPT, end="")
        return 0
    try:
        config = load_config(given.config)
        naming = ToolNaming.of(os.environ)
        policy = _policy(given.policy) if given.policy else ""
        token = agent_token(given.token_file) if given.token_file else ""
    except (ConfigError, SurfaceSettingError, OSError, ValueError) as error:
        print(f"interlock mcp: {error}", file=sys.stderr)
        return USAGE
    mode = safety_mode(given.safety_mode)
    from interlock.mcp.stdio import ServerOptions, run  # `mcp` takes a second

    options = ServerOptions(naming, policy, mode, given.strict_introspection, given.permission_prompt, token)
    return run(config, given.config, options, interlock.__version__)


def _policy(path: Path) -> str:
    """The text of a policy; refuses one that the daemon would refuse with every call."""
    text = path.read_text(encoding="utf-8")
    policy_of(json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text), path.stem)
    return text


def agent_token(path: Path) -> str:
    """An agent's token, read from a file so that no argument or variable shows it."""
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


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock mcp",
        description="The execution safety loop as an MCP server over stdio. It asks the daemon, and starts one where none runs.",
        epilog="environment: MCP_AQL_ENDPOINT_MODE (semantic, single or all), MCP_AQL_TOOL_PREFIX, MCPAQL_SAFETY_LOOP",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="a policy of your own; it can only tighten the operator's"
    )
    parser.add_argument("--safety-mode", metavar="MODE", help=f"{', '.join(MODES)}; can only tighten")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the daemon's configuration")
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="the agent's own token; else it is known by its user id"
    )
    parser.add_argument("--strict-introspection", action="store_true", help="replies keep to the core's closed schemas")
    parser.add_argument(
        "--permission-prompt",
        action="store_true",
        help="also offer permission_prompt as a tool, for Claude Code's option of that name",
    )
    parser.add_argument("--print-prompt", action="store_true", help="print what a model is told, and end")
    return parser
