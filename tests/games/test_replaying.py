"""Replays as the server prepares them: words for every event, moments of note, and who may see what when."""

import io
import json
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils.translation import override

from accounts import closing
from accounts.models import User
from games import archive, chance_secrets, rules
from games.bots.selfplay import self_play, terms_for_bots
from games.judge_worker import MOST_FAULTS
from games.models import Game
from games.opening import NewSeat, open_game
from games.replaying import prepare
from games.rules.edition import ART, Collection
from games.rules.record import Record, make_record, read_record, write_record
from games.views import replay as views
from tests.games.finished import finished

RECORDS = sorted((Path(__file__).resolve().parents[1] / "records").glob("*.jsonl"))
NAMES = [path.stem for path in RECORDS]


def document(name: str) -> bytes:
    return (RECORDS[0].parent / f"{name}.jsonl").read_bytes()


def kept(name: str) -> Record:
    return read_record(document(name))


def changed(name: str, **fields: Any) -> bytes:
    return json.dumps(json.loads(document(name)) | fields).encode()


# What is prepared ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_event_of_every_kept_record_is_said_in_a_sentence(name: str) -> None:
    prepared = prepare(kept(name))
    told = prepared.document["told"]
    assert len(told) == len(prepared.document["events"])
    for sentences in told:
        assert 1 <= len(sentences) <= 2
        for sentence in sentences:
            assert sentence.endswith((".", "!"))
            assert "%(" not in sentence


def test_a_tile_that_nobody_else_saw_is_named_to_its_player_alone() -> None:
    prepared = prepare(kept("fr-2"))
    said = zip(prepared.document["events"], prepared.document["told"], strict=True)
    _, (others, own) = next((event, told) for event, told in said if event["type"] == "lifted")
    assert others == "Player 0 lifts: Garage tile, face down."
    assert own.startswith("Player 0 lifts: ")
    assert own.endswith(", Garage tile.")


def test_a_tile_that_lay_open_is_named_to_all() -> None:
    prepared = prepare(kept("fr-4-bag-opened-empty"))
    faces: dict[int, str] = {}
    lifted_open = 0
    for event, told in zip(prepared.document["events"], prepared.document["told"], strict=True):
        match event["type"]:
            case "round_started":
                faces = {}
            case "returned":
                faces[event["tile"]] = event["face"]
            case "lifted":
                open_ = faces.pop(event["tile"], "down") == "up"
                lifted_open += open_
                assert len(told) == (1 if open_ else 2)
            case "stashed":
                assert len(told) == 1
    assert lifted_open


def test_moments_of_note_are_keys_tokens_bags_complete_collections_rounds_and_the_end() -> None:
    prepared = prepare(kept("fr-4-bag-opened-empty"))
    events = {event["seq"]: event for event in prepared.document["events"]}
    by_kind: dict[str, set[int]] = {}
    for seq, kind in prepared.document["moments"]:
        by_kind.setdefault(kind, set()).add(seq)

    def of_type(kind: str) -> set[int]:
        return {seq for seq, event in events.items() if event["type"] == kind}

    assert by_kind["round"] == of_type("round_started")
    assert by_kind["token"] == of_type("escaped")
    assert by_kind["bag"] == of_type("bag_opened")
    assert by_kind["exchange"] == of_type("exchange_started")
    assert by_kind["end"] == {max(events)}
    assert by_kind["key"] < of_type("stashed")
    assert by_kind["complete"] <= of_type("placed")


def test_a_collection_is_complete_when_its_last_slot_is_filled() -> None:
    prepared = prepare(kept("fr-4-bag-opened-empty"))
    complete = {seq for seq, kind in prepared.document["moments"] if kind == "complete"}
    filled: dict[str, int] = {}
    needs = {card["id"]: len(card["needs"]) for card in prepared.document["edition"]["cards"] if "needs" in card}
    expected = set()
    for event in prepared.document["events"]:
        if event["type"] == "placed":
            filled[event["card"]] = filled.get(event["card"], 0) + 1
            if filled[event["card"]] == needs[event["card"]]:
                expected.add(event["seq"])
    assert complete == expected != set()


