"""One settings file, read from the environment; it works with no environment at all.

Left alone, the site runs on embedded parts: SQLite in `.var/` and the Valkey that `manage.py up` starts. With
`DATABASE_URL`, `REDIS_URL`, `SITE_URL` and `SECRET_KEY` set, the same code runs in production.
"""

import hashlib
import os
import secrets
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from games import valkey
from midnight import schedule


def env(name: str, default: str = "") -> str:
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, default: bool) -> bool:
    value = env(name, "yes" if default else "no").lower()
    if value in ("yes", "true", "on", "1"):
        return True
    if value in ("no", "false", "off", "0"):
        return False
    raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}.")


def env_count(name: str, default: int, least: int = 0) -> int:
    value = env(name, str(default))
    if not value.isdecimal() or int(value) < least:
        raise ImproperlyConfigured(f"{name} must be a whole number, {least} or more, not {value!r}.")
    return int(value)


def env_address(name: str, default: str, example: str, schemes: tuple[str, ...]) -> str:
    """An address with one of `schemes`; a sentence that names the setting, never its value, where it is malformed."""
    value = env(name, default)
    try:
        parts = urlsplit(value)
        well_formed = parts.scheme in schemes and (parts.port is None or parts.port > 0)
    except ValueError:
        well_formed = False
    if not well_formed:
        raise ImproperlyConfigured(f"{name} must look like {example}.")
    return value


def site_address() -> SplitResult:
    """Where people find the site: a scheme and a host, perhaps a port, nothing else."""
    example = "https://play.example.org"
    site = urlsplit(env_address("SITE_URL", "http://localhost:8000", example, ("http", "https")).rstrip("/"))
    if not site.hostname or site.path or site.query or site.fragment or "@" in site.netloc:
        raise ImproperlyConfigured(f"SITE_URL must look like {example}: no path, no password.")
    return site


# What PostgreSQL itself keeps to for each of our connections; web processes add limits for questions (web_limits.py).
SERVER_OPTIONS = (
    "-c tcp_keepalives_idle=5 -c tcp_keepalives_interval=2 -c tcp_keepalives_count=3 -c tcp_user_timeout=10000"
)


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
        "ENGINE": "midnight.postgresql",
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        # Persistent connections leak under ASGI; the pool does not.
        "CONN_MAX_AGE": 0,
        "OPTIONS": {
            "connect_timeout": 2,
            # A host that has vanished is given up within some ten seconds, not after the kernel's quarter of an hour.
            "keepalives": 1,
            "keepalives_idle": 5,
            "keepalives_interval": 2,
            "keepalives_count": 3,
            "tcp_user_timeout": 5_000,
            # The same the other way round: where our host vanishes, its locks do not stay.
            "options": SERVER_OPTIONS,
            # When the database is back the next question finds a connection at once, not after ever longer pauses.
            "pool": {"min_size": 1, "max_size": 10, "timeout": 5, "reconnect_timeout": 4},
            **dict(parse_qsl(parts.query)),
        },
    }


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
        if len(value) < 50 or len(set(value)) < 10:
            raise ImproperlyConfigured("SECRET_KEY must be at least 50 random characters.")
        return value
    file = folder / "secret_key"
    try:
        # For no other user. A folder that is there stays as it is, and each file in it is private (see private_files).
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not file.exists():
            # Complete before it has its name: of two processes that start at once the second reads the first one's.
            with tempfile.NamedTemporaryFile("w", dir=folder) as new:
                new.write(secrets.token_urlsafe(50))
                new.flush()
                with suppress(FileExistsError):
                    os.link(new.name, file)
        return file.read_text()
    except OSError as error:
        raise ImproperlyConfigured(
            f"The folder {folder} cannot be written ({error.strerror}): "
            "set MIDNIGHT_VAR to one that can, or set SECRET_KEY."
        ) from None


def embedded_socket(folder: Path) -> Path:
    """Where this runtime folder's Valkey listens: short, since a socket's path is limited to 108 bytes."""
    mark = hashlib.sha256(str(folder).encode()).hexdigest()[:12]
    return Path(tempfile.gettempdir()) / f"midnight-{os.getuid()}-{mark}" / "valkey.sock"


