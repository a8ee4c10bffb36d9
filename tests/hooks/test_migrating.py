"""A migration that a session wrote: what migrating runs of it counts, and for nothing but migrating."""

from __future__ import annotations

from cases import each
from interlock.analysis.assess import join_judgements, judge
from interlock.analysis.rules.load import load
from interlock.analysis.targets.written_files import forward_part, inherited_judgement, is_migration
from interlock.hooks.written_files import WrittenFiles
from interlock.model import command, tool

RULES = load()
HERE = "/home/dev/app"
PHP = """<?php
return new class extends Migration {
    public function up(): void
    {
        %s
    }

    public function down(): void
    {
        Schema::dropIfExists('waiting');
    }
};
"""
FRESH, HARMFUL = PHP % "Schema::create('waiting', fn ($t) => $t->id());", PHP % "Schema::drop('users');"
NEW = f"{HERE}/database/migrations/2024_01_01_new.php"


def level(path: str, text: str, run: str) -> int:
    """Of a command, in a session that wrote this file before."""
    files, action = WrittenFiles(), command(run, HERE)
    files.remember("s", tool("Write", {"file_path": path, "content": text}, HERE), RULES, None)
    own = judge(action, RULES)
    more = inherited_judgement(files.dangerous("s"), action, own, {})
    return int((join_judgements(own, more, RULES) if more is not None else own).assessment.level)


@each("run", ["php artisan migrate", "php artisan test", "composer audit", "php artisan serve", "vendor/bin/phpunit"])
def test_the_way_down_of_a_migration_counts_for_nothing_that_goes_up(run: str) -> None:
    assert level(NEW, FRESH, run) <= 1


def test_what_goes_up_counts_where_it_is_run() -> None:
    assert level(NEW, HARMFUL, "php artisan migrate") == 4
    assert level(NEW, HARMFUL, "php artisan test") <= 1 and level(NEW, HARMFUL, "php artisan route:list") <= 1
    assert level(f"{HERE}/tools/wipe.php", HARMFUL, "php tools/wipe.php") == 4


@each(
    "path, text, run",
    [
        (f"{HERE}/tests/test_users.py", "def setup():\n    User.objects.all().delete()\n", "pytest -q"),
        (f"{HERE}/spec/user_spec.rb", "before { User.delete_all }\n", "bundle exec rspec"),
        (f"{HERE}/tests/db.test.js", "beforeEach(() => db.query('DELETE FROM users'))\n", "npm test"),
    ],
)
def test_what_tests_do_to_a_database_they_do_to_one_of_their_own(path: str, text: str, run: str) -> None:
    assert level(path, text, run) <= 1


def test_what_a_file_does_to_this_machine_counts_for_whatever_may_run_it() -> None:
    wipes = "import shutil\nshutil.rmtree('/home/dev')\n"
    assert level(f"{HERE}/tests/test_users.py", wipes, "pytest -q") >= 3
    assert level(f"{HERE}/tools/clean.py", "import os\nos.system('dropdb shop')\n", "python tools/clean.py") >= 3


@each(
    "text, left",
    [
        ("def upgrade():\n    a()\n\ndef downgrade():\n    b()\n", "def upgrade():\n    a()\n\n"),
        ("def down\n  b\nend\n\ndef up\n  a\nend\n", "def up\n  a\nend\n"),
        ("exports.up = () => a()\nexports.down = () => b()\n", "exports.up = () => a()\n"),
        ("class A:\n    def change(self):\n        a()\n", "class A:\n    def change(self):\n        a()\n"),
        ("down the road\n", "down the road\n"),
    ],
)
def test_only_the_way_up_is_left(text: str, left: str) -> None:
    assert forward_part(text) == left


def test_a_migration_is_known_by_its_place() -> None:
    assert is_migration("/w/db/migrate/1_a.rb") and is_migration("/w/alembic/versions/1.py") and is_migration(NEW)
    assert not is_migration("/w/src/migrate.py") and not is_migration("/w/docs/migrations/readme.md")
