"""The search, in real time and all at once, and how it ends (R3, R4)."""

from .commands import Command, Escape, Lift, Return, Stash
from .edition import SLOTS, Loot, Place
from .errors import Refused
from .events import Escaped, Event, ExchangeStarted, Lifted, Returned, Stashed
from .state import Lies, Player, State
from .variants import VARIANTS

# What must lie on the board to lift a tile of this place (R3.4). Of each of these a board holds one at most (R3.3).
KEY_TO: dict[Place, Loot] = {"office": "iron_key", "safe": "brass_key"}
KEYS: tuple[Loot, ...] = ("iron_key", "brass_key")


def lift(state: State, seat: int, command: Lift, at: int) -> Lifted:
    player = _searching(state, seat, at)
    tile = command.tile
    if player.hand is not None:
        raise Refused("hand_full")
    if state.lies[tile] not in ("down", "up"):
        raise Refused("tile_gone")
    key = KEY_TO.get(state.tiles[tile].place)
    if key is not None and not _stashed(state, player, key):
        raise Refused("needs_key", key=key)
    if tile in player.let_go:
        raise Refused("let_go")
    return Lifted(state.seq + 1, at, seat, tile)


def stash(state: State, seat: int, command: Stash, at: int) -> Stashed:
    player = _searching(state, seat, at)
    if player.hand != command.tile:
        raise Refused("not_in_hand")
    _let_it_turn(state, player, at)
    if len(player.board) == SLOTS:
        raise Refused("board_full")
    if not _may_stash(state, player, command.tile):
        raise Refused("second_key")
    return Stashed(state.seq + 1, at, seat, command.tile)


def put_back(state: State, seat: int, command: Return, at: int) -> Returned:
    player = _searching(state, seat, at)
    tile = command.tile
    if command.face == "up" and not VARIANTS[state.terms.rulebook].face_up:
        raise Refused("face_down_only")
    if player.hand == tile:
        _let_it_turn(state, player, at)
        return Returned(state.seq + 1, at, seat, tile, command.face, "hand", "player")
    if tile not in player.board:
        raise Refused("not_yours")
    if player.hand is not None:
        raise Refused("hand_full")
    if state.tiles[tile].loot in KEYS:
        raise Refused("key_stays")
    return Returned(state.seq + 1, at, seat, tile, command.face, "board", "player")


def escape(state: State, seat: int, at: int) -> Escaped:
    player = _searching(state, seat, at)
    if player.hand is not None:
        raise Refused("hand_full")
    if len(player.board) < SLOTS:
        raise Refused("board_not_full")
    return Escaped(state.seq + 1, at, seat, tokens_left(state)[0], "player")


def legal(state: State, seat: int, at: int) -> list[Command]:
    """Every command of the search that counts now."""
    player = state.players[seat]
    if player.token is not None or at < state.resumes_at:
        return []
    face_up = VARIANTS[state.terms.rulebook].face_up
    hand = player.hand
    commands: list[Command] = []
    if hand is None:
        open_to = _open_to(state, player)
        commands += [
            Lift(tile)
            for tile, lies in enumerate(state.lies)
            if (lies == "down" or lies == "up") and state.tiles[tile].place in open_to and tile not in player.let_go
        ]
        back = [tile for tile in player.board if state.tiles[tile].loot not in KEYS]
        if len(player.board) == SLOTS:
            commands.append(Escape())
    elif at < player.lifted_at + state.terms.limits.hold_ms:
        return []
    else:
        if _may_stash(state, player, hand):
            commands.append(Stash(hand))
        back = [hand]
    commands += [Return(tile, "down") for tile in back]
    if face_up:
        commands += [Return(tile, "up") for tile in back]
    return commands


def follow(state: State) -> Event | None:
    """What the search brings about by itself now: who left gets a token, the last player stops (R4.2, R8.8)."""
    left = tokens_left(state)
    for seat in state.leavers:
        if state.players[seat].token is None:
            return _drop(state, seat) or Escaped(state.seq + 1, state.at, seat, left[-1], "abandoned")
    if len(left) == 1:
        (last,) = searching(state)
        return _drop(state, last) or Escaped(state.seq + 1, state.at, last, left[0], "last")
    if not left:
        tokens = {player.token: seat for seat, player in enumerate(state.players)}
        order = tuple(tokens[token] for token in range(1, len(tokens) + 1))
        return ExchangeStarted(state.seq + 1, state.at, order)
    return None


