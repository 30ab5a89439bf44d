"""The three strengths: how fast, how forgetful, how clever."""

from dataclasses import dataclass
from typing import Literal, get_args

from .hand import Pace
from .searching import Habits

Strength = Literal["apprentice", "burglar", "master"]
STRENGTHS: tuple[Strength, ...] = get_args(Strength)


@dataclass(frozen=True, slots=True)
class Skill:
    """`span` is how many face-down tiles it remembers, `slip` how far off its eye for a trade is, in points.

    Without `habits` it searches as it comes; `far_seeing` looks at the turns after its own.
    """

    pace: Pace
    span: int
    slip: float
    habits: Habits | None = None
    far_seeing: bool = False


SKILLS: dict[Strength, Skill] = {
    "apprentice": Skill(Pace(800, 1_200, 3_500, 1_800, 0.35), span=3, slip=1.0),
    "burglar": Skill(
        Pace(720, 1_100, 2_600, 1_300, 0.3),
        span=12,
        slip=0.8,
        habits=Habits(patience=1.0, watches=False, moods=2.0),
    ),
    "master": Skill(
        Pace(680, 1_020, 2_200, 1_000, 0.25),
        span=54,
        slip=0.0,
        habits=Habits(patience=1.2, watches=True),
        far_seeing=True,
    ),
}
