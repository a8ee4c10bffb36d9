"""Text reaches a shell by whatever descriptor, file or process it flows through; what is redirected without a command is emptied."""

from __future__ import annotations

from cases import each
from interlock import assess

DOCS = "rm -rf /home/me/docs"
FILE = f"echo '{DOCS}' > f; "
CWD = "/home/me/app"


def level(text: str) -> int:
    return int(assess(text, CWD).level)


REACHES_A_SHELL = [
    f"exec < <(echo '{DOCS}'); sh",
    f"exec <<< '{DOCS}'; sh",
    f"exec 3< <(echo '{DOCS}'); sh <&3",
    f"exec 3<<< '{DOCS}'; exec 4<&3; bash <&4",
    f"{FILE}exec 3< f; sh <&3",
    f"{FILE}exec 3< f; sh 0<&3",
    f"{FILE}exec 3< f; sh /dev/fd/3",
    f"{FILE}exec 3< f; . /proc/self/fd/3",
    f"{FILE}exec 3< f; cat <&3 | sh",
    f"{FILE}exec 3< f; cat /dev/fd/3 | sh",
    f"{FILE}exec {{fd}}< f; sh <&$fd",
    f"{FILE}exec {{fd}}< f; source /dev/fd/$fd",
    f'{FILE}exec 3< f; read -r line <&3; eval "$line"',
    f"bash 3<<< '{DOCS}' <&3",
    f"bash /dev/fd/3 3<<< '{DOCS}'",
    f"sh /proc/self/fd/0 <<< '{DOCS}'",
    f"echo '{DOCS}' | bash /dev/fd/0",
    f"echo '{DOCS}' > >(sh)",
    f"echo '{DOCS}' 1> >(bash -s)",
    f"{{ echo '{DOCS}'; }} > >(sh)",
    f"exec > >(sh); echo '{DOCS}'",
    f"exec 3> >(sh); echo '{DOCS}' >&3",
    f"exec {{fd}}> >(sh); echo '{DOCS}' >&$fd",
    f"exec 3> f; echo '{DOCS}' >&3; sh f",
    f"coproc sh; echo '{DOCS}' >&\"${{COPROC[1]}}\"",
    f"coproc P {{ sh; }}; echo '{DOCS}' >&${{P[1]}}",
    f'{FILE}eval "$(<f)"',
    f'{FILE}bash -c "$(< f)"',
    f"{FILE}$(<f)",
    f"yes '{DOCS}' | head -1 | sh",
    f"yes {DOCS} | head -n 1 | bash",
    f"sed -f <(echo '1e {DOCS}') <<< x",
    f"echo '1e {DOCS}' > s; sed -f s <<< x",
    f"find . -maxdepth 0 -fprintf x '{DOCS}'; sh x",
    f"{{ echo '{DOCS}' & }} | sh",
    f"{{ sh; }} <<< '{DOCS}'",
    f"f() {{ sh; }}; f <<< '{DOCS}'",
    f"tee >(sh) <<< '{DOCS}'",
    f"dd of=x <<< '{DOCS}'; sh x",
    f"cp /dev/stdin x <<< '{DOCS}'; sh x",
    "printf '%s\\n' rm -rf /home/me/docs | paste -sd' ' | sh",
    f"mkfifo p; echo '{DOCS}' > p & sh p",
]
FLOWS_ELSEWHERE = [
    "exec > build.log 2>&1; make",
    "exec 3>&1; echo hi >&3",
    "exec 2> >(logger -t x); make",
    f"exec 3>> notes.txt; echo '{DOCS}' >&3",
    f"echo '{DOCS}' > >(tee log.txt)",
    f"exec > >(cat); echo '{DOCS}'",
    f'{FILE}cat "$(<f)"',
    "make > >(tee build.log) 2>&1",
    'exec 3< input.txt; while read -r line <&3; do echo "$line"; done',
    "(flock 9; make) 9> /tmp/lock",
    f"coproc cat; echo '{DOCS}' >&\"${{COPROC[1]}}\"",
    f"yes '{DOCS}' | head -1",
    "version=$(<VERSION); echo $version",
    f"find . -maxdepth 0 -fprintf x '{DOCS}'",
    "exec < input.txt; wc -l",
    "ls 2> errors.txt",
]


@each("text", REACHES_A_SHELL)
def test_text_that_reaches_a_shell_is_run(text: str) -> None:
    assert level(text) >= 3


@each("text", FLOWS_ELSEWHERE)
def test_text_that_reaches_no_shell_is_text(text: str) -> None:
    assert level(text) <= 1


@each(
    "text",
    [
        "2> src/main.py",
        "3> src/main.py",
        "{fd}> src/main.py",
        "> src/main.py",
        ": 2> src/main.py",
        "exec 3> src/main.py",
    ],
)
def test_a_file_that_is_redirected_to_without_output_is_emptied(text: str) -> None:
    assert level(text) == 2


JOINED = [
    'IFS=; a=(r m); c="${a[*]}"; $c -rf /home/me/docs',
    'c=$(IFS=; a=(r m); echo "${a[*]}"); $c -rf /home/me/docs',
    'IFS=; set -- r m; c="$*"; $c -rf /home/me/docs',
    "IFS=; set -- r m; c=$*; $c -rf /home/me/docs",
    'IFS=/; a=("" home me docs); rm -rf "${a[*]}"',
    'f() { local IFS=; echo "$*"; }; $(f r m) -rf /home/me/docs',
    "IFS=x; c=rmx-rfx/home/me/docs; $c",
    "IFS=, read a b <<< 'rm,-rf'; $a $b /home/me/docs",
]  # fmt: skip


@each("text", JOINED)
def test_ifs_joins_and_splits_as_it_is_set_at_that_moment(text: str) -> None:
    assert level(text) >= 3


@each("text", ['(IFS=;); a=(r m); touch "${a[*]}"', 'IFS=,; a=(x y); echo "${a[*]}"', "IFS=, cmd=rm,-rf; echo $cmd"])
def test_ifs_of_another_shell_or_for_output_alone_does_nothing(text: str) -> None:
    assert level(text) <= 1


FIND = [
    ("find / -name --help -o -delete", 4),
    ("find / -delete -o -name --help", 4),
    ("find / -delete --help", 4),
    ("find / -name '*.pyc' -o -type f -delete", 4),
    ("find . -name x -o -exec rm -rf {} +", 3),
    ("find . ! -name keep -delete", 3),
    ("find . -name '*.pyc' , -delete", 3),
    ("find . \\( -name '*.pyc' -o -type f \\) -delete", 3),
    ("find . -name '*.pyc' -o -name '*.pyo' -delete", 1),
    ("find . \\( -name '*.pyc' -o -name '*.pyo' \\) -delete", 1),
    ("find . -name node_modules -prune -o -name '*.pyc' -exec rm {} +", 1),
    ("find . -name __pycache__ -prune -exec rm -rf {} +", 1),
    ("find . -name '*.pyc' -delete", 1),
    ("find . -name '*.py' -o -name '*.js'", 0),
    ("find --help", 0),
]


@each(("text", "expected"), FIND)
def test_the_names_of_a_find_cover_only_the_actions_behind_them(text: str, expected: int) -> None:
    assert level(text) == expected
