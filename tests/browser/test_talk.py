"""The chat in real browsers: what is said and hidden reaches open pages, and disturbs nobody."""

from asgiref.sync import sync_to_async
from playwright.async_api import Page, expect

from accounts.models import User
from games import chat, rooms
from games.models import Message, Reason, Room
from games.moderation import acts
from games.moderation.acts import Why
from tests.browser.conftest import OpenPage
from tests.browser.watch import assert_fits, assert_no_barriers, shot
from tests.games.night_watch import moderator, somebody

PHONE = {"width": 360, "height": 640}


async def sitting(*names: str) -> tuple[Room, list[User]]:
    """A room where all of these people sit; it is the first one's."""
    people = [await sync_to_async(somebody)(name) for name in names]
    room = await sync_to_async(rooms.open_room)(people[0], size=len(people) + 1)
    for person in people[1:]:
        await sync_to_async(rooms.sit)(room, person)
    return room, people


async def said(room: Room, person: User, words: str) -> Message:
    place = await sync_to_async(chat.place_of)(chat.channel_of_room(room), person.pk)
    assert place is not None
    return await sync_to_async(chat.say)(person, place, words=words)


async def talking(page: Page, room: Room) -> None:
    await page.goto(f"/rooms/{room.code}/")
    await page.get_by_label("Chat", exact=True).click()
    await expect(page.get_by_label("What was said")).to_be_visible()


async def test_what_is_said_and_hidden_reaches_a_page_where_somebody_is_writing_and_leaves_it_as_it_is(
    open_page: OpenPage,
) -> None:
    room, (irma, max_) = await sitting("Irma Vep", "Max")
    juve = await sync_to_async(moderator)()
    page = await open_page(person=irma)
    await talking(page, room)
    field, heard = page.get_by_label("Say something"), page.get_by_label("What was said")
    await field.press_sequentially("I am about to")
    insult = await said(room, max_, "You fool")
    await expect(heard).to_contain_text("You fool")
    await expect(field).to_be_focused()
    await expect(field).to_have_value("I am about to")
    await sync_to_async(acts.hide)(juve, insult, Why(Reason.INSULT))
    await expect(heard).not_to_contain_text("You fool")
    await expect(field).to_be_focused()
    await page.get_by_role("button", name="Good luck!").click()
    await expect(heard).to_contain_text("Good luck!")
    await expect(field).to_have_value("I am about to")
    await field.focus()
    await field.press_sequentially(" say it")
    await field.press("Enter")
    await expect(heard).to_contain_text("I am about to say it")
    await expect(field).to_have_value("")
    await expect(field).to_be_focused()
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    await assert_no_barriers(page)
    await assert_fits(page)
    box = await page.locator(".talk-panel").bounding_box()
    assert box
    assert 0 <= box["x"] <= box["x"] + box["width"] <= PHONE["width"]
    await shot(page, "talk")


async def test_a_moderator_hides_what_they_read_in_a_dialog_and_it_leaves_every_page(open_page: OpenPage) -> None:
    room, _people = await sitting("Irma Vep", "Max")
    fandor = await sync_to_async(somebody)("Fandor")
    await said(room, fandor, "You fools")
    watch, page = await open_page(person=await sync_to_async(moderator)()), await open_page()
    for one in (watch, page):
        await talking(one, room)
        await expect(one.get_by_label("What was said")).to_contain_text("You fools")
    for label in ("Report what Fandor said", "Hide this message"):
        box, name = await watch.get_by_label(label).bounding_box(), await watch.locator(".said b").bounding_box()
        assert box
        assert name
        assert box["x"] > name["x"] + name["width"], "a flag covers the words"
    await shot(watch, "talk-watched")
    await watch.get_by_role("link", name="Hide this message").click()
    dialog = watch.get_by_role("dialog", name="Hide this message")
    await expect(dialog).to_contain_text("You fools")
    await assert_no_barriers(watch)
    await shot(watch, "talk-hide")
    letter = dialog.locator(".preview")
    await expect(letter).to_contain_text("A message of yours has been hidden.")
    await dialog.get_by_label("Reason").select_option("insult")
    await expect(letter).to_contain_text("Insults or hate")
    await dialog.get_by_role("button", name="Hide this message").click()
    await dialog.get_by_role("button", name="Done").click()
    await expect(dialog).to_be_hidden()
    for one in (watch, page):
        await expect(one.get_by_label("What was said")).to_contain_text("Only who watches reads this.")
        await expect(one.get_by_label("What was said")).not_to_contain_text("You fools")


async def test_a_ring_that_was_lost_is_made_good_when_somebody_looks_at_the_page_again(open_page: OpenPage) -> None:
    room, (irma, max_) = await sitting("Irma Vep", "Max")
    page = await open_page(person=irma)
    await talking(page, room)
    heard = page.get_by_label("What was said")
    await said(room, max_, "Hey")
    await expect(heard).to_contain_text("Hey")
    await Message.objects.aupdate(hidden=True)
    await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    await expect(heard).not_to_contain_text("Hey")
