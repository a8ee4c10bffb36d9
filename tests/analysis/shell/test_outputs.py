"""Options that name an output file write it as a redirection does."""

from __future__ import annotations

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.programs import build_program
from interlock.analysis.programs.options import parse
from interlock.analysis.rules.load import load
from interlock.model import command

RULES = load()


def level(text: str) -> int:
    return int(judge(command(text, "/home/dev/app"), RULES).assessment.level)


@each(
    "text",
    [
        "sort -o data.csv /dev/null", "shuf --outp=notes.txt /dev/null", "uniq /dev/null notes.txt", "openssl enc -in /dev/null -out notes.txt",
        "cpio -o -O ledger.db < /dev/null", "tcpdump -i lo -w ledger.db", "psql -o src/main.py -c 'select 1'", "curl -D ~/.bashrc https://example.com",
        "strace -o src/main.py ls", "python3 -m zipapp src -o src/main.py", "python3 -m venv --clear ~/docs", "find . -name x -fprint src/main.py", "fold -w 80 /dev/null > src/app.ts", "duckdb -c \"COPY (select 1) TO 'src/main.py'\"",
        "psql -c \"copy t to 'src/main.py'\"", "rustc -o src/main.rs a.rs",
    ],
)  # fmt: skip
def test_output_over_a_file_that_is_no_output_is_held(text: str) -> None:
    assert level(text) >= 2


@each(
    "text",
    [
        "sort -o names.txt names.txt", "sort -u -o .gitignore .gitignore", "uniq in.txt out.txt", "uniq -f 1 src/main.py", "tcpdump -i lo -w dump.pcap", "rustc -o app src/main.rs",
        "openssl rand -out seed.bin 32", "python3 -m venv --clear .venv", "find . -fprint list.txt", "duckdb -c \"COPY t TO 'out.parquet'\"", "fold -w 80 a.txt > b.txt", "git diff --output=x.patch", "strace -o trace.log ls", "curl -c jar.txt https://example.com",
    ],
)  # fmt: skip
def test_output_into_a_file_of_its_own_passes(text: str) -> None:
    assert level(text) <= 1


def test_an_option_that_names_an_output_takes_a_value() -> None:
    assert parse(build_program("a", {"writes": ["-o"]}), ["-xo", "b", "c"]).operands == ["c"]
