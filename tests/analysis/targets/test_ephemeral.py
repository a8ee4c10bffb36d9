"""Databases to throw away and what a session made itself: known without a look, and never where the name or the place says otherwise."""

from __future__ import annotations

import pytest

from cases import each
from interlock.analysis.assess import judge
from interlock.analysis.read import read
from interlock.analysis.rules.load import load
from interlock.analysis.targets import is_ephemeral_name
from interlock.analysis.targets.ordering import NOT_READ
from interlock.analysis.targets.provenance import ALL, CreatedThing, Provenance, created_by, removed_by
from interlock.impact.inspection import Inspection, inspection_of, run_inspection, with_impact
from interlock.model import Level, Loss, Requirement, command, tool
from interlock.policy.circumstances import Circumstances
from interlock.policy.evaluate import evaluate_policy
from interlock.policy.impact import MISSING, Impact
from interlock.policy.load import load_policy
from interlock.policy.match_names import match_names
from interlock.snapshots import TakenSnapshot

RULES = load()
HERE = "/home/dev/app"
MADE = Provenance.of(
    [CreatedThing("container", "pgtmp"), CreatedThing("inside", "pgtmp"), CreatedThing("container", "pgold"), CreatedThing("port", "5555"), CreatedThing("image", "gw:leak"), CreatedThing("database", "-:-/orders"), CreatedThing("container", "a"),
     CreatedThing("tag", "v2-rc1", HERE), CreatedThing("pushed", "v2-rc1", HERE, "origin"), CreatedThing("tag", "kept", HERE), CreatedThing("pushed", "topic", HERE, "origin"),
     CreatedThing("device", "drafts"), CreatedThing("app", "org.own"), CreatedThing("deployment", "cluster:dev/shop web"), CreatedThing("namespace", "cluster:dev/ preview"), CreatedThing("release", "cluster:dev/preview web"), CreatedThing("database", "the service db -:-/try"), CreatedThing("branch", "mine", HERE), CreatedThing("pushed", "mine", HERE, "origin")]
)  # fmt: skip


def asked(text: str, made: Provenance = MADE) -> Inspection | None:
    action = command(text, HERE)
    judged = judge(action, RULES)
    assert judged.assessment.level >= Level.DESTRUCTIVE, text
    return inspection_of(action, judged, made)


def nothing(_: object) -> Impact:
    return Impact(Loss.RECOVERABLE)


@each(
    "text",
    [
        'psql -h localhost -U etl etl_dev -c "truncate orders"', "psql -d shop_test -c 'drop table users cascade'",
        "psql postgres://u:p@localhost:5432/portal_test -c 'drop table users'", "dropdb -h 127.0.0.1 etl_test_tmp", "dropdb --if-exists shop_test",
        "psql -h /var/run/postgresql dev -c 'delete from a'", "mysql -h localhost -u root shop_test -e 'drop table users'",
        "mysql -h 127.0.0.1 shop_test -e 'drop table other_test.users'", "docker compose exec -T db psql -U app -d app_test -c 'truncate a'",
        "docker exec -i db psql -U app app_dev -c 'drop table x'", "redis-cli -h localhost del gw:test:1", "redis-cli del a:test:1 b:tmp:2",
        "PGPASSWORD=x psql -h localhost -p 5555 -U postgres -c 'drop database t'", "docker exec pgtmp psql -U postgres -c 'drop database t'",
        "redis-cli -p 5555 flushall", "docker rm -fv pgtmp", "docker rm -f pgtmp a", "docker rmi gw:leak", "docker image rm -f gw:leak", "dropdb orders",
        "bin/rails db:reset", "RAILS_ENV=test bin/rails db:drop db:create", "bundle exec rails db:rollback STEP=2", "rake db:drop",
        "NODE_ENV=test npx prisma migrate reset --force", "rails db:migrate:down VERSION=3 && rails db:migrate:up VERSION=3",
        "RAILS_ENV=test DATABASE_URL=postgres://localhost/app_test rails db:drop", "createdb x_test && psql x_test -f a.sql; dropdb x_test",
        "dropdb x_test && rm -rf node_modules", "psql postgres://u:p@localhost/portal_test -c 'drop table users' -f db/schema.sql",
        "git push origin :refs/tags/v2-rc1", "git push -q origin --delete v2-rc1", "git push -d origin refs/tags/v2-rc1", "git push origin :v2-rc1",
        "gh release delete v2-rc1 --yes --cleanup-tag", "git push origin --delete mine", "git push origin :refs/heads/mine",
        "migrate -path db -database 'postgres://t:t@localhost:55432/inv_test?sslmode=disable' down 1", "dbmate --url=postgres://127.0.0.1/x_test drop",
        "goose postgres postgres://localhost/x_test down", "docker compose -f docker-compose.test.yml down -v", "docker compose -p shop-test down -v --remove-orphans",
        "kubectl -n checkout delete pod checkout-7c9d4f-x2x8k", "kubectl --context dev -n jobs delete pod -l queue=images --wait=false",
        "kubectl --context dev delete ns preview", "kubectl --context dev -n shop delete deployment web", "podman exec -i db psql -U app app_dev -c 'drop table x'", "helm uninstall web -n preview --kube-context dev", "docker compose exec -T db dropdb -U pay try",
        "psql -h localhost shop -c 'select pg_terminate_backend(7)'", "docker compose exec -T db psql -U app -d app -c 'select pg_terminate_backend(pid) from pg_stat_activity'",
        "docker compose -p inc22 -f incident/repro.yaml down -v", "php artisan migrate:fresh --env=testing --seed", "avdmanager delete avd -n drafts", "avdmanager delete avd -n Pixel_7_tmp",
        "adb shell pm clear org.own",
        "xcrun simctl delete fn-test", "docker volume rm shop_tmpdata", "docker volume rm -f shop_test_pg api-test-redis",
    ]
)  # fmt: skip
def test_what_is_to_be_thrown_away_lowers_what_is_asked_for(text: str) -> None:
    found = asked(text)
    assert found is not None and found.relieves and found.notes
    assert run_inspection(found, nothing).loss is Loss.RECOVERABLE


