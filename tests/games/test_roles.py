"""Roles: given and taken by administrators, as an act that stands in the log and can be undone."""

import pytest

from accounts.models import Role, User
from games.models import Act, Letter, Reason, What
from games.moderation import acts, appeals, undoing
from games.moderation.acts import Why
from tests.games.night_watch import client_of, moderator, refused

pytestmark = pytest.mark.django_db
WHY = Why(Reason.OTHER, "Welcome.")


def test_a_role_is_given_and_taken_by_an_administrator_who_proved_again_and_stands_in_the_log(max_: User) -> None:
    nick = moderator("Nick", administrator=True)
    form = {"role": "moderator", "reason": "other", "words": "Welcome."}
    address = f"/moderation/people/{max_.pk}/role/"
    assert client_of(nick).post(address, form).headers["Location"].startswith("/account/again/code/")
    max_.refresh_from_db()
    assert max_.role == Role.PLAYER
    page = client_of(nick, proved=True)
    assert page.post(address, form).status_code == 302
    max_.refresh_from_db()
    assert (max_.role, max_.is_staff, max_.is_superuser) == (Role.MODERATOR, True, False)
    act = Act.objects.get()
    assert (act.what, act.before, act.after, act.words) == (
        What.ROLE,
        {"role": "player"},
        {"role": "moderator"},
        "Welcome.",
    )
    assert "Role given or taken: moderator" in page.get("/moderation/acts/").content.decode()
    assert Letter.objects.get().person == max_
    assert not appeals.may_appeal(act, max_)
    undo = f"/moderation/acts/{act.pk}/undo/"
    assert client_of(nick).post(undo).headers["Location"].startswith("/account/again/code/")
    assert page.post(undo).status_code == 302
    max_.refresh_from_db()
    assert max_.role == Role.PLAYER
    assert Letter.objects.filter(kind="undone").count() == 1


def test_nobody_but_an_administrator_gives_roles_and_nobody_to_themselves(juve: User, max_: User) -> None:
    nick = moderator("Nick", administrator=True)
    assert refused(lambda: acts.give_role(juve, max_, Role.MODERATOR, WHY)) == "not_administrator"
    assert refused(lambda: acts.give_role(nick, nick, Role.PLAYER, WHY)) == "about_yourself"
    assert refused(lambda: acts.give_role(nick, User.objects.create_guest(), Role.MODERATOR, WHY)) == "no_account"
    assert refused(lambda: acts.give_role(nick, juve, Role.MODERATOR, WHY)) == "same_role"
    assert not Act.objects.exists()
    act = acts.give_role(nick, max_, Role.ADMINISTRATOR, WHY)
    assert refused(lambda: undoing.undo(act, moderator("Lupin"))) in ("about_staff", "not_administrator")
    answer = client_of(nick, proved=True).post(
        f"/moderation/people/{juve.pk}/role/", {"role": "moderator", "reason": "other"}
    )
    assert (answer.status_code, Act.objects.count()) == (422, 1)


def test_of_two_administrators_who_take_each_others_role_at_once_one_is_too_late() -> None:
    nick, lupin = moderator("Nick", administrator=True), moderator("Lupin", administrator=True)
    act = acts.give_role(nick, lupin, Role.PLAYER, WHY)
    # Lupin asked a moment before.
    assert lupin.is_superuser
    assert refused(lambda: acts.give_role(lupin, nick, Role.PLAYER, WHY)) == "not_administrator"
    nick.refresh_from_db()
    assert nick.role == Role.ADMINISTRATOR
    assert Act.objects.get() == act
