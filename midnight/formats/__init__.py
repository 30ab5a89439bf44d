"""Dates as people write them, where Django's own formats and names of months are not that."""

from django.utils.translation import gettext_noop as _

# Our catalogs go before Django's, which begin Italian and Portuguese months with a capital.
MONTHS = [
    _("January"),
    _("February"),
    _("March"),
    _("April"),
    _("May"),
    _("June"),
    _("July"),
    _("August"),
    _("September"),
    _("October"),
    _("November"),
    _("December"),
]
