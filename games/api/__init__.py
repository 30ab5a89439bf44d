"""The read API under /api/1/: finished games, their records, players, ladders, dumps; `openapi.json` describes it.

What is here is public already and says nothing private: names as the pages show them, so a deleted account is a
pseudonym at once.
"""
