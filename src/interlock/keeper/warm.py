"""A child that keeps and brings back, kept warm."""

from __future__ import annotations

from pathlib import Path

from interlock.keeper.asked import MOST, AskedKeeper
from interlock.looker.warm_child import WarmChild


class WarmKeeper(AskedKeeper):
    """Keeps below one folder, as the user that this process runs as; `guarded` is Interlock's own state, which is neither kept nor changed."""

    def __init__(self, folder: str | Path, guarded: str | Path | None = None) -> None:
        own = str(guarded) if guarded is not None else str(Path(folder).parent)
        self.folder = str(folder)
        super().__init__(WarmChild("interlock.keeper.child", (self.folder, own), MOST))
