"""★ Plans the sandbox of an agent: mounts, environment, and the grants that let a program back in; its guard stays out of reach."""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field

import interlock
from interlock.config import Config
from interlock.identity.isolation import FOLDER, JOURNAL, SOCKET
from interlock.journal.build import supervisor_of
from interlock.sandbox import hook_files
from interlock.sandbox.mounts import MountMode, SandboxMounts


class SandboxGrant(Struct, frozen=True):
    """A resource that is out of reach unless it is granted. In places, `~` is the home and `@` the user's runtime folder."""

    words: str
    places: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # that point to it; `*` at the end matches any rest


def _grant(words: str, places: str = "", variables: str = "") -> SandboxGrant:
    return SandboxGrant(words, tuple(places.split()), tuple(variables.split()))


GRANTS: Mapping[str, SandboxGrant] = MappingProxyType({
    "docker": _grant(
        "Docker starts containers that see every file of the machine",
        "/run/docker.sock /run/docker ~/.docker/run ~/.docker/desktop ~/.colima ~/.lima ~/.rd ~/.orbstack/run @/docker.sock @/docker",
        "DOCKER_HOST",
    ),
    "podman": _grant("Podman, the same", "/run/podman @/podman", "CONTAINER_HOST"),
    "containerd": _grant(
        "containerd, BuildKit, CRI-O, the same",
        "/run/containerd /run/buildkit /run/crio /run/k3s @/containerd @/containerd-rootless @/buildkit",
        "CONTAINERD_ADDRESS BUILDKIT_HOST",
    ),
    "vm": _grant(
        "libvirt, LXD and Incus start machines",
        "/run/libvirt @/libvirt /run/incus /var/lib/incus/unix.socket /var/lib/lxd/unix.socket /var/snap/lxd/common/lxd/unix.socket",
        "LXD_DIR LXD_SOCKET INCUS_SOCKET LIBVIRT_DEFAULT_URI",
    ),
    "dbus": _grant(
        "D-Bus: the session's and the system's services, and through them systemd",
        "/run/dbus @/bus @/dbus-1 @/at-spi",
        "DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS AT_SPI_BUS_ADDRESS DBUS_STARTER_*",
    ),
    "systemd": _grant("`systemd-run --user` starts programs outside", "/run/systemd/private @/systemd", "NOTIFY_SOCKET LISTEN_* SYSTEMD_*"),
    "x11": _grant(
        "the X display: typing into other windows",
        "/tmp/.X11-unix /tmp/.ICE-unix ~/.Xauthority ~/.ICEauthority",
        "DISPLAY XAUTHORITY ICEAUTHORITY SESSION_MANAGER",
    ),
    "wayland": _grant("the Wayland display", "@/wayland-*", "WAYLAND_DISPLAY WAYLAND_SOCKET SWAYSOCK I3SOCK HYPRLAND_INSTANCE_SIGNATURE"),
    "audio": _grant("PulseAudio and PipeWire", "@/pulse @/pipewire-*", "PULSE_SERVER PIPEWIRE_*"),
    "tmux": _grant("tmux, screen and other terminals that run what is sent to them", "/tmp/tmux-{uid} /run/screen /tmp/screens ~/.screen", 
        "TMUX TMUX_PANE TMUX_TMPDIR STY SCREENDIR KITTY_LISTEN_ON WEZTERM_UNIX_SOCKET ALACRITTY_SOCKET KONSOLE_DBUS_* GNOME_TERMINAL_* ZELLIJ*"),
    "editor": _grant(
        "editors that run what they are told: VS Code, Emacs, Neovim",
        "~/.emacs.d/server @/emacs @/nvim.* @/vscode-*",
        "VSCODE_IPC_* VSCODE_GIT_* VSCODE_SSH_* NVIM NVIM_LISTEN_ADDRESS VIM_SERVERNAME EMACS_SERVER_FILE EMACS_SOCKET_NAME ELECTRON_RUN_AS_NODE",
    ),
    "ssh-agent": _grant(
        "ssh keys that are unlocked: pushing over ssh, and logging in elsewhere",
        "~/.ssh/agent ~/.1password/agent.sock @/ssh-agent.socket @/keyring/ssh @/openssh_agent @/gcr",
        "SSH_AUTH_SOCK SSH_AGENT_PID SSH_ASKPASS",
    ),
    "gpg-agent": _grant(
        "GPG keys that are unlocked: signing commits",
        "@/gnupg ~/.gnupg/S.gpg-agent ~/.gnupg/S.gpg-agent.ssh ~/.gnupg/S.gpg-agent.extra ~/.gnupg/S.gpg-agent.browser",
        "GPG_AGENT_INFO",
    ),
    "keyring": _grant("the desktop's passwords", "@/keyring @/kwallet5.socket @/kwallet6.socket ~/.local/share/keyrings", "GNOME_KEYRING_* KWALLET*"),
    "windows": _grant("Windows programs, from WSL", "/run/WSL", "WSL_INTEROP WSLENV"),
    "browsers": _grant(
        "browser profiles: cookies, and sessions that are signed in",
        "~/.config/google-chrome ~/.config/google-chrome-beta ~/.config/google-chrome-unstable ~/.config/chromium ~/.mozilla ~/.config/mozilla "
        "~/.config/BraveSoftware ~/.config/microsoft-edge ~/.config/opera ~/.config/vivaldi ~/.librewolf ~/.waterfox ~/.zen "
        "~/.cache/google-chrome ~/.cache/chromium ~/.cache/mozilla ~/.cache/BraveSoftware ~/.cache/microsoft-edge "
        "~/snap/chromium ~/snap/firefox ~/snap/brave ~/.var/app/com.google.Chrome ~/.var/app/org.chromium.Chromium ~/.var/app/org.mozilla.firefox "
        "~/.var/app/com.brave.Browser ~/.var/app/com.microsoft.Edge ~/.var/app/io.gitlab.librewolf-community "
        "~/Library/Safari ~/Library/Cookies ~/Library/Containers/com.apple.Safari ~/Library/Application\u00a0Support/Google/Chrome "
        "~/Library/Application\u00a0Support/Chromium ~/Library/Application\u00a0Support/Firefox "
        "~/Library/Application\u00a0Support/BraveSoftware ~/Library/Application\u00a0Support/Microsoft\u00a0Edge",
    ),
    "tmp": _grant("the /tmp that other programs use, and the sockets in it", "/tmp"),
    "startup": _grant(
        "writing what shells, the desktop and ssh run later, outside",
        "~/.bashrc ~/.bash_profile ~/.bash_login ~/.bash_logout ~/.profile ~/.zshrc ~/.zshenv ~/.zprofile ~/.zlogin ~/.zlogout ~/.config/fish "
        "~/.config/autostart ~/.config/systemd ~/.config/environment.d ~/.local/share/systemd ~/.local/share/dbus-1 ~/.pam_environment "
        "~/.xprofile ~/.xsession ~/.xinitrc ~/.ssh/authorized_keys ~/.ssh/authorized_keys2 ~/.ssh/rc ~/.ssh/environment ~/.ssh/config "
        "~/Library/LaunchAgents",
    ),
})  # fmt: skip


