"""What `manage.py bench NAME` measures, one module for each NAME.

A benchmark has `HELP`, `AIMS` (an `Aim` for each of its figures), `add_arguments(parser)`, and `run(options)`, which
answers with the figures by the same names. What it has to say on the way goes to the error stream.
"""
