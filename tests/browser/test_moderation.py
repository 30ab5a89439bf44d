"""Moderation in a real Chromium: from a report in a running game to the appeal; a suspension in a race."""

import asyncio
import re
import time
from collections.abc import Callable

from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from asgiref.sync import sync_to_async
from django.contrib.auth.hashers import Argon2PasswordHasher
from django.utils import timezone
from playwright.async_api import Page, expect

from accounts.models import User
from games import gauges, ladder, rooms
from games.models import Act, Game, Glance, Ladder, Rating, Reason, Report
from games.moderation import acts, reports
from games.moderation.acts import Why
from games.moderation.reports import Moment
from games.rating import START
from tests.browser import passkeys, staged
from tests.browser.conftest import OpenPage
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot
from tests.games.finished import finished
from tests.games.night_watch import SECRET, moderator, somebody

PHONE = {"width": 360, "height": 640}


async def cast(*names: str) -> list[User]:
    return [await sync_to_async(somebody)(name) for name in names]


async def watch_of_the_night(name: str) -> User:
    return await sync_to_async(moderator)(name)


async def at(page: Page, game: Game) -> None:
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")


async def looked_at(page: Page, name: str) -> None:
    """Pictures, and nothing that bars or overflows."""
    await shot(page, name)
    await assert_no_barriers(page)
    before = page.viewport_size
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await assert_fits(page)
    if before:
        await page.set_viewport_size(before)


