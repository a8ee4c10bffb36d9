"""The recipes in deploy/ hold what a cautious reader looks for: nothing runs as root, nothing writes where it need not, all is pinned."""

from __future__ import annotations

import configparser
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from interlock.config import Config, config_of
from repository import ROOT

DEPLOY = ROOT / "deploy"
PINNED = re.compile(r"[\w./-]+:\d+\.\d+[\w.-]*")  # an image with a version, never `latest`
OWN = "interlock:local"
UNITS = sorted(DEPLOY.rglob("*.service"))


def configured(text: str) -> Config:
    return config_of(tomllib.loads(text), environ={"XDG_STATE_HOME": "/state"})


def instructions() -> list[tuple[str, str]]:
    """The Dockerfile's instructions with their arguments."""
    text = re.sub(r"\\\n", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest.strip()) for word, _, rest in (line.partition(" ") for line in lines)]


def test_the_image_is_pinned_and_its_last_user_is_not_root() -> None:
    found = instructions()
    assert [PINNED.fullmatch(rest.split()[0]) is not None for word, rest in found if word == "FROM"] == [True, True]
    assert [rest for word, rest in found if word == "USER"][-1] == "10001:10001"
    assert "ADD" not in {word for word, _ in found}


def test_the_image_fetches_nothing_by_itself_and_starts_without_a_shell() -> None:
    found = instructions()
    for word, rest in found:
        if word == "RUN":
            assert not re.search(r"\b(curl|wget|sudo)\b|https?://", rest), rest
            assert "pip install" not in rest or "--no-cache-dir" in rest
        if word in ("ENTRYPOINT", "CMD"):
            assert isinstance(json.loads(rest), list)
    assert "HEALTHCHECK" in {word for word, _ in found}


