"""Which other programs could do an agent's work outside its jail, by which sockets and variables, and by which word is one let back in?"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Grant:
    """Something that is out of reach unless it is granted. In places, `~` is the home and `@` the user's runtime folder."""

    words: str
    places: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()  # that point to it; one that ends in `*` is a beginning


def _grant(words: str, places: str = "", variables: str = "") -> Grant:
    return Grant(words, tuple(places.split()), tuple(variables.split()))


GRANTS: Mapping[str, Grant] = MappingProxyType({
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


def pointed(word: str, environ: Mapping[str, str]) -> Iterator[Path]:
    """Where the variables of a grant point to, as far as that is a path."""
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
