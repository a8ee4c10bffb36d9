"""Plays a journal backwards over a model of the present tree: which object belongs at each path."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec import Struct

from interlock.journal.entries import ActionJournal, JournalChange, JournalState, PathKind, StateRole

Exists = Callable[[str, JournalState], bool]  # whether the action left the object of a state at a path


class Place(Struct, eq=False):
    base: str | None = None  # the present path of the object that belongs here; None where none of those present does
    state: JournalState | None = None  # as the object was that has to be made anew
    content: JournalState | None = None
    marks: JournalState | None = None  # the mode, owner, times and attributes that it had
    was: JournalState | None = None  # its first state that is known
    times_only: bool = True  # of its marks only the times changed, as a folder's do
    places: dict[str, Place] = {}


class UndoModel:
    """Built from the action's journal alone, and from a look at what is there now."""

    def __init__(self, journal: ActionJournal, exists: Exists) -> None:
        self._journal, self._exists = journal, exists
        self._root = Place("/")
        self.touched: dict[str, None] = {}  # present paths that the action had to do with
        for change in reversed(journal.changes):
            _UNDO[change.type](self, change)
            for state in change.states if change.type in "curx" else ():
                if state.role is StateRole.PARENT:
                    self._note(state)

    def places(self) -> Iterator[tuple[str, Place, bool]]:
        """Folders before what they hold, and whether an object has to move there by itself."""
        rest = [("", self._root, False)]
        while rest:
            path, place, moves = rest.pop()
            yield path or "/", place, moves
            below = f"{place.base.rstrip('/')}/" if place.base is not None else None
            for name, inner in sorted(place.places.items(), reverse=True):
                carried = below is not None and inner.base == below + name
                rest.append((f"{path}/{name}", inner, inner.base is not None and not carried))

    def _created(self, change: JournalChange) -> None:
        target, source = change.states[0], change.state(StateRole.SECOND)
        place = self._put(target.path, Place())
        if source is not None and place.was is not None:  # what happened to it by its new name
            other = self._at(source.path)
            for name in ("content", "marks", "was"):
                setattr(other, name, getattr(other, name) or getattr(place, name))
            other.times_only = other.times_only and place.times_only

    def _written(self, change: JournalChange) -> None:
        self._note(change.states[0]).content = self._journal.contents.get(change.states[0].identity)

    def _marked(self, change: JournalChange) -> None:
        self._note(change.states[0])

    def _note(self, state: JournalState) -> Place:
        place = self._at(state.path)
        place.was = place.marks = self._first(state)
        place.times_only = place.times_only and state.role is StateRole.PARENT
        return place

    def _removed(self, change: JournalChange) -> None:
        state = change.states[0]
        place = self._at(state.path)
        later = place.was is not None and place.was.identity == state.identity
        if later or (place.base is not None and self._exists(place.base, state)):  # the call failed: it was there
            place.was = self._first(state)
        else:
            self._put(state.path, self._anew(state))

    def _renamed(self, change: JournalChange) -> None:
        source, target = change.states[0], change.state(StateRole.SECOND)
        if target is not None and self._happened(change, target.path, source):
            moved = self._put(target.path, self._anew(target) if target.kind is not PathKind.ABSENT else Place())
            moved.was = self._first(source)
            self._put(source.path, moved)

    def _exchanged(self, change: JournalChange) -> None:
        source, target = change.states[0], change.state(StateRole.SECOND)
        if target is not None and self._happened(change, target.path, source):
            first, second = self._at(source.path), self._at(target.path)
            first.was, second.was = self._first(target), self._first(source)
            self._put(source.path, second)
            self._put(target.path, first)

    def _happened(self, change: JournalChange, path: str, source: JournalState) -> bool:
        if change.sequence in self._journal.unsettled:
            return self._exists(path, source)
        return change.sequence in self._journal.happened

    def _anew(self, state: JournalState) -> Place:
        content, first = self._journal.contents.get(state.identity), self._first(state)
        return Place(None, state, content if state.kind is PathKind.FILE else None, first, first, False)

    def _first(self, state: JournalState) -> JournalState:
        return self._journal.firsts.get(state.identity, state)

    def _at(self, path: str) -> Place:
        place, where = self._root, ""
        for name in filter(None, path.strip("/").split("/")):
            where = f"{where}/{name}"
            if name not in place.places:
                found = place.places[name] = Place()
                if place.base is not None:
                    found.base = f"{place.base.rstrip('/')}/{name}"
                    self.touched[found.base] = None
            place = place.places[name]
        return place

    def _put(self, path: str, new: Place) -> Place:
        old = self._at(path)
        holder, _, name = path.rpartition("/")
        self._at(holder or "/").places[name] = new
        return old


_UNDO: dict[str, Callable[[UndoModel, JournalChange], None]] = {
    "c": UndoModel._created,
    "w": UndoModel._written,
    "m": UndoModel._marked,
    "u": UndoModel._removed,
    "r": UndoModel._renamed,
    "x": UndoModel._exchanged,
}
