"""Where requests and sockets enter."""

import os

from channels.routing import ProtocolTypeRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "midnight.settings")
pages = get_asgi_application()

application = ProtocolTypeRouter({"http": pages})
