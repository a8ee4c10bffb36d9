"""Measurements behind the figures in the docs; run them with `make bench`."""
