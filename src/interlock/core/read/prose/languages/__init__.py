"""The words of the languages that are read besides English, a file each."""
