"""An action -> its judgement, its titles and what it weighs; what was judged lately is remembered."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from interlock.core.circumstances import Circumstances
from interlock.core.classify import Rulebook
from interlock.core.decide import Judgement, judge
from interlock.core.model import Action, Kind
from interlock.core.policy import Policy
from interlock.core.titles import Titles, titles
from interlock.core.weigh import Weighed, weigh

MOST = 2_048
LONGEST = 2_000  # characters; longer texts are judged anew, so that what is remembered stays small

Read = tuple[Judgement, Titles]
Key = tuple[Kind, str, str]


@dataclass(slots=True)
class _Known:
    """What a text means, and what that weighed the last time."""

    read: Read
    weighed: tuple[Policy, Circumstances, Weighed] | None = None


class Reader:
    """Judges with one rulebook; texts alone are remembered, for what they mean depends on nothing else."""

    def __init__(self, rules: Rulebook) -> None:
        self.rules = rules
        self._known: OrderedDict[Key, _Known] = OrderedDict()

    def read(self, action: Action, files: Callable[[str], str | None] | None = None) -> Read:
        """The judgement of an action and the names it goes by."""
        text = action.text
        if files is not None or len(text) > LONGEST or action.kind not in (Kind.COMMAND, Kind.INTENT):
            return self._read(action, files)
        key = (action.kind, text, action.cwd)
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = _Known(self._read(action, None))
            if len(self._known) > MOST:
                self._known.popitem(last=False)
        return found.read

    def weighed(
        self, action: Action, judgement: Judgement, named: Titles, policy: Policy, at: Circumstances
    ) -> Weighed:
        """What `weigh` says; as it said it the last time, where nothing that it is given has changed."""
        known = self._known.get((action.kind, action.text, action.cwd))
        if known is None or known.read[0] is not judgement:
            return weigh(judgement.assessment, named, policy, at)
        last = known.weighed
        if last is None or last[0] is not policy or last[1] != at:
            last = known.weighed = (policy, at, weigh(judgement.assessment, named, policy, at))
        return last[2]

    def _read(self, action: Action, files: Callable[[str], str | None] | None) -> Read:
        judgement = judge(action, self.rules, files)
        return judgement, titles(action, judgement.facts)
