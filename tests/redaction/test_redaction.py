"""No secret reaches the record or a screen, and ordinary text stays as it is."""

from __future__ import annotations

import json
import time
from base64 import urlsafe_b64encode
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cases import each
from effort import EFFORT
from interlock.analysis.programs.load import shipped_programs
from interlock.analysis.rules.load import load
from interlock.model import finding_factor
from interlock.redaction import TOO_DEEP, redact, redact_text
from interlock.redaction.contexts import secret_programs

LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ"
ALNUM = LETTERS + "0123456789"
URLSAFE = ALNUM + "_-"
SOME = settings(max_examples=100 * EFFORT)


def drawn(alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=least, max_size=most or least)


def behind(prefix: str, alphabet: str, least: int, most: int | None = None) -> st.SearchStrategy[str]:
    return drawn(alphabet, least, most).map(lambda rest: prefix + rest)


B32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
PEM_LINES = st.lists(drawn(ALNUM + "+/", 64), min_size=1, max_size=4).map("\n".join)
SHAPED = {
    "aws_access_key": behind("AKIA", B32, 16),
    "gcp_api_key": behind("AIza", URLSAFE, 35),
    "gcp_token": behind("ya29.", URLSAFE, 30, 60),
    "github_token": st.one_of(behind("ghp_", ALNUM, 36), behind("gho_", ALNUM, 36), behind("github_pat_", ALNUM + "_", 60)),
    "gitlab_token": behind("glpat-", URLSAFE, 20),
    "slack_token": st.one_of(behind("xoxb-", "0123456789", 12).map(lambda head: head + "-abcDEF123ghiJKL"), behind("xapp-", ALNUM, 20)),
    "slack_webhook": behind("hooks.slack.com/services/T0000/B0000/", ALNUM, 24),
    "stripe_key": st.one_of(behind("sk_live_", ALNUM, 24), behind("rk_test_", ALNUM, 24)),
    "openai_key": st.one_of(behind("sk-", ALNUM, 48), behind("sk-proj-", URLSAFE, 40)),
    "anthropic_key": behind("sk-ant-api03-", URLSAFE, 60),
    "npm_token": behind("npm_", ALNUM, 36),
    "pypi_token": behind("pypi-", URLSAFE, 60),
    "sendgrid_key": st.tuples(behind("SG.", URLSAFE, 22), drawn(URLSAFE, 43)).map(".".join),
    "vault_token": behind("hvs.", ALNUM, 30),
    "jwt": st.tuples(behind("eyJ", URLSAFE, 20), behind("eyJ", URLSAFE, 20), drawn(URLSAFE, 30)).map(".".join),
    "private_key": PEM_LINES.map(lambda key: f"-----BEGIN RSA PRIVATE KEY-----\n{key}\n-----END RSA PRIVATE KEY-----"),
    "confirmation_token": st.binary(max_size=8).map(lambda seed: "conf_" + urlsafe_b64encode(sha256(seed).digest()).decode().rstrip("=")),
    "code": st.just("K7QX2-M4WZ3-PLR5T-Y6NB2-HC4DE-V"),
}  # fmt: skip
PLACES = (
    "{}", "see {} there", "it is '{}'", 'export X="{}" && run', "curl https://host/path?x={}&y=1", "a\n{}\nb", "({})", '{{"a": "{}"}}', "x={}",
    "https://{}@github.com/o/r.git", "echo {} > file", "a,{},b", "[{}]", "git clone https://oauth2:{}@gitlab.com/o/r",
)  # fmt: skip


# One secret of each kind: making examples costs more than redacting them.
SECRETS = st.fixed_dictionaries(SHAPED)


@SOME
@given(secrets=SECRETS, place=st.sampled_from(PLACES))
def test_a_secret_with_a_shape_survives_nowhere_in_a_text(secrets: dict[str, str], place: str) -> None:
    for secret in secrets.values():
        shown = redact_text(place.format(secret))
        assert inner(secret) not in shown and "<secret:" in shown


@SOME
@given(secrets=SECRETS)
def test_the_placeholder_says_what_kind_of_secret_it_was_and_nothing_else(secrets: dict[str, str]) -> None:
    for kind, secret in secrets.items():
        assert redact_text(f"see {secret} there") == f"see <secret:{kind}> there"


@SOME
@given(secrets=SECRETS, key=st.sampled_from(["note", "a", "x_1", ""]))
def test_a_secret_with_a_shape_survives_nowhere_in_a_value(secrets: dict[str, str], key: str) -> None:
    for secret in secrets.values():
        value = {key: [{"deep": (1, secret)}, f"-- {secret} --"], secret: True}
        assert inner(secret) not in json.dumps(redact(value))


