"""Cache values as JSON. A client that can write into Valkey can falsify them, but runs no code by them."""

import json
from typing import Any


class JsonSerializer:
    """The `serializer` of Django's Redis cache in place of pickle. Valkey can increment the integers it writes."""

    def dumps(self, value: Any) -> bytes:
        return json.dumps(value).encode()

    def loads(self, kept: bytes) -> Any:
        return json.loads(kept)
