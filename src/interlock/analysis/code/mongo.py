"""MongoDB shell code -> its effects on databases: JavaScript, with `db` and commands that are objects."""

from __future__ import annotations

import re

from msgspec.structs import replace

from interlock.analysis.code.javascript import JAVASCRIPT

# What the shell takes besides JavaScript, a line each.
_USE = re.compile(r"^([ \t]*)use[ \t]+([\w.-]+)[ \t]*;?[ \t]*$", re.M)
_SHOW = re.compile(r"^[ \t]*(?:show[ \t]+\w+|it|exit|quit|help)[ \t]*;?[ \t]*$", re.M)


read_mongo = replace(
    JAVASCRIPT,
    name="MongoDB shell code",
    key="mongo",
    parse=lambda source: JAVASCRIPT.parse(_SHOW.sub("", _USE.sub(r'\1db = db.getSiblingDB("\2");', source))),
).read
