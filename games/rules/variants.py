"""What differs between the rulebooks (R8.1)."""

from dataclasses import dataclass

from .terms import Rulebook


@dataclass(frozen=True, slots=True)
class Variant:
    """`trading_tours` is how many tours of an exchange phase may have trades; None is as many as players like."""

    face_up: bool
    trading_tours: int | None


ORIGINAL = Variant(face_up=True, trading_tours=None)

VARIANTS: dict[Rulebook, Variant] = {
    "fr": ORIGINAL,
    "it": ORIGINAL,
    "de": ORIGINAL,
    "es": Variant(face_up=False, trading_tours=2),
    "pt": Variant(face_up=True, trading_tours=2),
}
