"""`make check-agents`: the agents themselves, with the settings that install writes: what is allowed runs, what is denied does not."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from desk import Desk
from model_server import Model, fake_model

ALLOWED = "touch allowed.txt"
DENIED = "touch denied.txt && git push --force origin main"
SECONDS = 180
Prepare = Callable[[Path, Path, Model], Mapping[str, str]]


@dataclass(frozen=True)
class Check:
    """How one agent is started without a person, against a model of ours."""

    program: str
    argv: tuple[str, ...]
    prepare: Prepare


def _claude(home: Path, project: Path, model: Model) -> Mapping[str, str]:
    (home / ".claude.json").write_text(json.dumps({"hasCompletedOnboarding": True}))
    return {
        "ANTHROPIC_BASE_URL": model.url,
        "ANTHROPIC_API_KEY": "sk-fake",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def _codex(home: Path, project: Path, model: Model) -> Mapping[str, str]:
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        'model = "fake"\nmodel_provider = "fake"\napproval_policy = "never"\nsandbox_mode = "danger-full-access"\n'
        f'[model_providers.fake]\nname = "fake"\nbase_url = "{model.url}/v1"\nwire_api = "responses"\nenv_key = "FAKE_KEY"\n'
        f'[projects."{project}"]\ntrust_level = "trusted"\n'
    )
    return {"FAKE_KEY": "x"}


def _gemini(home: Path, project: Path, model: Model) -> Mapping[str, str]:
    (home / ".gemini").mkdir(exist_ok=True)
    auth = {"security": {"auth": {"selectedType": "gemini-api-key"}}, "general": {"disableAutoUpdate": True}}
    (home / ".gemini" / "settings.json").write_text(json.dumps(auth, indent=2))
    return {
        "GEMINI_API_KEY": "fake",
        "GOOGLE_GEMINI_BASE_URL": model.url,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }


def _opencode(home: Path, project: Path, model: Model) -> Mapping[str, str]:
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "fake",
        "options": {"baseURL": f"{model.url}/v1", "apiKey": "x"},
        "models": {"fake": {"name": "fake", "tool_call": True}},
    }
    folder = home / ".config" / "opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.json").write_text(
        json.dumps(
            {"provider": {"fake": provider}, "model": "fake/fake", "small_model": "fake/fake", "autoupdate": False}
        )
    )
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1"}


def _copilot(home: Path, project: Path, model: Model) -> Mapping[str, str]:
    return {
        "COPILOT_PROVIDER_BASE_URL": f"{model.url}/v1",
        "COPILOT_PROVIDER_API_KEY": "x",
        "COPILOT_PROVIDER_TYPE": "openai",
        "COPILOT_MODEL": "fake",
        "COPILOT_OFFLINE": "true",
    }


def _hermes(home: Path, project: Path, model: Model) -> Mapping[str, str]:
    (home / ".hermes").mkdir()
    (home / ".hermes" / "config.yaml").write_text(
        f"# the model\nmodel:\n  default: fake\n  provider: custom\n  base_url: {model.url}/v1\n  api_key: x\nhooks: {{}}\n"
    )
    return {}


CHECKS = {
    "claude-code": Check("claude", ("-p", "go", "--allowedTools", "Bash"), _claude),
    "codex": Check("codex", ("exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", "go"), _codex),
    "gemini": Check("gemini", ("--approval-mode", "yolo", "--model", "gemini-2.5-pro", "-p", "go"), _gemini),
    "opencode": Check("opencode", ("run", "--model", "fake/fake", "go"), _opencode),
    "copilot": Check("copilot", ("--allow-all-tools", "-p", "go"), _copilot),
    "hermes": Check("hermes", ("--yolo", "-z", "go"), _hermes),
}


def checked(word: str, check: Check, programs: str, desk: Desk, model: Model) -> str:
    """What went wrong; nothing where the agent ran what it may, and only that, and would have run the rest without us."""
    for command, guarded, runs in ((DENIED, False, True), (ALLOWED, True, True), (DENIED, True, False)):
        with tempfile.TemporaryDirectory() as folder:
            ran, said = _run(word, check, programs, desk, model, Path(folder), command, guarded)
        if ran != runs:
            return f"{command!r} {'ran' if ran else 'did not run'} {'with' if guarded else 'without'} hooks: {said}"
        if not runs and not any("pdact_" in heard for heard in model.heard):
            return f"{command!r}: the model was not told of its ticket: {said}"
    return ""


def _run(
    word: str, check: Check, programs: str, desk: Desk, model: Model, folder: Path, command: str, guarded: bool
) -> tuple[bool, str]:
    """Whether the agent ran the command that its model asked for, and what it said."""
    home, project = folder / "home", folder / "project"
    home.mkdir()
    project.mkdir()
    env = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb"}
    env |= check.prepare(home, project, model)
    if guarded:
        install = [sys.executable, "-m", "interlock", "install", word, "--yes", "--config", str(desk.config)]
        subprocess.run(install, cwd=project, env=env, check=True, capture_output=True)
    model.command = command
    model.heard.clear()
    argv = [shutil.which(check.program, path=programs) or check.program, *check.argv]
    given = {"cwd": project, "env": env, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True}
    try:
        done = subprocess.run(argv, timeout=SECONDS, **given)
    except subprocess.TimeoutExpired:
        return False, f"no end within {SECONDS} s"
    said = f"exit {done.returncode}, {len(model.heard)} requests\n{done.stdout[-1500:]}\n{done.stderr[-1500:]}"
    return (project / command.split()[1]).exists(), said


def main() -> int:
    """Checks the agents, with and without a daemon, whose programs are in the folders that are named; 1 where one does not hold."""
    programs = os.pathsep.join(os.path.abspath(folder) for folder in sys.argv[1].split(os.pathsep))
    chosen, failed = sys.argv[2:] or list(CHECKS), 0
    folder = Path(tempfile.mkdtemp())
    desk = Desk(folder, "[hooks]\nwait_seconds = 0\n")
    desk.open()
    try:
        with fake_model() as model:
            for word in chosen:
                problem = checked(word, CHECKS[word], programs, desk, model)
                failed += bool(problem)
                print(f"{word:<12} {problem or 'runs what is allowed, does not run what is denied'}", flush=True)
            desk.stop()
            for word in chosen:
                with tempfile.TemporaryDirectory() as place:
                    ran, said = _run(word, CHECKS[word], programs, desk, model, Path(place), DENIED, True)
                failed += ran
                print(f"{word:<12} {said if ran else 'does not run it without a daemon either'}", flush=True)
    finally:
        desk.stop()
        shutil.rmtree(folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
