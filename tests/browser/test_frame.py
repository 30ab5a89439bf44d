"""What surrounds every page: the way by keyboard, the menu, the choice of display, the line, what goes wrong."""

import pytest
from asgiref.sync import sync_to_async
from django.contrib.auth.models import AnonymousUser
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.utils.translation import override
from playwright.async_api import Page, Route, expect

from accounts.models import User
from tests.browser import staged
from tests.browser.conftest import OpenPage
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot


async def focused(page: Page) -> str:
    return str(await page.evaluate("document.activeElement.innerText || document.activeElement.ariaLabel"))


async def test_the_keyboard_goes_from_the_skip_link_to_the_button_that_plays(page: Page) -> None:
    await page.goto("/")
    await page.keyboard.press("Tab")
    assert await focused(page) == "Skip to the content"
    await expect(page.get_by_role("link", name="Skip to the content")).to_be_in_viewport()
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert await focused(page) == "Play against bots"
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("button", name="Ready")).to_be_visible()
    await expect(page.locator("#sitters")).to_contain_text("Guest")


async def test_every_stop_of_the_keyboard_is_seen(page: Page) -> None:
    await page.goto("/")
    links = await page.locator("a, button, select, input:not([type=hidden]), summary").count()
    for _ in range(links):
        await page.keyboard.press("Tab")
        ring = await page.evaluate(
            """() => {
              const stop = document.activeElement.closest("label") ?? document.activeElement;
              return stop === document.body ? "body" : getComputedStyle(stop).outlineStyle;
            }"""
        )
        assert ring in {"solid", "body"}, await focused(page)


async def test_the_menu_opens_by_keyboard_and_escape_closes_it(open_page: OpenPage) -> None:
    person = await sync_to_async(User.objects.create_user)("Irma Vep")
    page = await open_page(person=person)
    await page.goto("/play/")
    summary = page.locator("summary", has_text="Irma Vep")
    await summary.focus()
    await page.keyboard.press("Enter")
    await expect(page.get_by_role("link", name="Settings")).to_be_visible()
    await assert_no_barriers(page)
    await page.keyboard.press("Tab")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("link", name="Settings")).to_be_hidden()
    await expect(summary).to_be_focused()
    await summary.click()
    await page.mouse.click(20, 400)
    await expect(page.get_by_role("link", name="Settings")).to_be_hidden()


async def test_on_a_phone_everything_one_presses_is_big_enough_for_a_finger(open_page: OpenPage) -> None:
    page = await open_page(viewport={"width": 360, "height": 640}, has_touch=True)
    for address in ("/", "/account/sign-up/", "/display/"):
        await page.goto(address)
        # A link within a sentence is as tall as the sentence; everything else is not.
        small = await page.evaluate(
            """() => [...document.querySelectorAll("a, button, summary, select, input:not([type=hidden])")]
              .map((part) => part.matches("input[type=radio], input[type=checkbox]")
                ? part.closest("label, .choice") : part)
              .filter((part) => part.checkVisibility() && !part.closest("p, .hint, .skip") && !part.matches(".skip"))
              .filter((part) => part.getBoundingClientRect().height < 44)
              .map((part) => part.outerHTML.slice(0, 120))"""
        )
        assert not small, f"{address}: {small}"


async def test_a_visitors_theme_and_language_take_effect_at_once_and_stay(page: Page) -> None:
    await page.goto("/about/")
    root = page.locator("html")
    await page.get_by_role("radio", name="Dark").check(force=True)
    await expect(root).to_have_attribute("data-theme", "dark")
    await expect(page).to_have_url("/about/")
    await page.get_by_label("Language").select_option("fr")
    await expect(root).to_have_attribute("lang", "fr")
    await page.goto("/")
    await expect(root).to_have_attribute("data-theme", "dark")
    await expect(root).to_have_attribute("lang", "fr")


async def test_without_scripts_a_button_keeps_the_choice(open_page: OpenPage) -> None:
    page = await open_page(java_script_enabled=False)
    await page.goto("/about/")
    await page.get_by_role("radio", name="Light").check(force=True)
    await page.get_by_role("button", name="Apply").click()
    await expect(page.locator("html")).to_have_attribute("data-theme", "light")


async def test_who_wants_no_motion_sees_none(open_page: OpenPage) -> None:
    for wish in ({"reduced_motion": "reduce"}, {"reduced_motion": "no-preference"}):
        page = await open_page(**wish)
        if wish["reduced_motion"] == "no-preference":
            await page.goto("/")
            assert await page.evaluate("document.getAnimations().length") > 0
            await page.goto("/display/")
            await page.get_by_label("Less motion").check()
            await page.get_by_role("button", name="Save").click()
            await expect(page.locator("html")).to_have_attribute("data-motion", "reduced")
        await page.goto("/")
        assert await page.evaluate("document.getAnimations().length") == 0


async def test_paper_shows_neither_head_nor_foot_nor_the_night(open_page: OpenPage) -> None:
    person = await sync_to_async(User.objects.create_user)("Irma Vep", theme="dark")
    page = await open_page(person=person)
    await page.goto("/account/")
    await page.emulate_media(media="print", color_scheme="dark")
    for part in (".masthead", ".colophon", ".account-nav"):
        await expect(page.locator(part)).to_be_hidden()
    await expect(page.get_by_role("heading", name="Irma Vep")).to_be_visible()
    ground, ink = await page.evaluate(
        "[document.body, document.querySelector('main dt')].map((one, at) => "
        "getComputedStyle(one)[at ? 'color' : 'backgroundColor'])"
    )
    assert ground == "rgb(255, 255, 255)"
    assert max(int(part) for part in ink.removeprefix("rgb(").removesuffix(")").split(",")) < 128


