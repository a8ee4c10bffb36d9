"""Programs that run the command in their own words (sudo, env, nohup, timeout …), and the command they run."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from interlock.analysis.places import resolve
from interlock.analysis.shell import NOTHING, UNKNOWN, Job, Stream
from interlock.analysis.shell.options import CommandOptions, options, valued
from interlock.analysis.shell.simple_commands import run_variables


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
    "systemd-run": _prefix(
        "-p -u -E -M -H --property --unit --setenv --uid --gid --slice --description --on-active --on-calendar -t"
    ),
    "systemd-inhibit": _prefix("--what --who --why --mode"),
    "ld.so": _prefix("--library-path --preload --argv0"),
    "sshpass": _prefix("-p -f -d -P"),
    "retry": _prefix("-t -d --times --delay"),
    **dict.fromkeys(
        (
            "shx",
            "distrobox-host-exec",
            "flatpak-spawn",
            "host-spawn",
            "toolbox-run",
            "arch",
            "runcon",
            "s6-envdir",
            "softlimit",
        ),
        _prefix("-c -t -r -u"),
    ),
    **dict.fromkeys(("setuidgid", "s6-setuidgid", "envuidgid"), _prefix(skip=1, traits="privileged")),
    "chpst": _prefix("-u -U -e -d -o -p -m -n -/ -C -b", traits="privileged"),
    "cpulimit": _prefix("-l -p -e --limit"),
    "daemonize": _prefix("-c -e -o -p -l -u"),
    "sandbox-exec": _prefix("-f -p -n -D"),
    "nsjail": _prefix("-R -B -T -C -M"),
    "noglob": _prefix(),
    "nocorrect": _prefix(),
    "wsl": _prefix("-d -u --distribution --user --cd"),
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
    "uv": {
        "run": _prefix("--with --python -p --extra --group --env-file --project --directory --package"),
        "x": _prefix(),
    },
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
    "heroku": {
        "run": _prefix("-a -r -s -e --app --remote --size --env", traits="remote"),
        "run:detached": _prefix("-a --app", traits="remote"),
    },
    "toolbox": {"run": _prefix("-c -d -r --container")},
    "distrobox": {"enter": _prefix("-n --name")},
    "adb": {"shell": _prefix(traits="remote")},
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


ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
# Programs that fetch the package they run; from a registry as a matter of course, from an address only when it is named.
_FETCHERS = frozenset(
    {"npx", "bunx", "pnpx", "uvx", "npm exec", "npm x", "pnpm dlx", "yarn dlx", "bun x", "pipx run", "uv x"}
)
_REMOTE = re.compile(r"(git\+|git:|git@|https?:|github:|gitlab:|bitbucket:|gist:)")


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
    return None


def _unwrap(job: Job, prefix: Prefix, words: Sequence[str], via: str) -> Stream:
    job.step(len(words) // 4)
    found = options(words, prefix.values, stop_at_operand=True)
    for name in prefix.text_flags:
        for text in found.all(name):
            job.shell_text(text, f"{via} {name}", *prefix.traits)
    rest = found.operands[prefix.skip :]
    if rest[:1] == ["--"]:
        rest = rest[1:]
    if via in _FETCHERS and (address := _address([*rest[:1], *found.all("-p", "--package", "--from", "--spec")])):
        job.effect("run_download", address)
    env: list[tuple[str, str]] = []
    if prefix.assigns:
        while rest and ASSIGNMENT.match(rest[0]):
            name, _, value = rest.pop(0).partition("=")
            env.append((name, value))
    if (
        len(rest) == 1 and " " in rest[0] and "remote" in prefix.traits
    ):  # heroku run 'rm -rf x': a shell there takes it apart
        return job.shell_text(rest[0], via, *prefix.traits)
    return run_words(job, rest, via, prefix.traits, env, found)


def _address(specs: Sequence[str]) -> str:
    """The package that comes from an address instead of a registry; none for most."""
    return next((spec for spec in specs if _REMOTE.match(spec)), "")


def run_words(
    job: Job,
    rest: list[str],
    via: str,
    traits: Sequence[str],
    env: Sequence[tuple[str, str]] = (),
    found: CommandOptions | None = None,
    mounts: Mapping[str, str] | None = None,
) -> Stream:
    """Read the command that a wrapper runs, with what flows into the wrapper flowing into it."""
    job.step(len(rest) // 4)
    if not rest:
        if (
            job.program in ("sudo", "doas", "run0")
            and found is not None
            and found.has("-s", "-i", "--login", "--shell")
        ):
            return _shell_stdin(job, via)
        return UNKNOWN if job.program != "exec" else NOTHING
    where = job.inside(via, traits)
    host = job.host
    if {"remote", "container"}.intersection(traits) and not {"remote", "container"}.intersection(job.where.traits):
        outside = host.cwds[0]
        host = host.child()
        host.elsewhere({inside: resolve(path, outside) for inside, path in (mounts or {}).items()})
        host.where = where
    if env:
        where = replace(where, env=where.env + tuple(env))
        run_variables(host, env, where)
    return host.run(rest, where, job.stdin, wrapped=True)


def _shell_stdin(job: Job, via: str) -> Stream:
    if job.stdin is not None:
        return job.shell_text(job.stdin.text, via, "privileged")
    return UNKNOWN
