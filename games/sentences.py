"""What a refusal says to the person who asked: one sentence for each code, in every language of the site."""

from functools import cache

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import override

from games.rules.errors import Code

OF_THE_RULES: dict[Code, str | Promise] = {
    "malformed": _("This is not a command: {problem}."),
    "game_over": _("The game is over."),
    "you_left": _("You left this game."),
    "clock_first": _("Time was up before this arrived."),
    "not_now": _("This cannot be done in this part of the game."),
    "resuming": _("The search goes on after the countdown."),
    "already_ready": _("You are ready already."),
    "not_ready": _("You are not ready anyway."),
    "ready_too_often": _("In one round you can press Ready {most} times at most."),
    "you_stopped": _("You have your escape token: this search is over for you."),
    "hand_full": _("You have a tile in your hand."),
    "tile_gone": _("This tile is not among the others."),
    "needs_key": _("You need a key on your board to lift this tile."),
    "let_go": _("You held this tile too long to lift it again in this search."),
    "not_in_hand": _("You do not have this tile in your hand."),
    "too_early": _("The tile is still turning over."),
    "board_full": _("Your board is full."),
    "second_key": _("You have such a key already."),
    "not_yours": _("You have this tile neither in your hand nor on your board."),
    "key_stays": _("A stashed key stays until the end of the round."),
    "face_down_only": _("In this rulebook tiles go back face down only."),
    "board_not_full": _("You need six stashed tiles to escape."),
    "not_your_turn": _("It is not your turn."),
    "closing_tour": _("In the closing tour nothing is traded."),
    "no_market": _("There is no such market or slot."),
    "sold": _("This is sold already."),
    "not_on_board": _("You have no such tile on your board."),
    "wrong_price": _("This is not the price."),
    "not_a_bag": _("This is not a leather bag."),
    "no_art": _("You have no such art on your board."),
    "no_card": _("You have no such open collection."),
    "does_not_fit": _("The next slot of this collection is for other art."),
}
OF_THE_TABLE: dict[str, str | Promise] = {
    "unreadable": _("This message cannot be read: {problem}."),
    "no_seat": _("You are watching this game, not playing it."),
    "not_begun": _("The game has not begun yet."),
    "flood": _("That was too fast: at most {most} commands a second."),
    "unavailable": _("The server could not store this. Please try again."),
}
# How it stands with the moves; the connection stays.
OF_MOVES: dict[str, str | Promise] = {
    "moves_wait": _("Moves wait: nothing can be stored right now."),
    "moves_count": _("Moves count again."),
    "uncertain": _("Whether your last move counts will show in a moment."),
}
# Why a connection is closed.
NOTICES: dict[str, str | Promise] = {
    "moved": _("You play from another page now."),
    "signed_out": _("You are signed out."),
    "bad_token": _("This token is not good, or not any more."),
    "duty": _("Your account has something to do first: look at its page."),
    "people_only": _("In a ranked game only people play."),
    "stopping": _("The server restarts. The game goes on in a moment."),
    "quiet": _("Nothing was heard from this page for too long."),
    "fault": _("Something went wrong here. The page connects again."),
    "no_game": _("There is no such game."),
    "unreadable_page": _("What this page sends cannot be read."),
    "flood_page": _("This page sends too much."),
}
SENTENCES: dict[str, str | Promise] = dict(OF_THE_RULES.items()) | OF_THE_TABLE | OF_MOVES | NOTICES


def say(code: str, values: dict[str, int | str], language: str) -> str:
    """The sentence for this code in that language."""
    return _template(code, language).format_map(values)


@cache
def _template(code: str, language: str) -> str:
    with override(language):
        return str(SENTENCES[code])
