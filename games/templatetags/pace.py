"""Times as people read them."""

from django import template

register = template.Library()


@register.filter
def clock(seconds: int) -> str:
    """Minutes and seconds, such as 1:05."""
    return f"{seconds // 60}:{seconds % 60:02}"
