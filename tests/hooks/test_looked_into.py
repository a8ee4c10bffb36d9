"""Neither the daemon nor the hook client can be looked into by other programs of the same user."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from daemons import write_config
from hook_client import build_hook_client

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="a C compiler is missing")
# As an ordinary user, whom the kernel asks for permission: a daemon, a client that waits for its input, and a program that lets itself be read.
SCRIPT = """
"$1" -m interlock serve --config "$2" --port 0 > "$4/said" 2>&1 & daemon=$!
mkfifo "$4/pipe"; "$3" claude-code PreToolUse < "$4/pipe" > /dev/null & client=$!
exec 3> "$4/pipe"
sleep 600 & other=$!
until grep -q Ctrl-C "$4/said"; do kill -0 $daemon || exit 9; sleep 0.05; done
for one in $daemon $client $other; do
  for tries in 1 2 3 4 5 6 7 8 9 10; do head -c 1 /proc/$one/environ > /dev/null 2>&1 || break; [ $one = $other ] && break; sleep 0.1; done
  head -c 1 /proc/$one/environ > /dev/null 2>&1 && echo open || echo shut
  head -c 1 /proc/$one/maps > /dev/null 2>&1 && echo open || echo shut
done
exec 3>&-
kill $daemon $other; wait
"""


def test_the_daemon_and_the_client_cannot_be_looked_into(tmp_path: Path) -> None:
    config = write_config(tmp_path)
    (tmp_path / "state").mkdir(mode=0o700)
    client = build_hook_client(tmp_path)
    as_user = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--", "sh", "-c", SCRIPT, "sh"]
    done = subprocess.run(
        [*as_user, sys.executable, config, client, tmp_path], capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == ["shut", "shut", "shut", "shut", "open", "open"], done.stdout + done.stderr
