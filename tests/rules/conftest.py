"""The rules need nothing but Python."""

import pytest


@pytest.fixture(autouse=True)
def valkey() -> None:
    """No server stands behind these tests."""
