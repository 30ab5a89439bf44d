"""The headers that Django and django-csp leave out."""

from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_cache_control
from django.utils.deprecation import MiddlewareMixin

# Passkeys, full screen and the screen's staying awake are ours to ask for; nothing else of the machine is.
PERMISSIONS = {
    "accelerometer": "()",
    "autoplay": "(self)",
    "browsing-topics": "()",
    "camera": "()",
    "display-capture": "()",
    "fullscreen": "(self)",
    "geolocation": "()",
    "gyroscope": "()",
    "magnetometer": "()",
    "microphone": "()",
    "midi": "()",
    "payment": "()",
    "publickey-credentials-create": "(self)",
    "publickey-credentials-get": "(self)",
    "screen-wake-lock": "(self)",
    "serial": "()",
    "usb": "()",
}
PERMISSIONS_POLICY = ", ".join(f"{feature}={who}" for feature, who in PERMISSIONS.items())


class HeadersMiddleware(MiddlewareMixin):
    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Permissions-Policy", PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        # A page is one person's: no proxy may keep it, and a browser asks again before it shows it.
        if "Cache-Control" not in response.headers:
            patch_cache_control(response, private=True, no_cache=True)
        return response
