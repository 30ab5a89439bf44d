"""Which commands of a game counted, in few bytes: as long as the game runs each may be sent again."""

from array import array
from bisect import bisect_left


class Counted:
    """Whose command with which id made which event first.

    Ids are not kept, only their hashes in ascending order, 12 bytes a command with the number of its event. These have
    64 bits and a key of this process's own: nobody finds two ids of one game that have the same one.
    """

    def __init__(self) -> None:
        self._hashes = array("q")
        self._seqs = array("I")

    def add(self, seat: int, command_id: str, seq: int) -> None:
        found = hash((seat, command_id))
        place = bisect_left(self._hashes, found)
        self._hashes.insert(place, found)
        self._seqs.insert(place, seq)

    def seq_of(self, seat: int, command_id: str) -> int | None:
        """The number of the first event of this command; None where it has not counted."""
        found = hash((seat, command_id))
        place = bisect_left(self._hashes, found)
        if place < len(self._hashes) and self._hashes[place] == found:
            return self._seqs[place]
        return None
