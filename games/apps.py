from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        from games.moderation import receivers  # noqa: F401  # connecting is what it is imported for
