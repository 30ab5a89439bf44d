"""One person who says many things in the same moment says no more than one after the other, on both databases."""

import threading

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from games import chat
from games.models import Message
from tests.games.night_watch import game_of, somebody

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.both_databases]

POSTS = 30


def said_at_once(words: list[str]) -> list[str]:
    """Say all of it at the same time; the codes of what was refused."""
    irma = somebody("Irma Vep")
    place = chat.place_of(chat.channel_of(game_of(irma, somebody("Max"))), irma.pk)
    assert place is not None
    start, refused, faults = threading.Barrier(len(words)), list[str](), list[BaseException]()

    def say(said: str) -> None:
        try:
            start.wait(60)
            chat.say(irma, place, words=said)
        except ValidationError as refusal:
            refused.append(str(refusal.code))
        except BaseException as fault:
            faults.append(fault)
        finally:
            connection.close()

    threads = [threading.Thread(target=say, args=[one]) for one in words]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not faults, faults
    return refused


def test_of_thirty_messages_at_once_five_are_said() -> None:
    refused = said_at_once([f"Hey {number}" for number in range(POSTS)])
    assert refused == ["chat_flood"] * (POSTS - chat.MOST)
    assert Message.objects.count() == chat.MOST


def test_of_the_same_message_at_once_one_is_said() -> None:
    refused = said_at_once(["Hey"] * POSTS)
    assert refused == ["chat_again"] * (POSTS - 1)
    assert Message.objects.count() == 1
