"""`interlock adapter serve FILE…`: adapter files as an MCP-AQL server over stdio; every operation is asked about first."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from interlock.core.policy import MODES

FAILED, USAGE = 1, 2
_EPILOG = """\
environment: the variables that the adapters' auth names, MCP_AQL_ENDPOINT_MODE (semantic, single or all), MCP_AQL_TOOL_PREFIX,
MCPAQL_SAFETY_LOOP

The daemon has to know each file as well (adapters.files in interlock.toml); what it does not know is untested, and may only be
introspected. See docs/adapter-serve.md.
"""


def main(argv: Sequence[str]) -> int:
    """Serves until stdin ends; 1 for a file that cannot be served, 2 for settings nobody can use."""
    given = _parser().parse_args(list(argv))
    from interlock import __version__
    from interlock.config import ConfigError, load_config
    from interlock.doors.adapter.calls import CannotServe
    from interlock.doors.adapter.reload import Shelf
    from interlock.doors.aql.tools import Naming, SettingError
    from interlock.doors.cli.mcp import safety_mode

    try:
        config, naming = load_config(given.config), Naming.of(os.environ)
    except (ConfigError, SettingError, OSError, ValueError) as error:
        print(f"interlock adapter serve: {error}", file=sys.stderr)
        return USAGE
    from interlock.doors.adapter.serving import check_names
    from interlock.doors.adapter.stdio import Settings, run, say
    from interlock.doors.mcp.stdio import Options

    try:
        shelf = Shelf(given.files, say)
        check_names(naming, [one.name for one in shelf.look()])
    except CannotServe as error:
        print(f"interlock adapter serve: {error}", file=sys.stderr)
        return FAILED
    options = Options(naming, mode=safety_mode(given.safety_mode))
    return run(config, given.config, shelf, Settings(options, given.agent, given.proxy), __version__)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="interlock adapter serve",
        description="Adapter files as an MCP-AQL server over stdio. It asks the daemon, and starts one where none runs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="YAML, or Markdown with YAML front matter")
    parser.add_argument("--config", type=Path, metavar="FILE", help="the daemon's configuration")
    parser.add_argument("--agent", default="mcp", metavar="NAME", help="the name that held actions carry (mcp)")
    parser.add_argument(
        "--proxy", metavar="URL", help="an HTTP proxy on the way to the services; the environment's is not used"
    )
    parser.add_argument("--safety-mode", metavar="MODE", help=f"{', '.join(MODES)}; can only tighten")
    return parser