async def code_now() -> str:
    """What the moderator's app shows; one that is good for some seconds more."""
    if time.time() % 30 > 25:
        await asyncio.sleep(30.1 - time.time() % 30)
    return format_hotp_value(hotp_value(SECRET, int(time.time()) // 30))


async def test_from_a_report_in_a_running_game_to_the_appeal(open_page: OpenPage) -> None:
    irma, max_ = await cast("Irma Vep", "Max")
    juve, lupin = await watch_of_the_night("Juve"), await watch_of_the_night("Lupin")
    game = await staged.staged([irma, max_], staged.searching, bots=1)
    hers, his = await open_page(person=irma), await open_page(person=max_)
    await at(hers, game)
    await at(his, game)

    # He says something, she hears it without reloading and reports it.
    await his.get_by_label("Chat", exact=True).click()
    await his.get_by_label("Say something").fill("You are a fool")
    await his.get_by_role("button", name="Say", exact=True).click()
    await hers.get_by_label("Chat", exact=True).click()
    await expect(hers.locator(".said")).to_contain_text("You are a fool")
    await assert_no_barriers(hers)
    await shot(hers, "chat")
    await hers.get_by_label("Report what Max said").click()
    await hers.get_by_label("Insults or hate").check()
    await hers.get_by_role("dialog").get_by_role("button", name="Report").click()
    await expect(hers.get_by_role("dialog")).to_contain_text("Thank you")
    report = await Report.objects.aget()
    assert (report.said, report.game_id) == ("You are a fool", game.pk)
    assert report.seq
    await hers.keyboard.press("Escape")

    # A moderator takes the case; another sees so.
    watch, other = await open_page(person=juve), await open_page(person=lupin)
    await other.goto("/moderation/")
    await watch.goto("/moderation/")
    await looked_at(watch, "moderation-queue")
    await watch.get_by_role("link", name="Max").click()
    await watch.get_by_role("button", name="Work on this").click()
    await expect(other.get_by_role("table")).to_contain_text("Juve")
    await expect(watch.locator("blockquote")).to_contain_text("You are a fool")
    await looked_at(watch, "moderation-case")
    await watch.get_by_label("Act", exact=True).select_option("mute")
    await watch.get_by_label("For how long").select_option("24")
    await watch.get_by_label("Reason").select_option("insult")
    await watch.get_by_label("To the person").fill("Not in this tone.")
    await watch.get_by_role("button", name="Do it").click()
    await expect(watch.locator("#messages")).to_contain_text("written down")

    # The game ends as void: both pages say so.
    await watch.get_by_role("link", name="Act on this game").click()
    await looked_at(watch, "moderation-game")
    await watch.get_by_label("Act", exact=True).select_option("end_game")
    await watch.get_by_label("Reason").select_option("insult")
    await watch.get_by_role("button", name="Do it").click()
    await watch.get_by_label("Code").fill(await code_now())
    await watch.get_by_role("button", name="Go on").click()
    for page in (hers, his):
        await expect(page.get_by_role("heading", name="This game does not count")).to_be_visible()
    await watch.go_back()
    await watch.goto(f"/moderation/cases/{report.case_id}/")
    await watch.get_by_label("Irma Vep: Insults or hate").select_option("upheld")
    await watch.get_by_role("button", name="Decide").click()
    await expect(watch.get_by_text("Nothing waits")).to_be_visible()

    # Letters: she hears that it was decided; he reads why, and appeals.
    await hers.goto("/letters/")
    await expect(hers.get_by_role("main")).to_contain_text("Your report has been looked at")
    await his.goto("/letters/")
    await expect(his.get_by_role("main")).to_contain_text("Not in this tone.")
    await looked_at(his, "letters")
    await his.get_by_role("link", name="Appeal").click()
    await his.get_by_label("Why this was not right").fill("We are old friends.")
    await his.get_by_role("button", name="Appeal").click()

    # Not the one who acted, but another one decides.
    await watch.goto("/moderation/appeals/")
    await expect(watch.get_by_role("main")).to_contain_text("Another moderator decides")
    await other.goto("/moderation/appeals/")
    await looked_at(other, "moderation-appeals")
    await other.get_by_label("Your answer").fill("So it was.")
    await other.get_by_role("button", name="Grant").click()
    await expect(other.get_by_text("Nothing waits")).to_be_visible()
    await max_.arefresh_from_db()
    assert not max_.is_muted
    await his.goto("/letters/")
    await expect(his.get_by_role("main")).to_contain_text("So it was.")
    await other.goto("/moderation/acts/")
    await expect(other.get_by_role("table")).to_contain_text("Act undone: Muted")
    await looked_at(other, "moderation-log")
    what = [act.what async for act in Act.objects.order_by("pk")]
    assert what == ["mute", "end_game", "decide", "undo"]


OF_GAME = "Report this game"


async def report_on(page: Page, opener: str) -> Report:
    """Report Max by the flag or name of that label; what came of it."""
    await page.get_by_role("link", name=opener).first.click()
    dialog = page.get_by_role("dialog", name="Report")
    if opener == OF_GAME:
        await dialog.get_by_label("Max").check()
    await dialog.get_by_label("Cheating").check()
    await assert_no_barriers(page)
    await dialog.get_by_role("button", name="Report").click()
    await expect(dialog).to_contain_text("Thank you")
    await page.keyboard.press("Escape")
    await expect(dialog).to_be_hidden()
    return await Report.objects.select_related("game", "about").alatest("pk")


async def test_one_tap_on_a_seat_reports_it_with_the_moment_in_a_race_at_the_markets_and_in_the_replay(
    open_page: OpenPage,
) -> None:
    irma, max_ = await cast("Irma Vep", "Max")
    page = await open_page(person=irma)
    for moment, opener in ((staged.searching, "Max: "), (staged.trading, "Report Max"), (staged.over, "Report Max")):
        game = await staged.staged([irma, max_], moment, bots=2)
        await at(page, game)
        await looked_at(page, f"report-{moment.__name__}")
        await page.get_by_role("link", name=opener).first.wait_for()
        await game.arefresh_from_db()
        report = await report_on(page, opener)
        # The bots may have gone on meanwhile.
        then = await Game.objects.aget(pk=game.pk)
        assert report.game == game
        assert game.head <= (report.seq or 0) <= then.head, moment.__name__
        await game.reports.all().adelete()
    await page.goto(f"/games/{game.code}/replay/#e=42")
    await looked_at(page, "report-replay")
    assert (await report_on(page, "Report Max")).seq == 42
    await game.reports.all().adelete()
    report = await report_on(page, OF_GAME)
    assert (report.about, report.game, report.seq) == (max_, game, 42)
    await game.reports.all().adelete()
    game = await staged.staged([irma, max_], staged.searching, bots=1)
    await at(page, game)
    await page.get_by_label("Menu").click()
    assert (await report_on(page, OF_GAME)).game == game


async def test_a_ranked_game_that_is_voided_gives_the_ratings_back_until_an_appeal(open_page: OpenPage) -> None:
    people = await cast("Irma Vep", "Max", "Fandor")
    game = await sync_to_async(finished)("fr-3-ranked", people)
    await sync_to_async(ladder.rate_finished)()
    rated = {row.rating async for row in Rating.objects.all()}
    office = await open_page(person=await watch_of_the_night("Juve"))
    await office.goto(f"/moderation/games/{game.code}/")
    await office.get_by_label("Act", exact=True).select_option("void_game")
    await office.get_by_label("Reason").select_option("collusion")
    await office.get_by_role("button", name="Do it").click()
    await expect(office.locator("#messages")).to_contain_text("written down")
    assert await sync_to_async(ladder.replay)() == 1
    current = (await Ladder.objects.aget(pace="live")).generation
    assert {row.rating async for row in Rating.objects.filter(generation=current)} <= {START}
    page = await open_page(person=people[0])
    await page.goto("/letters/")
    await expect(page.get_by_role("main")).to_contain_text("no longer counts for the ratings")

    # She appeals, another moderator grants it, and the game counts as before.
    await page.get_by_role("link", name="Appeal").click()
    await page.get_by_label("Why this was not right").fill("We have never met.")
    await page.get_by_role("button", name="Appeal").click()
    await expect(page.locator("#messages")).to_contain_text("Another moderator")
    other = await open_page(person=await watch_of_the_night("Lupin"))
    await other.goto("/moderation/appeals/")
    await other.get_by_role("button", name="Grant").click()
    await expect(other.get_by_text("Nothing waits")).to_be_visible()
    assert await sync_to_async(ladder.replay)() == 1
    current = (await Ladder.objects.aget(pace="live")).generation
    assert {row.rating async for row in Rating.objects.filter(generation=current)} == rated
    await page.goto("/letters/")
    await expect(page.get_by_role("main")).to_contain_text("has been reversed")


CLOSED = """() => new Promise((done) => {
  const look = () => document.body.dataset.line !== "open" && done(Date.now());
  new MutationObserver(look).observe(document.body, { attributeFilter: ["data-line"] });
  look();
})"""


async def test_a_moderator_with_a_passkey_shows_it_again_before_a_suspension(open_page: OpenPage, watch: Watch) -> None:
    juve, max_ = await cast("Juve", "Max")
    office = await open_page(person=juve)
    await passkeys.give(office)
    await office.goto("/account/security/passkeys/add/")
    await office.get_by_label("Name of this passkey").fill("The key of the office")
    await office.get_by_role("button", name="Add a passkey").click()
    await expect(office.get_by_role("heading", name="Recovery codes")).to_be_visible()
    # A role that is given ends the sessions from before; this one is to go on.
    await User.objects.filter(pk=juve.pk).aupdate(is_staff=True)
    await office.goto(f"/moderation/people/{max_.pk}/")
    await office.get_by_label("Act", exact=True).select_option("suspend")
    await office.get_by_label("For how long").select_option("24")
    await office.get_by_label("Reason").select_option("threat")
    await office.get_by_role("button", name="Do it").click()
    await expect(office).to_have_url(re.compile(r"/account/again/passkey/"))
    await max_.arefresh_from_db()
    assert not max_.is_suspended
    await office.get_by_role("button", name="Use a passkey").click()
    await expect(office.locator("#messages")).to_contain_text("written down")
    await max_.arefresh_from_db()
    assert max_.is_suspended


async def test_a_suspension_ends_one_race_within_a_second_while_the_others_play_on(
    open_page: OpenPage, watch: Watch, in_time: Callable[[float], float]
) -> None:
    watch.expect("WebSocket")
    irma, max_, fandor = await cast("Irma Vep", "Max", "Fandor")
    # As the site itself keeps passwords: he signs in there later.
    max_.password = Argon2PasswordHasher().encode("ten black gloves", "some salt of ours")
    await max_.asave(update_fields=["password"])
    juve = await watch_of_the_night("Juve")
    game = await staged.staged([irma, max_, fandor], staged.searching, bots=0)
    pages = [await open_page(person=person) for person in (irma, max_, fandor)]
    for page in pages:
        await at(page, game)
    office = await open_page(person=juve)
    await office.goto(f"/moderation/people/{max_.pk}/")
    await office.get_by_label("Act", exact=True).select_option("suspend")
    await office.get_by_label("For how long").select_option("24")
    await office.get_by_label("Reason").select_option("threat")
    await office.get_by_role("button", name="Do it").click()
    # A stolen session is not enough: the code is asked for again.
    await office.get_by_label("Code").fill(await code_now())
    closed = asyncio.create_task(pages[1].evaluate(CLOSED))
    async with office.expect_request(lambda request: request.method == "POST") as posting:
        await office.get_by_role("button", name="Go on").click()
    posted = await posting.value
    await expect(office.locator("#messages")).to_contain_text("written down")
    # From the moment at which the moderator's browser posts the form.
    assert (await closed - posted.timing["startTime"]) / 1000 < in_time(1.0)
    await looked_at(office, "moderation-person")

    await expect(pages[0].locator("#others")).to_contain_text("has left")
    tile = pages[0].locator("#tiles .tile.garage.down").first
    await tile.click()
    await expect(pages[2].locator("#tiles .tile.hand")).not_to_have_count(0)
    await pages[1].goto("/letters/")
    await expect(pages[1]).to_have_url("/account/sign-in/?next=/letters/")
    await pages[1].get_by_label("Name or mail address").fill("Max")
    await pages[1].get_by_label("Password").fill("ten black gloves")
    await pages[1].get_by_role("button", name="Sign in", exact=True).click()
    await pages[1].get_by_role("link", name="Why, and how to appeal").click()
    await expect(pages[1].get_by_role("main")).to_contain_text("Threats")


async def test_a_room_that_is_closed_is_seen_so_by_who_sits_in_it(open_page: OpenPage) -> None:
    irma, max_ = await cast("Irma Vep", "Max")
    room = await sync_to_async(rooms.open_room)(irma, size=3)
    await sync_to_async(rooms.sit)(room, max_)
    page, office = await open_page(person=max_), await open_page(person=await watch_of_the_night("Juve"))
    await page.goto(f"/rooms/{room.code}/")
    await expect(page.get_by_role("main")).to_contain_text("Irma Vep")
    await office.goto(f"/moderation/rooms/{room.code}/")
    await looked_at(office, "moderation-room")
    await office.get_by_label("Act", exact=True).select_option("close_room")
    await office.get_by_label("Reason").select_option("insult")
    await office.get_by_role("button", name="Do it").click()
    await expect(office.locator("#messages")).to_contain_text("written down")
    await expect(page.get_by_role("main")).to_contain_text("Staff has closed it.")
    await expect(page.get_by_role("link", name="1 unread letter")).to_be_visible()
    await shot(page, "room-closed-by-staff")


async def test_the_administration_and_its_figures_are_fit_to_be_looked_at(open_page: OpenPage, watch: Watch) -> None:
    # Django's own pages bring styles of their own, which our policy lets be.
    irma, max_ = await cast("Irma Vep", "Max")
    await sync_to_async(rooms.open_room)(irma)
    game = await staged.staged([irma, max_], staged.searching, bots=1)
    await sync_to_async(reports.file_report)(irma, max_, Reason.THREAT, "He is mean.", Moment(game))
    nick = await sync_to_async(moderator)("Nick", administrator=True)
    await sync_to_async(acts.warn)(nick, max_, Why(Reason.INSULT, "Calm down."))
    page = await open_page(person=nick)
    for name in ("game", "room", "case", "act"):
        await page.goto(f"/admin/games/{name}/")
        await expect(page.locator("#result_list tbody tr")).to_have_count(1)
        await shot(page, f"admin-{name}")
    for _ in range(40):
        await sync_to_async(gauges.take)()
    await page.goto("/moderation/figures/")
    await expect(page.get_by_role("heading", name="Moves a second")).to_be_visible()
    await looked_at(page, "moderation-figures")
    before = await page.locator(".course").first.get_attribute("points")
    await sync_to_async(gauges.take)()
    await expect(page.locator(".course").first).not_to_have_attribute("points", before or "")


async def test_a_full_queue_is_read_at_a_glance(open_page: OpenPage) -> None:
    irma, *others = await cast("Irma Vep", "Max", "Fandor", "Satanas", "Moreno")
    for person, reason in zip(others, (Reason.THREAT, Reason.CHEATING, Reason.STALLING, Reason.NAME), strict=True):
        await sync_to_async(reports.file_report)(irma, person, reason, "", Moment())
    page = await open_page(person=await watch_of_the_night("Juve"))
    await page.goto("/moderation/")
    names = await page.locator("tbody th").all_inner_texts()
    assert names == ["Max", "Fandor", "Moreno", "Satanas"]
    await looked_at(page, "moderation-full-queue")
    fast = {"key": "fast", "value": 712, "of": 480, "other": None}
    feeds = {"key": "feeds", "value": 4.25, "of": 31, "other": others[1].pk}
    found = {"at": timezone.now(), "last": timezone.now(), "stands_out": True}
    for person, raised in ((irma, [fast, feeds]), (others[0], [fast])):
        await Glance.objects.acreate(person=person, raised=raised, **found)
    await page.get_by_role("navigation", name="Moderation").get_by_role("link", name="Signs").click()
    await expect(page.get_by_role("heading", name="Irma Vep")).to_be_visible()
    await looked_at(page, "moderation-signs")


async def test_a_form_shows_what_fits_the_act_and_the_letter_before_it_goes(open_page: OpenPage) -> None:
    (max_,) = await cast("Max")
    office = await open_page(person=await watch_of_the_night("Juve"))
    await office.goto(f"/moderation/people/{max_.pk}/")
    act, hours, reason = (office.get_by_label(name, exact=True) for name in ("Act", "For how long", "Reason"))
    letter = office.locator(".preview")
    await expect(letter).to_contain_text("Choose what to do")
    await expect(hours).to_be_hidden()
    await act.select_option("mute")
    await expect(hours).to_be_visible()
    await reason.select_option("threat")
    await hours.select_option("24")
    await expect(letter).to_contain_text("You cannot write to others")
    await expect(letter).to_contain_text("Threats")
    await looked_at(office, "moderation-preview")

    # Of what was chosen, only what fits the new act stays.
    await act.select_option("rename")
    await expect(hours).to_be_hidden()
    await expect(reason).to_have_value("")
    assert await reason.locator("option").all_inner_texts() == ["–", "An offensive name", "Something else"]
    await expect(letter).to_contain_text("has been changed")
    await expect(letter).not_to_contain_text("Threats")
    assert not await Act.objects.aexists()
