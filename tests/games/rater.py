"""A worker in a process of its own, which a test may kill at any moment: rates until nothing is left.

Run as `python -m tests.games.rater`, with the site's settings in the environment.
"""

import os
import random
import sys

import django
from django.db import OperationalError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "midnight.settings")
django.setup()

from games import ladder  # noqa: E402
from games.models import Game  # noqa: E402


def main() -> None:
    ids = list(Game.objects.exclude(finish_seq=None).order_by("finish_seq").values_list("pk", flat=True))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    while left := ladder.unrated("live"):
        # As the queue brings them: late, twice, and in any order.
        soon = ids[-left:][:8]
        try:
            ladder.rate_game(random.choice(soon))
        except OperationalError:
            continue


if __name__ == "__main__":
    main()
