"""`interlock config`: shows and checks the effective configuration, its weaknesses and its file."""

from __future__ import annotations

import sys
from pathlib import Path

from interlock.agents.toml_edit import toml_lines
from interlock.analysis.packs import PackError
from interlock.cli.command import FAILED, Args, CommandWords, settings
from interlock.cli.output import pluralize, report, say_json
from interlock.config import Config, ConfigError, config_path, effective_settings, settings_schema
from interlock.impact.files import find_project_files
from interlock.policy.policy import PolicyError
from interlock.runtime import rules_of
from interlock.runtime.adapters import read_adapters

main = CommandWords(__name__)


@main.word
def _show(args: Args) -> None:
    config = settings(args)
    project, warnings = find_project_files(str(Path.cwd())), config.concerns()
    for one in project:
        warnings += [f"{one.path} cannot be used, so everything is asked about: {why}" for why in one.problems]
    shown = effective_settings(config)
    if args.json:
        files = [{"path": one.path, "problems": list(one.problems)} for one in project]
        say_json({"path": config.path or None, "config": shown, "warnings": warnings, "project": files})
        return
    print(f"# {config.path or 'no file: these are the defaults'}")
    shown["danger_patterns"] |= {"replace": True}  # the lists are whole: with this the text can be used as a file
    for line in toml_lines(shown):
        print(line)
    for one in project:
        print(f"# in this folder {one.path} counts as well")
    for said in warnings:
        print(f"warning: {said}", file=sys.stderr)


@main.word
def _check(args: Args) -> int:
    args.config = args.file or args.config
    try:
        config = settings(args)
        warnings = [*_concerns(config), *(words for loaded in read_adapters(config) for words in loaded.warnings)]
        if config.rules:
            try:
                rules_of(config)
            except PackError as error:
                raise PackError(f"{config.path}: rules.files: {error}") from None
    except (ConfigError, PackError) as error:
        if args.json:
            say_json({"usable": False, "problem": str(error), "warnings": []})
        else:
            print(*error.args, sep="\n", file=sys.stderr)
        return FAILED
    last = f"{config.path or 'the defaults'}: can be used, {pluralize(len(warnings), 'warning')}"
    words = "\n".join([*(f"warning: {said}" for said in warnings), last])
    return report(args, {"usable": True, "path": config.path or None, "warnings": warnings}, words)


def _concerns(config: Config) -> list[str]:
    try:
        return config.concerns()
    except PolicyError as error:
        raise ConfigError(f"{config.path}: policy.use: {error}" if config.path else str(error)) from None


@main.word
def _path(args: Args) -> int:
    path = Path(args.config) if args.config else config_path()
    words = str(path) if path.is_file() else f"{path} (not there: the defaults are used)"
    return report(args, {"path": str(path), "exists": path.is_file()}, words)


@main.word
def _schema(args: Args) -> None:
    say_json(settings_schema())
