"""How the rooms are kept fair: reports gather in cases, a moderator acts, every act stands in a log that only grows."""
