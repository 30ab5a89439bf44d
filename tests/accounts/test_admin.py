"""The administration speaks the language of whoever reads it."""

from django.contrib import admin
from django.utils.functional import Promise


def test_what_a_search_finds_is_said_in_every_language() -> None:
    helps = [one.search_help_text for one in admin.site._registry.values() if one.search_help_text]
    assert len(helps) > 3
    assert all(isinstance(text, Promise) for text in helps), helps
