"""The site's settings on the real services that the tests start: addresses only, conftest.py starts what is there.

Each test process has a folder, a Valkey and a database of its own. TEST_DATABASE=postgresql runs the tests marked
`both_databases` on PostgreSQL instead of SQLite.
"""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

FOLDER = Path(tempfile.mkdtemp(prefix="midnight-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
VALKEY = FOLDER / "valkey.sock"
POSTGRES_FOLDER = FOLDER / "pg"
ON_POSTGRES = os.environ.get("TEST_DATABASE") == "postgresql"

# Tests know one configuration, whatever is set outside.
for name in ("SITE_URL", "SECRET_KEY", "REDIS_URL", "DATABASE_URL", "DEBUG"):
    os.environ.pop(name, None)
os.environ["MIDNIGHT_VAR"] = str(FOLDER)
# All visitors of a test come from one address; tests of these limits set them themselves.
os.environ |= {"REQUEST_RATE": "100000", "ADDRESS_SOCKETS": "100000"}
os.environ["REDIS_URL"] = f"unix://{VALKEY}"
if ON_POSTGRES:
    os.environ["DATABASE_URL"] = f"postgres://midnight@/postgres?host={POSTGRES_FOLDER}"

from midnight.settings import *  # noqa: E402, F403
from midnight.settings import DATABASES, STATIC_ROOT, STORAGES  # noqa: E402

# A file, not memory: threads and processes share it.
if not ON_POSTGRES:
    DATABASES["default"]["TEST"] = {"NAME": str(FOLDER / "test.sqlite3")}
else:
    # A test may run what several processes run.
    DATABASES["default"]["OPTIONS"]["pool"]["max_size"] = 30

# Pages render without collecting files first; the browser's tests do collect them.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
STATIC_ROOT.mkdir()

# Nobody cracks a test's passwords.
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
