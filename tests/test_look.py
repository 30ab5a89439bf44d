"""The look of a page: what a visitor asked for is what `<html>` says."""

from django.test import Client

from midnight.look import DisplayForm, Look


def test_a_visitors_cookie_keeps_every_wish() -> None:
    look = Look(theme="dark", reduced_motion=True, patterns=True, sounds=False)
    assert Look.from_cookie(look.to_cookie()) == look
    assert Look.from_cookie(Look().to_cookie()) == Look()


def test_a_cookie_that_makes_no_sense_asks_for_nothing() -> None:
    assert Look.from_cookie('";<script>.purple..') == Look()


def test_the_page_says_what_the_visitor_asked_for(client: Client) -> None:
    client.cookies["look"] = "dark.still.silent"
    page = client.get("/").content.decode()
    assert '<html lang="en" data-theme="dark" data-motion="reduced" data-patterns="off" data-sounds="off">' in page


def test_a_field_names_its_hint_and_its_error() -> None:
    html = DisplayForm({"language": "xx", "theme": "dark"}).render()
    assert 'aria-invalid="true" aria-describedby="id_language_error"' in html
    assert 'id="id_language_error"' in html
    assert 'aria-describedby="id_patterns_helptext"' in html


def test_a_form_with_errors_begins_with_a_summary_that_takes_the_focus() -> None:
    html = DisplayForm({"language": "xx", "theme": "dark"}).render()
    assert html.startswith('<div class="error-summary" role="alert" tabindex="-1" data-focus>')
    assert '<a href="#id_language">Language</a>' in html
