"""Reads what an action would do: text or call -> facts -> findings -> assessment. Pure: no files, no clock, no network."""
