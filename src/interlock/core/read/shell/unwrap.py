"""Programs that run the words they are given: each is taken off, and what it runs is read instead."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from interlock.core.read.facts import hole
from interlock.core.read.shell.options import Options, options, valued
from interlock.core.read.shell.session import NOTHING, UNKNOWN, Job, Stream

_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")


@dataclass(frozen=True, slots=True)
class Prefix:
    """A program whose operands are a command: the options with values, how many operands come first, what it means."""

    values: frozenset[str] = frozenset()
    skip: int = 0
    traits: tuple[str, ...] = ()
    assigns: bool = False
    text_flags: frozenset[str] = frozenset()  # options whose value is shell text


def _prefix(values: str = "", skip: int = 0, traits: str = "", assigns: bool = False, text: str = "") -> Prefix:
    return Prefix(valued(values) | valued(text), skip, tuple(traits.split()), assigns, valued(text))


_SUDO = "-u -g -h -p -C -r -t -T -U -D -R --user --group --host --prompt --chdir --role --type --close-from --chroot --other-user"
PREFIXES: dict[str, Prefix] = {
    "sudo": _prefix(_SUDO, traits="privileged", assigns=True),
    "doas": _prefix("-u -C", traits="privileged", assigns=True),
    "pkexec": _prefix("--user", traits="privileged"),
    "gksudo": _prefix("-u", traits="privileged"),
    "run0": _prefix("-u --user --property --chdir -D --unit", traits="privileged"),
    "gosu": _prefix(skip=1, traits="privileged"),
    "su-exec": _prefix(skip=1, traits="privileged"),
    "setpriv": _prefix("--reuid --regid --groups", traits="privileged"),
    "exec": _prefix("-a"),
    "builtin": _prefix(),
    "nohup": _prefix(),
    "setsid": _prefix(),
    "nice": _prefix("-n --adjustment"),
    "ionice": _prefix("-c -n -p --class --classdata"),
    "chrt": _prefix("-p", skip=1),
    "taskset": _prefix("-p", skip=1),
    "numactl": _prefix("-C -m -N -i -p"),
    "prlimit": _prefix("-p"),
    "cgexec": _prefix("-g"),
    "timeout": _prefix("-s -k --signal --kill-after", skip=1),
    "gtimeout": _prefix("-s -k", skip=1),
    "stdbuf": _prefix("-i -o -e --input --output --error"),
    "time": _prefix("-f -o --format --output"),
    "strace": _prefix("-o -e -p -s -u -E -a -I -O -P -S -b --trace --output"),
    "ltrace": _prefix("-o -e -p -s -u -n -l -x"),
    "valgrind": _prefix(),
    "catchsegv": _prefix(),
    "unbuffer": _prefix(),
    "rlwrap": _prefix("-f -H -s -p"),
    "chronic": _prefix(),
    "caffeinate": _prefix("-t -w"),
    "chroot": _prefix("--userspec --groups", skip=1, traits="privileged"),
    "unshare": _prefix("-S -G -R -w --setuid --setgid --root --wd"),
    "nsenter": _prefix("-t -S -G --target --setuid --setgid", traits="privileged"),
    "firejail": _prefix(),
    "fakeroot": _prefix("-i -s -l -b"),
    "faketime": _prefix("-f", skip=1),
    "proxychains": _prefix("-f"),
    "proxychains4": _prefix("-f"),
    "torsocks": _prefix(),
    "tsocks": _prefix(),
    "xvfb-run": _prefix("-s -n -e -f -p -w --server-args"),
    "dbus-run-session": _prefix("--config-file"),
    "dumb-init": _prefix("--rewrite -r"),
    "tini": _prefix("-p -e"),
    "eatmydata": _prefix(),
    "winpty": _prefix(),
    "cross-env": _prefix(assigns=True),
    "cross-env-shell": _prefix(assigns=True),
    "dotenv": _prefix("-e -f -v -p -c"),
    "env-cmd": _prefix("-f -e -r"),
    "envdir": _prefix(skip=1),
    "envchain": _prefix(skip=1),
    "npx": _prefix("-p --package --node-options -w --workspace", text="-c --call"),
    "bunx": _prefix("-p --package"),
    "pnpx": _prefix("-p --package"),
    "uvx": _prefix("--from --with -p --python"),
    "systemd-run": _prefix("-p -u -E -M -H --property --unit --setenv --uid --gid --slice --description --on-active --on-calendar -t"),
    "systemd-inhibit": _prefix("--what --who --why --mode"),
    "ld.so": _prefix("--library-path --preload --argv0"),
    "sshpass": _prefix("-p -f -d -P"),
    "retry": _prefix("-t -d --times --delay"),
    "noglob": _prefix(),
    "nocorrect": _prefix(),
    "wsl": _prefix("-d -u -e --distribution --user --exec --cd"),
    "sem": _prefix("-j --id"),
    "setarch": _prefix(skip=1),
    "linux64": _prefix(),
    "rtk": _prefix(),
}

# program -> subcommand -> how the rest is read
SUBCOMMANDS: dict[str, dict[str, Prefix]] = {
    "poetry": {"run": _prefix()},
    "pipenv": {"run": _prefix()},
    "pdm": {"run": _prefix("-p")},
    "uv": {"run": _prefix("--with --python -p --extra --group --env-file --project --directory --package"), "x": _prefix()},
    "rye": {"run": _prefix()},
    "hatch": {"run": _prefix()},
    "pixi": {"run": _prefix("-e --environment")},
    "conda": {"run": _prefix("-n -p --name --prefix --cwd")},
    "mamba": {"run": _prefix("-n -p --name --prefix")},
    "micromamba": {"run": _prefix("-n -p --name --prefix")},
    "bundle": {"exec": _prefix()},
    "bundler": {"exec": _prefix()},
    "npm": {"exec": _prefix("-p --package -w", text="-c --call"), "x": _prefix("-p --package", text="-c --call")},
    "pnpm": {"exec": _prefix("-C --filter"), "dlx": _prefix("--package")},
    "yarn": {"exec": _prefix(), "dlx": _prefix("-p --package")},
    "bun": {"x": _prefix()},
    "pipx": {"run": _prefix("--spec --python")},
    "mise": {"exec": _prefix(), "x": _prefix()},
    "asdf": {"exec": _prefix()},
    "rbenv": {"exec": _prefix()},
    "pyenv": {"exec": _prefix()},
    "nodenv": {"exec": _prefix()},
    "nvm": {"exec": _prefix(skip=1)},
    "fnm": {"exec": _prefix("--using")},
    "volta": {"run": _prefix("--node --npm")},
    "direnv": {"exec": _prefix(skip=1)},
    "doppler": {"run": _prefix("-c -p --config --project --scope -t --token", text="--command")},
    "op": {"run": _prefix("--env-file")},
    "infisical": {"run": _prefix("--env --path --projectId", text="--command -c")},
    "aws-vault": {"exec": _prefix("-d --duration --region", skip=1)},
    "chamber": {"exec": _prefix(skip=1)},
    "dotenvx": {"run": _prefix("-f -e")},
    "teller": {"run": _prefix()},
    "railway": {"run": _prefix("-s -e --service --environment")},
    "heroku": {"run": _prefix("-a -r -s -e --app --remote --size --env", traits="remote"), "run:detached": _prefix("-a --app", traits="remote")},
    "perf": {"stat": _prefix("-e -o -r"), "record": _prefix("-e -o -F -g")},
    "nix": {"shell": _prefix(), "develop": _prefix()},
    "sam": {"exec": _prefix()},
    "multipass": {"exec": _prefix(skip=1, traits="remote")},
    "lxc": {"exec": _prefix(skip=1, traits="remote")},
    "incus": {"exec": _prefix(skip=1, traits="remote")},
    "pct": {"exec": _prefix(skip=1, traits="remote")},
    "machinectl": {"shell": _prefix(skip=1, traits="privileged")},
    "lando": {"ssh": _prefix("-s -u", traits="container", text="-c --command")},
    "ddev": {"exec": _prefix("-s -d", traits="container")},
    "sail": {"exec": _prefix(skip=1, traits="container")},
    
}

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


def unwrap(job: Job) -> Stream | None:
    """Read what a wrapper runs; None when this program is no wrapper."""
    prefix = PREFIXES.get(job.program)
    if prefix is not None:
        return _unwrap(job, prefix, job.words, job.program)
    subs = SUBCOMMANDS.get(job.program)
    if subs is not None:
        found = options(job.words, stop_at_operand=True)
        if found.operands and found.operands[0] in subs:
            name = found.operands[0]
            return _unwrap(job, subs[name], found.operands[1:], f"{job.program} {name}")
    handler = _SPECIAL.get(job.program)
    return handler(job) if handler else None


def _unwrap(job: Job, prefix: Prefix, words: Sequence[str], via: str) -> Stream:
    found = options(words, prefix.values, stop_at_operand=True)
    for name in prefix.text_flags:
        for text in found.all(name):
            job.shell_text(text, f"{via} {name}", *prefix.traits)
    rest = found.operands[prefix.skip :]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    env: list[tuple[str, str]] = []
    if prefix.assigns:
        while rest and _ASSIGNMENT.match(rest[0]):
            name, _, value = rest.pop(0).partition("=")
            env.append((name, value))
    return run_words(job, rest, via, prefix.traits, env, found)


def run_words(
    job: Job, rest: list[str], via: str, traits: Sequence[str], env: Sequence[tuple[str, str]] = (), found: Options | None = None
) -> Stream:
    """Read the command that a wrapper runs, with what flows into the wrapper flowing into it."""
    if not rest:
        if job.program in ("sudo", "doas", "run0") and found is not None and found.has("-s", "-i", "--login", "--shell"):
            return _shell_stdin(job, via)
        return UNKNOWN if job.program != "exec" else NOTHING
    where = job._inner(via, traits)
    host = job.host
    if {"remote", "container"}.intersection(traits) and not {"remote", "container"}.intersection(job.where.traits):
        host = host.child()
        host.elsewhere()
    if env:
        from dataclasses import replace

        where = replace(where, env=where.env + tuple(env))
        host._executed_variables(env, where)
    return host.run(rest, where, job.stdin)


def _shell_stdin(job: Job, via: str) -> Stream:
    if job.stdin is not None:
        return job.shell_text(job.stdin.text, via, "privileged")
    return UNKNOWN


# -- wrappers with rules of their own -------------------------------------------------------------------


def _env(job: Job) -> Stream | None:
    """env [-i] [-u NAME] [NAME=value] command; env -S 'text'."""
    found = options([word for word in job.words if word != "-"], valued("-u -C -S -P --unset --chdir --split-string"), stop_at_operand=True)
    for text in found.all("-S", "--split-string"):
        job.shell_text(" ".join([text, *found.operands]), "env -S")
    if found.has("-S", "--split-string"):
        return UNKNOWN
    rest = list(found.operands)
    env: list[tuple[str, str]] = []
    while rest and _ASSIGNMENT.match(rest[0]):
        name, _, value = rest.pop(0).partition("=")
        env.append((name, value))
    if not rest:
        return None
    return run_words(job, rest, "env", (), env)


def _command(job: Job) -> Stream | None:
    """command -v only looks a name up; otherwise it runs its words."""
    flags = [word for word in job.words[:2] if word.startswith("-") and word != "--"]
    if any("v" in flag or "V" in flag for flag in flags):
        names = [word for word in job.words if not word.startswith("-")]
        return Stream(names[0] if names else hole())
    rest = [word for number, word in enumerate(job.words) if not (number < len(flags) and word in ("-p",)) and word != "--"]
    return run_words(job, rest, "command", ())


def _su(job: Job) -> Stream | None:
    """su [-] user -c 'text'; su user -- command."""
    found = options(job.words, valued("-c -s -g -G -u -w --command --session-command --shell --group --user"))
    texts = found.all("-c", "--command", "--session-command")
    for text in texts:
        job.shell_text(text, f"{job.program} -c", "privileged")
    if texts:
        return UNKNOWN
    if job.program == "runuser" and found.has("-u", "--user") and found.operands:
        return run_words(job, found.operands, "runuser", ("privileged",))
    if job.stdin is not None:
        return job.shell_text(job.stdin.text, job.program, "privileged")
    return None


def _sg(job: Job) -> Stream | None:
    if "-c" in job.words:
        at = job.words.index("-c")
        job.shell_text(" ".join(job.words[at + 1 :]), "sg -c", "privileged")
    return None


def _ssh(job: Job) -> Stream | None:
    """ssh host words…: joined, and read by the shell on the other side."""
    values = valued("-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -P")
    found = options(job.words, values, stop_at_operand=True)
    for option in found.all("-o"):
        name, _, text = option.partition("=")
        if not text:
            name, _, text = option.partition(" ")
        if name.strip().lower() in ("proxycommand", "localcommand", "knownhostscommand", "remotecommand") and text.strip().lower() != "none":
            job.shell_text(text.strip(), f"ssh -o {name.strip()}")
    rest = found.operands[1:]
    if found.operands and rest:
        inner = options(rest, values, stop_at_operand=True)
        text = " ".join(inner.operands or rest)
        return job.shell_text(text, job.program, "remote")
    if job.stdin is not None and found.operands and "-N" not in found.flags:
        return job.shell_text(job.stdin.text, job.program, "remote")
    return None


def _many_hosts(job: Job) -> Stream | None:
    """pdsh -w hosts text, parallel-ssh, clush, dsh, mussh."""
    found = options(job.words, valued("-w -g -x -h -H -l -p -o -t -f -u -m --hosts --host"), stop_at_operand=True)
    if found.operands:
        job.shell_text(" ".join(found.operands), job.program, "remote")
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
    return run_words(job, rest, f"{job.program} {verb}", ("container",))


def _kubectl(job: Job) -> Stream | None:
    """kubectl exec pod -- command."""
    if "exec" not in job.words and "run" not in job.words and "debug" not in job.words:
        return None
    found = options(job.words, _KUBECTL_VALUES, stop_at_operand=True)
    if found.operands[:1] not in (["exec"], ["run"], ["debug"], ["rsh"]):
        return None
    if "--" in job.words:
        return run_words(job, job.words[job.words.index("--") + 1 :], f"{job.program} {found.operands[0]}", ("container", "remote"))
    inner = options(found.operands[1:], _KUBECTL_VALUES, stop_at_operand=True)
    if found.operands[0] == "exec" and len(inner.operands) > 1:
        rest = options(inner.operands[1:], _KUBECTL_VALUES, stop_at_operand=True).operands
        return run_words(job, rest, "kubectl exec", ("container", "remote"))
    return None


def _busybox(job: Job) -> Stream | None:
    rest = [word for word in job.words]
    return run_words(job, rest, job.program, ()) if rest and not rest[0].startswith("-") else None


def _watch(job: Job) -> Stream | None:
    found = options(job.words, valued("-n --interval -q --equexit"), stop_at_operand=True)
    if found.operands:
        job.shell_text(" ".join(found.operands), "watch")
    return None


def _script(job: Job) -> Stream | None:
    found = options(job.words, valued("-c --command -T -B -I -O -o -m"))
    for text in found.all("-c", "--command"):
        job.shell_text(text, "script -c")
    return None


def _entr(job: Job) -> Stream | None:
    rest = options(job.words, stop_at_operand=True)
    if rest.has("-s") and rest.operands:
        job.shell_text(rest.operands[0], "entr -s")
    elif rest.operands:
        run_words(job, [word.replace("/_", hole()) for word in rest.operands], "entr", ())
    return None


def _flock(job: Job) -> Stream | None:
    """flock FILE command…; flock FILE -c text."""
    found = options(job.words, valued("-w -E --timeout --conflict-exit-code"), stop_at_operand=True)
    rest = found.operands[1:]
    if rest[:1] in (["-c"], ["--command"]):
        job.shell_text(" ".join(rest[1:]), "flock -c")
        return UNKNOWN
    return run_words(job, rest, "flock", ())


def _hyperfine(job: Job) -> Stream | None:
    values = valued("-w -r -m -M -p -c -s -P -D -L -n -S --warmup --runs --prepare --cleanup --setup --export-json --export-markdown --export-csv --shell")
    found = options(job.words, values)
    for text in [*found.all("-p", "--prepare", "-c", "--cleanup", "-s", "--setup"), *found.operands]:
        job.shell_text(text, "hyperfine")
    return UNKNOWN


def _text_option(flags: str, *traits: str) -> Callable[[Job], Stream | None]:
    """Programs that send the text of one option to a shell elsewhere."""
    names = valued(flags)

    def handler(job: Job) -> Stream | None:
        if not any(word == "ssh" or word.startswith("ssh") for word in job.words[:4]):
            return None
        for text in options(job.words, names).all(*names):
            job.shell_text(text, f"{job.program} ssh", *traits)
        return None

    return handler


def _concurrently(job: Job) -> Stream | None:
    for text in options(job.words, valued("-n -c -p --names --prefix-colors")).operands:
        job.shell_text(text, job.program)
    return None


def _nix_shell(job: Job) -> Stream | None:
    found = options(job.words, valued("-p -A -I --run --command --attr --packages -c"))
    for text in found.all("--run", "--command", "-c"):
        job.shell_text(text, "nix-shell --run")
    return None


def _gdb_args(job: Job) -> Stream | None:
    if "--args" in job.words:
        return run_words(job, job.words[job.words.index("--args") + 1 :], "gdb --args", ())
    found = options(job.words, valued("-ex -eval-command -x -p -c"))
    for text in found.all("-ex", "-eval-command"):
        if text.startswith(("shell ", "!")):
            job.shell_text(text.removeprefix("shell ").lstrip("!"), "gdb -ex")
    return None


def _tmux(job: Job) -> Stream | None:
    """tmux send-keys 'text' Enter; new-session 'text'."""
    found = options(job.words, valued("-t -s -n -c -x -y -L -S -f -F -e -l -p"))
    if not found.operands:
        return None
    verb, rest = found.operands[0], found.operands[1:]
    if verb in ("send-keys", "send"):
        keys = [word for word in rest if word not in ("Enter", "C-m", "C-j", "KPEnter", "C-c", "Space", "Escape")]
        if keys:
            job.shell_text(" ".join(keys), "tmux send-keys")
    elif verb in ("new-session", "new", "new-window", "neww", "split-window", "splitw", "respawn-pane", "run-shell", "run", "if-shell", "popup", "display-popup"):
        if rest:
            job.shell_text(" ".join(rest) if verb not in ("if-shell",) else "; ".join(rest), f"tmux {verb}")
    return None


def _screen(job: Job) -> Stream | None:
    found = options(job.words, valued("-S -t -c -h -p -s -T"), stop_at_operand=True)
    if "-X" in job.words and "stuff" in job.words:
        keys = job.words[job.words.index("stuff") + 1 :]
        job.shell_text(re.sub(r"\\n|\\r|\^M|\n", "\n", " ".join(keys)), "screen -X stuff")
    elif found.operands and found.has("-d", "-D", "-m", "-dm", "-dmS"):
        run_words(job, found.operands, "screen", ())
    return None


def _at(job: Job) -> Stream | None:
    """at, batch: what they are fed runs later."""
    if job.stdin is not None and not {"-l", "-r", "-d", "-c"}.intersection(job.words):
        return job.shell_text(job.stdin.text, job.program)
    found = options(job.words, valued("-f -q -t"))
    for path in found.all("-f"):
        from interlock.core.read.shell.builtins import run_script

        run_script(job, path, [], job.program)
    return None


_CRON_LINE = re.compile(r"\s*(?:@\w+|(?:[\d*/,\-a-zA-Z]+\s+){5})(.*)")


def _crontab(job: Job) -> Stream | None:
    """crontab: the lines that it is fed, or a file's."""
    text = None
    if job.stdin is not None and ("-" in job.words or not job.words):
        text = job.stdin.text
    else:
        for word in options(job.words, valued("-u")).operands:
            text = job.file_text(word)
    if text is not None:
        for line in text.splitlines()[:200]:
            found = _CRON_LINE.fullmatch(line)
            if found and not line.lstrip().startswith("#"):
                job.shell_text(found[1], "crontab")
    return None


