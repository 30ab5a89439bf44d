"""What happens to people happens at their tables: in another process, within a second or so, and to nobody else."""

from collections.abc import Callable

import pytest
from allauth.mfa.models import Authenticator
from channels.db import database_sync_to_async
from django.conf import settings
from django.test import Client

from accounts import closing, guests, moderation
from accounts.administrators import make_first_administrator
from accounts.models import FOREVER, User
from games.frames import CloseCode
from tests.browser.site import Site
from tests.table.conftest import Match, NewMatch, session_of
from tests.table.page import Page

PASSWORD = "gratin dauphinois"
# A process looks once a second; the rest is for a busy machine.
SOON = 5.0


def browser_of(match: Match, seat: int) -> Client:
    client = Client()
    client.cookies[settings.SESSION_COOKIE_NAME] = match.cookies[seat]
    return client


def player(match: Match, seat: int) -> User:
    return User.objects.get(seats__game=match.game, seats__number=seat)


async def lift_and_put_back(page: Page, spot: int) -> None:
    tile = [tile for tile in range(54) if page.sight["tiles"][tile]["place"] == "garage"][spot]
    for answer in [await page.do("lift", tile=tile), await page.do("return", tile=tile, face="down")]:
        assert answer["type"] != "refused", answer


async def test_a_guest_who_takes_a_name_plays_on_over_the_same_socket(web: Site, new_match: NewMatch) -> None:
    # Three: whoever is suspended leaves the game, and two play on.
    match = await new_match(3)
    guest, other, _ = await match.search(web)
    await lift_and_put_back(guest, 0)
    form = {"name": "Irma Vep", "password": PASSWORD, "mail": ""}
    answer = await database_sync_to_async(browser_of(match, 0).post)("/account/claim/", form)
    assert answer.status_code == 302, answer.content.decode()
    assert (await database_sync_to_async(player)(match, 0)).name == "Irma Vep"
    # A mark of somebody else's end, so that we know the process has looked since.
    await database_sync_to_async(lambda: moderation.suspend(player(match, 1), FOREVER, by="test"))()
    await other.until(lambda page: page.close_code is not None, SOON)
    assert guest.close_code is None
    await lift_and_put_back(guest, 1)
    # And it comes back with the cookie that it always had.
    await guest.cut()
    await guest.open()
    assert guest.sight["seat"] == 0


def changes_the_password(match: Match) -> None:
    guests.claim(player(match, 0), "Irma Vep", PASSWORD)
    client = Client()
    assert client.post("/account/sign-in/", {"login": "Irma Vep", "password": PASSWORD}).status_code == 302
    form = {"oldpassword": PASSWORD, "password1": "pommes de terre"}
    assert client.post("/account/password/", form).status_code == 302


def is_suspended(match: Match) -> None:
    moderation.suspend(player(match, 0), FOREVER, by="test")


def signs_out(match: Match) -> None:
    browser_of(match, 0).post("/account/sign-out/")


def closes_the_account(match: Match) -> None:
    closing.close(player(match, 0))


def deletes_the_account(match: Match) -> None:
    closing.delete(player(match, 0))


@pytest.mark.both_databases
@pytest.mark.parametrize(
    "happens", [changes_the_password, is_suspended, signs_out, closes_the_account, deletes_the_account]
)
async def test_a_person_who_has_to_go_goes_and_the_others_play_on(
    web: Site, new_match: NewMatch, happens: Callable[[Match], None]
) -> None:
    # Three: whoever closes an account or is suspended leaves the game, and two play on.
    match = await new_match(3)
    going, staying, _ = await match.search(web)
    await database_sync_to_async(happens)(match)
    await going.until(lambda page: page.close_code is not None, SOON)
    assert going.close_code == CloseCode.SIGNED_OUT
    assert "signed_out" in going.notices
    assert staying.close_code is None
    await lift_and_put_back(staying, 0)
    # With the old cookie one is a stranger, who may watch and nothing more.
    stranger = await match.page(web, 0, "stranger").open()
    assert stranger.sight["seat"] is None


def become_a_moderator(match: Match) -> User:
    guests.claim(player(match, 0), "Irma Vep", PASSWORD)
    User.objects.filter(name="Irma Vep").update(is_staff=True)
    return player(match, 0)


def be_the_first_administrator(match: Match) -> User:
    made = make_first_administrator()
    assert made is not None
    return User.objects.get(name=made[0])


@pytest.mark.both_databases
@pytest.mark.parametrize("somebody", [become_a_moderator, be_the_first_administrator])
async def test_whoever_has_something_to_do_first_is_told_so_and_sees_no_table(
    web: Site, new_match: NewMatch, somebody: Callable[[Match], User]
) -> None:
    match = await new_match()
    person = await database_sync_to_async(somebody)(match)
    match.cookies[0] = await database_sync_to_async(session_of)(person)
    page = await match.page(web, 0).open()
    assert (page.close_code, page.notices) == (CloseCode.NOT_ALLOWED, ["duty"])
    assert len(page.frames) == 1
    await database_sync_to_async(Authenticator.objects.create)(user=person, type=Authenticator.Type.TOTP, data={})
    await User.objects.filter(pk=person.pk).aupdate(must_change_password=False)
    await page.open()
    assert (page.close_code, page.welcome["head"]) == (None, 0)
