"""Text that a program runs is read as what it is; text that it only shows, searches or keeps is not."""

from __future__ import annotations

from cases import each
from interlock import assess
from interlock.analysis.programs.load import shipped_programs
from interlock.analysis.shell.output import DECODERS, PRINTERS
from interlock.analysis.shell.programs import READERS


def test_every_reader_that_a_description_names_exists_and_is_used() -> None:
    assert {reader for program in shipped_programs().values() for reader in program.reader} == set(READERS)


def test_every_printer_that_a_description_names_exists_and_is_used() -> None:
    named = {item.by for program in shipped_programs().values() for item in program.prints}
    assert named - {""} == {*PRINTERS, *DECODERS}


def test_every_shell_reads_a_dialect_that_is_known() -> None:
    shells = {name: program for name, program in shipped_programs().items() if "shell" in program.reader}
    assert {program.dialect for program in shells.values()} == {"bash", "sh", "dash", "zsh", "fish"}


OWN_SUBCOMMANDS = ["vercel env rm KEY production -y", "pulumi stack rm dev", "bq rm -f -t shop.orders", "pass rm a"]


@each("text", OWN_SUBCOMMANDS)
def test_a_subcommand_is_no_program_of_the_same_name(text: str) -> None:
    assert not any(finding.rule.startswith("filesystem.") for finding in assess(text, "/home/dev/app").findings)


def level(text: str) -> int:
    return assess(text, "/home/dev/app").level


RUNS = [
    "AWS_PAGER='rm -rf ~/docs' aws s3 ls",
    "ACME_POST_HOOK='rm -rf ~/docs' acmectl build",
    "TAR_OPTIONS='--checkpoint=1 --checkpoint-action=exec=rm\\ -rf\\ ~/docs' tar cf x y",
    "FZF_DEFAULT_OPTS='--bind start:execute(rm -rf ~/docs)' fzf",
    "JAVA_TOOL_OPTIONS='-javaagent:/tmp/x.jar' mvn -v",
    "export KUBE_EDITOR='rm -rf ~/docs'; kubectl edit cm/x",
    "env GIT_TEMPLATE_DIR=/tmp/t git init",
    "PYTHONPATH=/tmp/lib:src python3 app.py",
    "LUA_INIT='os.execute(\"rm -rf src\")' lua -v",
    "acmectl --on-exit 'find / -delete'",
    "acmectl shell 'rm -rf /data'",
    "acmectl -c 'DROP TABLE users'",
    "acmedb shell <<< 'drop database shop;'",
    "acmelang --run 'os.system(\"rm -rf /home/dev/docs\")'",
    "player --script=/tmp/x.lua a.mp4",
    "vim -S /tmp/x.vim",
    "mocha -r /tmp/x.js",
    "rspec -r /tmp/x.rb",
    "heroku run 'rm -rf uploads' -a acme",
    "puppet apply -e 'file{\"/srv\": ensure => absent}'",
    "acmectl with profile do rm -rf /srv",
]

DATA = [
    "tar -xf /tmp/a.tar -C /tmp/x",
    "mocha -r ts-node/register",
    "heroku run 'rails -v' -a acme",
    "AWS_PAGER= aws s3 ls",
    "GIT_PAGER='less -R' git log",
    "NODE_OPTIONS='--experimental-vm-modules' npx jest",
    "CC='ccache gcc' make",
    "PATH=/opt/x/bin:$PATH make",
    "MSG='rm -rf / is bad'; echo \"$MSG\"",
    "local MSG='rm -rf /'",
    "git commit -m 'rm -rf node_modules is gone'",
    "acmectl note 'rm -rf /'",
    "acmectl search 'drop table users'",
    "cmd-lint --command 'rm -rf /'",
    "interlock explain 'rm -rf /'",
    "acmectl create --title 'drop table users' --body 'rm -rf /'",
    "jest -t 'rm -rf ~'",
    "mytool add 'test the delete button'",
    "player --subtitles=/tmp/x.srt a.mp4",
    "ls -l /tmp/x.sh",
    "rm -f /tmp/x.py",
    "cp -p /tmp/x.py .",
    "ruff check -q /tmp/x.py",
    "acmectl set greeting 'find the exit and leave'",
]


@each("text", RUNS)
def test_text_that_reads_as_a_harmful_command_counts_whichever_program_it_is_given_to(text: str) -> None:
    assert level(text) >= 2


@each("text", DATA)
def test_text_that_is_only_shown_searched_or_kept_is_not_run(text: str) -> None:
    assert level(text) <= 1


