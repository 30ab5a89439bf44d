"""One settings file, read from the environment; it works with no environment at all.

Left alone, the site runs on embedded parts: SQLite in `.var/` and the Valkey that `manage.py up` starts. With
`DATABASE_URL`, `REDIS_URL`, `SITE_URL` and `SECRET_KEY` set, the same code runs in production.
"""

import hashlib
import os
import secrets
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _


def env(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    value = env(name).lower()
    if not value:
        return default
    if value not in words:
        raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}.")
    return words[value]


def env_address(name: str, default: str, schemes: tuple[str, ...]) -> str:
    """An address with one of `schemes`; a sentence that names the setting where it is malformed."""
    value = env(name, default)
    try:
        parts = urlsplit(value)
        _ = parts.port
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is not an address: {error}.") from None
    if parts.scheme not in schemes:
        raise ImproperlyConfigured(f"{name} must begin with {' or '.join(f'{s}://' for s in schemes)}.")
    return value


def database(address: str) -> dict[str, Any]:
    """Django's settings for an address such as postgres://user:secret@host:5432/name or sqlite:///file."""
    parts = urlsplit(address)
    if parts.scheme == "sqlite":
        if not parts.path.strip("/"):
            raise ImproperlyConfigured("DATABASE_URL names no file: sqlite:///path/to/file.")
        return {
            "ENGINE": "django.db.backends.sqlite3",
            "NAME": unquote(parts.path[1:]),
            "OPTIONS": {
                # IMMEDIATE: a transaction that will write waits its turn instead of failing at its first write.
                "transaction_mode": "IMMEDIATE",
                "timeout": 20,
                # FULL: what a commit has answered is on the disk.
                "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON;",
            },
        }
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ImproperlyConfigured("DATABASE_URL names no database: postgres://user:secret@host:5432/name.")
    return {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        # Persistent connections leak under ASGI; the pool does not.
        "CONN_MAX_AGE": 0,
        "OPTIONS": {"pool": {"min_size": 1, "max_size": 10, "timeout": 10}, **dict(parse_qsl(parts.query))},
    }


def env_count(name: str, default: int) -> int:
    value = env(name, str(default))
    if not value.isdecimal():
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.")
    return int(value)


def mail(address: str) -> dict[str, Any]:
    """Django's settings for an address such as smtp://user:secret@host:587?tls=yes, smtps://host or file:///folder."""
    parts = urlsplit(address)
    if parts.scheme == "file":
        return {
            "EMAIL_BACKEND": "django.core.mail.backends.filebased.EmailBackend",
            "EMAIL_FILE_PATH": unquote(parts.path),
        }
    if not parts.hostname:
        raise ImproperlyConfigured("EMAIL_URL names no host: smtp://user:secret@host:587?tls=yes.")
    ssl, tls = parts.scheme == "smtps", dict(parse_qsl(parts.query)).get("tls") == "yes"
    return {
        "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": parts.port or (465 if ssl else 587 if tls else 25),
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_SSL": ssl,
        "EMAIL_USE_TLS": tls and not ssl,
        "EMAIL_TIMEOUT": 20,
    }


def secret_key(folder: Path) -> str:
    """The key of the environment, or one that is made once and kept in the runtime folder."""
    if value := env("SECRET_KEY"):
        return value
    file = folder / "secret_key"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as new:
            new.write(secrets.token_urlsafe(50))
    except FileExistsError:
        pass
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder {folder} cannot be written ({error.strerror}): "
            "set MIDNIGHT_VAR to one that can, or set SECRET_KEY."
        ) from None
    return file.read_text()


def embedded_socket(folder: Path) -> Path:
    """Where this runtime folder's Valkey listens: short, since a socket's path is limited to 108 bytes."""
    mark = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"midnight-{os.getuid()}-{mark}" / "valkey.sock"


BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(env("MIDNIGHT_VAR", str(BASE_DIR / ".var"))).absolute()

SITE_URL = env_address("SITE_URL", "http://localhost:8000", ("http", "https")).rstrip("/")
SITE = urlsplit(SITE_URL)
HTTPS = SITE.scheme == "https"
DEBUG = env_bool("DEBUG", False)
# Who answers for this site, as its page about itself says it: a name, an address, a mail address.
CONTACT = env("CONTACT")
SECRET_KEY = secret_key(VAR)
ALLOWED_HOSTS = [SITE.hostname or "localhost", *(["localhost", "127.0.0.1", "[::1]"] if not HTTPS else [])]

DATABASE_URL = env_address(
    "DATABASE_URL", f"sqlite:///{VAR / 'midnight.sqlite3'}", ("sqlite", "postgres", "postgresql")
)
DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

VALKEY_SOCKET = embedded_socket(VAR)
REDIS_URL = env_address("REDIS_URL", f"unix://{VALKEY_SOCKET}", ("redis", "rediss", "unix"))

