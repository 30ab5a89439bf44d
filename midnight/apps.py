from django.apps import AppConfig


class MidnightConfig(AppConfig):
    name = "midnight"

    def ready(self) -> None:
        from midnight import checks  # noqa: F401
