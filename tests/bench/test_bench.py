"""`manage.py bench` prints figures as data, and says beside them whether they are what they should be."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from accounts.models import User
from games.bench import ratings, rules
from games.bench.aims import Aim
from games.models import Game, RatingEvent
from midnight.bench import flood, race


def bench(*words: str) -> tuple[dict[str, float], str]:
    out, err = StringIO(), StringIO()
    call_command("bench", *words, stdout=out, stderr=err)
    (line,) = out.getvalue().splitlines()
    return json.loads(line), err.getvalue()


def test_the_rules_are_measured_in_one_line_of_json() -> None:
    figures, said = bench("rules", "--games", "1")
    assert figures["benchmark"] == "rules"
    assert all(figures[name] > 0 for name in rules.AIMS)
    assert len(said.splitlines()) == len(rules.AIMS)


@pytest.mark.slow
def test_the_rules_are_as_fast_as_they_should_be() -> None:
    figures, said = bench("rules")
    assert all(aim.met_by(figures[name]) for name, aim in rules.AIMS.items()), said


@pytest.mark.slow
def test_the_race_is_measured_from_its_first_part_to_its_last_and_loses_nothing() -> None:
    small = ["--seconds", "1", "--rooms", "2", "--open-rooms", "2", "--many", "5"]
    figures, said = bench("race", *small)
    assert figures.keys() == {"benchmark", "python", *race.AIMS}
    assert (figures["lost"], figures["rooms_apart"], figures["durable"]) == (0, 0, True)
    assert len(said.splitlines()) == len(race.AIMS)
    counted = ["commands_per_second", "open_commands_per_second", "cpu_us", "few_tables_cpu_us", "many_tables_cpu_us"]
    assert all(figures[name] > 0 for name in counted), said


@pytest.mark.slow
def test_floods_are_measured_and_lose_no_command() -> None:
    figures, said = bench("flood", "--seconds", "2", "--rooms", "2", "--attackers", "7")
    assert figures.keys() == {"benchmark", "python", *flood.AIMS}
    assert figures["lost"] == 0
    assert len(said.splitlines()) == len(flood.AIMS)


def test_a_figure_is_held_to_its_aim() -> None:
    assert Aim("commands", least=10).met_by(10)
    assert not Aim("commands", least=10).met_by(9.9)
    assert Aim("ms", most=10).met_by(10)
    assert not Aim("ms", most=10).met_by(10.1)


@pytest.mark.parametrize("words", [[], ["chess"], ["rules", "--games", "0"], ["rules", "--games", "many"]])
def test_what_cannot_be_measured_is_refused_with_a_sentence(words: list[str]) -> None:
    with pytest.raises(CommandError, match=r"required|invalid choice|whole number"):
        call_command("bench", *words)


@pytest.mark.django_db
def test_the_ladders_are_measured_and_nothing_of_it_stays() -> None:
    figures, said = bench("ratings", "--games", "30")
    assert figures["recounted"] == 130
    assert all(figures[name] > 0 for name in ("rate_ms", "recount_s")), said
    assert (Game.objects.count(), User.objects.count()) == (0, 0)


# Games and people of old, each of whom played all of them.
OLD = 300


def lengthen_the_ledger() -> None:
    """Lines of games before those that are measured, on the same ladder."""
    old = {"rulebook": "fr", "pace": ratings.PACE, "limits": {}, "edition": "house-1", "markets_by": "draw"}
    Game.objects.bulk_create(Game(**old, ended=None) for _ in range(OLD))
    User.objects.bulk_create(User(name=f"Old {number}", folded_name=f"old {number}") for number in range(OLD))
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO games_ratingevent (game_id, player_id, generation, pace, finish_seq, at, season, season_gain,"
            ' "before", delta, "after", k, games_before) SELECT g.id, u.id, 0, g.pace, -g.id, %s, %s, 0,'
            " 1500, 0, 1500, 20, 30 FROM games_game g CROSS JOIN accounts_user u",
            ["2026-01-01 00:00:00+00:00", "2026-01-01"],
        )


@pytest.mark.slow
@pytest.mark.django_db
def test_the_ladders_are_as_fast_as_they_should_be_behind_a_long_ledger() -> None:
    lengthen_the_ledger()
    figures, said = bench("ratings", "--games", "900")
    assert figures["ledger"] == RatingEvent.objects.count() == OLD * OLD
    assert figures["recounted"] == 1_000
    assert all(aim.met_by(figures[name]) for name, aim in ratings.AIMS.items()), said
