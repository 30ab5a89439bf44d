"""The game and nothing else: the standard library only, no clock, no chance of its own, no database."""