def inner(secret: str) -> str:
    """The part of a planted secret that must not be left."""
    return secret.split("\n")[1] if "\n" in secret else secret[-12:]


# A password has no shape: only what stands around it tells.
PASSWORDS = st.tuples(drawn(LETTERS, 1), drawn(ALNUM + "!@#%^*_+-.", 6, 20), drawn("0123456789", 2)).map("".join)
SHELL = (
    "mysql -u root -p{} shop", "mysqldump -h db -p'{}' shop", "mysql --password={} shop", "mysql --password {} shop", "PGPASSWORD={} psql -h db",
    "export DB_PASSWORD={}; ./run", "export DB_PASSWORD='{}' && ./run", 'API_TOKEN="{}" make', "curl -u bob:{} https://host", "curl -ubob:{} https://host",
    "curl --user bob:{} https://host", "curl -u 'bob:{}' https://host", "curl -H 'Authorization: Bearer {}' https://host",
    'curl -H "X-Api-Key: {}" https://host', "curl -H 'Cookie: sid={}; a=b' https://host", "curl -d '{{\"password\": \"{}\"}}' https://host",
    'curl -d "{{\\"password\\":\\"{}\\"}}" https://host', "curl -d 'user=bob&password={}&x=1' https://host", "sshpass -p {} ssh host", "sshpass -p'{}' ssh host",
    "redis-cli -a {} flushall", "docker login -u bob -p {} reg", "echo {} | sudo -S rm x", "echo '{}' | docker login -u bob --password-stdin",
    "openssl rsa -passin pass:{} -in k", "psql postgres://bob:{}@db/shop", "psql 'postgresql://bob:{}@db:5432/shop?ssl=1'", "redis-cli -u redis://:{}@host:6379",
    "git clone https://bob:{}@host/r.git", "az login --service-principal -u x --password {} --tenant t", "helm upgrade x --set auth.password={}",
    "kubectl create secret generic x --from-literal=password={}", "gpg --batch --passphrase {} -d f", "ldapsearch -D cn=x -w {} -b y",
    "ALTER USER bob WITH PASSWORD '{}'", "CREATE USER bob IDENTIFIED BY '{}'", "unzip -P {} a.zip",
    "htpasswd -b f bob {}", "echo bob:{} | chpasswd", "Server=db;User Id=sa;Password={};Database=x", "wget --password={} ftp://h", "$env:DB_PASSWORD = '{}'",
    "password: {}", "password = {}", '"clientSecret": "{}"', "'api_key' => '{}'", "db.password={}", "the password is {}", "Authorization: Basic {}",
    "set-secret --secret-string {}", "user:{}@tcp(db:3306)/shop", "refresh_token={}",
)  # fmt: skip


@SOME
@given(password=PASSWORDS)
def test_a_password_survives_in_no_command_line_or_setting(password: str) -> None:
    for place in SHELL:
        shown = redact_text(place.format(password))
        assert password not in shown and password[:-3] not in shown, shown
        assert "<secret:" in shown


@given(st.binary(max_size=8))
def test_a_random_word_behind_the_name_of_a_setting_is_hidden(seed: bytes) -> None:
    secret = urlsafe_b64encode(sha256(seed).digest()).decode()[:40]
    assume(sum(character.isdigit() for character in secret) > 1)
    assert redact_text(f"aws configure set aws_secret_access_key {secret}").endswith(" <secret:secret_key>")


NAMES = (
    "password", "PASSWORD", "dbPassword", "db_password", "DB-PASSWORD", "user.password", "passwd", "PGPASSWORD", "passphrase", "secret", "clientSecret",
    "CLIENT_SECRET", "token", "accessToken", "auth_token", "X-Auth-Token", "api_key", "apiKey", "x-api-key", "APIKEY", "Authorization", "cookie",
    "Set-Cookie", "privateKey", "private_key", "aws_secret_access_key", "SecretAccessKey", "signing_key", "credentials", "password2", "SECRET_KEY_BASE",
    "newPassword", "AccountKey", "SharedAccessKey", "_confirmation_token", "refresh-token", "sessionToken", "encryptionKey", "pass", "otp",
)  # fmt: skip


