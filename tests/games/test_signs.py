"""Signs of foul play: raised by what was planted, silent on fair play, and told of with how they are computed."""

import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from django.core.management import call_command
from django.utils import timezone

from accounts.models import User
from games import archive
from games.management.commands import signs as command
from games.models import Figures, Glance, Seat
from games.moderation import looking, signs
from games.moderation.signs import Result, Seen
from tests.games.finished import finished
from tests.games.night_watch import client_of, game_of, moderator, somebody

PAGE = Path(signs.__file__).with_name("SIGNS.md").read_text()
ENOUGH = 100


def raised(seen: Seen) -> set[str]:
    return {sign.key for sign in signs.of_hands(seen) if sign.raised}


def test_a_steady_hand_is_seen_and_one_that_wavers_is_not() -> None:
    rng = Random(1)
    assert raised(Seen(pauses=[500 + rng.randrange(20) for _ in range(ENOUGH)])) == {"regular"}
    assert raised(Seen(pauses=[rng.randrange(300, 2_000) for _ in range(ENOUGH)])) == set()


def test_a_hand_faster_than_hands_is_seen() -> None:
    assert raised(Seen(cycles=[700] * ENOUGH)) == {"fast"}
    assert raised(Seen(cycles=[1_500] * ENOUGH)) == set()


def test_luck_is_measured_against_the_odds_and_not_by_itself() -> None:
    assert signs.luck_of([(0.5, True), (0.5, False)]) == 0
    assert signs.luck_of([(1.0, True)] * ENOUGH) == 0
    assert raised(Seen(finds=[(0.2, True)] * ENOUGH)) == {"lucky"}


def test_too_little_says_nothing() -> None:
    assert raised(Seen(pauses=[500] * 10, cycles=[600] * 10, finds=[(0.1, True)] * 10)) == set()


def test_only_what_the_seat_could_not_know_counts_as_luck() -> None:
    tiles = [["garage", "iron_key"], ["garage", "drawer"], ["garage", "bag"]]
    events = [
        {"type": "round_started", "tiles": tiles},
        {"type": "lifted", "seat": 1, "tile": 0, "at": 0},
        {"type": "returned", "seat": 1, "tile": 0, "face": "up", "at": 600},
        {"type": "lifted", "seat": 0, "tile": 0, "at": 900},
        {"type": "stashed", "seat": 0, "tile": 0, "at": 1_500},
        {"type": "lifted", "seat": 0, "tile": 2, "at": 2_000},
    ]
    seen = signs.see(events, 0)
    assert seen.finds == [(0.5, True)]
    assert (seen.pauses, seen.cycles) == ([500], [1_100])


def test_two_who_seek_each_other_are_seen_and_a_fair_pool_is_not() -> None:
    foul = signs.of_pairs(command._pool(Random(3), foul=True), 1)
    assert {sign.key for sign in foul[0] if sign.raised} == {"meets", "feeds"}
    fair = command._pool(Random(3), foul=False)
    assert not any(
        sign.raised for person in range(command.POOL) for said in signs.of_pairs(fair, person).values() for sign in said
    )


def test_who_sits_through_games_without_playing_is_seen() -> None:
    idle, played = Result((2, 3, 1), {1: 3, 2: 12, 3: 10}), Result((1, 2, 3), {1: 6, 2: 12, 3: 10})
    assert [sign.raised for sign in signs.of_throwing([idle] * 3 + [played] * 7, 1)] == [True]
    assert [sign.raised for sign in signs.of_throwing([idle] * 2 + [played] * 8, 1)] == [False]


def test_a_game_that_somebody_left_was_not_thrown_away_and_measures_nobody() -> None:
    left, alone = Result((2, 3, 1), {2: 12, 3: 4}), Result((1, 2), {1: 3})
    assert signs.of_throwing([left] * 5, 1) == signs.of_throwing([alone] * 5, 1) == []
    assert [(sign.value, sign.of) for sign in signs.of_throwing([left] * 5, 3)] == [(5, 5)]


