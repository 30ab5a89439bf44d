"""What the command line's words must be."""

import argparse


def positive(text: str) -> int:
    """A whole number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 on")
    return number