@pytest.mark.parametrize("name", ["fr-2", "fr-4-bag-opened-empty", "es-2-resumed-and-left"])
def test_each_moment_of_note_has_the_points_at_it(name: str) -> None:
    record = kept(name)
    moments = prepare(record).moments
    assert moments[0].points == [0] * len(record.head.names)
    assert record.result is not None
    assert moments[-1].points == [score.total for score in record.result.scores]
    state = rules.blank(record.head.terms)
    for event in record.events:
        state = rules.apply(state, event)
        for moment in moments:
            if moment.seq == event.seq:
                assert moment.points == [rules.score(seat, one).total for seat, one in enumerate(state.players)]


def test_the_phases_of_a_game_follow_each_other_from_the_first_event_on() -> None:
    phases = prepare(kept("fr-2")).document["phases"]
    assert phases[0] == (1, "gathering")
    assert phases[-1][1] == "over"
    assert [name for _, name in phases[:5]] == ["gathering", "countdown", "search", "exchange", "gathering"]


def test_a_replay_speaks_the_language_of_whoever_looks() -> None:
    with override("de"):
        prepared = prepare(kept("fr-2"))
    assert "Das Tauschen beginnt." in [sentence for told in prepared.document["told"] for sentence in told]


def test_every_card_that_was_on_offer_comes_with_each_filling_that_it_had() -> None:
    prepared = prepare(kept("fr-4-bag-opened-empty"))
    placed = Counter(event["card"] for event in prepared.document["events"] if event["type"] == "placed")
    assert max(placed.values()) > 1
    for card, fillings in prepared.cards:
        assert fillings == list(range(placed[card] + 1))


# Games of this site -------------------------------------------------------------------------------------------------


@pytest.mark.django_db
@pytest.mark.parametrize("packed", [False, True])
def test_a_game_of_this_site_is_seen_again_from_its_log_and_from_its_record(packed: bool, client: Client) -> None:
    game = finished("fr-2", [User.objects.create_user("Irma Vep")])
    if packed:
        assert archive.archive(game.pk)
    page = client.get(f"/games/{game.code}/replay/").content.decode()
    assert "Irma Vep lifts: " in page
    assert f"/games/{game.code}/story/" in page


@pytest.mark.django_db
@pytest.mark.parametrize("packed", [False, True])
def test_a_replay_names_a_deleted_person_by_their_pseudonym(packed: bool, client: Client) -> None:
    person = User.objects.create_user("Irma Vep")
    game = finished("fr-2", [person])
    if packed:
        assert archive.archive(game.pk)
    assert "Irma Vep lifts: " in client.get(f"/games/{game.code}/replay/").content.decode()
    closing.delete(person)
    person.refresh_from_db()
    page = client.get(f"/games/{game.code}/replay/").content.decode()
    assert "Irma Vep" not in page
    assert f"{person.name} lifts: " in page


@pytest.mark.django_db
def test_a_game_that_runs_says_that_it_is_not_over_yet(client: Client) -> None:
    game = open_game([NewSeat("violet", User.objects.create_user("Irma Vep").pk), NewSeat("amber", strength="master")])
    response = client.get(f"/games/{game.code}/replay/")
    assert response.status_code == 409
    assert "not over yet" in response.content.decode()
    assert chance_secrets.of_game(game.pk).server_seed.hex() not in response.content.decode()


@pytest.mark.django_db
def test_a_game_whose_record_has_a_fault_says_so(client: Client) -> None:
    game = finished("fr-2")
    Game.objects.filter(pk=game.pk).update(kept_as=Game.Kept.PARKED)
    response = client.get(f"/games/{game.code}/replay/")
    assert response.status_code == 409
    assert "Something is wrong" in response.content.decode()


@pytest.mark.django_db
def test_a_game_that_is_not_there_has_no_replay(client: Client) -> None:
    assert client.get("/games/nothere234/replay/").status_code == 404


