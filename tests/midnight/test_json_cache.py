"""Cache values are data: a client that can write into Valkey runs no code in our processes."""

import pickle
from pathlib import Path
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from redis import Redis


class Trap:
    """Unpickled, it makes a file."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.file,)


@pytest.mark.parametrize("value", [True, 7, "y", "été", None, [1_763_548_800.25, 1_763_548_799.5], {"a": [1]}])
def test_a_value_comes_back_as_it_was_kept(value: Any) -> None:
    cache.set("kept", value, 60)
    assert cache.get("kept", "missing") == value


def test_whole_numbers_are_added_to_by_valkey() -> None:
    cache.add("count", 0, 60)
    assert [cache.incr("count"), cache.incr("count")] == [1, 2]
    assert cache.get("count") == 2


@pytest.mark.django_db
def test_a_pickle_in_the_cache_is_not_run(valkey: Redis, tmp_path: Path) -> None:
    client, form = Client(raise_request_exception=False), {"login": "Nobody", "password": "wrong"}
    client.post("/account/sign-in/", form)
    keys = valkey.keys("*")
    assert keys, "sign-in counts nothing"
    for key in keys:
        valkey.set(key, pickle.dumps(Trap(tmp_path / "run")))
    client.post("/account/sign-in/", form)
    assert not (tmp_path / "run").exists()
