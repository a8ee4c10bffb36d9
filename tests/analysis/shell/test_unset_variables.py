"""A variable that the text does not set may hold anything, or nothing: the worse reading counts, whatever its name says."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.analysis.facts import Effect
from interlock.analysis.read import read
from interlock.model import command

CWD = "/home/me/app"


def level(text: str) -> int:
    return int(assess(text, CWD).level)


WIPES_IF_EMPTY = [
    "rm -rf $OUT_DIR/*",
    "rm -rf $BUILD_DIR/*",
    'rm -rf "$CACHE_DIR"/*',
    'rm -rf "$VIRTUAL_ENV/"',
    "rm -rf $CARGO_TARGET_DIR/",
    "rm -rf ${X}/*",
    "rm -rf $X/$Y",
    "rm -rf $X/$Y/*",
    "rm -rf /$X",
    "rm -rf /usr/$X",
    "rm -rf ~/$X",
    "rm -rf /home/me/$X/",
    "rm -rf $PREFIX/usr",
    "rm -rf $PREFIX/etc/*",
    "rm -rf $X/home",
    "rm -f $X/*",
    "find $X/ -delete",
    "find $X/* -delete",
    "cd $X && rm -rf *",
    "cd $X/ && rm -rf *",
    'cd "$X/" && rm -rf ./*',
    "cd $X; find . -delete",
    "[ -n $X ] && rm -rf $X/*",  # without quotes an empty one leaves `[ -n ]`, which succeeds
    '[ -n "$Y" ] && rm -rf $X/*',
    '[ -z "$X" ] && rm -rf $X/*',
    '[ -n "$X" ] || rm -rf $X/*',
    '[ -n "$X" ]; rm -rf $X/*',
    '[ -n "$X" ] && echo yes; rm -rf $X/*',
    '[ -n "$X" ] || echo missing; rm -rf $X/*',
    '[ -z "$X" ] && echo missing; rm -rf $X/*',
    '[[ -n $X || -n $Y ]] && rm -rf $X/*',
    '! [[ -n $X ]] && rm -rf $X/*',
    'if [ -z "$X" ]; then rm -rf $X/*; fi',
    'if [ -n "$X" ]; then ls; else rm -rf $X/*; fi',
    'if [ -n "$X" ]; then ls; fi; rm -rf $X/*',
    'if [ -z "$X" ]; then echo missing; fi; rm -rf $X/*',
    "set -u; set +u; rm -rf $X/*",
    'for d in "$X"; do rm -rf $d/*; done',
    "DIR=$BASE/build; rm -rf $DIR/../*",
    "DIR=$BASE; rm -rf $DIR/*",
    "rm -rf $X$Y/*",
    "rm -rf ${X%/}/*",
    "bash -c 'rm -rf $X/*'",
    "unset X; rm -rf $X/*",
    "pushd $X && rm -rf *",
    "rm -rf ${X:-}/*",
    "rm -rf ${X-}/*",
]  # fmt: skip
CANNOT_BE_EMPTY = [
    "rm -rf ${X:?}/*",
    'rm -rf "${X:?not set}"/*',
    ': "${X:?}"; rm -rf "$X"/*',
    '[ -n "$X" ] && rm -rf "$X"/*',
    'test -n "$X" && rm -rf "$X"/*',
    '[ "$X" ] && rm -rf "$X"/*',
    '[[ $X ]] && rm -rf $X/*',
    '[[ -n $X && -n $Y ]] && rm -rf $X/*',
    '[ -n "$X" ] && ls && rm -rf "$X"/*',
    '[ -d "$X" ] && rm -rf "$X"/*',
    '[ "$X" != "" ] && rm -rf "$X"/*',
    '[ ! -z "$X" ] && rm -rf "$X"/*',
    '[ -z "$X" ] || rm -rf "$X"/*',
    '[ -z "$X" ] && exit 1; rm -rf "$X"/*',
    '[ -n "$X" ] || exit 1; rm -rf "$X"/*',
    '[ -n "$X" ] || { echo missing; exit 1; }; rm -rf "$X"/*',
    'die() { echo "$1"; exit 1; }; [ -n "$X" ] || die missing; rm -rf "$X"/*',
    'if [ -n "$X" ]; then rm -rf "$X"/*; fi',
    'if [[ $X ]]; then rm -rf $X/*; fi',
    'if [ -z "$X" ]; then exit 1; fi; rm -rf "$X"/*',
    'if [ -z "$X" ]; then ls; else rm -rf "$X"/*; fi',
    'if [ -z "$A" ] || [ -z "$X" ]; then exit 1; fi; rm -rf "$X"/*',
    'while [ -n "$X" ]; do rm -rf "$X"/*; break; done',
    'until [ -z "$X" ]; do rm -rf "$X"/*; break; done',
    "for d in $X; do rm -rf $d/*; done",
    "set -u; rm -rf $X/*",
    "set -euo pipefail\nrm -rf $X/*",
    "set -o nounset; rm -rf $X/*",
]  # fmt: skip
ORDINARY = [
    ("cp x $OUT/", 1),
    ("cp -r src/* $OUT/", 1),
    ('cd "$DIR" && rm -rf build', 1),
    ("cd $DIR && rm -rf node_modules", 1),
    ("cd $DIR && make", 1),
    ("mkdir -p $X && cp a $X/", 1),
    ("ls $X/*", 0),
    ("cat $X/etc/hosts", 0),
    ("rm -rf $TMPDIR/work", 1),
    ('rm -rf "$PWD/build"', 1),
    ("rm -rf ${X:-build}/*", 1),
    ("X=build; rm -rf $X/*", 1),
    ("X=$(mktemp -d); rm -rf $X/*", 1),
    ("find \"$DIR\" -name '*.pyc' -delete", 1),
    ('SCRIPT_DIR=$(cd "$(dirname "$0")" && pwd); rm -rf "$SCRIPT_DIR/build"', 1),
    ("pushd web; npm run build; popd; rm -rf web/dist", 1),
    ("cd frontend; npm ci; cd ../backend; pip install -r requirements.txt; rm -rf dist", 1),
    ("for d in $LIST; do ls /usr/$d; done", 0),
]


@each("text", WIPES_IF_EMPTY)
def test_what_an_empty_variable_leaves_counts(text: str) -> None:
    assert level(text) == 4


@each("text", CANNOT_BE_EMPTY)
def test_a_variable_that_was_tested_is_unknown_but_not_empty(text: str) -> None:
    assert 2 <= level(text) <= 3


@each(("text", "most"), ORDINARY)
def test_variables_as_they_are_used_every_day_raise_nothing(text: str, most: int) -> None:
    assert level(text) <= most


@each("name", ["BUILD_DIR", "CACHE_DIR", "VIRTUAL_ENV", "OUT", "tmpdir", "SCRATCH", "BACKUP_DIR"])
def test_the_name_of_a_variable_says_nothing_of_its_value(name: str) -> None:
    assert level(f'rm -rf "${name}"') == level('rm -rf "$UNSET"') >= 2


FOLDERS = [
    ("cd x; rm -rf *", {"/home/me/app/x/*", "/home/me/app/*"}),
    ("cd x && rm -rf *", {"/home/me/app/x/*"}),
    ("cd x || exit 1; rm -rf *", {"/home/me/app/x/*"}),
    ("cd x || return; rm -rf *", {"/home/me/app/x/*"}),
    ("cd x || echo no; rm -rf *", {"/home/me/app/x/*", "/home/me/app/*"}),
    ("cd x || rm -rf *", {"/home/me/app/*"}),
    ("cd x && make; rm -rf *", {"/home/me/app/x/*", "/home/me/app/*"}),
    ("cd x\nrm -rf *", {"/home/me/app/x/*", "/home/me/app/*"}),
    ("if cd x; then rm -rf *; fi", {"/home/me/app/x/*"}),
    ("if ! cd x; then exit 1; fi; rm -rf *", {"/home/me/app/x/*"}),
    ("set -e; cd x; rm -rf *", {"/home/me/app/x/*"}),
    ("mkdir -p x; cd x; rm -rf *", {"/home/me/app/x/*"}),
    ("cd /tmp; rm -rf y", {"/tmp/y"}),
    ("cd ..; rm -rf y", {"/home/me/y"}),
    ("cd x; make; cd ..; rm -rf y", {"/home/me/app/y"}),
    ("cd /etc; rm -rf y", {"/etc/y"}),
    ("(cd x; rm -rf *); rm -rf y", {"/home/me/app/x/*", "/home/me/app/*", "/home/me/app/y"}),
]


@each(("text", "expected"), FOLDERS)
def test_a_cd_that_fails_leaves_the_shell_where_it_was(text: str, expected: set[str]) -> None:
    facts = read(command(text, CWD)).facts
    assert {fact.path for fact in facts if isinstance(fact, Effect) and fact.verb == "delete"} == expected
