"""The edge: what is decided about a connection, a request or a socket before Django sees any of it.

`rate_limit` and `admission` decide; `http_protocol` asks them while bytes arrive and answers refusals by itself;
`application` is the ASGI layer around everything else. Daphne is served through it by `http_protocol.install()`.
"""
