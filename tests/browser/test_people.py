"""People in a real Chromium: from a guest's first click to the last farewell, and pages with something on them."""

import asyncio
import json
import time
from pathlib import Path

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import format_hotp_value, hotp_value
from playwright.async_api import Page, Route, expect

from accounts.models import Trace, User
from tests.browser import passkeys
from tests.browser.conftest import OpenPage
from tests.browser.watch import Watch, assert_fits, assert_no_barriers, shot

PASSWORD = "gratin dauphinois"


async def code_of(secret: str) -> str:
    """What an app shows that has the secret; one that is good for some seconds more."""
    if time.time() % 30 > 25:
        await asyncio.sleep(30.1 - time.time() % 30)
    return format_hotp_value(hotp_value(secret, int(time.time()) // 30))


async def sign_up(page: Page, name: str = "Irma Vep") -> None:
    await page.goto("/account/sign-up/")
    await page.get_by_label("Name").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("main").get_by_role("button", name="Sign up").click()
    await expect(page.get_by_role("banner")).to_contain_text(name)


async def sign_in(page: Page, name: str = "Irma Vep") -> None:
    await page.goto("/account/sign-in/")
    await page.get_by_label("Name or mail address").fill(name)
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("button", name="Sign in", exact=True).click()


async def menu(page: Page, item: str) -> None:
    await page.get_by_role("banner").locator("summary").click()
    await page.get_by_role("banner").get_by_text(item).click()


async def test_from_a_guests_first_click_to_the_last_farewell(page: Page, tmp_path: Path) -> None:
    await page.goto("/account/sign-up/")
    await page.get_by_role("button", name="Play as a guest").click()
    await expect(page.get_by_role("banner")).to_contain_text("Guest ")
    guest = await User.objects.aget()
    session = {cookie["name"]: cookie["value"] for cookie in await page.context.cookies()}["sessionid"]

    await menu(page, "Keep this account")
    await page.get_by_label("Name").fill("Irma Vep")
    await page.get_by_label("Password").fill(PASSWORD)
    await page.get_by_role("main").get_by_role("button", name="Keep this account").click()
    await expect(page.get_by_role("status").first).to_contain_text("Welcome, Irma Vep")
    named = await User.objects.aget()
    assert (named.pk, named.name, named.is_guest) == (guest.pk, "Irma Vep", False)
    # More rights, another key: who knew the guest's has nothing of the account.
    assert {cookie["name"]: cookie["value"] for cookie in await page.context.cookies()}["sessionid"] != session

    await page.get_by_role("link", name="Passkeys and codes").click()
    await page.get_by_role("link", name="Set up an app").click()
    # A guest never signed in, so this is the first time that a password is asked for.
    asked = page.get_by_role("heading", name="Is it you?")
    await expect(asked.or_(page.locator("code.secret"))).to_be_visible()
    if await asked.is_visible():
        await page.get_by_label("Password").fill(PASSWORD)
        await page.get_by_role("button", name="Go on").click()
    secret = await page.locator("code.secret").inner_text()
    await page.get_by_label("Code from the app").fill(await code_of(secret))
    await page.get_by_role("button", name="Use this app").click()
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    codes = await page.locator(".codes code").all_inner_texts()
    assert len(codes) == 10

    await menu(page, "Sign out")
    await expect(page.get_by_role("banner")).to_contain_text("Sign in")
    await sign_in(page)
    await expect(page.get_by_role("heading", name="One step more")).to_be_visible()
    await page.get_by_label("Code").fill(codes[0])
    await page.get_by_role("button", name="Sign in", exact=True).click()
    await expect(page.get_by_role("banner")).to_contain_text("Irma Vep")

    await page.goto("/account/data/")
    async with page.expect_download() as waiting:
        await page.get_by_role("button", name="Download your data").click()
    download = await waiting.value
    await download.save_as(tmp_path / "data.json")
    known = json.loads((tmp_path / "data.json").read_text())
    assert known["account"]["name"] == "Irma Vep"
    assert {factor["kind"] for factor in known["second_factors"]} == {"totp", "recovery_codes"}

    await page.get_by_label("Your name, to be sure").fill("somebody else")
    await page.get_by_role("button", name="Delete for good").click()
    await expect(page.get_by_role("alert")).to_contain_text("That is not your name")
    await page.get_by_label("Your name, to be sure").fill("Irma Vep")
    await page.get_by_role("button", name="Delete for good").click()
    await expect(page.get_by_role("status").first).to_contain_text("Farewell")
    gone = await User.objects.aget()
    assert gone.name.startswith("Former ")
    await sign_in(page)
    await expect(page.get_by_role("alert")).to_contain_text("do not belong together")


async def test_a_passkey_is_added_and_lets_one_in_alone(page: Page, watch: Watch) -> None:
    device = await passkeys.give(page)
    await sign_up(page)
    await page.goto("/account/security/")
    await page.get_by_role("link", name="Add a passkey").click()
    await page.get_by_label("Name of this passkey").fill("My laptop")
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    await page.goto("/account/security/")
    await expect(page.locator("b", has_text="My laptop")).to_be_visible()
    await shot(page, "people-security-passkey")

    # The same device does not get a second one.
    await page.goto("/account/security/passkeys/add/")
    await page.get_by_role("button", name="Add a passkey").click()
    await expect(page.get_by_role("alert").last).to_contain_text("has a passkey for you already")

    # Alone, with neither name nor password nor code.
    await menu(page, "Sign out")
    await page.goto("/account/sign-in/")
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_role("banner")).to_contain_text("Irma Vep")

    # After the password, in the place of a code.
    await menu(page, "Sign out")
    await sign_in(page)
    await page.get_by_role("button", name="Use a passkey").click()
    await expect(page.get_by_role("banner")).to_contain_text("Irma Vep")

    # Whoever is not recognised by the device stays outside, and is told so.
    await menu(page, "Sign out")
    await device.recognises(False)
    await page.goto("/account/sign-in/")
    await page.get_by_role("button", name="Sign in with a passkey").click()
    await expect(page.get_by_role("alert").last).to_contain_text("No passkey was used")


async def test_what_was_typed_can_be_looked_at_and_is_sent_hidden(page: Page) -> None:
    await page.goto("/account/sign-up/")
    password = page.get_by_label("Password", exact=True)
    await password.fill(PASSWORD)
    await page.get_by_role("button", name="Show the password").click()
    await expect(password).to_have_attribute("type", "text")
    await expect(page.get_by_role("button", name="Show the password")).to_have_attribute("aria-pressed", "true")
    await page.get_by_role("main").get_by_role("button", name="Sign up").click()
    await expect(page.get_by_role("alert")).to_contain_text("Name")
    await expect(page.get_by_label("Password", exact=True)).to_have_attribute("type", "password")


async def test_a_button_that_is_pressed_again_while_its_form_is_on_its_way_sends_it_once(
    open_page: OpenPage, watch: Watch
) -> None:
    # A service worker sends a controlled page's forms itself, past whoever holds the page's own requests.
    watch.expect("Service Worker registration blocked")
    page = await open_page(service_workers="block")
    sent: list[Route] = []

    async def hold(route: Route) -> None:
        sent.append(route)
        await asyncio.sleep(1)
        await route.continue_()

    await page.route("**/account/guest/", hold)
    await page.goto("/account/sign-up/")
    button = page.get_by_role("button", name="Play as a guest")
    await button.evaluate("(button) => { button.click(); setTimeout(() => button.click(), 300); }")
    await expect(page.get_by_role("banner")).to_contain_text("Guest ")
    assert len(sent) == 1
    assert await User.objects.acount() == 1


async def test_signing_out_everywhere_else_leaves_this_page_alone(open_page: OpenPage) -> None:
    here, there = await open_page(), await open_page()
    await sign_up(here)
    await sign_in(there)
    await expect(there.get_by_role("banner")).to_contain_text("Irma Vep")
    await here.goto("/account/sessions/")
    await here.get_by_role("button", name="Sign out everywhere else").click()
    await expect(here.get_by_role("status").first).to_contain_text("everywhere else")
    await there.reload()
    await expect(there.get_by_role("banner")).to_contain_text("Sign in")


async def furnished(page: Page) -> User:
    """Somebody with something on each of their pages, signed in."""
    await sign_up(page)
    person = await User.objects.aget(name="Irma Vep")
    await EmailAddress.objects.acreate(user=person, email="irma@example.org", verified=True, primary=True)
    await EmailAddress.objects.acreate(user=person, email="new@example.org")
    await Trace.objects.acreate(user=person, what=Trace.What.RESCUED, by="Commissaire")
    return person


async def look_over(page: Page, address: str, name: str) -> None:
    await page.goto(address)
    for scheme in ("light", "dark"):
        await page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        await assert_no_barriers(page)
    await shot(page, f"people-{name}")
    await page.set_viewport_size({"width": 360, "height": 640})
    await assert_fits(page)
    await page.set_viewport_size({"width": 1280, "height": 720})


@pytest.mark.slow
async def test_pages_with_something_on_them_stand_without_a_barrier(page: Page) -> None:
    await furnished(page)
    for name in ("", "mail", "sessions", "data", "name", "password"):
        await look_over(page, f"/account/{name}/".replace("//", "/"), name or "account")


@pytest.mark.slow
async def test_links_that_are_good_no_longer_stand_without_a_barrier(page: Page) -> None:
    await look_over(page, "/account/password/new/1-abc/", "reset-stale")
    await look_over(page, "/account/mail/confirm/abc/", "mail-stale")


@pytest.mark.slow
async def test_pages_between_stand_without_a_barrier(page: Page) -> None:
    """What one passes on the way: errors, a guest's pages, a code that is asked for, a duty."""
    await look_over(page, "/account/sign-up/", "sign-up")
    await page.get_by_role("main").get_by_role("button", name="Sign up").click()
    await expect(page.get_by_role("alert").first).to_be_visible()
    await assert_no_barriers(page)
    await shot(page, "people-sign-up-errors")

    await page.get_by_role("button", name="Play as a guest").click()
    await expect(page.get_by_role("banner")).to_contain_text("Guest ")
    await look_over(page, "/account/", "guest")
    await look_over(page, "/account/claim/", "claim")
    await look_over(page, "/account/sign-in/", "leave-guest")
    await look_over(page, "/account/sign-out/", "guest-sign-out")
    await page.context.clear_cookies()

    person = await furnished(page)
    await page.goto("/account/security/app/")
    secret = await page.locator("code.secret").inner_text()
    await page.get_by_label("Code from the app").fill(await code_of(secret))
    await page.get_by_role("button", name="Use this app").click()
    await expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    await look_over(page, "/account/security/codes/", "codes")
    await look_over(page, "/account/security/app/remove/", "app-remove")
    await look_over(page, "/account/security/", "security-app")
    await page.context.clear_cookies()
    await sign_in(page)
    await look_over(page, "/account/sign-in/code/", "code")
    await expect(page.get_by_role("button", name="Use a passkey")).to_be_hidden()
    await page.context.clear_cookies()

    await person.authenticator_set.all().adelete()  # type: ignore[attr-defined]
    await User.objects.filter(pk=person.pk).aupdate(is_staff=True)
    await sign_in(page)
    await look_over(page, "/", "duty-factor")
    await User.objects.filter(pk=person.pk).aupdate(must_change_password=True)
    await look_over(page, "/", "duty-password")
