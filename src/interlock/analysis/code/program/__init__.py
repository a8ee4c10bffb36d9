"""The interpreter that every language of inline code shares: a program as Python's syntax tree -> its effects."""
