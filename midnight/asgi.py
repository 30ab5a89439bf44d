"""Where requests and sockets enter."""

import os

from channels.routing import ProtocolTypeRouter, URLRouter
from django.core.asgi import get_asgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "midnight.settings")
pages = get_asgi_application()

# Only now are the apps there.
from django.conf import settings  # noqa: E402

from accounts.sockets import by_token_or_session  # noqa: E402
from games.readiness import why_not_ready  # noqa: E402
from games.routing import websocket_urlpatterns  # noqa: E402
from midnight.edge.application import with_edge  # noqa: E402
from midnight.middleware import around_sockets  # noqa: E402

sockets = by_token_or_session(URLRouter(websocket_urlpatterns), settings.ORIGINS)
application = with_edge(ProtocolTypeRouter({"http": pages, "websocket": around_sockets(sockets)}), why_not_ready)