@each(
    "text",
    [
        # the name
        "dropdb orders_prod", "dropdb shop", "psql -d app -c 'drop table users'", "dropdb shop_test_live", "dropdb PROD_test", "dropdb latest", "dropdb proddb_test",
        "docker compose exec -T db psql -U app -d app -c 'truncate a'", "psql shop_test -c 'drop database shop'", "psql shop_test -c 'drop database shop_prod'",
        "mysql -h localhost shop_test -e 'drop table shop.users'", "mysql -h localhost shop_test -e 'use shop; drop table users'",
        # the place
        "psql -h db.example.com shop_test -c 'drop table users'", "dropdb -h staging shop_test", "psql -h $PGHOST shop_test -c 'drop table users'",
        "PGHOST=db.example.com dropdb shop_test", "PGSERVICE=x dropdb shop_test", "export PGHOST=db; dropdb shop_test", "PGHOST=db; dropdb shop_test",
        ". ./env.sh; dropdb shop_test", "psql $DATABASE_URL -c 'drop table users'", 'psql "$TEST_URL" -c "drop table users"',
        "psql 'host=db.example.com dbname=shop_test' -c 'drop table users'", "psql 'postgres://db.example.com/shop_test' -c 'drop table users'",
        "psql 'postgres://localhost/shop_test?host=db.example.com' -c 'drop table users'", "psql 'postgres://localhost,db.example.com/x_test' -c 'drop table x'",
        "mysql shop_test -e 'drop table users'", "ssh host dropdb shop_test", "sudo -u postgres dropdb shop_test", "redis-cli -h cache.example.com del a:test",
        "kubectl exec db -- psql -d app_test -c 'drop table x'", "docker --context prod exec db psql -d app_test -c 'drop table x'",
        "DOCKER_HOST=ssh://prod docker rm -f pgtmp", "docker -H tcp://prod rm -f pgtmp", "docker exec web psql -h db.example.com x_test -c 'drop table x'",
        # what else it does
        "psql shop_test -c '\\c shop' -c 'drop table users'", "echo x > a.sql; psql shop_test -f a.sql -c 'drop table users'", "python x.py; psql shop_test -f a.sql -c 'drop table users'", "psql shop_test <<< '\\c shop\ndrop table users'",
        "redis-cli flushall", "redis-cli flushdb", "redis-cli del a:test b:prod", "redis-cli del users", "docker exec redis redis-cli flushall",
        "psql shop_test -c 'drop role admin'", "psql shop_test -c 'drop user admin'", "psql shop_test -c 'drop tablespace t'",
        "docker compose exec pgtmp psql -U postgres -c 'drop database t'",  # a service, and no container of that name
        "docker exec pgold psql -U postgres -c 'drop database t'",  # whose volume may be older
        "docker compose exec pgtmp redis-cli flushall", "PGHOST=localhost dropdb orders",
        # not of this session
        "docker rm -f db", "docker rm -f pgtmp db", "docker rmi app:latest", "docker volume rm data", "docker system prune -af --volumes", "docker compose down -v",
        "docker ps -aq | xargs docker rm -f", "docker rm -f $(docker ps -aq)", "docker rm -f $NAME",
        "git push origin :refs/tags/v2", "git push origin :refs/tags/kept", "git push origin :topic", "git push origin --delete topic", "git push origin :refs/heads/v2-rc1",
        "git push origin :v2-rc1 :main", "git push origin :refs/tags/mine", "gh release delete v1 --yes", "gh release delete v2-rc1 -R other/repo --yes", "gh release delete kept --yes", "git push origin --delete mine main", "git push --force origin v2-rc1", "git push origin +v2-rc1", "GIT_DIR=/x git push origin :v2-rc1", "git push --tags --delete origin v2-rc1",
        "git -C /x push origin :v2-rc1", "git push origin :v2-rc1 && git push -f origin main", "docker volume rm shop_dev", "docker volume rm shop_pgdata",
        "migrate -database postgres://db.example.com/inv_test down", "migrate -database postgres://localhost/inv down", "migrate -database $DB down",
        "migrate -path postgres://localhost/x_test down", "DATABASE_URL=postgres://db/x dbmate --url postgres://localhost/x_test drop",
        "docker compose -f docker-compose.yml down -v", "docker compose -f a.test.yml -f prod.yml down -v", "docker compose -f dev-test.yml down -v",
        "docker compose -f a.test.yml --context prod down -v", "DOCKER_HOST=x docker compose -f a.test.yml down -v", "docker compose -f $F down -v",
        "docker compose -f incident/repro.yaml down -v", "docker compose -p inc22 down -v", "php artisan migrate:fresh", "php artisan migrate:fresh --env=production",
        "APP_ENV=production php artisan migrate:fresh --env=testing", "php artisan migrate:fresh --env=testing --database=live", "NODE_ENV=test npx prisma migrate reset --force --config live.ts", "avdmanager delete avd -n other", "adb shell pm clear org.other", "adb -s R58M shell pm clear org.own", "adb shell pm clear org.own '; rm -rf /sdcard'", "xcrun simctl delete mine", "xcrun simctl erase all", "kubectl delete ns preview", "kubectl --context prod delete ns preview", "kubectl --context dev delete ns preview other", "kubectl --context dev delete ns other", "kubectl --context dev -n other delete deployment web", "kubectl --context dev -n shop delete deployment web api",
        "kubectl --context prod delete pod api-1", "kubectl delete pods --all", "kubectl delete pod a --force --grace-period=0", "kubectl delete pod,svc -l app=x",
        "kubectl delete pod -A -l app=x", "kubectl get po -o name | xargs kubectl delete", "kubectl -n prod delete pod a", "ssh host kubectl delete pod a",
        "kubectl --context dev delete pvc preview", "KUBECONFIG=x kubectl --context dev delete ns preview", "helm uninstall web -n preview", "helm uninstall web api -n preview --kube-context dev",
        "docker compose exec -T other dropdb -U pay try", "dropdb try", "docker exec db dropdb try", "psql -h db.example.com shop -c 'select pg_terminate_backend(7)'",
        "psql -h localhost shop -c 'select pg_terminate_backend(7); drop table users'", "docker volume rm shop_tmp shop_pgdata", "docker volume rm shop_prod_tmp", "docker --context prod volume rm shop_tmp", "docker volume rm $V", "docker volume prune -f",
        # other environments
        "bin/rails db:drop:all", "bin/rails db:drop:_unsafe", "bin/rails db:purge:all", "rails db:drop assets:clobber",
        "RAILS_ENV=production bin/rails db:reset", "RAILS_ENV=staging bin/rails db:drop", "RAILS_ENV=$E bin/rails db:drop", "bin/rails db:drop RAILS_ENV=production",
        "DISABLE_DATABASE_ENVIRONMENT_CHECK=1 rails db:drop", "DATABASE_URL=postgres://db.example.com/app rails db:drop", "DATABASE_URL=$URL rails db:drop",
        "RAILS_ENV=test DATABASE_URL=postgres://localhost/app rails db:drop", "export RAILS_ENV=production; rails db:drop", "RAILS_ENV=production; rails db:drop",
        "docker compose exec web rails db:drop", "npx prisma migrate reset --force", "NODE_ENV=production npx prisma migrate reset --force",
        "NODE_ENV=test DATABASE_URL=$URL npx prisma migrate reset --force", "heroku run rails db:drop",
        # the rest of the line
        "dropdb shop_test && dropdb shop", "dropdb shop_test; rm -rf ~", "dropdb shop_test && git push -f origin main", "mv ~/thesis x && dropdb a_test && rm x",
    ]
)  # fmt: skip
def test_nothing_is_lowered_where_the_name_the_place_or_the_rest_of_the_line_says_otherwise(text: str) -> None:
    found = asked(text)
    assert found is None or not found.relieves


