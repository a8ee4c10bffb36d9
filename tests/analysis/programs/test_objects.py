"""The objects that a command acts on, and their place, follow from the description of its program."""

from __future__ import annotations

import pytest
from tools.site import described_keys

from cases import each
from interlock.analysis.facts import Command
from interlock.analysis.packs import PackError
from interlock.analysis.programs import build_program
from interlock.analysis.programs.load import ProgramTable
from interlock.analysis.programs.objects import named_objects

HERE = "/home/dev/app"


def objects(text: str, *before: str) -> list[tuple[str, str, str, str]]:
    commands = [Command(words[0], tuple(words[1:]), cwd=HERE) for words in (line.split() for line in (*before, text))]
    return [(one.effect, one.kind, one.name, one.place) for one in named_objects(commands[-1], commands[:-1])]


@each(
    "text, found",
    [
        ("docker rm -f web db", [("stop", "container", "web", ""), ("stop", "container", "db", "")]),
        ("docker -H tcp://build rmi app:1", [("remove", "image", "app:1", "engine:tcp://build")]),
        ("podman volume rm data", [("remove", "volume", "data", "")]),
        ("docker volume prune -f", [("remove", "volume", "*", "")]),
        ("docker compose -f ops/c.yml -p shop down -v", [("remove", "compose", "*", f"{HERE}/ops#shop")]),
        ("docker-compose stop web", [("stop", "compose", "web", HERE)]),
        ("kubectl --context qa -n shop delete deploy/web", [("delete", "deployment", "web", "cluster:qa/shop")]),
        ("kubectl delete ns shop", [("delete", "namespace", "shop", "cluster:/")]),
        ("oc delete -f k8s/a.yaml", [("delete", "manifest", f"{HERE}/k8s/a.yaml", "")]),
        ("helm uninstall web -n shop --kube-context qa", [("remove", "release", "web", "cluster:qa/shop")]),
        ("terraform -chdir=/srv/infra destroy -target aws_instance.web", [("remove", "infrastructure", "aws_instance.web", "/srv/infra")]),
        ("tofu apply --destroy", [("remove", "infrastructure", "*", HERE)]),
        ("service nginx stop", [("stop", "service", "nginx", "")]),
        ("systemctl disable --now nginx.service", [("stop", "service", "nginx.service", "")]),
        ("dropdb -h db.example shop", [("remove", "database", "shop", "db:db.example")]),
        ("docker ps -a", []), ("kubectl get pods", []), ("systemctl status nginx", []), ("ls -la", []),
    ],
)  # fmt: skip
def test_a_description_says_which_objects_a_command_acts_on(text: str, found: list[tuple[str, str, str, str]]) -> None:
    assert objects(text) == found


def test_an_earlier_command_may_select_the_place() -> None:
    (found,) = objects("terraform destroy", "terraform workspace select qa")
    assert found == ("remove", "infrastructure", "*", f"{HERE}#qa")


def test_an_effect_that_is_not_known_is_refused() -> None:
    with pytest.raises(PackError, match=r"program demo: effect is 'erase', expected one of create, "):
        build_program("demo", {"does": [{"effect": "erase", "kind": "disk"}]})


def test_a_name_has_one_description_only() -> None:
    with pytest.raises(PackError, match=r"program 'b' is described twice, by itself and by 'a'"):
        ProgramTable({"a": {"alike": ["b"]}, "b": {}}, {})
    with pytest.raises(PackError, match=r"alias 'c': 'd' is not described"):
        ProgramTable({"a": {}}, {"c": "d"})


def test_every_key_of_a_description_says_what_it_means() -> None:
    said = dict(described_keys())
    assert said["paths of files"]["into"].startswith("options that name the target")
    for kind, keys in said.items():
        assert [key for key, words in keys.items() if not words] == [], kind


def test_each_name_of_a_program_finds_its_description() -> None:
    table = ProgramTable({"a": {"aliases": ["b"], "alike": ["c"], "dry_run": ["-n"]}}, {"ga": "a"})
    assert sorted(table) == ["a", "b", "c", "ga"] and len(table) == 4 and "d" not in table
    assert [table[name].name for name in ("a", "b", "c", "ga")] == ["a", "a", "c", "a"]
    assert all(program.dry_run == ("-n",) for program in table.values())
    assert table.get("d") is None
