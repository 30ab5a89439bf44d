"""How many messages somebody may send (R8.5): 20 a second, the unused ones of one second kept.

Whoever sits at a table has one allowance there, whatever connections and forms they use; a spectator has one a page.
"""

from time import monotonic

MOST_COMMANDS = 20
# Messages beyond that are refused; so many refusals, less those forgiven each second, are too many.
MOST_FLOODS = 100
FORGIVEN_FLOODS = 10


class Allowance:
    def __init__(self) -> None:
        self._left = float(MOST_COMMANDS)
        self._floods = 0.0
        self._asked = monotonic()

    def take(self) -> bool:
        """Whether there is a message left, which is used up then."""
        now = monotonic()
        self._left = min(MOST_COMMANDS, self._left + (now - self._asked) * MOST_COMMANDS)
        self._floods = max(0.0, self._floods - (now - self._asked) * FORGIVEN_FLOODS)
        self._asked = now
        if self._left < 1:
            self._floods += 1
            return False
        self._left -= 1
        return True

    @property
    def is_abused(self) -> bool:
        """Whether too many were refused lately."""
        return self._floods > MOST_FLOODS