CACHES = {"default": {"BACKEND": "django.core.cache.backends.redis.RedisCache", "LOCATION": REDIS_URL}}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "channels_redis.pubsub.RedisPubSubChannelLayer",
        # Without it redis-py ends a quiet connection after five seconds.
        "CONFIG": {"hosts": [{"address": REDIS_URL, "socket_timeout": None}]},
    }
}
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True

CELERY_BEAT_SCHEDULE = {
    "accounts-sweep": {"task": "accounts.tasks.sweep", "schedule": 60 * 60},
}

INSTALLED_APPS = [
    "daphne",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.admin",
    "django.forms",
    "channels",
    "django_htmx",
    "csp",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.usersessions",
    "accounts",
    "games",
    "midnight",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "midnight.headers.HeadersMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "allauth.account.middleware.AccountMiddleware",
    "accounts.middleware.PersonMiddleware",
]
ROOT_URLCONF = "midnight.urls"
ASGI_APPLICATION = "midnight.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "midnight.look.context",
            ],
        },
    }
]
FORM_RENDERER = "midnight.look.FormRenderer"

# People. What they may do how often: each address or account, as amount/period/per.
AUTH_USER_MODEL = "accounts.User"
AUTHENTICATION_BACKENDS = ["accounts.signing.NameOrMailBackend"]
PASSWORD_HASHERS = ["django.contrib.auth.hashers.Argon2PasswordHasher"]
AUTH_PASSWORD_VALIDATORS = [
    {
        "NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator",
        "OPTIONS": {"user_attributes": ["name"]},
    },
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
PASSWORD_RESET_TIMEOUT = 60 * 60 * 4
SESSION_COOKIE_AGE = 60 * 60 * 24 * 60
TRUSTED_PROXIES = env_count("TRUSTED_PROXIES", 0)
LOGIN_URL = "account_login"
LOGIN_REDIRECT_URL = "games:home"

ACCOUNT_ADAPTER = "accounts.adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = "name"
ACCOUNT_USER_MODEL_EMAIL_FIELD = None
ACCOUNT_LOGIN_METHODS = {"username", "email"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*", "email"]
ACCOUNT_EMAIL_VERIFICATION = "optional"
ACCOUNT_PREVENT_ENUMERATION = "strict"
ACCOUNT_CHANGE_EMAIL = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_EMAIL_NOTIFICATIONS = True
ACCOUNT_EMAIL_SUBJECT_PREFIX = "Midnight: "
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_LOGOUT_REDIRECT_URL = "games:home"
ACCOUNT_FORMS = {
    "login": "accounts.forms.SignInForm",
    "change_password": "accounts.forms.ChangePasswordForm",
    "reset_password": "accounts.forms.AskForResetForm",
    "reset_password_from_key": "accounts.forms.ResetPasswordForm",
    "add_email": "accounts.forms.MailForm",
    "reauthenticate": "accounts.forms.ReauthenticateForm",
}
ACCOUNT_RATE_LIMITS = {
    "login": "30/m/ip",
    "login_failed": "20/m/ip,10/600s/key",
    "signup": "30/h/ip",
    "guest": "10/600s/ip,60/d/ip",
    "reset_password": "20/h/ip,3/h/key",
    "confirm_email": "1/60s/key",
    "change_name": "20/h/user",
    "export": "6/h/user",
}
MFA_ADAPTER = "accounts.adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_TOTP_ISSUER = "Midnight"
MFA_PASSKEY_LOGIN_ENABLED = True
# A mail address is no proof of anything here, so one that nobody confirmed bars nobody from a second factor.
MFA_ALLOW_UNVERIFIED_EMAIL = True
MFA_FORMS = {
    "authenticate": "accounts.forms.CodeForm",
    "reauthenticate": "accounts.forms.CodeAgainForm",
    "activate_totp": "accounts.forms.ActivateAppForm",
    "add_webauthn": "accounts.forms.AddPasskeyForm",
    "edit_webauthn": "accounts.forms.RenamePasskeyForm",
}

# Letters. Left alone, each is a file in `.var/mail/`.
vars().update(mail(env_address("EMAIL_URL", f"file://{VAR / 'mail'}", ("smtp", "smtps", "file"))))
DEFAULT_FROM_EMAIL = SERVER_EMAIL = env("MAIL_FROM", f"Midnight <midnight@{SITE.hostname or 'localhost'}>")

# Words.
LANGUAGE_CODE = "en"
LANGUAGES = [
    ("en", _("English")),
    ("fr", _("French")),
    ("it", _("Italian")),
    ("es", _("Spanish")),
    ("pt", _("Portuguese")),
    ("de", _("German")),
]
LOCALE_PATHS = [BASE_DIR / "midnight" / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True

# What a page loads.
STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}

# Doors that stay shut.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "media-src": [SELF],
        "manifest-src": [SELF],
        "worker-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        "frame-ancestors": [NONE],
    }
}
SECURE_REFERRER_POLICY = "same-origin"
SECURE_SSL_REDIRECT = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SESSION_COOKIE_SECURE = HTTPS
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_HTTPONLY = False
X_FRAME_OPTIONS = "DENY"
CSRF_TRUSTED_ORIGINS = [SITE_URL]