@SOME
@given(password=PASSWORDS)
def test_what_stands_under_the_name_of_a_secret_is_hidden(password: str) -> None:
    for name in NAMES:
        values: list[object] = [{name: password}, {"a": [{name: password}]}]
        if name not in ("pass", "otp"):
            values += [
                {name: {"x": [password]}},
                {"headers": [[name, password]]},
                {"env": [{"name": name, "value": password}]},
            ]
        for value in values:
            shown = redact(value)
            assert password not in json.dumps(shown), value
            assert redact(shown) == shown, value


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["mysql", "-phunter22", "db"], ["mysql", "-p<secret:password>", "db"]),
        (["/usr/bin/mysql", "--password", "hunter22"], ["/usr/bin/mysql", "--password", "<secret:password>"]),
        (["curl", "-u", "bob:hunter22", "h"], ["curl", "-u", "bob:<secret:password>", "h"]),
        (["sshpass", "-p", "hunter22", "ssh", "h"], ["sshpass", "-p", "<secret:password>", "ssh", "h"]),
        (["x", "--token=hunter22"], ["x", "--token=<secret:token>"]),
        (["docker", "run", "-p", "80:80"], ["docker", "run", "-p", "80:80"]),
        (["mkdir", "-p", "a/b"], ["mkdir", "-p", "a/b"]),
        (["git", "push", "--force"], ["git", "push", "--force"]),
    ],
    ids=lambda words: " ".join(words),
)
def test_secrets_in_argument_lists_are_hidden(argv: list[str], shown: list[str]) -> None:
    assert redact(argv) == shown
    assert redact({"argv": tuple(argv)}) == {"argv": tuple(shown)}


SHA1 = "3f786850e387550fdab836ed7e6dc881de23001b"
SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
UUID = "123e4567-e89b-42d3-a456-426614174000"
ORDINARY = (
    f"git show {SHA1}", f"git revert {SHA1[:7]}", f"sha256:{SHA256}", f"docker pull app@sha256:{SHA256}", f"id {UUID}", f"curl https://host/items/{UUID}",
    f"cache key {SHA1}", f"the key {UUID} was found", "cp /usr/lib/python3.11/site-packages/token/keys.py /tmp/a1b2c3d4e5f6a7b8", "mkdir -p src/app",
    "docker run -p 8080:80 nginx", "ssh -p 2222 host", "ssh host -i ~/.ssh/id_ed25519", "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "password=$PASSWORD", "--password \"$DB_PASSWORD\"", "token: ${{ secrets.TOKEN }}", "token=$(cat file)", "password=${DB_PASS}", "max_tokens: 4096",
    "token = get_token()", "def login(user: str, password: str) -> Token: ...", "password: Optional[str] = None", "tests pass: 10, fail: 2", "PWD=/srv/app",
    "the password is wrong", "the password is required", "reset the password of bob", "a token is a word", "rotate the api key of the shop",
    "https://host:8080/a?page=2", "git@github.com:o/r.git", "scp a bob@host:/tmp/", "postgres://db/shop", "postgres://bob@db/shop", "2026-01-02T03:04:05Z",
    "primary_key=id", "sort_key: created_at", "public_key = x", "key=name", "for key, value in pairs: pass", "nextPageToken=abc", "curl -X POST localhost:3000/api/tokens",
    "basic authentication is on", "Basic auth", "conf_file_in_the_usual_place_of_the_server", "task-abcdefghijklmnopqrstuvwxyzabcdefgh", "npm ci && npm run build", "echo 'ci ALL=(ALL) NOPASSWD: ALL' > /etc/sudoers.d/ci", 'http DELETE https://host/1 Authorization:"Bearer $TOKEN"', "curl -H 'Authorization: Bearer ${TOKEN}' https://host",
    "rm -rf node_modules", f"pdact_{SHA1[:12]}", "kubectl get secret db -o yaml", "kubectl delete secret/db", "SELECT token, password FROM users WHERE id = 3",
    "grep -rn password src/", "grep -- '-----BEGIN RSA PRIVATE KEY-----' .", "vim ~/.config/auth.json", "git log --author=bob", "cut -d: -f1 /etc/passwd",
    "openssl rand -hex 32", "DELETE FROM sessions WHERE user_id = 7", "curl -s https://user@host/x", "mysql -u root -p shop", "curl -u bob https://host",
    "UPDATE KEYS SET NAME", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "v1:" + SHA256, "author: Bob <bob@host>", "key_id: 7", "keyboard: de", "monkey=3", "token_type: bearer",
)  # fmt: skip