FILES = Provenance.of(
    [CreatedThing("file", "work.db", HERE), CreatedThing("file", "/srv/own.db"), CreatedThing("database", "-:-/orders")]
)


@each(
    ("text", "thrown"),
    [
        ("dropdb shop_test", True), ("dropdb orders", True), ("psql -d shop_test -c 'drop table users cascade'", True),
        ("sqlite3 test.db 'drop table users'", True), ("sqlite3 out/tmp.sqlite 'delete from users'", True),
        ("duckdb work.db 'drop table users'", True), ("duckdb app.db 'drop table users'", False),
        ("sqlite3 work.db 'drop table users'", True), ("sqlite3 /srv/own.db 'drop table users'", True),
        ("sqlite3 app.db 'drop table users'", False), ("sqlite3 tests/app.db 'drop table users'", False),
        ("sqlite3 /srv/work.db 'drop table users'", False), ("cd sub; sqlite3 work.db 'drop table users'", False),
        ("sqlite3 test_live.db 'drop table users'", False),
        ("sqlite3 test.db 'drop table a'; sqlite3 app.db 'drop table b'", False),
    ]
)  # fmt: skip
def test_of_what_is_forbidden_only_databases_to_be_thrown_away_can_be_relieved(text: str, thrown: bool) -> None:
    """R-23: made for tests or by this session; a copy or a look alone is not enough."""
    action = command(text, HERE)
    judged = judge(action, RULES)
    assert judged.assessment.level is Level.FORBIDDEN
    question = inspection_of(action, judged, FILES)
    assert question is not None and question.throwaway is thrown
    copied = Circumstances(
        loss=Loss.RECOVERABLE, snapshot=TakenSnapshot("u_aaaaaaaaaa", "0" * 64), ephemeral=question.throwaway
    )
    for name in ("default", "headless", "strict"):
        asked = evaluate_policy(
            judged.assessment, match_names(action, judged.facts), load_policy(name), copied
        ).requirement
        assert (asked == Requirement()) is (thrown and name == "default"), name


