"""Readers of inline code, one per language: source text -> effects. The modules beside them are shared by the small languages."""