@each("text", ORDINARY)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize(
    "value",
    [
        {"usage": {"total_tokens": 5, "input_tokens": 3}},
        {"passed": True, "token_count": 3, "secret": None, "password": "", "has_token": True},
        {"password": "$DB_PASSWORD", "token": "${TOKEN}"},
        {"confirmation_token": "sha256:" + SHA256, "digest": "v1:" + SHA256, "hash": SHA256},
        {"key": "name", "keys": ["a", "b"], "primaryKey": "id", "pwd": "/srv/app", "author": "bob", "pass": 10},
        {"level": 2, "score": 50, "findings": [{"rule": "git.force_push"}], "x": 1.5},
    ],
)
def test_ordinary_values_stay_as_they_are(value: dict[str, Any]) -> None:
    assert redact(value) == value


@each(
    "text",
    [
        'PASSWORD="$(rm -rf /srv)"',
        "PASSWORD=$(rm -rf /srv)",
        'PASSWORD="`rm -rf /srv`"',
        "TOKEN=a;rm -rf /srv",
        "TOKEN=a&&rm -rf /srv",
        "--password a|rm -rf /srv",
        "password: a; rm -rf /srv",
        "echo '-----BEGIN PRIVATE KEY-----'; rm -rf /srv; echo '-----END PRIVATE KEY-----'",
        "echo -----BEGIN PRIVATE KEY-----\nrm -rf /srv\necho -----END PRIVATE KEY-----",
        "mysql -pa; rm -rf /srv",
        "curl -u a:b h; rm -rf /srv",
        "Cookie: a=b | rm -rf /srv",
    ],
)
def test_a_command_cannot_hide_behind_the_name_of_a_secret(text: str) -> None:
    assert "rm -rf /srv" in redact_text(text)


FRAGMENTS = (
    "password", "token", "=", ":", " ", "'", '"', "`", "\\", "\n", "--", "-p", "-u ", "mysql ", "curl ", "Authorization: ", "Bearer ", "Cookie: ", "a", "1", "hunter22",
    "://", "@", "<secret:password>", "<", ">", "secret", "sk-", "ghp_" + "a1" * 18, "eyJ", ".", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "A" * 64,
    "conf_", "key", " is ", "AKIA", "AKIA234567ABCDEFGHIJ", ",", ";", "|", "echo ", "sudo -S ", "$", "(", ")", "{", "}", "%", "x", "IDENTIFIED BY ", "K7QX2-",
)  # fmt: skip
fragments = st.lists(st.sampled_from(FRAGMENTS), max_size=24).map("".join)


@given(st.one_of(fragments, st.text(max_size=200)))
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    once = redact_text(text)
    assert redact_text(once) == once
    assert len(once) <= 6 * len(text) + 64


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | fragments | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "name", "value", *NAMES]) | fragments, inner, max_size=4)
    ),
    max_leaves=12,
)


@given(json_like)
def test_redacting_a_value_twice_changes_nothing_more(value: Any) -> None:
    once = redact(value)
    assert redact(once) == once


UNITS = (
    "eyJ", "eyJa.", "a://", "a:a@", "password=", "password='", 'password="', "password:", "--password ", "-----BEGIN PRIVATE KEY-----", "mysql -p", "echo a|", "echo a |sudo ",
    "token is ", "Bearer ", "conf_", "AKIA", "sk-", "SG.", "$2a$", "AA-", "'", '"', "\\", "'Cookie: ", "http://a:", "password='\\", "--user ", "htpasswd -b a b ",
    "password=$(", "password=a,", 'password="a""', "x@tcp(", "=", " ", "\t", "-", "A", "docker login ", "\ud800password=",
)  # fmt: skip


@each("unit", UNITS)
def test_hostile_text_costs_no_more_than_its_length(unit: str) -> None:
    def cost(size: int) -> float:
        text = (unit * (size // len(unit) + 1))[:size]
        started = time.process_time()
        redact_text(text)
        return time.process_time() - started

    assert cost(100_000) < 2.0


def test_nesting_without_end_is_cut() -> None:
    deep: Any = "password=hunter22"
    for _ in range(5_000):
        deep = [deep]
    assert TOO_DEEP in json.dumps(redact(deep))


def test_keys_that_become_the_same_are_all_kept() -> None:
    shown = redact({"ghp_" + "a1" * 18: 1, "ghp_" + "b2" * 18: 2})
    assert sorted(shown.values()) == [1, 2]


def test_every_program_that_takes_a_secret_is_known_by_each_of_its_names() -> None:
    taking = {name: program.secrets for name, program in shipped_programs().items() if program.secrets}
    assert secret_programs() == taking


def test_the_reason_of_no_rule_is_taken_for_a_secret() -> None:
    for rule in load().rules.values():
        factor = finding_factor(rule.id, rule.reason)
        assert redact_text(factor) == factor