ABSENT = Impact(Loss.NONE, notes=(MISSING,))


@each(
    "text, seen, thrown",
    [
        ("sqlite3 app.db 'create table if not exists t(x); drop table t'", ABSENT, True),
        ("duckdb app.db 'drop table users'", ABSENT, True),
        ("dropdb shop_test && sqlite3 app.db 'drop table users'", ABSENT, True),
        ("sqlite3 app.db 'create table if not exists t(x); drop table t'", Impact(Loss.RECOVERABLE, files=1), False),
        ("sqlite3 app.db 'drop table users'", Impact(Loss.NONE), False),  # an empty file is there
        ("sqlite3 app.db 'drop table users'", Impact(problem=MISSING), False),  # another place may be meant
        ("sqlite3 app.db 'drop table users'", Impact(Loss.LOST, files=1, only=1), False),
        ("cp old.db app.db; sqlite3 app.db 'drop table users'", ABSENT, False),
        ("sqlite3 app.db 'drop table a'; dropdb shop", ABSENT, False),
    ]
)  # fmt: skip
def test_a_database_file_that_does_not_exist_yet_is_made_by_the_action_itself(
    text: str, seen: Impact, thrown: bool
) -> None:
    """R-23: whatever it drops there, it has created first."""
    action = command(text, HERE)
    question = inspection_of(action, judge(action, RULES), Provenance())
    found = with_impact(Circumstances(), question, lambda _: seen, True)
    assert found.ephemeral is thrown