CODE = [
    "gnuplot -e 'system(\"rm -rf src\")'",
    "sbcl --eval '(uiop:run-program \"rm -rf src\")'",
    'sbcl --eval \'(sb-ext:run-program "/bin/rm" (list "-rf" "src"))\'',
    "racket -e '(delete-directory/files \"src\")'",
    "julia -e 'rm(\"src\", recursive=true)'",
    'octave --eval \'rmdir("src","s")\'',
    'raku -e \'run "rm", "-rf", "src"\'',
    "nim r - <<< 'import os; removeDir \"src\"'",
    "swipl -g 'delete_directory_and_contents(src)' -t halt",
    "dc <<< '!rm -rf src'",
    "latex '\\immediate\\write18{rm -rf src}'",
    "unknownlang --eval 'Dir.delete_tree(\"src\")'",
    "puppet apply -e 'file { \"/srv/data\": ensure => absent, force => true }'",
]

HARMLESS_CODE = [
    "gnuplot -e 'set output \"rm.png\"; plot sin(x)'",
    "guile -c '(display \"rm -rf\")'",
    "racket -e '(displayln \"drop\")'",
    "julia -e 'println(1+1)'",
    "octave --eval 'disp(pi)'",
    "swipl -g 'writeln(hello)' -t halt",
    "bc <<< '2*3'",
    "raku -e 'say \"delete\"'",
]


@each("text", CODE)
def test_code_without_a_reader_is_searched_for_the_calls_that_languages_share(text: str) -> None:
    assert level(text) >= 2


@each("text", HARMLESS_CODE)
def test_code_without_a_reader_that_calculates_or_prints_is_harmless(text: str) -> None:
    assert level(text) <= 1


WIPE = 'import shutil; shutil.rmtree("/home/dev/docs")'
WRITTEN = [
    f"echo '{WIPE}' > random.py; python3 -c 'import random'",
    f"echo '{WIPE}' > x.py; python3 -m x",
    f"echo '{WIPE}' > x.py; python3 -m cProfile -o /dev/null x.py",
    f"echo '{WIPE}' > x.py; python3 -m pydoc x",
    f"echo '{WIPE}' > test_x.py; python3 -m unittest",
    f"mkdir p; echo '{WIPE}' > p/__main__.py; python3 p",
    f"echo '{WIPE}' > sitecustomize.py; PYTHONPATH=. python3 -c 1",
    "python3 -m timeit -s 'import shutil' 'shutil.rmtree(\"/home/dev/docs\")'",
    f"python3 -c 'import code; code.interact()' <<< '{WIPE}'",
    "echo 'rm -rf /home/dev/docs' > git; chmod +x git; ./git status",
]
NOT_RUN = [
    f"echo '{WIPE}' > x.py; python3 -m black x.py",
    f"echo '{WIPE}' > x.py; python3 -c 'import random'",
    "echo 'print(1)' > x.py; python3 -m x",
    "python3 -m timeit 'sum(range(10))'",
    "python3 -m pytest -q",
]


@each("text", WRITTEN)
def test_a_module_or_script_that_the_action_has_written_is_read_where_it_runs(text: str) -> None:
    assert level(text) >= 2


@each("text", NOT_RUN)
def test_a_module_that_is_not_imported_is_not_read(text: str) -> None:
    assert level(text) <= 1


LAUNCHED = [
    "xterm -e 'rm -rf ~/docs'",
    "konsole -e rm -rf ~/docs",
    "gnome-terminal -- rm -rf ~/docs",
    "kitty @ launch rm -rf ~/docs",
    "swaymsg exec 'rm -rf ~/docs'",
    "watchexec -w src 'rm -rf ~/docs'",
    "tox exec -- rm -rf ~/docs",
    "yarn workspaces foreach exec rm -rf src",
    "yt-dlp --exec 'rm -rf src' https://example.com/v",
    "cargo watch -x test -s 'rm -rf src'",
    "cmake -E rm -rf src",
    "manage.py sqlflush | psql",
    "echo 'drop table users;' > x.sql; sqlite3 a.db '.read x.sql'",
    "manage.py dbshell -- -c 'drop table users'",
    "fly postgres connect -a db <<< 'drop table users;'",
    "git grep --open-files-in-pager='rm -rf ~/docs' x",
    "git -c include.path=/tmp/x status",
]
LAUNCHED_HARMLESS = [
    "xterm -e 'tail -f app.log'",
    "gnome-terminal -- htop",
    "watchexec -w src 'cargo test'",
    "tox exec -- python -V",
    "cargo watch -x 'test delete'",
    "cmake -E echo done",
    "sqlite3 a.db '.tables'",
    "manage.py dbshell -- -c 'select 1'",
    "git grep 'rm -rf' docs",
    "git -c core.pager=cat log -3",
]


@each("text", LAUNCHED)
def test_a_command_or_statement_is_read_wherever_a_program_takes_one(text: str) -> None:
    assert level(text) >= 2


@each("text", LAUNCHED_HARMLESS)
def test_a_harmless_command_stays_harmless_wherever_a_program_takes_one(text: str) -> None:
    assert level(text) <= 1
