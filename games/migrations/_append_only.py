"""A table whose rows the database itself keeps as they were written: it refuses to change, delete or empty them."""

from collections.abc import Sequence

from django.apps.registry import Apps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations import RunPython

REFUSAL = "rows of {table} are never changed or deleted"


def triggers(vendor: str, table: str) -> Sequence[str]:
    """The statements that put the guard on."""
    refusal = REFUSAL.format(table=table)
    if vendor == "postgresql":
        return (
            f"CREATE OR REPLACE FUNCTION {table}_is_kept() RETURNS trigger LANGUAGE plpgsql AS "
            f"$$ BEGIN RAISE EXCEPTION '{refusal}'; END $$",
            f"CREATE TRIGGER {table}_kept BEFORE UPDATE OR DELETE ON {table} "
            f"FOR EACH ROW EXECUTE FUNCTION {table}_is_kept()",
            f"CREATE TRIGGER {table}_not_emptied BEFORE TRUNCATE ON {table} "
            f"FOR EACH STATEMENT EXECUTE FUNCTION {table}_is_kept()",
        )
    return tuple(
        f"CREATE TRIGGER {table}_no_{verb.lower()} BEFORE {verb} ON {table} BEGIN SELECT RAISE(ABORT, '{refusal}'); END"
        for verb in ("UPDATE", "DELETE")
    )


# What of the log of acts tells of a person, and goes with their account: the words to them, and these keys of what an
# act keeps for its undo.
PERSONAL = ("name", "said")
# Every other column of the log, which SQLite compares one by one.
FIXED = "id at by_id person_id what reason until case_id game_id room message undoes_id".split()
KEPT_JSON = ("before", "after")


def redactable_triggers(vendor: str) -> Sequence[str]:
    """The guard of the log of acts with one way through: what is personal may be taken out of a line, and nothing be put
    in its place. PostgreSQL asks for a person who deleted their account; in SQLite a trigger that names another table
    breaks at that table's next migration.
    """
    refusal = REFUSAL.format(table="games_act")
    if vendor == "postgresql":
        gone = "EXISTS (SELECT 1 FROM accounts_user u WHERE u.id = OLD.person_id AND u.deleted_at IS NOT NULL)"
        keys, free = _array(PERSONAL), _array(("words", *KEPT_JSON))
        taken_out = [f'NEW."{one}" IN (OLD."{one}", OLD."{one}" - {keys})' for one in KEPT_JSON]
        same = f"to_jsonb(NEW) - {free} = to_jsonb(OLD) - {free}"
        allowed = " AND ".join((same, "NEW.words IN (OLD.words, '')", *taken_out, gone))
        _function, *guards = triggers(vendor, "games_act")
        return (
            "CREATE OR REPLACE FUNCTION games_act_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            f" IF TG_OP = 'UPDATE' THEN IF {allowed} THEN RETURN NEW; END IF; END IF;"
            f" RAISE EXCEPTION '{refusal}'; END $$",
            *guards,
        )
    paths = ", ".join(f"'$.{key}'" for key in PERSONAL)
    taken_out = [
        f'json(NEW."{one}") IN (json(OLD."{one}"), json_remove(OLD."{one}", {paths}))' for one in KEPT_JSON
    ]
    same = " AND ".join(f'NEW."{column}" IS OLD."{column}"' for column in FIXED)
    allowed = " AND ".join((same, "NEW.words IN (OLD.words, '')", *taken_out))
    _no_update, no_delete = triggers(vendor, "games_act")
    return (
        f"CREATE TRIGGER games_act_no_update BEFORE UPDATE ON games_act WHEN NOT ({allowed})"
        f" BEGIN SELECT RAISE(ABORT, '{refusal}'); END",
        no_delete,
    )


def _array(words: Sequence[str]) -> str:
    return f"'{{{','.join(words)}}}'::text[]"


def no_triggers(vendor: str, table: str) -> Sequence[str]:
    """The statements that take it off: for the way back of a migration, and between two tests."""
    if vendor == "postgresql":
        return (f"DROP TRIGGER {table}_kept ON {table}", f"DROP TRIGGER {table}_not_emptied ON {table}")
    return tuple(f"DROP TRIGGER {table}_no_{verb}" for verb in ("update", "delete"))


def keep_rows(table: str) -> RunPython:
    """The migration's step."""

    def on(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        for statement in triggers(editor.connection.vendor, table):
            editor.execute(statement, params=None)

    def off(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
        for statement in no_triggers(editor.connection.vendor, table):
            editor.execute(statement, params=None)

    return RunPython(on, off)
