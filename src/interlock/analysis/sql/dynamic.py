"""SQL that runs other SQL or client commands: EXEC, PREPARE, DO, generated statements, psql `\\!`, sqlite `.read`, sqlcmd `:r`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from interlock.analysis.sql.batch import SqlBatch, SqlStatement, split, statement, strings
from interlock.analysis.sql.tokens import WORDS, SqlToken, cut, flavours


def acts_in(item: SqlStatement) -> SqlStatement | None:
    """The first statement inside IF, LOOP, BEGIN and the like, if any."""
    at = item.top(*WORDS.acts, after=1)
    while at >= 0 and item.word(at - 1) in WORDS.no_act_after:
        at = item.top(*WORDS.acts, after=at + 1)
    return item.part(at) if at >= 0 else None


def read_do(batch: SqlBatch, item: SqlStatement) -> None:
    bodies = strings(item.tokens)
    if bodies:
        batch.inner(max(bodies, key=len))
    else:
        batch.effect("sql_execute")


def read_execute(batch: SqlBatch, item: SqlStatement) -> None:
    at = 2 if item.word(1) == "IMMEDIATE" else 1
    if item.text(at + 1) == "=" and item.tokens[at].kind == "var":
        at += 2  # EXEC @result = procedure
    argument = item.up_to("USING", "INTO", start=at).tokens
    name = item.name(at).rsplit(".", 1)[-1].lower()
    routine = bool(argument) and argument[0].kind in ("word", "name") and item.word(1) != "IMMEDIATE"
    if name in batch.bodies:
        batch.inner(batch.bodies.pop(name))
    elif routine and _prepared(batch, name):
        batch.effect("sql_read")
    elif routine and (
        item.head in ("EXEC", "CALL") or name in {"xp_cmdshell", *WORDS.table("procedures"), *WORDS.procedures_of_sql}
    ):
        _procedure(batch, name, argument)
    else:
        read_text(batch, argument)


def _prepared(batch: SqlBatch, name: str) -> bool:
    batch.out.step(1 + len(batch.statements) // 16)
    return any(item.head == "PREPARE" and item.name(1).lower() == name for item in batch.statements)


def _procedure(batch: SqlBatch, name: str, argument: Sequence[SqlToken]) -> None:
    first = strings(argument)[:1]
    if name == "xp_cmdshell":
        batch.effect("sql_shell", *first)
        for text in first:
            batch.out.shell(text)
    elif name in WORDS.procedures_of_sql:
        read_text(batch, [token for token in argument[1:] if token.kind in ("string", "var")][:1])
    else:
        verb, kind = WORDS.table("procedures").get(name, "sql_write"), drop_kind(name)
        batch.effect(verb, ((kind and first) or [name])[0], *kind)


def drop_kind(name: str) -> list[str]:
    return [kind] if (kind := WORDS.table("drops").get(name)) else []


def read_text(batch: SqlBatch, argument: Sequence[SqlToken]) -> None:
    """Built at run time, it is read by its constant parts."""
    if not strings(argument):
        names = {token.text.lower() for token in argument if token.kind in ("var", "word", "name")}
        argument = _assigned(batch, names)
    made, unknown = skeleton(argument)
    if looks_like_sql(made):
        batch.inner(made, bulk=unknown)
    else:
        batch.effect("sql_execute")


def _assigned(batch: SqlBatch, names: set[str]) -> list[SqlToken]:
    result: list[SqlToken] = []
    for item in batch.statements:
        batch.out.step()
        tokens = item.tokens
        for index, token in enumerate(tokens[:64]):
            if token.text.lower() in names:
                near = enumerate(tokens[index + 1 : index + 8], index + 2)
                behind = next((at for at, one in near if one.mark in ("=", ":=", "+=") or one.word == "DEFAULT"), 0)
                if behind:
                    result.extend(tokens[behind:])
                    break
    return result[:2000]


UNKNOWN = "X"  # stands for a part that is not constant
_FIELD = re.compile(r"%(?:\d+\$)?[IsLd]|\?")
_FIRST_WORD = re.compile(r"\s*(\w+)")
_BOUND = 20_000


def skeleton(tokens: Sequence[SqlToken]) -> tuple[str, bool]:
    """The text an expression builds, with X for what is not constant, and whether there was such a part."""
    item = statement(tokens)
    parts: list[str] = []
    unknown = False
    index = 0
    while index < len(item.tokens):
        token = item.tokens[index]
        index += 1
        following = item.text(index)
        if token.word in ("FORMAT", "PRINTF") and following == "(":
            inner = item.group(index)
            index += len(inner.tokens) + 2
            token = next((part for part in inner.tokens if part.kind == "string"), token)
        if token.kind == "string":
            filled = _FIELD.sub(UNKNOWN, token.text)
            unknown = unknown or filled != token.text
            parts.append(filled)
        elif token.mark == "::":
            index += 1  # a cast changes nothing here
        elif token.word == "AS" or token.mark in WORDS.joining:
            index += token.word == "AS"
        elif token.word not in WORDS.transparent:
            unknown = True
            if not parts or parts[-1] != UNKNOWN:
                parts.append(UNKNOWN)
            while following == "." and index + 1 < len(item.tokens):
                index += 2
                following = item.text(index)
            if following == "(":
                index += len(item.group(index).tokens) + 2
    return "".join(parts)[:_BOUND], unknown


def looks_like_sql(text: str) -> bool:
    first = _FIRST_WORD.match(text)
    return first is not None and first[1].lower() in WORDS.verbs


def generated_by(item: SqlStatement) -> str | None:
    start = item.top("SELECT") if item.head in ("SELECT", "WITH") else -1
    if start < 0:
        return None
    columns = item.up_to("FROM", "INTO", "WHERE", start=start + 1)
    built = " ".join(skeleton(column.tokens)[0].strip() for column in columns.pieces())
    return built if strings(columns.tokens) and looks_like_sql(built) else None


def generated_sql(text: str, dialect: str = "") -> str | None:
    if len(text) > _BOUND * 10:
        return None
    tokens, _ = cut(text, flavours(text, dialect)[0])
    made = [built for item in split(tokens, text, dialect) if (built := generated_by(item))]
    return "\n".join(made) or None


def read_meta(batch: SqlBatch, line: str, before: SqlStatement | None) -> None:
    """`before` is the statement that a client command may send off."""
    command, _, rest = line.partition(" ")
    for mark in ("\\!", "!!", ":!!", "@@", "@", "!", "\\."):
        if line.startswith(mark):
            command, rest = mark, line[len(mark) :]
            break
    command, rest = command.lower().rstrip(";"), rest.strip()
    if command in WORDS.client_shell:
        batch.out.shell(rest)
    elif command in WORDS.client_script:
        batch.effect("run_script", rest.split(" ")[0].strip("'\";"))
    elif command == "\\gexec":  # runs each row of the query before it as a statement
        made = generated_by(before) if before else None
        if made is None:
            batch.effect("sql_execute")
        else:
            batch.inner(made, bulk=True)
    elif command == "\\copy":
        _read_copy(batch, rest)
    elif command in WORDS.client_pipes and rest.strip("'\" ").startswith("|"):
        batch.out.shell(rest.strip("'\" ").lstrip("|").strip())
    elif command == ".load":
        batch.effect("sql_shell", rest)
    elif command == ".restore":
        batch.effect("sql_drop", rest, "database")
    elif command == ".import":
        batch.effect("sql_write", rest.split(" ")[-1])
    else:
        batch.effect("sql_read")


def _read_copy(batch: SqlBatch, rest: str) -> None:
    """`\\copy` runs on this side."""
    words = rest.split()
    lowered = [word.lower() for word in words[:64]]
    if "program" in lowered:
        command = rest.split(words[lowered.index("program")], 1)[1].strip()
        quote = command[:1]
        end = command.rfind(quote) if quote in ("'", '"') else -1
        batch.out.shell(command[1:end] if end > 0 else command)
    elif "to" in lowered and not rest.startswith("("):
        batch.out.effect("write", words[min(lowered.index("to") + 1, len(words) - 1)].strip("'"))
    elif rest.startswith("("):
        batch.effect("sql_read")
    else:
        batch.effect("sql_write", words[0] if words else "")
