"""Reads Git objects, loose and packed, with zlib alone, so that no configuration of the repository can run anything."""

from __future__ import annotations

import mmap
import os
import struct
import zlib
from bisect import bisect_left
from contextlib import suppress
from functools import cached_property
from itertools import islice

from msgspec import Struct

from interlock.impact import Budget, Unclear, read_contents

LARGEST = 32 << 20  # bytes of a commit or tree
_KINDS = {1: b"commit", 2: b"tree", 3: b"blob", 4: b"tag"}
_OFFSET, _BY_NAME = 6, 7
_DEEP = 200  # deltas of deltas
_PACKS, _ALTERNATES = 200, 8


class Pack(Struct, frozen=True):
    names: mmap.mmap
    data: mmap.mmap

    def find(self, oid: bytes) -> int | None:
        low, high = self._range(oid[0])
        number = low + bisect_left(range(low, high), oid, key=self._name)
        if number >= high or self._name(number) != oid:
            return None
        count = self._range(255)[1]
        short = struct.unpack_from(">I", self.names, 1032 + count * 24 + number * 4)[0]
        if not short & 0x80000000:
            return int(short)
        return int(struct.unpack_from(">Q", self.names, 1032 + count * 28 + (short & 0x7FFFFFFF) * 8)[0])

    def begins(self, prefix: str) -> set[bytes]:
        """Two at most."""
        names = map(self._name, range(*self._range(int(prefix[:2], 16))))
        return set(islice((oid for oid in names if oid.hex().startswith(prefix)), 2))

    def _name(self, number: int) -> bytes:
        return self.names[1032 + number * 20 : 1032 + number * 20 + 20]

    def _range(self, first: int) -> tuple[int, int]:
        low = struct.unpack_from(">I", self.names, 8 + (first - 1) * 4)[0] if first else 0
        return low, struct.unpack_from(">I", self.names, 8 + first * 4)[0]


class Objects(Struct, dict=True):
    folder: str
    budget: Budget
    _listed: dict[str, frozenset[str]] = {}  # folder of loose objects -> their names

    def has(self, oid: bytes) -> bool:
        name = oid.hex()
        loose = any(name[2:] in self._in(f"{folder}/{name[:2]}") for folder in self._folders)
        return loose or any(pack.find(oid) is not None for pack in self._packs)

    def _in(self, folder: str) -> frozenset[str]:
        """Listed once: one inspection checks many."""
        if folder not in self._listed:
            try:
                with os.scandir(folder) as entries:
                    names = frozenset(entry.name for entry in entries if entry.is_file(follow_symlinks=False))
            except OSError:
                names = frozenset()
            self.budget.entry(len(names))
            self._listed[folder] = names
        return self._listed[folder]

    def read(self, oid: bytes, kind: bytes) -> bytes:
        """Raises Unclear where it is missing, of another kind or damaged."""
        found, data = self._read(oid, 0)
        if found != kind:
            raise Unclear("an object of the repository is of another kind")
        return data

    def kind(self, oid: bytes) -> bytes:
        return self._read(oid, 0)[0]

    def by_prefix(self, prefix: str) -> bytes | None:
        """None where there is none or more than one."""
        found = {oid for pack in self._packs for oid in pack.begins(prefix)}
        for folder in self._folders:
            try:
                names = os.listdir(f"{folder}/{prefix[:2]}")
            except OSError:
                continue
            found |= {bytes.fromhex(prefix[:2] + n) for n in names if len(n) == 38 and n.startswith(prefix[2:])}
        return found.pop() if len(found) == 1 else None

    def _read(self, oid: bytes, depth: int) -> tuple[bytes, bytes]:
        self.budget.entry()
        try:
            for folder in self._folders:
                path = f"{folder}/{oid.hex()[:2]}/{oid.hex()[2:]}"
                if os.path.isfile(path):
                    head, _, body = _inflate(read_contents(path, self.budget, LARGEST)).partition(b"\0")
                    return head.split(b" ")[0], body
            for pack in self._packs:
                offset = pack.find(oid)
                if offset is not None:
                    return self._packed_at(pack, offset, depth)
        except (OSError, struct.error, zlib.error, IndexError, ValueError):
            raise Unclear("an object of the repository cannot be read") from None
        raise Unclear("an object of the repository is missing")

    def _packed_at(self, pack: Pack, offset: int, depth: int) -> tuple[bytes, bytes]:
        if depth > _DEEP:
            raise Unclear("an object of the repository is too involved")
        self.budget.tick()
        byte, place = pack.data[offset], offset + 1
        kind, size, shift = (byte >> 4) & 7, byte & 15, 4
        while byte & 128:
            byte, place = pack.data[place], place + 1
            size, shift = size | (byte & 127) << shift, shift + 7
        if size > LARGEST:
            raise Unclear("an object of the repository is too large")
        if kind in _KINDS:
            return _KINDS[kind], _inflate(pack.data[place : place + size + 1024], size)
        if kind == _OFFSET:
            back, place = read_offset(pack.data, place)
            if not 0 < back <= offset:
                raise Unclear("a pack of the repository is damaged")
            found, base = self._packed_at(pack, offset - back, depth + 1)
        elif kind == _BY_NAME:
            found, base = self._read(pack.data[place : place + 20], depth + 1)
            place += 20
        else:
            raise Unclear("a pack of the repository has a form that is not known here")
        return found, _apply_delta(base, _inflate(pack.data[place : place + size + 1024], size))

    @cached_property
    def _folders(self) -> list[str]:
        found = [self.folder]
        for folder in found:
            try:
                text = read_contents(f"{folder}/info/alternates", self.budget, 65_536)
            except OSError:
                continue
            lines = [os.fsdecode(line) for line in text.split(b"\n") if line and not line.startswith(b"#")]
            more = [os.path.realpath(os.path.join(folder, line)) for line in lines]
            found += [one for one in more if one not in found]
            if len(found) > _ALTERNATES:
                raise Unclear("the repository borrows from too many others")
        return found

    @cached_property
    def _packs(self) -> list[Pack]:
        return [pack for folder in self._folders for pack in _packs(f"{folder}/pack")]


