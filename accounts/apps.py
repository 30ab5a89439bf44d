from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "accounts"
    verbose_name = _("People")

    def ready(self) -> None:
        from accounts import receivers  # noqa: F401  # connecting is what it is imported for
