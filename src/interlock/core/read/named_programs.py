"""A name that is a program with its subcommand (`helm_uninstall`) -> the command that it stands for."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from interlock.core.read.facts import Report
from interlock.core.read.params import squash, truth

PROGRAMS = frozenset(
    """kubectl git docker aws gcloud az helm terraform gh npm yarn pnpm podman heroku flyctl fly vercel supabase pulumi ansible systemctl oc
    doctl firebase gsutil bq eksctl pip cargo brew apt terragrunt tofu nomad consul vault argocd flux rclone rsync prisma alembic flyway
    liquibase knex sequelize typeorm rails rake artisan vagrant virsh lxc minikube netlify wrangler railway drizzle dbt zfs zpool lvm mix
    compose composer chmod chown velero restic borg packer cdk sls serverless sam svn hg gcloud kustomize crontab launchctl iptables ufw wp drush
    ibmcloud oci hcloud scw gam pscale neonctl turso tailscale glab nerdctl crictl talosctl istioctl etcdctl""".split()
)  # fmt: skip
# Words of a call that belong to no command line.
_FILLERS = frozenset("run exec execute command cli tool mcp do".split())
_OTHER_NAMES: Mapping[str, str] = {"k8s": "kubectl", "kubernetes": "kubectl", "tf": "terraform", "systemd": "systemctl", "fly": "flyctl", "django": "django-admin"}  # fmt: skip
# Parameters that stand on a command line without their name, in the order they have there.
_PLACED = (
    "subcommand", "task", "resourcetype", "kind", "resource", "source", "src", "remote", "name", "release", "releasename", "resourcename", "branch",
    "ref", "commit", "revision", "target", "destination", "dest", "dst", "path", "paths", "file", "files", "container", "image", "volume",
    "package", "service", "unit", "stack", "app", "id", "pod", "bucket", "url", "args", "flags", "arguments", "options", "extraargs",
)  # fmt: skip
_NO_FLAGS = frozenset("confirm confirmed autoconfirm".split())
_SHORT: Mapping[str, str] = {"directories": "-d", "directory": "-d", "ignored": "-x"}
_COLONS = frozenset({"rake", "rails", "heroku", "artisan"})  # rails db:drop, heroku pg:reset
_MODES = frozenset({"hard", "soft", "mixed", "keep", "merge"})
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MOST = 60


def run_named(segments: Sequence[tuple[str, ...]], params: Mapping[str, Any], out: Report) -> None:
    """Reports the command, when the words of the name are one."""
    words = [word for words in segments for word in words]
    if words and words[0] == "mcp":
        words = words[1:]
    program = _OTHER_NAMES.get(words[0], words[0]) if words else ""
    if program not in PROGRAMS or len(words) > 6:
        return
    rest = [word for word in words[1:] if word not in _FILLERS and word != words[0]]
    if program == "git" and rest[:1] == ["filter"] and len(rest) > 1:
        rest = ["-".join(rest[:2]), *rest[2:]]
    if program == "compose":
        program, rest = "docker", ["compose", *rest]
    if not rest and program not in ("rsync", "rclone"):
        return
    if program == "aws" and len(rest) > 2:
        rest = [rest[0], "-".join(rest[1:])]
    elif program in _COLONS and len(rest) > 1:
        rest = [":".join(rest)]
    start = ["php", "artisan"] if program == "artisan" else [program]
    out.run([*start, *rest, *switches(params), *placed(params)])


def switches(params: Mapping[str, Any]) -> list[str]:
    """The parameters that are flags of a command line."""
    found = []
    for key, value in list(params.items())[:_MOST]:
        short = squash(key)
        if not isinstance(key, str) or short in _NO_FLAGS:
            continue
        if value is True or (isinstance(value, str) and truth(value) is True):
            found.append(_SHORT.get(short) or _flag(key))
        elif short == "mode" and isinstance(value, str) and value.lower() in _MODES:
            found.append(f"--{value.lower()}")
    return found


def _flag(key: str) -> str:
    if key.startswith("-"):
        return key
    name = _CAMEL.sub("-", key).replace("_", "-").lower()
    return f"-{name}" if len(name) == 1 else f"--{name}"


def placed(params: Mapping[str, Any]) -> list[str]:
    """The parameters that are operands of a command line."""
    keys = {squash(key): value for key, value in list(params.items())[:_MOST]}
    found: list[str] = []
    for key in _PLACED:
        value = keys.get(key)
        if isinstance(value, str) and value.strip():
            found += value.split()[:_MOST] if key in ("args", "flags", "options", "arguments", "extraargs") else [value]
        elif isinstance(value, (list, tuple)):
            found += [item for item in value[:_MOST] if isinstance(item, str)]
    return found
