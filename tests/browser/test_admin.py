"""Django's administration in a real Chromium, as moderators and administrators use it."""

from asgiref.sync import sync_to_async
from playwright.async_api import ViewportSize, expect

from accounts.models import User
from games import ladder, rooms
from games.models import Act, Appeal, Game, RatingEvent, Reason, Room
from games.moderation import acts, appeals
from games.moderation.acts import Why
from tests.browser.conftest import OpenPage
from tests.browser.watch import Watch, assert_no_barriers
from tests.games.finished import finished
from tests.games.night_watch import moderator, reported, somebody

LAPTOP = ViewportSize(width=1280, height=800)
PHONE = ViewportSize(width=360, height=740)


async def test_the_administration_puts_up_no_barrier(open_page: OpenPage, watch: Watch) -> None:
    # Django's own pages bring styles of their own, which our policy bars; axe looks for them in vain.
    watch.expect(r"inline style|style-src-elem blocked inline|preload assets")

    def office() -> list[str]:
        nick, irma, max_ = moderator("Nick", administrator=True), somebody("Irma Vep"), somebody("Max")
        rooms.open_room(irma)
        finished("fr-3-ranked", [irma, max_, somebody("Fandor")])
        ladder.rate_finished()
        appeals.appeal(acts.warn(nick, max_, Why(Reason.INSULT, "Calm down.")), max_, "Please.")
        case = reported(irma, max_).case
        rows = [
            *(model.objects.latest("pk") for model in (Game, Room, Act, Appeal, RatingEvent)),
            *(case, irma),
        ]
        kinds = [f"/admin/{row._meta.app_label}/{row._meta.model_name}/" for row in rows]
        return ["/admin/", *kinds, *(f"{kind}{row.pk}/change/" for kind, row in zip(kinds, rows, strict=True))]

    addresses = await sync_to_async(office)()
    page = await open_page(person=await User.objects.aget(name="Nick"))
    for number, address in enumerate(addresses):
        await page.set_viewport_size(PHONE if number % 2 else LAPTOP)
        await page.emulate_media(color_scheme="dark" if number % 2 else "light")
        await page.goto(address)
        await expect(page.locator("#user-tools").get_by_role("link", name="View site")).to_have_attribute("href", "/")
        await assert_no_barriers(page, "target-size")
