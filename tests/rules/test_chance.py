"""The chance of a game is the documented one, to the byte: anybody can lay the table out again (R8.11)."""

import hashlib
import hmac

import pytest

from games.rules.chance import NO_NONCE, SEED_BYTES, Stream, commitment, draw_markets, game_seed, shuffle
from games.rules.edition import TILES, load_edition

SERVER_SEED = bytes(range(SEED_BYTES))
SEED = game_seed(SERVER_SEED, [bytes([n]) * len(NO_NONCE) for n in range(3)])


def test_R8_11_the_commitment_is_the_hash_of_the_server_seed() -> None:
    assert commitment(SERVER_SEED) == "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd"


def test_R8_11_the_game_seed_takes_every_nonce_in_the_order_of_the_seats() -> None:
    assert SEED.hex() == "ecd15621bd42e24179ee112703e7f5406f06b777a8968fe08d0692f73e5d470f"
    assert game_seed(SERVER_SEED, [bytes([n]) * 16 for n in (1, 0, 2)]) != SEED


def test_R2_2_the_markets_of_the_test_vector() -> None:
    assert draw_markets(SEED, 3) == ["2A", "1B", "4A"]


def test_R2_1_the_tiles_of_the_test_vector() -> None:
    tiles = shuffle(SEED, "tiles/1", TILES)
    assert tiles[:4] == [("garage", "cash"), ("office", "cash"), ("garage", "jewels"), ("safe", "gold")]
    assert sorted(tiles) == sorted(TILES)


def test_R2_3_the_bag_of_the_test_vector() -> None:
    bag = shuffle(SEED, "bag", load_edition().art_tokens)
    assert bag[:4] == ["watch", "manuscript", "jewellery", "painting"]


def test_R2_4_the_deck_of_the_test_vector() -> None:
    deck = shuffle(SEED, "deck", [card.id for card in load_edition().cards])
    assert deck[:6] == ["tiara", "manuscript-2", "pharaoh", "watch-1", "painting-2", "showcase-2"]


def test_each_round_has_a_shuffle_of_its_own() -> None:
    assert shuffle(SEED, "tiles/1", TILES) != shuffle(SEED, "tiles/2", TILES)


@pytest.mark.parametrize("k", [1, 2, 54, 60, 3_000_000_000])
def test_numbers_come_from_blocks_of_eight_and_skip_what_would_be_unfair(k: int) -> None:
    raw = [
        int.from_bytes(hmac.new(SEED, f"label:{n}".encode(), hashlib.sha256).digest()[4 * i : 4 * i + 4], "big")
        for n in range(8)
        for i in range(8)
    ]
    fair = [number % k for number in raw if number < 2**32 - 2**32 % k]
    stream = Stream(SEED, "label")
    assert [stream.below(k) for _ in fair] == fair


def test_a_shuffle_leaves_the_list_it_was_given_alone() -> None:
    items = [1, 2, 3, 4, 5]
    shuffle(SEED, "x", items)
    assert items == [1, 2, 3, 4, 5]
