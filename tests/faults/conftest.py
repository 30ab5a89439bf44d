"""What takes hours runs with --long only, and then instead of the short run."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "only_long: takes long, and is left out without --long")
    config.addinivalue_line("markers", "not_long: is part of what runs with --long, and left out there")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wrong = "not_long" if config.getoption("long") else "only_long"
    left_out = [item for item in items if HERE in item.path.parents and item.get_closest_marker(wrong)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in left_out]