BASE_DIR = Path(__file__).resolve().parent.parent
VAR = Path(env("MIDNIGHT_VAR", str(BASE_DIR / ".var"))).absolute()

SITE = site_address()
SITE_URL = SITE.geturl()
HTTPS = SITE.scheme == "https"
# Our processes speak plain HTTP: with https:// a proxy stands before them. What it says of a request is believed.
TRUSTED_PROXIES = env_count("TRUSTED_PROXIES", 1 if HTTPS else 0)
DEBUG = env_bool("DEBUG", False)
# Who answers for this site, as its page about itself says it: a name, an address, a mail address.
CONTACT = env("CONTACT")
SECRET_KEY = secret_key(VAR)

# The names this machine has for itself: machines that watch use them, and people where there is no HTTPS.
AT_HOME = ["localhost", "127.0.0.1", "[::1]"]
ALLOWED_HOSTS = [SITE.hostname or "localhost", *AT_HOME]
# The pages that may post to us and open sockets: our own. The port counts, since cookies do not know it.
ORIGINS = [SITE_URL]
if not HTTPS:
    ORIGINS += [SITE._replace(netloc=f"{name}:{SITE.port or 80}").geturl() for name in AT_HOME]
CSRF_TRUSTED_ORIGINS = ORIGINS

DATABASE_URL = env_address(
    "DATABASE_URL",
    f"sqlite:///{quote(str(VAR / 'midnight.sqlite3'))}",
    "postgres://user:password@host:5432/name",
    ("sqlite", "postgres", "postgresql"),
)
DATABASES = {"default": database(DATABASE_URL)}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# The socket of the Valkey that `manage.py up` starts, None where REDIS_URL names another one.
EMBEDDED_SOCKET = embedded_socket(VAR)
VALKEY_SOCKET = None if env("REDIS_URL") else EMBEDDED_SOCKET
REDIS_URL = env_address(
    "REDIS_URL", f"unix://{quote(str(VALKEY_SOCKET))}", "redis://host:6379/0", ("redis", "rediss", "unix")
)

CACHES = {
    "default": {
        "BACKEND": "midnight.cache.SharedPoolCache",
        "LOCATION": REDIS_URL,
        # Values of the first version were pickles: none of them is read any more.
        "VERSION": 2,
        "OPTIONS": {
            "serializer": "midnight.json_cache.JsonSerializer",
            **valkey.CACHE_OPTIONS,
        },
    }
}
# One connection a process for any number of sockets, and nothing to drop when one of them is slow.
CHANNEL_LAYERS = {"default": {"BACKEND": "games.channel_layer.ChannelLayer"}}

# Jobs. Each may run twice and none may be needed: what was lost with the broker is found again by a sweep.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1).replace("?db=", "?virtual_host=", 1)
# Sending a job waits two seconds at most for a Valkey that hangs; workers come back by a way of their own.
CELERY_BROKER_TRANSPORT_OPTIONS = valkey.BROKER_OPTIONS
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_REDIRECT_STDOUTS = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_BEAT_SCHEDULE = schedule.BEAT
# Whatever waits for the mail server waits in a line of its own, so that one that hangs holds up nothing else.
LETTERS_QUEUE = "letters"
CELERY_TASK_ROUTES = {
    "accounts.letters.deliver": {"queue": LETTERS_QUEUE},
    "games.tasks.write_to_the_awaited": {"queue": LETTERS_QUEUE},
}

INSTALLED_APPS = [
    "midnight",  # before staticfiles, whose runserver it replaces
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
]
MIDDLEWARE = [
    "midnight.middleware.around_requests",
    "django.middleware.security.SecurityMiddleware",
    "midnight.headers.HeadersMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
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
    "midnight.middleware.NulMiddleware",
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
                "games.header.context",
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
    # Counted by accounts/attempts.py: by account and household, and known devices apart.
    "login": "",
    "login_failed": "",
    "reset_password": "",
    "signup": "30/h/ip",
    "guest": "10/600s/ip,60/d/ip",
    # By household, so that a stranger who asks for another one's address does not hold up its owner.
    "confirm_email": "3/60s/ip,30/d/ip,40/d/key",
    "change_name": "20/h/user",
    "export": "6/h/user",
    "judge": "20/m/ip",
    "bots": "30/600s/ip",
    "open_room": "30/600s/user",
    "invite": "30/h/user",
}
# Requests of the read API a minute and address.
API_LIMIT = 120
# Pages for which a whole game is played again, a minute and address.
REPLAY_LIMIT = 60
MFA_RATE_LIMITS = {"webauthn_login": ""}
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
    "authenticate_webauthn": "accounts.forms.PasskeyForm",
    "login_webauthn": "accounts.forms.SignInByPasskeyForm",
    "reauthenticate_webauthn": "accounts.forms.PasskeyAgainForm",
    "add_webauthn": "accounts.forms.AddPasskeyForm",
    "edit_webauthn": "accounts.forms.RenamePasskeyForm",
}

