"""A command that no rule and no description speaks of is judged by its words."""

from __future__ import annotations

from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from cases import each
from effort import EFFORT
from interlock.analysis.assess import judge
from interlock.analysis.classify import clauses_of
from interlock.analysis.programs import build_program
from interlock.analysis.programs.load import shipped_programs
from interlock.analysis.rules import Rulebook
from interlock.analysis.rules.load import load
from interlock.model import command

BOOK = load()


def level(text: str, book: Rulebook = BOOK) -> int:
    return int(judge(command(text, "/home/dev/app"), book).assessment.level)


HARM = [
    # subcommands at any depth
    "zorgle account destroy", "zorgle storage buckets rm a", "zorgle v2 admin users remove bob", "zorgle cluster node evict n3",
    "zorgle table truncate orders", "zorgle environments teardown staging", "zorgle keys revoke k1", "zorgle node decommission n1",
    "zorgle bucket obliterate logs", "zorgle expunge mailbox bob", "zorgle unpublish pkg@1", "zorgle db nuke", "zorgle volume rm pgdata",
    "zorgle monitor delete 5", "zorgle logs purge app", "zorgle version delete 4", "zorgle schedule delete nightly", "zorgle DELETE user 42",
    # names of more than one word
    "zorgle log-delete 42", "zorgle ls-del sw0", "zorgle view-delete v", "zorgle user-delete 42", "zorgle delete-user 42", "zorgle deleteUser 42", "zorgle UserDelete --id 42", "zorgle user_delete 42",
    "zorgle user:rm 42", "zorgle user.delete 42", "zorgle tenant::destroy acme", "zorgle deleteAllUsers", "zorgle bulk-delete --from ids.txt",
    "zorgle deletetable events", "zorgle zonedelete acme.io", "zorgle rpc tenant.Destroy 1", "zorgle uninstall-cluster east",
    # options
    "zorgle sync --delete-excluded a b", "zorgle apply --wipe", "zorgle sync --prune ./a b", "zorgle migrate --drop-tables", "zorgle --purge",
    "zorgle restore --overwrite latest", "zorgle push --force-overwrite", "zorgle init --reset-data", "zorgle import x.sql --clean --force",
    "zorgle --action=delete --id 5", "zorgle --action delete --id 5", "zorgle cmd=destroy id=5", "zorgle users -delete bob", "zorgle users /delete bob",
    # an object decides
    "zorgle user ban bob", "zorgle org suspend acme", "zorgle disk format d1", "zorgle mfa disable", "zorgle detach-policy admin", "zorgle secrets rotate s1",
    "zorgle subscription cancel s1", "zorgle account close 7", "zorgle migrations rollback -t 0", "zorgle buckets empty backups",
    # the program's own name
    "acme-delete tenant 5", "delete-tenant 5", "wipe-device d1 --yes", "kubectl-nuke ns a", "dropTenant 5",
    # words that a script is given
    "node cli.js db:drop", "ruby bin/admin accounts:destroy 5", "php bin/console app:users:purge",
    # a switch that is on, a verb that is a value
    "zorgle machine release abc erase=true", "zorgle -c rmr /config", "zorgle migrate:refresh", "dragonfly-cli flushall", "ycqlsh -e 'DROP KEYSPACE s'",
    # an option that nobody knows silences nothing
    "zorgle --format list users delete bob", "zorgle -o json users delete bob", "zorgle --verbose delete bob",
]  # fmt: skip
EVERYTHING = [
    "zorgle purge --all", "zorgle tenants delete --env prod", "zorgle delete-all", "zorgle device factory-reset d1", "zorgle keys delete --everything",
    "zorgle config clear --all", "zorgle workspace deleteForever ws1",
]  # fmt: skip
NO_HARM = [
    # reading verbs in front
    "zorgle get purge-policy", "zorgle describe drop-zone", "zorgle search wipe", "zorgle status destroy-job", "zorgle logs delete-worker --tail 100",
    "zorgle help destroy", "zorgle explain delete", "zorgle list deleted", "zorgle plan --destroy", "zorgle user-list", "zorgle show deleted-items",
    # names of what is made
    "zorgle add delete-button", "zorgle require acme/purge", "zorgle generate component delete-dialog", "zorgle create remove-users-job", "zorgle switch remove-dead-code",
    "knex migrate:make drop_old_columns", "zorgle ecto.gen.migration delete_old_rows",
    # values of options
    "zorgle run -k delete", "zorgle run --filter delete", "zorgle run --grep 'drop table'", "zorgle send -m 'delete it'", "zorgle run --only purge",
    "zorgle apply --delete=false", "zorgle apply --no-delete", "zorgle sync --skip-delete", "zorgle apply --confirm-delete",
    # files and addresses
    "zorgle src/delete", "zorgle run delete.py", "zorgle https://x.io/delete", "zorgle run ./delete", "zorgle run delete_test.go", "zorgle kick purge.timer",
    # what another run or install brings back
    "zorgle cache clear", "zorgle cache purge --all", "zorgle plugin remove x", "zorgle uninstall x", "zorgle clean", "zorgle cache:clear",
    "zorgle start --reset-cache", "zorgle fit --remove-outliers", "zorgle build --clean",
    # what takes the harm back, or does none
    "zorgle undelete bob", "zorgle server stop web", "zorgle users delete bob --dry-run", "zorgle users delete bob --force --dry-run",
    # operands that are no subcommands
    "mypy delete", "pylint destroy", "howdoi drop a table", "jest -t delete", "rspec -e destroy", "tldr delete", "pydoc shutil.rmtree", "less purge",
    "tree --prune", "find . -name x -prune", "tr --delete x", "prettier remove", "gcc -o delete delete.c", "ctest -R delete", "grm notes.orig",
    # words of another program
    "npx cowsay delete", "ssh host howdoi delete", "docker compose run web howdoi delete", "poetry run howdoi delete", "yarn jest delete",
    # subcommands that rules or descriptions speak of
    "git push origin remove-dead-code", "git fetch --all --prune", "poetry remove requests", "cargo test delete", "docker run --rm alpine ls",
    "kubectl label pod x a=b --overwrite", "brew uninstall x", "flutter pub remove http", "gh pr merge 5 --delete-branch",
    "rsync -a --delete data/ /tmp/copy/", "dart run build_runner build --delete-conflicting-outputs", "mamba env update -f e.yml --prune", "brew cleanup --prune=all",
    "adb -s emulator-5554 emu kill", "npx ts-prune", "bundletool build-apks --bundle=a.aab --output=/tmp/a.apks --overwrite",
]  # fmt: skip


