"""Commands for another user, another machine or a container: read as if they ran here, and marked."""

from __future__ import annotations

from collections.abc import Callable

from interlock.analysis.facts import HOLE, hole
from interlock.analysis.programs.options import CommandOptions, options, valued
from interlock.analysis.shell import Job, Stream
from interlock.analysis.shell.payloads import run_words

_CONTAINER_VALUES = valued(
    "-a -c -e -h -l -m -p -u -v -w --add-host --annotation --cap-add --cap-drop --cidfile --cpus --cpuset-cpus --device --dns --entrypoint "
    "--env --env-file --expose --gpus --group-add --hostname --ip --ipc --label --log-driver --log-opt --memory --mount --name --network "
    "--net --pid --platform --publish --pull --restart --runtime --security-opt --shm-size --stop-signal --sysctl --tmpfs --ulimit --user "
    "--userns --volume --volumes-from --workdir --detach-keys --index -f --file --project-name --profile --project-directory --host -H "
    "--context --connection --url -n --namespace"
)
_KUBECTL_VALUES = valued(
    "-n --namespace -c --container --context --cluster --kubeconfig --user -f --filename -s --server --token --as --request-timeout -l --pod-running-timeout"
)


def _ssh(job: Job) -> Stream | None:
    """ssh host words…: joined, and read by the shell on the other side."""
    values = valued("-M -b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -P")
    found = options(job.words, values, stop_at_operand=True)
    for option in found.all("-o"):
        name, _, text = option.partition("=")
        if not text:
            name, _, text = option.partition(" ")
        if (
            name.strip().lower() in ("proxycommand", "localcommand", "knownhostscommand", "remotecommand")
            and text.strip().lower() != "none"
        ):
            job.shell_text(text.strip(), f"ssh -o {name.strip()}")
    rest = found.operands[1:]
    if job.stdin is not None and found.operands and (carried := job.stdin.taints & {"secret", "environment"}):
        job.effect("send", found.operands[0], *carried)
    if found.operands and rest:
        inner = options(rest, values, stop_at_operand=True)
        text = " ".join(inner.operands or rest)
        return job.shell_text(text, job.program, "remote")
    if job.stdin is not None and found.operands and "-N" not in found.flags:
        return job.shell_text(job.stdin.text, job.program, "remote")
    return None


def _container(job: Job) -> Stream | None:
    """docker exec / run / compose exec: what runs inside."""
    found = options(job.words, _CONTAINER_VALUES, stop_at_operand=True)
    words = found.operands
    if words[:1] == ["compose"]:
        words = options(words[1:], _CONTAINER_VALUES, stop_at_operand=True).operands
    if words[:1] == ["container"]:
        words = words[1:]
    if not words or words[0] not in ("exec", "run", "create"):
        return None
    verb = words[0]
    inner = options(words[1:], _CONTAINER_VALUES, stop_at_operand=True)
    entry = inner.value("--entrypoint")
    rest = inner.operands[1:]
    if entry:
        rest = [*entry.split(), *rest]
    if not rest:
        return None
    return run_words(job, rest, f"{job.program} {verb}", ("container",), mounts=_mounts(inner))


def _mounts(found: CommandOptions) -> dict[str, str]:
    """The mounts of a container: path inside -> path on the host."""
    mounts: dict[str, str] = {}
    for text in found.all("-v", "--volume"):
        outside, _, inside = text.partition(":")
        if inside and outside.startswith(("/", "~", ".", HOLE)):
            mounts[inside.split(":")[0].rstrip("/")] = outside
    for text in found.all("--mount"):
        parts = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
        host = parts.get("source") or parts.get("src")
        seen_as = parts.get("target") or parts.get("dst") or parts.get("destination")
        if host and seen_as and parts.get("type", "bind") == "bind":
            mounts[seen_as.rstrip("/")] = host
    return mounts


def _kubectl(job: Job) -> Stream | None:
    """kubectl exec pod -- command."""
    if "exec" not in job.words and "run" not in job.words and "debug" not in job.words:
        return None
    found = options(job.words, _KUBECTL_VALUES, stop_at_operand=True)
    if found.operands[:1] not in (["exec"], ["run"], ["debug"], ["rsh"]):
        return None
    if "--" in job.words:
        return run_words(
            job, job.words[job.words.index("--") + 1 :], f"{job.program} {found.operands[0]}", ("container", "remote")
        )
    inner = options(found.operands[1:], _KUBECTL_VALUES, stop_at_operand=True)
    if found.operands[0] == "exec" and len(inner.operands) > 1:
        rest = options(inner.operands[1:], _KUBECTL_VALUES, stop_at_operand=True).operands
        return run_words(job, rest, "kubectl exec", ("container", "remote"))
    return None


# How many words an option of bwrap takes; most take none.
_BWRAP = {
    **dict.fromkeys(("--bind", "--ro-bind", "--dev-bind", "--bind-try", "--ro-bind-try", "--dev-bind-try", "--symlink", "--setenv", "--chmod"), 2),
    **dict.fromkeys("--proc --dev --tmpfs --dir --chdir --uid --gid --hostname --unsetenv --cap-add --cap-drop --seccomp --file --userns --size --perms --argv0".split(), 1),
}  # fmt: skip


def _bubble(job: Job) -> Stream | None:
    """bwrap [options] command: what it binds writable is the machine's own."""
    words = list(job.words)
    while words and words[0].startswith("-"):
        option = words.pop(0)
        del words[: _BWRAP.get(option, 0)]
        if option == "--":
            break
    return run_words(job, words, "bwrap", ()) if words else None


def _aws(job: Job) -> Stream | None:
    """aws ssm send-command --parameters commands=[text]."""
    if "send-command" in job.words:
        for given in options(job.words, valued("--parameters")).all("--parameters"):
            _, found, text = given.partition("commands=")
            if found:
                job.shell_text(text.strip("[]\"'"), "aws ssm send-command", "remote")
    return None


def _ansible(job: Job) -> Stream | None:
    found = options(
        job.words,
        valued(
            "-m -a -i -u -l -e -f -t -T -M --module-name --args --inventory --limit --extra-vars --become-user --forks"
        ),
    )
    module = found.value("-m", "--module-name") or "command"
    if module.rpartition(".")[2] in ("shell", "command", "raw", "script"):
        for text in found.all("-a", "--args"):
            job.shell_text(text, "ansible -a", "remote", *(["privileged"] if found.has("-b", "--become") else []))
    elif module.rpartition(".")[2] == "file":
        settings = dict(part.split("=", 1) for part in " ".join(found.all("-a", "--args")).split() if "=" in part)
        if settings.get("state") == "absent":
            job.effect("delete", settings.get("path") or settings.get("dest") or hole(), "recursive", "remote")
    return None


def _salt(job: Job) -> Stream | None:
    if "cmd.run" in job.words:
        job.shell_text(" ".join(job.words[job.words.index("cmd.run") + 1 :]), "salt cmd.run", "remote")
    return None


HANDLERS: dict[str, Callable[[Job], Stream | None]] = {
    "ssh": _ssh,
    "autossh": _ssh,
    "mosh": _ssh,
    "dbclient": _ssh,
    "bwrap": _bubble,
    "aws": _aws,
    "docker": _container,
    "podman": _container,
    "nerdctl": _container,
    "docker-compose": _container,
    "podman-compose": _container,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "ansible": _ansible,
    "salt": _salt,
}