# Letters. Left alone, each is a file in `.var/mail/`.
vars().update(
    mail(
        env_address(
            "EMAIL_URL",
            f"file://{quote(str(VAR / 'mail'))}",
            "smtp://user:secret@host:587?tls=yes",
            ("smtp", "smtps", "file"),
        )
    )
)
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
FORMAT_MODULE_PATH = ["midnight.formats"]
TIME_ZONE = "UTC"
USE_TZ = True

# What a page loads.
STATIC_URL = "/static/"
STATIC_ROOT = VAR / "static"
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_MIMETYPES = {".webmanifest": "application/manifest+json"}
# Each month's public records, for everybody to fetch: where several machines serve, a folder that they share.
DUMPS = VAR / "dumps"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "midnight.storage.Files"},
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
# Asked from next door, not through the proxy.
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^metrics$"]
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 365 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SESSION_COOKIE_SECURE = HTTPS
# With this prefix a browser takes a cookie from no other host of the domain.
SESSION_COOKIE_NAME = "__Host-sessionid" if HTTPS else "sessionid"
CSRF_COOKIE_SECURE = HTTPS
DEVICES_COOKIE_NAME = "__Host-devices" if HTTPS else "devices"
CSRF_COOKIE_NAME = "__Host-csrftoken" if HTTPS else "csrftoken"
X_FRAME_OPTIONS = "DENY"
# What one web process lets in (midnight/edge): requests a second of each address, three times as many at once; sockets
# of each address; sockets, requests under way and memory in all.
REQUEST_RATE = env_count("REQUEST_RATE", 20, least=1)
REQUEST_BURST = 3 * REQUEST_RATE
ADDRESS_SOCKETS = env_count("ADDRESS_SOCKETS", 30, least=1)
PROCESS_SOCKETS = env_count("PROCESS_SOCKETS", 10_000, least=1)
PROCESS_REQUESTS = env_count("PROCESS_REQUESTS", 512, least=1)
PROCESS_MEMORY_MB = env_count("PROCESS_MEMORY_MB", 1_024, least=1)
# A form of ours is a page of text at most.
DATA_UPLOAD_MAX_MEMORY_SIZE = 64 * 1024
# Browsers' preload lists are hard to leave: that is for the domain's owner to decide.
SILENCED_SYSTEM_CHECKS = ["security.W021"]

# Eyes.
METRICS_TOKEN = env("METRICS_TOKEN")
if METRICS_TOKEN and len(METRICS_TOKEN) < 20:
    raise ImproperlyConfigured("METRICS_TOKEN must be at least 20 characters.")
LOG_FORMAT = env("LOG_FORMAT", "json" if HTTPS else "text")
if LOG_FORMAT not in ("json", "text"):
    raise ImproperlyConfigured(f"LOG_FORMAT must be json or text, not {LOG_FORMAT!r}.")
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "json": {"()": "midnight.logs.JsonFormatter"},
        "text": {"()": "midnight.logs.TextFormatter"},
    },
    "handlers": {"stderr": {"class": "midnight.logs.RateLimitedHandler", "formatter": LOG_FORMAT}},
    "root": {"handlers": ["stderr"], "level": "INFO"},
    "loggers": {
        # Django's own handlers would say everything twice, and mail it.
        "django": {"handlers": [], "level": "INFO"},
        # 4xx have their line from our middleware, without the path.
        "django.request": {"level": "ERROR"},
        # What Django refuses as suspicious is a 400 like any other: no visitor writes tracebacks into the log.
        "django.security": {"level": "CRITICAL"},
        "daphne": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
        "kombu": {"level": "WARNING"},
    },
}
