"""Every kind of page, with data that hurts, in six languages and three widths: nothing overflows or is covered."""

from collections.abc import Callable, Iterator
from urllib.parse import quote

from asgiref.sync import sync_to_async
from django.core.management import call_command
from django.db.models import Count, Exists, F, OuterRef, QuerySet, Subquery
from playwright.async_api import Page, expect

from accounts.models import User
from games.models import Game, Seat
from midnight.catalogs import LANGUAGES
from tests.browser.addresses import page_addresses, sort_by_role
from tests.browser.conftest import OpenPage
from tests.browser.layout import misfits
from tests.browser.site import Site
from tests.games.everybody import House, house

# Names as long as they may be: of one word, of two, of many short ones; in wide letters.
LONG_NAMES = ("Wolfeschlegelsteinha", "Maximiliane Bergmann", "Jo de la O y Mac Mum", "Mummenschanz-Wimmern")
OTHERS = [language for language in ("en", *LANGUAGES) if language != "de"]


def a_site_full_of_trouble() -> House:
    """Make games with ties and leavers; the people of every page have names of full length."""
    call_command("seed", "--games", "150", "--people", "12", "--real", "60")
    people = list(User.objects.filter(is_guest=False, deleted_at=None).order_by("pk"))
    for person, name in zip(people, LONG_NAMES, strict=False):
        User.objects.filter(pk=person.pk).update(name=name, folded_name=name.casefold())
    there = house()
    for role, name in {"player": "Wolfeschlegelsteinho", "owner": "Maximiliane Bergmann".replace("ane", "ana")}.items():
        User.objects.filter(pk=there.people[role].pk).update(name=name, folded_name=name.casefold())
    return there


def painful_games() -> Iterator[Game]:
    """Find one of each: ranked of two to four, tied, left, abandoned, relaxed."""
    games = Game.objects.filter(ended__isnull=False, listed=True).annotate(size=Count("seats")).order_by("-ended")
    first = Seat.objects.filter(game=OuterRef("pk"), place=1).values("points")
    second = Seat.objects.filter(game=OuterRef("pk"), place=2).values("points")
    wanted: dict[str, QuerySet[Game]] = {
        **{f"ranked of {size}": games.filter(ranked=True, size=size, rated="rated") for size in (2, 3, 4)},
        "tie of four": games.filter(size=4).annotate(a=Subquery(first), b=Subquery(second)).filter(a=F("b")),
        "left": games.filter(Exists(Seat.objects.exclude(conduct="finished").filter(game=OuterRef("pk"))), size=4),
        "abandoned": games.filter(reason="abandoned"),
        "relaxed": games.filter(pace="relaxed"),
    }
    found = {kind: some.first() for kind, some in wanted.items()}
    missing = [kind for kind, game in found.items() if game is None]
    assert not missing, f"the seeded site has no such game: {missing}"
    yield from {game.pk: game for game in found.values() if game}.values()


def addresses_of(there: House) -> list[str]:
    """List every address that may be a page of the site, and those of the people and the games that hurt."""
    found = page_addresses(there)
    for name in LONG_NAMES[:2]:
        found += [f"/people/{quote(name)}/", f"/people/{quote(name)}/opponents/", f"/history/?player={quote(name)}"]
    for game in painful_games():
        found += [f"/games/{game.code}/{part}" for part in ("", "story/", "replay/")]
    return [*found, "/history/?result=void", "/ladders/?board=season", "/ladders/?pace=relaxed"]


async def settle(page: Page) -> None:
    """Wait for what the page still fetches, such as the ratings of a game's end; open what is closed."""
    await expect(page.locator(".htmx-request, [hx-trigger=load]:empty")).to_have_count(0)
    await page.evaluate("document.querySelectorAll('main details:not(.menu)').forEach((one) => { one.open = true; })")


async def test_nothing_overflows_or_is_covered_on_any_page(
    open_page: OpenPage, site: Site, so_often: Callable[[int, int], int]
) -> None:
    there = await sync_to_async(a_site_full_of_trouble)()
    roles = ("player", "administrator", "visitor")
    pages = {role: await open_page(person=there.people.get(role), reduced_motion="reduce") for role in roles}
    found = await sort_by_role(await sync_to_async(addresses_of)(there), pages)
    # With --long every page in every language; else in German, whose words are long, and now and then in another.
    seldom = so_often(10, 1)
    wrong: list[str] = []
    for turn, language in enumerate(("de", *OTHERS)):
        await sync_to_async(User.objects.update)(language=language)
        await pages["visitor"].context.add_cookies([{"name": "django_language", "value": language, "url": site.url}])
        for role, page in pages.items():
            for number, where in enumerate(found[role]):
                if turn == 0 or (turn + number) % seldom == 0:
                    await page.goto(where)
                    await settle(page)
                    wrong += [f"{language}: {what}" for what in await misfits(page)]
    assert not wrong, f"{len(wrong)} misfits:\n" + "\n".join(wrong)