def _packs(folder: str) -> list[Pack]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".idx"))
    except OSError:
        return []
    if len(names) > _PACKS:
        raise Unclear("the repository has too many packs")
    found = []
    for name in names:
        path = f"{folder}/{name}"
        listed, data = _map(path), _map(path[: -len("idx")] + "pack")
        if listed is not None and data is not None and listed[:8] == b"\xfftOc\0\0\0\2" and data[:4] == b"PACK":
            found.append(Pack(listed, data))
    return found


def _map(path: str) -> mmap.mmap | None:
    with suppress(OSError, ValueError):
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
        try:
            return mmap.mmap(handle, 0, access=mmap.ACCESS_READ) if os.path.isfile(path) else None
        finally:
            os.close(handle)
    return None


def _inflate(data: bytes, size: int = LARGEST) -> bytes:
    """Refuses a small file that unpacks to more than the declared size."""
    found = zlib.decompressobj().decompress(data, size + 1)
    if len(found) > size:
        raise Unclear("an object of the repository is too large")
    return found


def read_offset(data: mmap.mmap | bytes, place: int) -> tuple[int, int]:
    """A number as packs and indexes write offsets, and where it ends."""
    byte, place = data[place], place + 1
    back = byte & 127
    while byte & 128:
        byte, place = data[place], place + 1
        back = ((back + 1) << 7) | (byte & 127)
    return back, place


def _apply_delta(base: bytes, delta: bytes) -> bytes:
    size, place = _length(delta, 0)
    wanted, place = _length(delta, place)
    if size != len(base) or wanted > LARGEST:
        raise Unclear("an object of the repository is damaged")
    parts: list[bytes] = []
    while place < len(delta):
        code, place = delta[place], place + 1
        if code & 128:
            values = [0] * 7
            for bit in range(7):
                if code & (1 << bit):
                    values[bit], place = delta[place], place + 1
            start = int.from_bytes(bytes(values[:4]), "little")
            parts.append(base[start : start + (int.from_bytes(bytes(values[4:]), "little") or 0x10000)])
        else:
            parts.append(delta[place : place + code])
            place += code
    built = b"".join(parts)
    if len(built) != wanted:
        raise Unclear("an object of the repository is damaged")
    return built


def _length(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte, place = data[place], place + 1
        value, shift = value | (byte & 127) << shift, shift + 7
        if not byte & 128:
            return value, place
