"""The watch over every page hears what it is there to hear."""

import asyncio

import pytest
from playwright.async_api import Page

from tests.browser.watch import Watch, assert_fits, barriers


async def assert_heard(complaint: str, page: Page, watch: Watch) -> None:
    """The page is told off for this; it is forgiven here, since it was meant."""
    try:
        async with asyncio.timeout(20):
            while not any(complaint in told for told in watch.unexpected()):
                await page.wait_for_timeout(20)
    finally:
        watch.expect(".*")


@pytest.mark.parametrize(
    ("mischief", "complaint"),
    [
        ("console.error('a slip')", "a slip"),
        ("setTimeout(() => { throw new Error('nobody caught me') })", "nobody caught me"),
        ("document.body.setAttribute('style', 'color: red')", "CSP: style-src-attr"),
        ("document.body.append(Object.assign(document.createElement('script'), {text: '1'}))", "CSP: script-src-elem"),
        ("document.body.append(Object.assign(new Image(), {src: 'http://127.0.0.1:9/x.png'}))", "CSP: img-src"),
        ("fetch('/nothing-here/')", "status of 404"),
    ],
)
async def test_what_a_page_should_not_do_is_heard(mischief: str, complaint: str, page: Page, watch: Watch) -> None:
    await page.goto("/about/")
    await page.evaluate(f"() => {{ {mischief} }}")
    await assert_heard(complaint, page, watch)


async def test_a_page_that_leads_to_another_host_is_heard(page: Page, watch: Watch) -> None:
    await page.goto("/about/")
    await page.goto("data:text/html,<img src='http://127.0.0.1:9/x.png'>")
    await assert_heard("another host: http://127.0.0.1:9/x.png", page, watch)


async def test_a_barrier_and_a_page_too_wide_are_found(page: Page) -> None:
    await page.goto("/about/")
    await page.evaluate("document.querySelector('main').append(new Image())")
    assert any(found.startswith("image-alt") for found in await barriers(page))
    await page.evaluate("document.querySelector('h1').style.width = '3000px'")
    with pytest.raises(AssertionError, match="wider than its window"):
        await assert_fits(page)