@each("text", ["docker rm -f pgtmp", "docker rmi gw:leak", "dropdb orders", "psql -p 5555 -c 'drop database t'"])
def test_what_another_session_made_is_not_this_ones(text: str) -> None:
    found = asked(text, Provenance())
    assert found is None or not found.relieves


def test_a_database_in_a_file_is_looked_at_and_can_be_kept() -> None:
    found = asked('sqlite3 out/cache.db "delete from seen"')
    assert (
        found is not None
        and found.relieves
        and found.deeds == ({"verb": "database", "target": "out/cache.db", "sure": True},)
    )


@each(
    "text",
    [
        "sqlite3 a.db \"attach 'b.db' as b; drop table b.users\"", "sqlite3 a.db '.shell rm x' 'drop table users'", "sqlite3 a.db '.open b.db' 'drop table x'",
        "mv b.db a.db; sqlite3 a.db 'drop table x'", "sqlite3 $DB 'drop table x'", "sqlite3 -cmd '.open b.db' a.db 'drop table x'",
        "sqlite3 a.db \"select writefile('b', ''); drop table x\"", "python x.py; sqlite3 a.db 'drop table x'", "sqlite3 file:b.db 'drop table x'",
    ]
)  # fmt: skip
def test_a_database_in_a_file_is_not_answered_for_where_it_may_be_another_file(text: str) -> None:
    found = asked(text)
    assert found is None or not found.relieves


@each("name, gone", [("etl_test_tmp", True), ("shopDev", True), ("app-test-2", True), ("TEST", True), ("tmpdata", True), ("template", False), ("shop", False), ("latest", False), ("contest", False),
       ("test_prod", False), ("live_dev", False), ("maindev_test", False), ("staging_test", False), ("", False)])  # fmt: skip
def test_a_name_is_read_word_by_word(name: str, gone: bool) -> None:
    assert is_ephemeral_name(name) is gone


def made(text: str) -> list[tuple[str, str]]:
    action = command(text, HERE)
    found = read(action)
    return [(one.kind, one.name) for one in created_by(action, found.facts, found.line)]


@each(
    "text, things",
    [
        ("docker run -d --name db -p 5555:5432 -e X=1 postgres:16", [("container", "db"), ("inside", "db"), ("port", "5555")]),
        ("docker run -d --name db -p 127.0.0.1:5555:5432 -v data:/x postgres", [("container", "db")]),
        ("docker build -t gw:leak . 2>&1 | tail -3", [("image", "gw:leak")]),
        ("docker run --rm --name db -p 1:2 x && createdb -h localhost y", [("container", "db"), ("inside", "db"), ("database", "localhost:-/y")]),
        ("git checkout -b topic", [("branch", "topic")]),
        ("git switch -q -c topic main", [("branch", "topic")]),
        ("git branch topic", [("branch", "topic")]),
        ("git push -u origin topic", [("pushed", "topic")]),
        ("cp notes.txt copy.txt", [("file", "copy.txt")]),
        ("sqlite3 out/cache.db 'create table seen(id)'", [("file", "out/cache.db")]),
        ("sqlite3 out/cache.db 'create table seen(id)' | cat", []),
        ("git tag -a v2-rc1 -m 'the first'", [("tag", "v2-rc1")]),
        ("git tag v2 abc123 && git push origin v2", [("tag", "v2"), ("pushed", "v2")]),
        ("git push origin refs/tags/v2", [("pushed", "v2")]),
        ("kubectl --context dev -n shop create deployment web", [("deployment", "cluster:dev/shop web")]),
        ("docker run --rm alpine --name db", []),
        ("kubectl --context dev create namespace preview", [("namespace", "cluster:dev/ preview")]),
        ("helm --kube-context dev install web ./chart -n preview -f v.yaml --wait", [("release", "cluster:dev/preview web")]),
        ("docker compose exec -T db createdb -U pay try", [("database", "the service db -:-/try")]),
        # what may have failed, or is no making
        ("! createdb y", []),
        ("! docker run --name db x", []),
        ("! git checkout -b topic", []),
        ("trap 'exit 0' EXIT && createdb y", []),
        ("docker build --check -t gw:leak .", []),
        ("docker build --check -t gw:leak . | tail -3", []),
        ("docker build -t gw:leak --call=outline .", []),
        ("docker buildx build -t gw:leak --push .", []),
        ("docker build -t gw:leak -o out .", []),
        ("kubectl --context dev create namespace preview --dry-run=client", []),
        ("echo createdb y", []),
        ("createdb y && ! grep x log", [("database", "-:-/y")]),
        ("docker run --name db x; true", []),
        ("docker run --name db x || true", []),
        ("docker run --name db x | cat", []),
        ("docker run --name db x &", []),
        ("if true; then docker run --name db x; fi", []),
        ("createdb y | cat", []),
        ("createdb -h db.example.com y", []),
        ("docker run x", []),
        ("docker run --unheard-of --name db x", []),
        ("docker --context prod run --name db x", []),
        ("DOCKER_HOST=x docker run --name db x", []),
        ("ssh host docker run --name db x", []),
        ("docker run --name $N x", []),
        ("git checkout -B topic", []),
        ("git branch -f topic main", []),
        ("git tag -f v2", []),
        ("kubectl create namespace preview", []),
        ("kubectl --context dev apply -f ns.yaml", []),
        ("helm --kube-context dev upgrade --install web ./chart -n preview", []),
        ("docker compose exec -T db createdb -h db.example.com try", []),
        ("docker compose exec -T db createdb try || true", []),
        ("git tag -d v2", []),
        ("git tag -l 'v*'", []),
        ("git tag", []),
        ("git push --force origin topic", []),
        ("git push origin main:topic", []),
        ("mv notes.txt x", []),
        ("ln notes.txt x", []),
        ("cp -r a b", []),
        ("cp a b c", []),
        ("cp a b/", []),
        ("cd x && cp a b", []),
        ("mv precious b && cp a c", []),
        ("tar xf a.tgz", []),
        ("git mv a b", []),
        ("echo x > y", []),
    ]
)  # fmt: skip
def test_what_a_line_makes_for_certain_when_it_succeeds(text: str, things: list[tuple[str, str]]) -> None:
    assert made(text) == things