@each("text", HARM)
def test_words_that_name_harm_ask(text: str) -> None:
    assert level(text) >= 2


@each("text", EVERYTHING)
def test_harm_to_everything_or_to_production_is_dangerous(text: str) -> None:
    assert level(text) >= 3


@each("text", NO_HARM)
def test_words_that_only_resemble_harm_do_not_ask(text: str) -> None:
    assert level(text) <= 1


@each("text", ["zorgle frobnicate x", "pio frobnicate x", "git frobnicate x"])
def test_an_unknown_word_of_a_program_that_can_write_is_never_safe(text: str) -> None:
    assert level(text) == 1


def with_subcommands() -> list[str]:
    """Every described or ruled program that takes subcommands and only runs itself."""
    named = {name for name, program in BOOK.programs.items() if not program.operands and not program.wrapper}
    ruled = {name for name in BOOK.by_program if set(clauses_of(BOOK, name)) - {(), ("*",)} and "*" not in name}
    return sorted(
        name
        for name in named | ruled
        if not BOOK.programs.get(name, build_program("x", {})).operands and level(f"{name} frobs")  # 0: it only reads
    )


@each("program", with_subcommands())
def test_being_described_never_makes_a_program_less_guarded(program: str) -> None:
    assert level(f"{program} frobs destroy f1") >= level("zorgle frobs destroy f1")
    assert level(f"{program} frobs zap-all --delete-frobs") >= 2


FLAGS = st.lists(st.sampled_from(["--alpha", "--beta", "-Z", "--gamma"]), unique=True, max_size=3)
DESCRIPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "value_flags": FLAGS,
        "dry_run": st.just(["--try-it"]),
        "network": st.booleans(),
        "help": st.just(["--help", "-h"]),
        "slash_flags": st.booleans(),
        "options_first": st.booleans(),
        "ruled": st.lists(st.sampled_from(["alpha", "beta gamma", "--keep-frobs"]), unique=True),
        "carries": st.just([{"subcommand": ["launch"], "words": "command"}]),
        "subcommands": st.just(["alpha beta", "gamma"]),
    },
)
UNDESCRIBED = ("zorgle", "frobctl", *sorted(name for name in BOOK.by_program if name.isalpha())[::40])
WORDS = st.sampled_from(
    ["account destroy", "storage buckets rm a", "deleteUser 5", "user:rm", "sync --delete", "apply --wipe", "purge --all", "users list", "db drop", "frob x"]
)  # fmt: skip


@given(st.sampled_from(UNDESCRIBED), DESCRIPTIONS, WORDS)
@settings(max_examples=150 * EFFORT, deadline=None)
def test_adding_a_description_never_lowers_what_it_does_not_mention(
    program: str, data: dict[str, Any], words: str
) -> None:
    assume(not (data.get("options_first") and "--" in words))  # that says of options behind a word that they are none
    before = replace(BOOK, programs={name: one for name, one in BOOK.programs.items() if name != program})
    after = replace(BOOK, programs={**BOOK.programs, program: build_program(program, data)})
    text = f"{program} {words}"
    assert level(text, after) >= level(text, before)


def test_every_description_says_what_its_operands_are_or_is_guarded() -> None:
    assert {program.operands for program in shipped_programs().values()} == {"", "code", "files", "names", "text"}
