"""An agent that destroys, and a person who wants it back: run it while `interlock serve` runs, with its configuration's path if it has one of its own.

It works in a folder of its own below your home, asks before each command as an agent's hook would, runs what it may, and undoes all of it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from interlock import Gate

COMMANDS = (
    "rm -rf notes",  # exists nowhere else: a snapshot is taken, then it is allowed
    "git checkout -- app.py",
    "truncate -s 0 results.csv",
    "git reset --hard HEAD~1",
    "git clean -fd",
    "git push --force origin main",  # elsewhere: nothing here can bring it back, so a person is asked
)


def playground(folder: Path) -> None:
    """A repository with work that is not committed."""
    for words in ("init -q -b main", "config user.name you", "config user.email you@example.org"):
        subprocess.run(["git", *words.split()], cwd=folder, check=True)
    for number in (1, 2):
        (folder / "app.py").write_text(f"print({number})\n")
        subprocess.run(["git", "add", "-A"], cwd=folder, check=True)
        subprocess.run(["git", "commit", "-qm", f"step {number}"], cwd=folder, check=True)
    (folder / "app.py").write_text("print('three days of work')\n")
    (folder / "results.csv").write_text("a,b\n" * 100)
    (folder / "notes").mkdir()
    (folder / "notes" / "ideas.txt").write_text("the only copy\n")


def contents(folder: Path) -> dict[str, bytes]:
    """Every file but Git's own."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def main(config: str | None = None) -> int:
    folder = Path(tempfile.mkdtemp(prefix="undo-me-", dir=Path.home()))
    try:
        playground(folder)
        before, kept = contents(folder), []
        with Gate(config, agent="undo-example") as gate:
            for command in COMMANDS:
                decision = gate.evaluate(command=command, cwd=str(folder))
                print(f"agent      {command}\ninterlock  {decision}\n")
                if decision:
                    subprocess.run(command, shell=True, cwd=folder, check=True, capture_output=True)
                    kept += [decision.kept] if decision.kept else []
            for id in reversed(kept):
                undone = gate.undo(id)
                said = undone.problem or f"brought back: {undone.total} change{'' if undone.total == 1 else 's'}"
                print(f"you        interlock undo {id}\ninterlock  {said}")
        print("\nEverything is as it was." if contents(folder) == before else "\nSomething is not as it was.")
        return 0 if contents(folder) == before else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
