"""Keys and seals: operators' signing keys, the roster that detects edits from outside, and the installation's own keys."""
