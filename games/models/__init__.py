"""What is kept: games with their seats and their log, and the processes that look after them."""

from games.models.play import Event, Game, Seat, Server, new_code

__all__ = ["Event", "Game", "Seat", "Server", "new_code"]
