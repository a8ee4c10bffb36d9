"""Which effect on which target, and where: the one value that denials, tickets, grants and limits compare (R-22)."""

from interlock.analysis.effect_key.key import EffectKey, Relation, nearest, parse, relation
from interlock.analysis.effect_key.keys import effect_keys, everyday_keys, path_keys

__all__ = ["EffectKey", "Relation", "effect_keys", "everyday_keys", "nearest", "parse", "path_keys", "relation"]
