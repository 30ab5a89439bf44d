"""A name changes seldom, and the old one is nobody else's."""

from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from accounts import names, signals
from accounts.models import Trace, User
from tests.accounts.conftest import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.both_databases]
NAME = "/account/name/"


def test_a_name_is_changed_on_its_page(alice: User) -> None:
    client = signed_in(alice)
    assert client.post(NAME, {"name": "Irma Vep"})["Location"] == NAME
    alice.refresh_from_db()
    assert (alice.name, alice.folded_name) == ("Irma Vep", "irma vep")
    assert alice.traces.get().what == Trace.What.RENAMED
    page = client.get(NAME).content.decode()
    assert "You can change it again on" in page
    assert '<form class="card form"' not in page


def test_once_in_thirty_days(alice: User) -> None:
    names.change(alice, "Irma Vep")
    with pytest.raises(ValidationError) as refused:
        names.change(alice, "Musidora")
    assert refused.value.code == "name_too_soon"
    User.objects.update(renamed_at=timezone.now() - names.PAUSE - timedelta(seconds=1))
    names.change(alice, "Musidora")
    alice.refresh_from_db()
    assert alice.name == "Musidora"
    assert "changed within" not in signed_in(alice).post(NAME, {"name": "Irma Vep"}).content.decode()


def test_the_old_name_stays_theirs_to_return_to_and_nobody_elses(alice: User, bob: User) -> None:
    names.change(alice, "Irma Vep")
    for taken in ["Alice", "A1ICE", "Irma Vep"]:
        with pytest.raises(ValidationError) as refused:
            names.change(bob, taken)
        assert refused.value.code == "name_taken"
    bob.refresh_from_db()
    assert bob.name == "Bob"
    User.objects.update(renamed_at=None)
    names.change(alice, "Alice")
    alice.refresh_from_db()
    assert alice.name == "Alice"


def test_other_capitals_of_ones_own_name_are_a_change_like_any(alice: User) -> None:
    names.change(alice, "ALICE")
    alice.refresh_from_db()
    assert alice.name == "ALICE"


@pytest.mark.parametrize("name", ["Alice", "Bob", "B0b", "admin", "x", "Bo\u200bb"])
def test_a_refused_name_changes_nothing(alice: User, bob: User, name: str) -> None:
    answer = signed_in(alice).post(NAME, {"name": name})
    assert answer.status_code == 200
    assert 'class="errors"' in answer.content.decode()
    alice.refresh_from_db()
    assert (alice.name, alice.renamed_at) == ("Alice", None)


def test_staff_rename_without_a_pause_and_leave_their_name_on_it(alice: User) -> None:
    names.change(alice, "Irma Vep")
    before = User.objects.get(pk=alice.pk).renamed_at
    names.change(alice, "Musidora", by="Charlie")
    alice.refresh_from_db()
    assert (alice.name, alice.renamed_at) == ("Musidora", before)
    assert alice.traces.filter(by="Charlie", what=Trace.What.RENAMED).exists()


def test_a_change_is_told_after_the_commit(
    alice: User, django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    heard: list[tuple[str, str]] = []

    def hear(user: User, old: str, **kwargs: object) -> None:
        heard.append((user.name, old))

    signals.renamed.connect(hear)
    try:
        with django_capture_on_commit_callbacks(execute=True):
            names.change(alice, "Irma Vep")
    finally:
        signals.renamed.disconnect(hear)
    assert heard == [("Irma Vep", "Alice")]


def test_names_are_not_tried_out_without_end(alice: User) -> None:
    client = signed_in(alice)
    assert [client.post(NAME, {"name": "admin"}).status_code for _ in range(21)] == [200] * 20 + [429]