@pytest.mark.django_db
def test_only_who_stayed_to_the_end_of_a_ranked_game_is_measured(people: list[User]) -> None:
    irma, max_, fandor = people
    recorded(people, hours=1)
    finished("fr-3-ranked", people, timedelta(hours=2))
    Seat.objects.filter(user=max_).update(conduct=Seat.Conduct.LEFT)
    both = looking.ranked_results()
    assert [set(result.ranking) for result in both] == [{irma.pk, max_.pk, fandor.pk}] * 2
    assert {frozenset(result.lifts) for result in both} == {frozenset(), frozenset({irma.pk, fandor.pk})}
    lifts = Figures.objects.get(seat__user=irma).lifts
    assert [result.lifts[irma.pk] for result in both if result.lifts] == [lifts]


@pytest.mark.slow
def test_on_fair_games_of_bots_nothing_is_raised_and_on_planted_fouls_it_is() -> None:
    told = StringIO()
    call_command("signs", games=10, seed="7", stdout=told, stderr=StringIO())
    rows = [[part.strip() for part in line.split("|")[1:-1]] for line in told.getvalue().splitlines()[2:]]
    found = {(sign, who): (int(count), int(of)) for sign, who, count, of, _value in rows}
    for strength in ("apprentice", "burglar", "master"):
        assert all(found[sign, strength] == (0, 3) for sign in ("regular", "fast", "lucky", "throws"))
    assert found["throws", "the slowest at the table"] == (0, 1)
    for sign, who in (("regular", "a steady program"), ("fast", "a quick program"), ("lucky", "a peeker")):
        assert found[sign, who] == (3, 3)
    # Of these three, one threw only two of her ten games.
    assert found["throws", "who throws every other game"] == (2, 3)


def test_the_page_about_the_signs_says_the_limits_that_the_code_has() -> None:
    limits = {
        "regular": f"below {signs.REGULAR}",
        "fast": f"below {signs.FAST_MS}",
        "lucky": f"above {signs.LUCKY}",
        "meets": f"below {signs.MEETING}",
        "feeds": f"above {signs.FEEDING}",
        "throws": f"{signs.THROWN} or more",
    }
    assert set(limits) == set(signs.NAMES) == set(signs.HOW)
    for key, limit in limits.items():
        row = next(line for line in PAGE.splitlines() if line.startswith(f"| {key} "))
        assert limit in row
        assert f"| {signs.ENOUGH[key]} " in row


FAIR = ("apprentice", "burglar", "master", "the slowest at the table", "a fair pool")


def test_what_a_moderator_reads_of_their_mistakes_is_what_the_page_has_measured() -> None:
    rows = re.findall(r"^\| (\w+) \| ([^|]+) \| (\d+) \| (\d+) \| [-\d.e]+ \|$", PAGE, re.M)
    for key, measured in signs.MEASURED.items():
        fair, planted = ([0, 0], [0, 0])
        for _key, who, raised, of in (row for row in rows if row[0] == key):
            counted = fair if who in FAIR else planted
            counted[0] += int(raised)
            counted[1] += int(of)
        assert (*fair, *planted) == (measured.wrong, measured.fair, measured.found, measured.planted), key
    assert set(signs.MEASURED) == set(signs.NAMES)


@pytest.mark.django_db
def test_a_moderator_sees_the_signs_with_how_often_they_are_wrong() -> None:
    people = [somebody(name) for name in ("Irma Vep", "Max", "Fandor")]
    recorded(people, hours=1)
    shown = client_of(moderator()).get(f"/moderation/people/{people[0].pk}/signs/").content.decode()
    assert "wrong 0 of 90 times, found 30 of 30 planted fouls" in shown
    assert "Games thrown away" in shown


@pytest.mark.django_db
def test_a_moderator_sees_the_signs_on_a_persons_page() -> None:
    irma = somebody("Irma Vep")
    game_of(irma, somebody("Max"))
    page = client_of(moderator())
    assert f"/moderation/people/{irma.pk}/signs/" in page.get(f"/moderation/people/{irma.pk}/").content.decode()
    assert page.get(f"/moderation/people/{irma.pk}/signs/").status_code == 200


# What stands out ------------------------------------------------------------------------------------------------------


@pytest.fixture
def people() -> list[User]:
    return [somebody(name) for name in ("Irma Vep", "Max", "Fandor")]


