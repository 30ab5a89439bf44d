"""What every test may rely on."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import override_settings

STATIC_FILES_AS_THEY_ARE = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
}


@pytest.fixture(scope="session", autouse=True)
def static_files_as_they_are(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Pages render without collecting static files first; the browser's tests do collect them."""
    folder = tmp_path_factory.mktemp("static")
    with override_settings(STORAGES=STATIC_FILES_AS_THEY_ARE, STATIC_ROOT=folder):
        yield folder