def test_the_image_copies_only_files_that_are_there_and_not_ignored() -> None:
    kept = [line[1:] for line in (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines() if line[:1] == "!"]
    copied = [rest.split()[:-1] for word, rest in instructions() if word == "COPY" and not rest.startswith("--from")]
    for name in (name for names in copied for name in names):
        assert (ROOT / name).exists() and name in kept, name


def compose() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    return found


@pytest.mark.parametrize("name", ["interlock-1", "interlock-2", "proxy"])
def test_a_container_of_the_compose_file_is_read_only_and_has_no_rights_to_gain(name: str) -> None:
    service = compose()["services"][name]
    assert service["read_only"] is True and service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert service["image"] == OWN or PINNED.fullmatch(service["image"])


def test_only_the_proxy_of_the_compose_file_is_reached_from_outside() -> None:
    services = compose()["services"]
    assert {name for name, service in services.items() if "ports" in service} == {"proxy"}
    assert all(service["networks"] == ["inside"] for service in services.values())
    assert PINNED.fullmatch(services["postgres"]["image"])


def test_replicas_of_the_compose_file_share_the_keys_and_start_one_after_the_other() -> None:
    services, volumes = compose()["services"], compose()["volumes"]
    first, second = services["interlock-1"], services["interlock-2"]
    assert first["volumes"] == second["volumes"] == ["state:/var/lib/interlock"] and "state" in volumes
    assert first["user"] == second["user"] == "10001:10001"
    assert second["depends_on"] == {"interlock-1": {"condition": "service_healthy"}}
    for name, place in [part.split(":")[:2] for part in services["proxy"]["volumes"] if "tls" not in part]:
        assert (DEPLOY / name).is_file(), place


def test_the_proxy_knows_the_replicas_and_passes_the_name_on_without_sticky_sessions() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    assert re.findall(r"server (\S+):7310;", text) == ["interlock-1", "interlock-2"]
    assert text.count("{") == text.count("}")
    assert "proxy_set_header Host $host;" in text and not re.search(r"ip_hash|sticky|hash |X-Forwarded", text)
    names = re.search(r"server_name (.+);", text)
    config = configured((DEPLOY / "interlock.toml").read_text())
    assert names and names[1].split() == [
        config.console.public_url.removeprefix("https://"),
        *config.daemon.agent_hosts,
    ]


def documents() -> list[dict[str, Any]]:
    return [one for path in (DEPLOY / "kubernetes").glob("*.yaml") for one in yaml.safe_load_all(path.read_text())]


def one_of_kind(kind: str) -> dict[str, Any]:
    return next(one for one in documents() if one["kind"] == kind)


def test_every_manifest_says_what_it_is_and_where_it_goes() -> None:
    versions = {
        "Namespace": "v1", "ConfigMap": "v1", "Service": "v1", "Deployment": "apps/v1", "PodDisruptionBudget": "policy/v1",
        "Ingress": "networking.k8s.io/v1",
    }  # fmt: skip
    for one in documents():
        assert one["apiVersion"] == versions[one["kind"]]
        assert one["metadata"]["name"] == "interlock"
        assert one["kind"] == "Namespace" or one["metadata"]["namespace"] == "interlock"
    assert {one["kind"] for one in documents()} == set(versions)


def test_pods_run_restricted_and_their_volumes_exist() -> None:
    spec = one_of_kind("Deployment")["spec"]
    pod = spec["template"]["spec"]
    assert spec["replicas"] == 2 and pod["automountServiceAccountToken"] is False
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 10001
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    volumes = {volume["name"] for volume in pod["volumes"]}
    for container in (*pod["initContainers"], *pod["containers"]):
        rights = container["securityContext"]
        assert rights["readOnlyRootFilesystem"] and not rights["allowPrivilegeEscalation"]
        assert rights["capabilities"] == {"drop": ["ALL"]} and "limits" in container["resources"]
        assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_selectors_ports_and_probes_of_the_manifests_agree() -> None:
    spec = one_of_kind("Deployment")["spec"]
    labels, service = spec["template"]["metadata"]["labels"], one_of_kind("Service")["spec"]
    assert spec["selector"]["matchLabels"] == labels == service["selector"]
    assert one_of_kind("PodDisruptionBudget")["spec"]["selector"]["matchLabels"] == labels
    container = spec["template"]["spec"]["containers"][0]
    assert [port["name"] for port in container["ports"]] == [port["targetPort"] for port in service["ports"]]
    for probe, path in (("readinessProbe", "/readyz"), ("livenessProbe", "/healthz")):
        asked = container[probe]["httpGet"]
        assert asked["path"] == path and asked["httpHeaders"] == [{"name": "Host", "value": "localhost:7310"}]


def test_the_configuration_of_the_manifests_can_be_used_and_names_the_hosts_of_the_ingress() -> None:
    config = configured(one_of_kind("ConfigMap")["data"]["config.toml"])
    hosts = [rule["host"] for rule in one_of_kind("Ingress")["spec"]["rules"]]
    assert [f"https://{hosts[0]}", hosts[1]] == [config.console.public_url, config.daemon.agent_hosts[0]]
    assert config.daemon.port == 7310 and config.store.startswith("postgresql://")


@pytest.mark.parametrize("path", UNITS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_unit_restarts_the_daemon_and_gains_no_rights(path: Path) -> None:
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read(path)
    service = unit["Service"]
    assert service["Restart"] == "always" and service["NoNewPrivileges"] == "yes"
    assert "interlock serve" in service["ExecStart"]
    if path.parent.name == "systemd":
        assert service["User"] == "interlock" and service["ProtectSystem"] == "strict"
    if shutil.which("systemd-analyze"):
        kind = "--system" if path.parent.name == "systemd" else "--user"
        done = subprocess.run(["systemd-analyze", kind, "verify", path], capture_output=True, text=True, timeout=60)
        wrong = [line for line in done.stderr.splitlines() if "interlock" in line and "not executable" not in line]
        assert wrong == []