def test_a_file_that_is_written_as_a_whole_is_made_and_an_edited_one_is_not() -> None:
    write = tool("Write", {"file_path": f"{HERE}/x.py", "content": "1"}, HERE)
    edit = tool("Edit", {"file_path": f"{HERE}/x.py", "old_string": "1", "new_string": "2"}, HERE)
    assert [(one.kind, one.name) for one in created_by(write, (), NOT_READ)] == [("file", f"{HERE}/x.py")]
    assert created_by(edit, (), NOT_READ) == []


@each(
    "text",
    [
        "docker rename old pgtmp",
        "docker tag other gw:leak",
        "docker rm pgtmp",
        "docker container rename old pgtmp",
        "docker load -i x pgtmp",
    ],
)
def test_a_name_that_may_stand_for_something_else_is_forgotten(text: str) -> None:
    ended = removed_by(read(command(text, HERE)).facts)
    assert ("container", "pgtmp") in ended or ("image", "gw:leak") in ended


@each(
    "text",
    [
        "docker compose up -d",
        "docker compose ps && docker compose up -d",
        "docker compose --some-option ps up",  # `ps` may be its value
        "docker compose frobnicate",
        "docker system prune -f",
    ],
)
def test_every_name_may_stand_for_something_else_after_a_project_was_changed(text: str) -> None:
    ended = removed_by(read(command(text, HERE)).facts)
    assert {("container", ALL), ("inside", ALL), ("image", ALL), ("port", ALL)} <= set(ended)


@each(
    "text",
    [
        "docker compose ps --format json | jq .",
        "docker compose -p shop -f a.yml logs -f api --tail 40",
        "docker compose exec -T db psql -U shop -c 'select 1'",
        "docker compose config -q",
        "docker container ls -a",
        "podman container inspect pgtmp",
        "docker system df -v",
    ],
)
def test_looking_at_containers_forgets_none_of_them(text: str) -> None:
    assert removed_by(read(command(text, HERE)).facts) == []


@pytest.mark.parametrize("text", ["rm -rf ~", "rm -rf /", "dd if=/dev/zero of=/dev/sda"])
def test_what_is_forbidden_and_no_database_gets_no_relief_whatever_was_seen(text: str) -> None:
    found = inspection_of(command(text, HERE), judge(command(text, HERE), RULES), MADE)
    assert found is None or not found.relieves