def time_is_up(state: State, at: int) -> list[Event]:
    """The limit of the search: all hands first, then all tokens (R8.4)."""
    seats = searching(state)
    seq = state.seq
    events: list[Event] = []
    for seat in seats:
        hand = state.players[seat].hand
        if hand is not None:
            events.append(Returned(seq := seq + 1, at, seat, hand, "down", "hand", "end"))

    def rank(seat: int) -> tuple[int, int, int]:
        player = state.players[seat]
        return (-len(player.board), player.stashed_at[-1] if player.stashed_at else 0, seat)

    for token, seat in zip(tokens_left(state), sorted(seats, key=rank), strict=True):
        events.append(Escaped(seq := seq + 1, at, seat, token, "clock"))
    return events


def hand_is_up(state: State, seat: int, at: int) -> Returned:
    """The limit of a hand: the tile goes back face down by itself (R8.3)."""
    hand = state.players[seat].hand
    assert hand is not None
    return Returned(state.seq + 1, at, seat, hand, "down", "hand", "clock")


def tokens_left(state: State) -> list[int]:
    """The escape tokens nobody has, lowest first."""
    taken = {player.token for player in state.players}
    return [token for token in range(1, len(state.players) + 1) if token not in taken]


def searching(state: State) -> list[int]:
    """The seats that are still searching."""
    return [seat for seat, player in enumerate(state.players) if player.token is None and player.left_at is None]


def lifted(state: State, event: Lifted) -> State:
    tile = event.tile
    player = state.players[event.seat]._replace(hand=tile, lifted_at=event.at, acted=True)
    return _moved(state, event, player, "hand")


def stashed(state: State, event: Stashed) -> State:
    player = state.players[event.seat]
    player = player._replace(
        hand=None,
        board=(*player.board, event.tile),
        stashed_at=(*player.stashed_at, event.seq),
        acted=True,
    )
    return _moved(state, event, player, "board")


def returned(state: State, event: Returned) -> State:
    player = state.players[event.seat]
    acted = player.acted or event.by == "player"
    if event.source == "board":
        slot = player.board.index(event.tile)
        player = player._replace(
            board=player.board[:slot] + player.board[slot + 1 :],
            stashed_at=player.stashed_at[:slot] + player.stashed_at[slot + 1 :],
            acted=acted,
        )
    elif event.by == "clock":
        player = player._replace(hand=None, let_go=player.let_go | {event.tile})
    else:
        player = player._replace(hand=None, acted=acted)
    return _moved(state, event, player, event.face)


def escaped(state: State, event: Escaped) -> State:
    player = state.players[event.seat]
    player = player._replace(token=event.token, acted=player.acted or event.by == "player")
    return state._replace(seq=event.seq, at=event.at, players=state.with_player(event.seat, player))


def _moved(state: State, event: Lifted | Stashed | Returned, player: Player, lies: Lies) -> State:
    return state._replace(
        seq=event.seq,
        at=event.at,
        players=state.with_player(event.seat, player),
        lies=state.with_lie(event.tile, lies),
    )


def _searching(state: State, seat: int, at: int) -> Player:
    """The player, if this one's commands of the search count now."""
    if state.phase != "search":
        raise Refused("not_now")
    player = state.players[seat]
    if player.token is not None:
        raise Refused("you_stopped")
    if at < state.resumes_at:
        raise Refused("resuming", until=state.resumes_at)
    return player


def _let_it_turn(state: State, player: Player, at: int) -> None:
    until = player.lifted_at + state.terms.limits.hold_ms
    if at < until:
        raise Refused("too_early", until=until)


def _may_stash(state: State, player: Player, tile: int) -> bool:
    loot = state.tiles[tile].loot
    return len(player.board) < SLOTS and not (loot in KEYS and _stashed(state, player, loot))


def _stashed(state: State, player: Player, loot: Loot) -> bool:
    return any(state.tiles[tile].loot == loot for tile in player.board)


def _open_to(state: State, player: Player) -> set[Place]:
    """The places whose tiles this player may lift (R3.4)."""
    return {"garage", *(place for place, key in KEY_TO.items() if _stashed(state, player, key))}


def _drop(state: State, seat: int) -> Returned | None:
    """The tile in this hand goes back because the search is over for it (R4.2)."""
    hand = state.players[seat].hand
    return None if hand is None else Returned(state.seq + 1, state.at, seat, hand, "down", "hand", "end")
