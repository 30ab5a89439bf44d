"""Open WebSockets on asyncio's own transports. README.md says what this assumes of Daphne, Twisted and Autobahn."""
