"""Reads the records of one action's journal, as `supervisor/record.c` writes them; ends at the first damaged one."""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from interlock.journal import JournaledAction

_RECORD = struct.Struct("<IIcB18sIQQ")
_STATE = struct.Struct("<IBBBxIIIIQQQqqqqQ32sIII")
_LENGTHS = struct.Struct("<II")

CHANGES = frozenset("cwmurx")
Identity = tuple[int, int, int]  # device, inode and time of birth: equal for one file only
Fingerprint = tuple[int, int, int, int]  # inode, size, and times of change: equal while nobody touched it


class PathKind(IntEnum):
    ABSENT = 0
    FILE = 1
    FOLDER = 2
    LINK = 3
    OTHER = 4


class KeptContent(IntEnum):
    NONE = 0
    INLINE = 1  # in the journal itself
    LINKED = 2
    CLONED = 3
    COPIED = 4
    EARLIER = 5  # by an earlier record of the same action


class StateRole(IntEnum):
    TARGET = 0
    SECOND = 1  # of a rename, what it replaces; of a link, what it links to
    PARENT = 2  # the folder whose times change


class JournalState(Struct, frozen=True):
    path: str
    kind: PathKind
    content: KeptContent
    role: StateRole
    mode: int
    owner: tuple[int, int]
    nlink: int
    dev: int
    ino: int
    size: int
    atime: int
    mtime: int
    ctime: int
    btime: int
    object: int
    hash: bytes
    attributes: tuple[tuple[str, bytes], ...]
    data: tuple[int, int]  # where an inline content or a link's text stands in the journal

    @property
    def identity(self) -> Identity:
        return self.dev, self.ino, self.btime

    @property
    def fingerprint(self) -> Fingerprint:
        return self.ino, self.size, self.mtime, self.ctime


class JournalChange(Struct, frozen=True):
    """c creates, w writes, m marks, u removes, r renames, x exchanges; perhaps nothing changed."""

    sequence: int
    type: str
    call: str
    at: float
    pid: int
    states: tuple[JournalState, ...]

    def state(self, role: StateRole) -> JournalState | None:
        return next((one for one in self.states if one.role == role), None)


class ActionJournal(Struct):
    changes: list[JournalChange] = []
    happened: set[int] = set()  # the renames that are known to have happened
    unsettled: set[int] = set()  # those under way when the supervisor was killed
    after: dict[str, JournalState] = {}  # as the action left each path
    contents: dict[Identity, JournalState] = {}  # the first of each file
    firsts: dict[Identity, JournalState] = {}  # the first state of each object
    last: float = 0.0


def read_head(id: str, data: bytes) -> JournaledAction | None:
    """The action of a journal, from its first bytes; None where they are damaged or cut off."""
    for type, _, _, _, time, states in _records(data):
        if type != "H" or len(states) != 1:
            return None
        words = data[states[0].data[0] : sum(states[0].data)].split(b"\0")[:-1]
        label, *command = map(os.fsdecode, words)
        return JournaledAction(id, time, tuple(command), states[0].path, label)
    return None


def has_changes(data: Any) -> bool:
    return any(type in CHANGES for type, *_ in _records(data))


def read_journal(data: Any, owner: tuple[int, int] | None = None) -> ActionJournal:
    """All records of a journal; what follows a damaged one is left out, since it was never acted on.

    `owner` has its file now: a supervisor in another user namespace wrote the numbers that the same users have there.
    """
    found, inside = ActionJournal(), owner
    for type, call, sequence, pid, time, states in _records(data):
        found.last = max(found.last, time)
        if type == "H":
            inside = states[0].owner if owner is not None else None
        elif owner is not None and inside is not None and inside != owner:
            states = tuple(replace(state, owner=_outside(state.owner, inside, owner)) for state in states)
        if type == "d":
            found.happened.add(sequence)
        elif type == "a":
            found.after |= {state.path: state for state in states}
        elif type in CHANGES:
            found.changes.append(JournalChange(sequence, type, call, time, pid, states))
            for state in states:
                found.firsts.setdefault(state.identity, state)
                if state.kind is PathKind.FILE and state.content not in (KeptContent.NONE, KeptContent.EARLIER):
                    found.contents.setdefault(state.identity, state)
    if not found.after:
        latest = {change.pid: change.sequence for change in found.changes if change.type in "rx"}
        found.unsettled = set(latest.values()) - found.happened
    return found


_NOBODY = 65_534  # what a user namespace shows of users that it does not have


def _outside(owner: tuple[int, int], inside: tuple[int, int], own: tuple[int, int]) -> tuple[int, int]:
    """In numbers of here: the supervisor's own user and group, and nobody's, are those of its journal."""
    user, group = (now if id in (was, _NOBODY) else id for id, was, now in zip(owner, inside, own))
    return user, group


def _records(data: Any) -> Iterator[tuple[str, str, int, int, float, tuple[JournalState, ...]]]:
    at, end = 0, len(data)
    while at + _RECORD.size <= end:
        length, wanted, type, count, call, pid, sequence, time = _RECORD.unpack_from(data, at)
        if length < _RECORD.size or at + length > end:
            return
        sum, states, inner = 0, [], at + _RECORD.size
        for _ in range(count):
            if inner + _STATE.size > at + length:
                return
            state, size, checked = _state(data, inner)
            sum = zlib.crc32(data[inner : inner + checked], sum)
            states.append(state)
            inner += size
        head = data[at : at + 4] + b"\0\0\0\0" + data[at + 8 : at + _RECORD.size]
        if inner != at + length or zlib.crc32(head, sum) != wanted:
            return
        name = call.rstrip(b"\0").decode("ascii", "replace")
        yield type.decode("latin-1"), name, sequence, pid, time / 1e9, tuple(states)
        at += length


def _state(data: Any, at: int) -> tuple[JournalState, int, int]:
    """With its length, and how much the checksum covers: all but the content, which has a hash of its own."""
    fields = _STATE.unpack_from(data, at)
    length, kind, content, role, mode, user, group, *numbers, path_length, xattr_length, data_length = fields
    marks = at + _STATE.size + path_length
    start = marks + xattr_length
    path, attributes = os.fsdecode(bytes(data[at + _STATE.size : marks])), _attributes(bytes(data[marks:start]))
    known: list[Any] = [path, PathKind(kind), KeptContent(content), StateRole(role), mode, (user, group), *numbers]
    known += [attributes, (start, data_length)]
    return JournalState(*known), length, length - data_length


def _attributes(data: bytes) -> tuple[tuple[str, bytes], ...]:
    found, at = [], 0
    while at + _LENGTHS.size <= len(data):
        name, value = _LENGTHS.unpack_from(data, at)
        at += _LENGTHS.size
        found.append((os.fsdecode(data[at : at + name]), data[at + name : at + name + value]))
        at += name + value
    return tuple(found)
