"""`manage.py bench` prints figures as data, and says beside them whether they are what they should be."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from accounts.models import User
from games.bench import rules
from games.bench.aims import Aim
from games.models import Game


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
