"""{% icon "moon" %}: one of our own drawings, by its name in icons.svg."""

from django import template
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag
def icon(name: str, label: str = "") -> SafeString:
    """A drawing from the sprite: decoration, unless `label` gives it a name of its own."""
    address = f"{static('midnight/icons.svg')}#{name}"
    if label:
        return format_html(
            '<svg class="icon" role="img" aria-label="{}" viewBox="0 0 24 24"><use href="{}"></use></svg>',
            label,
            address,
        )
    return format_html('<svg class="icon" aria-hidden="true" viewBox="0 0 24 24"><use href="{}"></use></svg>', address)
