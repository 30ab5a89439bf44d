"""People and the names they hold."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, connection, transaction

from accounts.administrators import make_first_administrator
from accounts.models import EndedSession, TakenName, User

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]


def test_a_named_account_holds_its_name_and_all_that_look_like_it() -> None:
    User.objects.create_user("Mira", "gratin dauphinois")
    for name in ["Mira", "MIRA", "M1ra", "rnira"]:
        with pytest.raises(ValidationError) as refused:
            User.objects.create_user(name, "gratin dauphinois")
        assert refused.value.code == "name_taken"
    assert User.objects.count() == 1


def test_a_name_stays_taken_when_its_holder_is_gone() -> None:
    mira = User.objects.create_user("Mira", "gratin dauphinois")
    mira.delete()
    assert not TakenName.objects.is_free("mira")
    with pytest.raises(ValidationError):
        User.objects.create_user("Mira", "gratin dauphinois")


def test_the_database_itself_refuses_a_second_holder(monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.create_user("Mira", "gratin dauphinois")
    monkeypatch.setattr(type(TakenName.objects), "is_free", lambda *args, **kwargs: True)
    with pytest.raises(ValidationError):
        User.objects.create_user("M1ra", "gratin dauphinois")
    assert not User.objects.filter(name="M1ra").exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_who_take_one_name_at_once_one_gets_it() -> None:
    ways = ["Mira", "MIRA", "M1ra", "rnira", "mira", "Mlra"] * 2
    start = threading.Barrier(len(ways))

    def take(name: str) -> str:
        try:
            start.wait()
            User.objects.create_user(name)
        except ValidationError as refused:
            return str(refused.code)
        else:
            return "taken by me"
        finally:
            connection.close()

    with ThreadPoolExecutor(len(ways)) as people:
        said = list(people.map(take, ways))
    assert sorted(said) == ["name_taken"] * (len(ways) - 1) + ["taken by me"]
    assert User.objects.count() == 1


def test_a_name_is_found_whatever_its_capitals() -> None:
    zoe = User.objects.create_user("Zoë", "gratin dauphinois")
    assert User.objects.get_by_natural_key("ZOË") == zoe
    assert User.objects.get_by_natural_key("zoe\u0308") == zoe


def test_guests_get_names_that_nobody_else_can_have() -> None:
    guests = [User.objects.create_guest() for _ in range(30)]
    assert len({guest.name for guest in guests}) == 30
    assert all(guest.is_guest and not guest.has_usable_password() for guest in guests)
    with pytest.raises(ValidationError):
        User.objects.create_user(guests[0].name, "gratin dauphinois")


def test_a_guest_is_never_staff() -> None:
    guest = User.objects.create_guest()
    guest.is_staff = True
    with pytest.raises(IntegrityError), transaction.atomic():
        guest.save()


def test_the_first_administrator_is_made_once_and_must_set_a_password() -> None:
    made = make_first_administrator()
    assert made is not None
    name, password = made
    first = User.objects.get(name=name)
    assert first.is_superuser
    assert first.is_staff
    assert first.must_change_password
    assert first.check_password(password)
    assert len(password) >= 20
    assert make_first_administrator() is None


def test_the_first_administrator_takes_the_next_name_where_somebody_has_the_first() -> None:
    User.objects.create_user("Commissaire", "gratin dauphinois", of_the_house=True)
    assert make_first_administrator() is not None
    assert User.objects.filter(name="Commissaire 2", is_superuser=True).exists()


def test_a_change_of_password_or_epoch_changes_the_hash_that_sessions_live_by() -> None:
    mira = User.objects.create_user("Mira", "gratin dauphinois")
    before = mira.get_session_auth_hash()
    mira.session_epoch += 1
    after = mira.get_session_auth_hash()
    mira.set_password("pommes de terre")
    assert len({before, after, mira.get_session_auth_hash()}) == 3


def test_an_ended_session_names_one_session_or_all_before_an_epoch() -> None:
    one = EndedSession(session_key="abc", epoch=3)
    assert one.ends("abc", 3)
    assert not one.ends("xyz", 0)
    every = EndedSession(epoch=3)
    assert every.ends("abc", 2)
    assert every.ends(None, 0)
    assert not every.ends("abc", 3)
