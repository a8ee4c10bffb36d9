"""Random file operations below the current folder, the same ones for the same seed; errors are part of it."""

from __future__ import annotations

import contextlib
import os
import random
import sys

NAMES = ["a", "b", "c", "d", "é", "x y"]


def path(chance: random.Random) -> str:
    """A name of the tree, or one that is not there; often below a folder, sometimes by a detour."""
    parts = [chance.choice(NAMES) for _ in range(chance.choice([1, 1, 2, 2, 3]))]
    text = "/".join(parts)
    return chance.choice([text, text, text, f"./{text}", f"{parts[0]}/../{text}", os.path.join(os.getcwd(), text)])


def data(chance: random.Random) -> bytes:
    return chance.randbytes(chance.choice([0, 3, 100, 5000, 40_000]))


def write(chance: random.Random, flags: int) -> None:
    handle = os.open(path(chance), os.O_WRONLY | flags, chance.choice([0o644, 0o600, 0o755]))
    try:
        os.write(handle, data(chance))
        if chance.random() < 0.2:
            os.ftruncate(handle, chance.choice([0, 10, 100]))
        if chance.random() < 0.2:
            os.fchmod(handle, 0o640)
        if chance.random() < 0.2:
            os.utime(handle, ns=(1, 1))
    finally:
        os.close(handle)


def exchange(chance: random.Random) -> None:
    import ctypes

    first, second = os.fsencode(path(chance)), os.fsencode(path(chance))
    ctypes.CDLL(None).renameat2(-100, first, -100, second, chance.choice([1, 2, 2]))


def inside(chance: random.Random) -> None:
    """By a descriptor of a folder."""
    handle = os.open(path(chance), os.O_RDONLY | os.O_DIRECTORY)
    try:
        name = chance.choice(NAMES)
        chance.choice([os.unlink, os.rmdir, os.mkdir])(name, dir_fd=handle)
    finally:
        os.close(handle)


def chmod(where: str, mode: int) -> None:
    """Sets a mode; a folder stays open to a user other than root, whom it would keep out."""
    os.chmod(where, mode | (0o700 if os.geteuid() and os.path.isdir(where) else 0))


OPERATIONS = [
    lambda c: write(c, os.O_CREAT),
    lambda c: write(c, os.O_CREAT | os.O_TRUNC),
    lambda c: write(c, os.O_CREAT | os.O_EXCL),
    lambda c: write(c, os.O_APPEND),
    lambda c: write(c, 0),
    lambda c: os.truncate(path(c), c.choice([0, 5, 100_000])),
    lambda c: os.unlink(path(c)),
    lambda c: os.unlink(path(c)),
    lambda c: os.rmdir(path(c)),
    lambda c: os.mkdir(path(c)),
    lambda c: os.mkdir(path(c)),
    lambda c: os.rename(path(c), path(c)),
    lambda c: os.rename(path(c), path(c)),
    lambda c: os.rename(path(c), path(c)),
    lambda c: os.link(path(c), path(c)),
    lambda c: os.symlink(path(c), path(c)),
    lambda c: chmod(path(c), c.choice([0o600, 0o755, 0o444])),
    lambda c: os.utime(path(c), ns=(5, c.randrange(10**18)), follow_symlinks=c.random() < 0.5),
    lambda c: os.setxattr(path(c), c.choice(["user.a", "user.b"]), b"new"),
    lambda c: os.removexattr(path(c), c.choice(["user.a", "user.b"])),
    exchange,
    inside,
]


def plant(chance: random.Random) -> None:
    """A random tree, of an age."""
    for _ in range(chance.randrange(5, 30)):
        with contextlib.suppress(OSError):
            chance.choice(OPERATIONS[:3] + OPERATIONS[9:11] + OPERATIONS[14:18])(chance)
    for at, folders, names in os.walk(".", topdown=False):
        for name in folders + names:
            with contextlib.suppress(OSError):
                if chance.random() < 0.3 and not os.path.islink(os.path.join(at, name)):
                    os.setxattr(os.path.join(at, name), "user.a", b"old")
                os.utime(os.path.join(at, name), ns=(7, 10**18 + chance.randrange(10**9)), follow_symlinks=False)


def act(chance: random.Random, count: int) -> None:
    for _ in range(count):
        with contextlib.suppress(OSError):
            chance.choice(OPERATIONS)(chance)
        if chance.random() < 0.02:
            child = os.fork()
            if child == 0:
                act(chance, 3)
                os._exit(0)
            os.waitpid(child, 0)


if __name__ == "__main__":
    act(random.Random(sys.argv[1]), int(sys.argv[2]))
