"""`simulate` plays whole games between bots: the same seed, the same bytes, and never against a rule."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from games.bots import STRENGTHS
from games.management.commands.simulate import simulate
from games.rules.judge import judge
from games.rules.record import write_record
from games.rules.terms import Rulebook

ROOT = Path(__file__).resolve().parents[3]


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("simulate", *arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue()


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    arguments = ("--games", "2", "--players", "3", "--rulebook", "es")
    assert run(*arguments, "--seed", "a") == run(*arguments, "--seed", "a")
    assert run(*arguments, "--seed", "a") != run(*arguments, "--seed", "b")


def test_there_is_one_record_a_line_as_asked_for() -> None:
    lines = run("--games", "3", "--players", "2", "--rulebook", "pt", "--seed", "7").splitlines()
    records = [json.loads(line) for line in lines]
    assert [(len(record["seats"]), record["rulebook"]) for record in records] == [(2, "pt")] * 3
    assert len({record["id"] for record in records}) == 3
    assert len({record["server_seed"] for record in records}) == 3


def test_different_games_of_one_seed_have_different_ids() -> None:
    asked = [("2", "fr", "apprentice"), ("2", "es", "apprentice"), ("2", "fr", "master"), ("3", "fr", "apprentice")]
    records = [
        json.loads(run("--players", players, "--rulebook", book, "--bots", bots)) for players, book, bots in asked
    ]
    assert len({record["id"] for record in records}) == len(asked)


@pytest.mark.slow
def test_whoever_has_read_enough_ends_it_without_a_word() -> None:
    command = [sys.executable, "manage.py", "simulate", "--games", "50", "--players", "2", "--bots", "apprentice"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        assert b"Traceback" not in running.stderr.read()
    assert running.returncode == 0


def test_more_games_begin_with_the_same_games() -> None:
    fewer, more = (run("--games", number, "--players", "4", "--seed", "7") for number in ("1", "2"))
    assert more.startswith(fewer)


def test_bots_sit_where_they_are_told_over_and_over() -> None:
    record = json.loads(run("--players", "3", "--bots", "master,apprentice"))
    assert [seat["name"] for seat in record["seats"]] == ["Master 1", "Apprentice 2", "Master 3"]
    assert {seat["kind"] for seat in record["seats"]} == {"bot"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("--games", "0"),
        ("--games", "-1"),
        ("--games", "many"),
        ("--players", "5"),
        ("--rulebook", "en"),
        ("--bots", "burglar,wizard"),
        ("--bots", ""),
    ],
)
def test_what_cannot_be_is_refused_with_a_sentence(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="argument --"):
        run(*arguments)


@pytest.mark.slow
def test_records_go_to_standard_output_and_progress_does_not() -> None:
    done = subprocess.run(
        [sys.executable, "manage.py", "simulate", "--games", "2", "--players", "4"],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert done.stdout == run("--games", "2", "--players", "4")
    assert done.stderr == "2 of 2 games\n"


@pytest.mark.parametrize("rulebook", ["fr", "es", "pt"])
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("most", [2, pytest.param(200, marks=pytest.mark.slow)])
def test_games_between_bots_are_verified(
    rulebook: Rulebook, players: int, most: int, so_often: Callable[[int, int], int]
) -> None:
    for game in range(min(most, so_often(50, 200))):
        bots = [STRENGTHS[(game + seat) % len(STRENGTHS)] for seat in range(players)]
        faults = judge(write_record(simulate(rulebook, bots, f"verified/{game}")))
        assert not faults, f"game {game}: {faults[0]}"