def places(word: str, home: Path, runtime: Path) -> Iterator[Path]:
    """The places of a grant that exist."""
    for place in GRANTS[word].places:
        text = place.replace("\u00a0", " ").format(uid=os.getuid()) if "{" in place or "\u00a0" in place else place
        beginning = {"~": str(home), "@": str(runtime)}.get(text[0], "")
        pattern = f"{glob.escape(beginning)}{text[1:]}" if beginning else text
        yield from (Path(found) for found in sorted(glob.glob(pattern, include_hidden=True)))


def pointed_places(word: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """The paths that the variables of a grant point to."""
    for name in variables(word, environ):
        value = environ[name]
        for part in (value, *value.split(",")):
            path = part.partition("path=")[2] or part.removeprefix("unix://").removeprefix("unix:")
            if path.startswith("/") and os.path.lexists(path):
                yield Path(path)


def variables(word: str, environ: Mapping[str, str]) -> Iterator[str]:
    """The variables of a grant that are set."""
    for name in environ:
        if any(name == known or (known[-1] == "*" and name.startswith(known[:-1])) for known in GRANTS[word].variables):
            yield name


# Parts of the hidden /run that are needed to find other machines and programs.
_NEEDED = "/run/systemd/resolve /run/resolvconf /run/NetworkManager/resolv.conf /run/nscd /run/current-system /run/opengl-driver /run/host"
_SYSTEM = ("/run", "/var/run")
_ABSTRACT = frozenset({"x11", "dbus"})
_FIXED_ONLY = "startup"  # stays readable, and only writing is granted


class SandboxSituation(Struct, frozen=True):
    """The command to start, with its user's home, folder, environment and grants."""

    config: Config
    home: Path
    cwd: Path
    command: Sequence[str]
    environ: Mapping[str, str]
    granted: Collection[str] = ()

    @property
    def runtime(self) -> Path:
        """The user's runtime folder."""
        return Path(self.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}")


class SandboxPlan(Struct):
    """The mounts, environment and command of the sandbox."""

    world: SandboxMounts
    state: Path
    runtime: Path
    cwd: Path
    command: Sequence[str]
    environ: dict[str, str]
    abstract: bool = False  # whether sockets without a path stay in reach: a display's, or a bus's, that was granted
    fixed: list[str] = field(
        default_factory=list
    )  # the files that decide about hooks, as they have to be found in its mounts
    supervisor: str = ""  # the journal's, as it has to be found in there


def plan_sandbox(at: SandboxSituation) -> SandboxPlan:
    """Plans the sandbox: hidden paths first, then those that stay visible, then the fixed ones."""
    world = SandboxMounts()
    withheld = [word for word in GRANTS if word not in at.granted]
    for path in (
        *map(Path, _SYSTEM),
        *_grant_paths(withheld, at),
    ):  # whatever listens in /run is out of reach, known or not
        world.put(path, MountMode.HIDE)
    visible = [at.home, at.cwd, *_code(), *map(Path, _NEEDED.split()), *_sockets(at), *_grant_paths(at.granted, at)]
    for path in visible:
        world.put(path, MountMode.KEEP)
    for path in visible[:2]:
        world.pin(path)
    _state(world, at)
    for name in at.config.channels.files:  # what opens the ways to people
        world.put(Path(at.config.path).parent / Path(name).expanduser(), MountMode.HIDE)
    startup = places(_FIXED_ONLY, at.home, at.runtime) if _FIXED_ONLY in withheld else ()
    for path in (*_code(), *_settings(at.config), *startup):
        world.fix(path)
    fixed = _hooks(world, at)
    away = {name for word in withheld for name in variables(word, at.environ)} | at.config.channels.variables
    environ = {name: value for name, value in at.environ.items() if name not in away}
    abstract = not _ABSTRACT.isdisjoint(at.granted)
    program = str(supervisor_of(at.config).resolve())
    return SandboxPlan(
        world, at.config.folder.resolve(), at.runtime, at.cwd.resolve(), at.command, environ, abstract, fixed, program
    )


def _grant_paths(words: Iterable[str], at: SandboxSituation) -> Iterator[Path]:
    """The paths by which these grants can be reached."""
    for word in words:
        if word != _FIXED_ONLY:
            yield from places(word, at.home, at.runtime)
            yield from pointed_places(word, at.environ)


def _code() -> list[Path]:
    """The code that a hook runs: this program, and the Python that it was installed for."""
    found = [Path(interlock.__file__).parent, Path(sys.prefix), Path(sys.executable).parent]
    base = Path(sys.base_prefix)
    return [*found, base] if base.is_relative_to(Path.home()) else found


def _settings(config: Config) -> list[Path]:
    named = [Path(name).expanduser() for name in config.adapters]
    return [*([Path(config.path)] if config.path else []), *config.rule_files, *named]


def _sockets(at: SandboxSituation) -> list[Path]:
    """The daemon's sockets, where they are not in the state folder."""
    paths = {at.config.socket_path, at.config.agents_socket}
    return [path for path in sorted(paths) if path.parent.resolve() != at.config.folder.resolve()]


def _state(world: SandboxMounts, at: SandboxSituation) -> None:
    """Hides the state folder except the hook client, the socket, and the journal of hooks while no daemon answers."""
    state = at.config.folder.resolve()
    world.pin(state)
    world.put(state, MountMode.HIDE)
    world.put(state / "bin", MountMode.FIX)
    world.put(state / FOLDER, MountMode.FIX)
    world.put(state / FOLDER / JOURNAL, MountMode.KEEP)
    if at.config.socket_path.parent.resolve() == state:
        world.put(state / at.config.socket_path.name, MountMode.LINK, f"{FOLDER}/{SOCKET}")


def _hooks(world: SandboxMounts, at: SandboxSituation) -> list[str]:
    """Fixes every file that decides about the hooks of a guarded agent; returns them."""
    found = hook_files.guarded_files(at.config, at.home, at.cwd)
    fixed = {path for paths in found.values() for path in paths}
    for word in found:
        fixed.update(path for path in hook_files.deciding_files(word, at.home, at.cwd) if path.exists())
    for path in sorted(fixed):
        world.fix(path)
    return sorted({str(path.resolve()) for path in fixed})