@pytest.mark.django_db
def test_a_replay_costs_the_server_little(client: Client, in_time: Callable[[float], float]) -> None:
    game = finished("fr-4-bag-opened-empty")
    archive.archive(game.pk)
    client.get(f"/games/{game.code}/replay/")
    began = time.process_time()
    response = client.get(f"/games/{game.code}/replay/", headers={"accept-encoding": "gzip"})
    assert time.process_time() - began < in_time(0.2)
    assert len(response.content) < 32_000


# Records that somebody brings ---------------------------------------------------------------------------------------


def bring(client: Client, data: bytes | None) -> Any:
    files = {} if data is None else {"record": io.BytesIO(data)}
    return client.post("/replay/", files)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["fr-2", "es-2-resumed-and-left", "pt-2-slept-through", "de-4-chosen-markets"])
def test_a_record_without_a_fault_is_seen_again(name: str, client: Client) -> None:
    response = bring(client, document(name))
    assert response.status_code == 200
    page = response.content.decode()
    assert 'id="record"' in page
    assert "The search begins." in page


@pytest.mark.django_db(transaction=True)
def test_each_fault_is_told_with_its_event_and_its_rule(client: Client) -> None:
    record = json.loads(document("fr-2"))
    record["result"]["scores"][0]["silver"] += 1
    record["result"]["scores"][0]["total"] += 1
    record["commitment"] = "0" * 64
    response = bring(client, json.dumps(record).encode())
    assert response.status_code == 422
    page = response.content.decode()
    assert "seq 0: R8.11: the commitment is not the hash of the server seed" in page
    assert f"seq {len(record['events'])}: R7.3: seat 0 is said to have" in page
    assert "2 faults" in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "There is no record here"),
        (b"", "this is not JSON"),
        (b"{", "this is not JSON"),
        (b"\xff\xfe", "this is not text in UTF-8"),
        (b"[" * 100_000, "this is nested too deeply"),
        (b"[]", "the record is a list"),
        (b'{"format": "midnight-record/2"}', "the format is"),
        (b" " * (views.MOST_KILOBYTES * 1_024 + 1), "larger than"),
        (changed("fr-2", id="\ud800"), "half a character"),
    ],
)
def test_what_is_no_record_is_told_so_in_a_sentence(data: bytes | None, sentence: str, client: Client) -> None:
    response = bring(client, data)
    assert response.status_code == 422
    assert sentence in response.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_record_says_nothing_that_the_page_takes_for_markup(client: Client) -> None:
    record = json.loads(document("fr-2"))
    record["seats"][0]["name"] = "</script><b>Irma</b>"
    page = bring(client, json.dumps(record).encode()).content.decode()
    assert "<b>Irma" not in page
    assert "</script><b>" not in page


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("in_one_moment")
def test_nobody_has_records_judged_without_end(client: Client) -> None:
    answers = [bring(client, b"{").status_code for _ in range(21)]
    assert answers[:20] == [422] * 20
    assert answers[20] == 429


@pytest.mark.django_db(transaction=True)
def test_of_a_record_with_thousands_of_faults_the_first_are_told(client: Client) -> None:
    record = json.loads(document("fr-2"))
    for event in record["events"]:
        event["seq"] += 2 * event["seq"]
    page = bring(client, json.dumps(record).encode()).content.decode()
    assert page.count("<li><code>seq") == MOST_FAULTS
    assert f"And {len(record['events']) - MOST_FAULTS} more" in page


@pytest.mark.django_db(transaction=True)
def test_a_record_of_somebody_elses_edition_is_seen_again(client: Client) -> None:
    agreed = terms_for_bots("fr", 2, bytes(32))
    cards = tuple(
        Collection("grand-tour", ART, (3, 5, 8, 12, 17, 23)) if card.id == "showcase-1" else card
        for card in agreed.edition.cards
    )
    other = replace(agreed, edition=replace(agreed.edition, name="grand-1", cards=cards))
    played = self_play(other, ("apprentice", "apprentice"), "0")
    record = make_record("theirs", "2026-01-31T20:00:00Z", other, ["A", "B"], played)
    assert bring(client, write_record(record).encode()).status_code == 200
