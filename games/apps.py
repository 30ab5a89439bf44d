from django.apps import AppConfig


class GamesConfig(AppConfig):
    name = "games"

    def ready(self) -> None:
        from games import receivers  # noqa: F401  # connecting is what they are imported for
        from games.moderation import receivers as moderators  # noqa: F401
