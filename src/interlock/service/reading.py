"""An action -> its judgement and its titles; what was judged lately is remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from interlock.core.classify import Rulebook
from interlock.core.decide import Judgement, judge
from interlock.core.model import Action, Kind
from interlock.core.titles import Titles, titles

MOST = 2_048
LONGEST = 2_000  # characters; longer texts are judged anew, so that what is remembered stays small

Read = tuple[Judgement, Titles]


class Reader:
    """Judges with one rulebook; texts alone are remembered, for what they mean depends on nothing else."""

    def __init__(self, rules: Rulebook) -> None:
        self.rules = rules
        self._known: OrderedDict[tuple[Kind, str, str], Read] = OrderedDict()

    def read(self, action: Action, files: Callable[[str], str | None] | None = None) -> Read:
        """The judgement of an action and the names it goes by."""
        text = action.text
        if files is not None or len(text) > LONGEST or action.kind not in (Kind.COMMAND, Kind.INTENT):
            return self._read(action, files)
        key = (action.kind, text, action.cwd)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = self._read(action, None)
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        return found

    def _read(self, action: Action, files: Callable[[str], str | None] | None) -> Read:
        judgement = judge(action, self.rules, files)
        return judgement, titles(action, judgement.facts)