def _ansible(job: Job) -> Stream | None:
    found = options(job.words, valued("-m -a -i -u -l -e -f -t -T -M --module-name --args --inventory --limit --extra-vars --become-user --forks"))
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


_SPECIAL: dict[str, Callable[[Job], Stream | None]] = {
    "env": _env,
    "command": _command,
    "su": _su,
    "runuser": _su,
    "sg": _sg,
    "ssh": _ssh,
    "autossh": _ssh,
    "mosh": _ssh,
    "dbclient": _ssh,
    "pdsh": _many_hosts,
    "parallel-ssh": _many_hosts,
    "pssh": _many_hosts,
    "clush": _many_hosts,
    "dsh": _many_hosts,
    "docker": _container,
    "podman": _container,
    "nerdctl": _container,
    "docker-compose": _container,
    "podman-compose": _container,
    "kubectl": _kubectl,
    "oc": _kubectl,
    "k3s": _busybox,
    "microk8s": _busybox,
    "busybox": _busybox,
    "toybox": _busybox,
    "watch": _watch,
    "viddy": _watch,
    "script": _script,
    "entr": _entr,
    "concurrently": _concurrently,
    "flock": _flock,
    "hyperfine": _hyperfine,
    "fly": _text_option("-C --command", "remote"),
    "flyctl": _text_option("-C --command", "remote"),
    "vagrant": _text_option("-c --command", "remote"),
    "gcloud": _text_option("--command", "remote"),
    "nix-shell": _nix_shell,
    "gdb": _gdb_args,
    "tmux": _tmux,
    "screen": _screen,
    "at": _at,
    "batch": _at,
    "crontab": _crontab,
    "ansible": _ansible,
    "salt": _salt,
}