async def test_a_table_without_scripts_says_what_it_needs(open_page: OpenPage) -> None:
    irma = await sync_to_async(User.objects.create_user)("Irma Vep")
    game = await staged.staged([irma], staged.gathering)
    page = await open_page(person=irma, java_script_enabled=False)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("noscript .notice")).to_be_visible()
    await expect(page.get_by_role("button", name="Ready")).to_be_hidden()


async def test_a_table_that_was_signed_out_leads_back_in(open_page: OpenPage, watch: Watch) -> None:
    watch.expect("WebSocket")
    irma = await sync_to_async(User.objects.create_user)("Irma Vep")
    game = await staged.staged([irma], staged.gathering)
    page = await open_page(person=irma)
    await page.goto(f"/games/{game.code}/")
    await expect(page.locator("body")).to_have_attribute("data-line", "open")
    other = await page.context.new_page()
    await other.goto("/account/sign-out/")
    await other.get_by_role("main").get_by_role("button", name="Sign out").click()
    way = page.locator("#end").get_by_role("link", name="Sign in")
    await expect(way).to_have_attribute("href", f"/account/sign-in/?next=/games/{game.code}/")
    await expect(page.locator("#end button")).to_be_hidden()


async def test_a_form_with_a_mistake_takes_the_focus_to_what_is_wrong(page: Page, watch: Watch) -> None:
    await page.goto("/display/")
    watch.expect("status of 422")
    await page.evaluate("document.querySelector('main [name=language] option').value = 'xx'")
    await page.evaluate("document.querySelector('main [name=language]').value = 'xx'")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_be_focused()
    await assert_no_barriers(page)
    await page.get_by_role("alert").get_by_role("link", name="Language").click()
    field = page.get_by_role("main").get_by_label("Language")
    await expect(field).to_be_focused()
    await expect(field).to_have_accessible_description("Select a valid choice. xx is not one of the available choices.")


async def test_the_page_says_when_the_line_is_cut_and_when_it_is_back(page: Page, watch: Watch) -> None:
    watch.expect("ERR_INTERNET_DISCONNECTED")
    await page.goto("/")
    cut = page.get_by_text("The line is cut")
    await expect(cut).to_be_hidden()
    await page.context.set_offline(True)
    await expect(cut).to_be_visible()
    await assert_no_barriers(page)
    await page.context.set_offline(False)
    await expect(cut).to_be_hidden()


async def test_without_a_line_a_page_of_our_own_says_so_in_six_languages(page: Page, watch: Watch) -> None:
    watch.expect("ERR_INTERNET_DISCONNECTED")
    await page.goto("/")
    await page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    await page.reload()
    await page.context.set_offline(True)
    await page.goto("/play/")
    for words in ("The line is cut", "La ligne est coupée", "La linea è interrotta", "La línea está cortada",
                  "A linha está cortada", "Die Leitung ist unterbrochen"):  # fmt: skip
        await expect(page.get_by_text(words)).to_be_visible()
    await assert_fits(page)
    await page.context.set_offline(False)
    await page.get_by_role("link", name="Try again").click()
    await expect(page.get_by_role("heading", name="The tables")).to_be_visible()


def trouble(status: int) -> str:
    """The page as the site renders it for a visitor; the last two stand without a request."""
    request = RequestFactory().get("/wrong/")
    request.user = AnonymousUser()
    with override("en"):
        return render_to_string(f"{status}.html", request=request if status < 500 else None)


@pytest.mark.parametrize("status", [400, 403, 404, 429, 500, 503])
async def test_a_page_about_what_went_wrong_has_no_barrier_and_a_way_on(status: int, page: Page, watch: Watch) -> None:
    watch.expect(f"status of {status}")
    html = await sync_to_async(trouble)(status)

    async def answer(route: Route) -> None:
        await route.fulfill(status=status, body=html, content_type="text/html")

    await page.route("**/wrong/", answer)
    await page.goto("/wrong/")
    await assert_no_barriers(page)
    await assert_fits(page)
    await shot(page, str(status))
    await page.get_by_role("link", name="To the first page").click()
    await expect(page).to_have_url("/")


async def test_an_address_that_is_not_there_says_so(page: Page, watch: Watch) -> None:
    watch.expect("status of 404")
    await page.goto("/nothing-here/")
    await expect(page.get_by_role("heading", name="Nothing in this drawer")).to_be_visible()


async def test_the_pages_one_meets_first_are_shown_as_they_are(open_page: OpenPage) -> None:
    person = await sync_to_async(User.objects.create_user)("Irma Vep", "ten black gloves")
    for name, address, who in [
        ("home", "/", None),
        ("sign-up", "/account/sign-up/", None),
        ("account", "/account/", person),
        ("display", "/display/", person),
    ]:
        page = await open_page(person=who, reduced_motion="reduce")
        await page.goto(address)
        for picture in await shot(page, name):
            assert picture.stat().st_size > 10_000
