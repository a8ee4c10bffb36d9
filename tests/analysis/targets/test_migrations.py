"""Rolling back a migration: relieved only for the last one, after this session or this very line has applied all of them."""

from __future__ import annotations

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.read import read
from interlock.analysis.rules.load import load
from interlock.analysis.targets.migrations import MIGRATED
from interlock.analysis.targets.provenance import ALL, CreatedThing, Provenance, created_by, removed_by
from interlock.impact.inspection import Inspection, inspection_of
from interlock.model import command

RULES = load()
HERE = "/home/dev/app"
APPLIED = Provenance.of(
    [
        CreatedThing(MIGRATED, f"{HERE}/alembic/versions", source=f"{HERE}/alembic/versions/2.py"),
        CreatedThing(MIGRATED, f"{HERE}/database/migrations", source=f"{HERE}/database/migrations/2.php"),
    ]
)


def asked(text: str, made: Provenance) -> Inspection | None:
    action = command(text, HERE)
    return inspection_of(action, judge(action, RULES), made)


@each(
    "text",
    [
        "alembic upgrade head && alembic downgrade -1",
        "uv run alembic upgrade head && uv run alembic downgrade -1 && uv run alembic upgrade head",
        "php artisan migrate && php artisan migrate:rollback --step=1 && php artisan migrate",
    ],
)
def test_a_line_that_applies_all_migrations_first_rolls_back_the_last_one(text: str) -> None:
    found = asked(text, Provenance())
    assert found is not None and found.relieves and found.deeds[0]["applied"] == ""


@each("text", ["alembic downgrade -1", "poetry run alembic downgrade -1", "php artisan migrate:rollback --step 1"])
def test_a_session_that_has_applied_all_migrations_rolls_back_the_last_one(text: str) -> None:
    found = asked(text, APPLIED)
    assert found is not None and found.relieves and found.deeds[0]["applied"].startswith(HERE)
    assert (other := asked(text, Provenance())) is None or not other.relieves


@each(
    "text",
    [
        # more than the last one, or another one
        "alembic downgrade base", "alembic downgrade -2", "alembic downgrade abc123", "php artisan migrate:rollback", "php artisan migrate:rollback --step=2",
        "php artisan migrate:reset", "alembic downgrade -1 && alembic downgrade -1", "alembic upgrade head && alembic downgrade -1 && alembic downgrade -1",
        "php artisan migrate:rollback --step=1 --path=x", "php artisan migrate:rollback --batch=1",
        # the line may not have applied them
        "alembic upgrade head; alembic downgrade -1", "alembic upgrade head || alembic downgrade -1", "alembic upgrade abc && alembic downgrade -1",
        "alembic revision -m x && alembic downgrade -1", "alembic stamp head && alembic downgrade -1",
        "DATABASE_URL=postgres://a/b alembic upgrade head && alembic downgrade -1",
        # another place, or other settings
        "DATABASE_URL=postgres://a/b alembic downgrade -1", "export DATABASE_URL=postgres://a/b; alembic downgrade -1", "alembic -c live.ini downgrade -1",
        "alembic -n live downgrade -1", "php artisan migrate:rollback --step=1 --database=live", "php artisan migrate:rollback --step=1 --env=production",
        "cd sub && alembic downgrade -1", "uv run --env-file live.env alembic downgrade -1", "uv run --directory /x alembic downgrade -1",
        "ssh host alembic downgrade -1", "docker compose exec web alembic downgrade -1", "kubectl exec web -- alembic downgrade -1", "sudo alembic downgrade -1",
        "alembic downgrade -1 && dropdb shop",
    ],
)  # fmt: skip
def test_nothing_else_that_rolls_back_is_relieved(text: str) -> None:
    found = asked(text, APPLIED)
    assert found is None or not found.relieves


def applied(text: str) -> list[str]:
    action = command(text, HERE)
    found = read(action)
    return [one.name for one in created_by(action, found.facts, found.line) if one.kind == MIGRATED]


@each(
    "text, folder",
    [
        ("alembic upgrade head", f"{HERE}/alembic/versions"),
        ("uv run alembic upgrade head", f"{HERE}/alembic/versions"),
        ("php artisan migrate", f"{HERE}/database/migrations"),
        ("alembic upgrade head && alembic downgrade -1 && alembic upgrade head", f"{HERE}/alembic/versions"),
        ("alembic upgrade head && alembic downgrade -1", ""),
        ("alembic upgrade head && alembic revision -m x", ""),
        ("alembic upgrade head | tail -3", ""),
        ("alembic upgrade head || true", ""),
        ("alembic upgrade head --sql", ""),
        ("alembic upgrade +1", ""),
        ("cd sub && alembic upgrade head", ""),
        ("DATABASE_URL=x alembic upgrade head", ""),
        ("php artisan migrate --pretend", ""),
        ("php artisan migrate --path=x", ""),
    ],
)
def test_only_a_call_that_certainly_applied_all_migrations_is_remembered(text: str, folder: str) -> None:
    assert applied(text) == ([folder] if folder else [])


@each(
    "text",
    ["alembic downgrade -1", "alembic revision -m x", "php artisan make:migration x", "php artisan migrate:fresh"],
)
def test_whatever_changes_which_migration_is_the_last_one_ends_that(text: str) -> None:
    assert (MIGRATED, ALL) in removed_by(read(command(text, HERE)).facts)
