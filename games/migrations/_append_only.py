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
