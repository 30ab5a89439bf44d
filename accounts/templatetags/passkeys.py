"""What a page tells the script that deals with passkeys, in attributes: pages carry no script of their own."""

import json

from django import template
from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder

register = template.Library()


@register.filter
def as_json(value: object) -> str:
    return json.dumps(value, cls=DjangoJSONEncoder)


@register.simple_tag
def site_address() -> str:
    """Where the site is at home: a passkey made there works nowhere else."""
    return settings.SITE_URL
