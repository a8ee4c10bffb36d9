-- What a code frees, sealed under the code itself, so that whichever replica is given the code can tell that an operator meant it.

ALTER TABLE challenges ADD COLUMN release TEXT NOT NULL DEFAULT '';