@pytest.fixture
def all_too_fast(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signs, "FAST_MS", 10**9)
    monkeypatch.setitem(signs.ENOUGH, "fast", 1)


def recorded(people: list[User], **ago: int) -> None:
    archive.archive(finished("fr-3-ranked", people, timedelta(**ago)).pk)


@pytest.mark.django_db
@pytest.mark.usefixtures("all_too_fast")
def test_what_stands_out_in_somebodys_last_games_comes_to_the_moderators_by_itself(people: list[User]) -> None:
    office = client_of(moderator())
    recorded(people, hours=1)
    assert "Irma Vep" not in office.get("/moderation/signs/").content.decode()
    assert looking.look_over() == 3
    shown = office.get("/moderation/signs/").content.decode()
    assert "Hands too fast" in shown
    assert "wrong 0 of 90 times, found 30 of 30 planted fouls" in shown
    assert all(f"/moderation/people/{person.pk}/" in shown for person in people)
    Glance.objects.update(at=timezone.now() - timedelta(days=looking.DAYS))
    assert "Irma Vep" not in office.get("/moderation/signs/").content.decode()


@pytest.mark.django_db
def test_who_plays_fair_stands_out_nowhere(people: list[User]) -> None:
    recorded(people, hours=1)
    assert looking.look_over() == 3
    assert Glance.objects.filter(stands_out=False).count() == 3
    assert looking.standing_out(moderator()) == []


@pytest.mark.django_db
def test_somebody_is_looked_over_again_after_a_new_game_and_some_hours(people: list[User]) -> None:
    recorded(people, hours=3)
    assert looking.look_over() == 3
    assert looking.look_over() == 0
    recorded(people[:2], hours=2)
    assert looking.look_over() == 0
    Glance.objects.update(at=timezone.now() - looking.EVERY)
    assert looking.look_over() == 2
    assert looking.look_over() == 0


@pytest.mark.django_db
def test_a_sweep_is_bounded_and_the_next_one_goes_on(people: list[User], monkeypatch: pytest.MonkeyPatch) -> None:
    recorded(people, hours=1)
    monkeypatch.setattr(looking, "MOST", 2)
    assert [looking.look_over() for _ in range(3)] == [2, 1, 0]


@pytest.mark.django_db
def test_no_moderator_reads_there_of_signs_that_name_them(people: list[User]) -> None:
    irma, max_, _fandor = people
    juve, lupin, now = moderator(), moderator("Lupin"), timezone.now()
    fast = {"key": "fast", "value": 700, "of": 80, "other": None}
    meets = {"key": "meets", "value": 0.000001, "of": 30, "other": juve.pk}
    for person, found in ((irma, [meets]), (max_, [fast, meets]), (juve, [fast])):
        Glance.objects.create(person=person, at=now, last=now, raised=found, stands_out=True)

    def seen_by(who: User) -> dict[str, tuple[int, list[str]]]:
        rows = looking.standing_out(who)
        return {row.person.name: (len(row.signs), [other.name for other, _said in row.pairs]) for row in rows}

    assert seen_by(juve) == {"Max": (1, [])}
    assert seen_by(lupin) == {"Irma Vep": (0, ["Juve"]), "Max": (1, ["Juve"]), "Juve": (1, [])}


@pytest.mark.django_db
def test_no_moderator_reads_signs_about_themselves_nor_on_anothers_page_what_names_them(
    people: list[User], monkeypatch: pytest.MonkeyPatch
) -> None:
    irma, max_, _fandor = people
    juve, lupin = moderator(), moderator("Lupin")
    meets = signs.Sign("meets", 0.000001, 30, raised=True)
    monkeypatch.setattr(looking, "pairs_of", lambda *_: [(juve, [meets]), (max_, [meets])])
    own, page = client_of(juve), f"/moderation/people/{juve.pk}/"
    assert own.get(f"{page}signs/").status_code == 403
    assert f"{page}signs/" not in own.get(page).content.decode()
    assert f"{page}signs/" in client_of(lupin).get(page).content.decode()
    for reader, named in ((own, ["Max"]), (client_of(lupin), ["Juve", "Max"])):
        shown = reader.get(f"/moderation/people/{irma.pk}/signs/").content.decode()
        assert [name for name in ("Juve", "Max") if name in shown] == named
