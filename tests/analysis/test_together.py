"""Facts that mean something else when they are seen together: a file that goes over itself, names without values, leftovers, what is taken back."""

from __future__ import annotations

import pytest

from interlock import assess
from interlock.model import Level

CWD = "/home/dev/app"


def level(text: str) -> Level:
    return assess(text, CWD).level


PANDAS = "import pandas as pd\nd = pd.read_excel('data/raw.xlsx')\n"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"python3 - <<'EOF'\n{PANDAS}d.to_excel('data/raw.xlsx', index=False)\nEOF", "filesystem.overwrite_data"),
        (f"python3 - <<'EOF'\n{PANDAS}d.to_csv('data/clean.csv')\nEOF", ""),
        ('python3 -c "import polars as pl; pl.read_parquet(\'a.parquet\').write_parquet(\'a.parquet\')"', "filesystem.overwrite_data"),
        ("python3 -c \"import numpy as np; np.savetxt('a.csv', np.loadtxt('a.csv'))\"", "filesystem.overwrite_data"),
        ("python3 -c \"import os; os.chdir('data'); s = open('a.csv').read(); open('a.csv', 'w').write(s)\"", "filesystem.overwrite_data"),
        ("python3 -c \"s = open('a.py').read(); open('a.py', 'w').write(s)\"", ""),
        ("python3 -c \"import pandas as pd; pd.read_csv('https://x.example/a.csv').to_csv('a.csv')\"", ""),
        ("sort names.txt > names.txt", "filesystem.empty_file"),
        ("jq .a config.json | sort > config.json", "filesystem.empty_file"),
        ("cat a.txt && echo new > a.txt", ""),
        ("cat a.txt; sort b.txt > a.txt", ""),
        ("sort a.txt > b.txt", ""),
    ],
)  # fmt: skip
def test_a_file_that_is_written_over_its_own_content_is_told(text: str, rule: str) -> None:
    found = [one.rule for one in assess(text, CWD).findings if one.level >= Level.DESTRUCTIVE]
    assert found == ([rule] if rule else [])


@pytest.mark.parametrize("text", ["cut -d= -f1", "cut -f1 -d=", "awk -F= '{print $1}'", "sed 's/=.*//'", "wc -l"])
def test_names_without_their_values_are_no_secret(text: str) -> None:
    assert level(f"cat .env | {text}") < Level.DESTRUCTIVE
    assert level(f"cat .env | tee copy | {text}") >= Level.DESTRUCTIVE


@pytest.mark.parametrize("text", ["cut -d= -f2", "cut -d= -f1,2", "awk -F= '{print $2}'", "sed 's/x//'", "base64"])
def test_values_are(text: str) -> None:
    assert level(f"cat .env | {text}") >= Level.DESTRUCTIVE


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("docker images -f dangling=true -q | xargs -r docker rmi", Level.REVERSIBLE),
        ("docker rmi $(docker images -qf dangling=true)", Level.REVERSIBLE),
        ("docker ps -aq --filter status=exited | xargs -r docker rm", Level.DESTRUCTIVE),
        ("docker ps -aq --filter status=exited | xargs -r docker rm -fv", Level.DANGEROUS),
        ("docker ps -aq | xargs docker rm", Level.DANGEROUS),
        ("docker images -qf dangling=true; docker images -q | xargs docker rmi", Level.DANGEROUS),
        ("docker ps -aqf status=exited; docker rm -f $(docker ps -aq)", Level.DANGEROUS),
    ],
)
def test_what_an_engine_calls_unused_is_less_than_everything(text: str, at: Level) -> None:
    assert level(text) == at


def test_what_is_taken_back_at_once_is_not_done() -> None:
    assert level("gh workflow disable a.yml && gh workflow enable a.yml") < Level.DESTRUCTIVE
    assert level("gh workflow enable a.yml && gh workflow disable a.yml") == Level.DESTRUCTIVE
    assert level("gh workflow disable a.yml -R x/y && gh workflow enable a.yml") == Level.DESTRUCTIVE


RMTREE = "import shutil\n"


@pytest.mark.parametrize(
    ("source", "told"),
    [
        (f"{RMTREE}def clear(self):\n    self.items.clear()\n    shutil.rmtree(self.path)\n", False),
        (f"{RMTREE}class Store:\n    def wipe(self):\n        shutil.rmtree(self.path)\nStore()\n", False),
        (f"{RMTREE}def clear(path):\n    shutil.rmtree(path)\nclear(x)\n", True),
        (f"{RMTREE}def clear(path):\n    shutil.rmtree(path)\nglobals()['cl' + 'ear'](x)\n", True),
        (f"{RMTREE}import fire\ndef clear(path):\n    shutil.rmtree(path)\nfire.Fire()\n", True),
        (f"{RMTREE}@app.command()\ndef clear(path):\n    shutil.rmtree(path)\n", True),
        (f"{RMTREE}class Job(Thread):\n    def run(self):\n        shutil.rmtree(self.path)\nJob().start()\n", True),
        (f"{RMTREE}def clear():\n    shutil.rmtree('/srv/shop')\n", True),
    ],
)
def test_a_helper_that_nothing_calls_takes_nothing_that_has_no_name(source: str, told: bool) -> None:
    assert (level(f"python3 - <<'EOF'\n{source}EOF") >= Level.DANGEROUS) is told
