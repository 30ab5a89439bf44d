from django.core.management.base import BaseCommand

from midnight import catalogs


class Command(BaseCommand):
    help = (
        "Brings the catalogs of all languages up to date with the sources and compiles them. "
        "New texts are added without translation and shown; texts that are gone are dropped."
    )
    requires_system_checks = ()

    def handle(self, *args: object, **options: object) -> None:
        in_use = catalogs.texts_in_use()
        for language in catalogs.LANGUAGES:
            catalog = catalogs.brought_up_to_date(catalogs.read(language), in_use)
            path = catalogs.po_of(language)
            path.parent.mkdir(parents=True, exist_ok=True)
            catalog.save(str(path))
            path.with_suffix(".mo").write_bytes(catalogs.compiled(catalog))
            waiting = catalog.untranslated_entries()
            self.stdout.write(f"{language}: {len(catalog)} texts, {len(waiting)} to be translated")
            for entry in waiting:
                self.stdout.write(f"    {entry.msgid}")
