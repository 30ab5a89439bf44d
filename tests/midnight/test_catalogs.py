"""The six languages: every text of the sources is found, and every catalog says it in full."""

import re
from collections.abc import Iterator
from datetime import date
from pathlib import Path

import allauth
import django
import polib
import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import translation
from django.utils.formats import date_format

from games.names import card_in_words, points
from games.rules.edition import Unique
from games.sentences import say
from midnight import catalogs
from midnight.catalogs import LANGUAGES, Text

EACH_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


def translations(language: str) -> Iterator[tuple[polib.POEntry, str]]:
    for entry in catalogs.read(language):
        for translation_ in catalogs.translation_of(entry):
            if translation_:
                yield entry, translation_


def wrong(language: str, pattern: str) -> list[str]:
    return [said for _entry, said in translations(language) if re.search(pattern, said)]


# What is found in the sources.


def test_texts_of_python_are_found_by_whatever_name_gettext_is_imported() -> None:
    source = """
from django.utils import translation
from django.utils.formats import date_format
from django.utils.translation import gettext as say, gettext_lazy as _, ngettext, pgettext_lazy, npgettext
def f(number):
    return [say("a" "b"), _("c"), ngettext("one", "many", number), pgettext_lazy("where", "d"), gettext("not ours"),
            npgettext("where", "x", "xs", number), translation.gettext("e"), say("f") if number else _("g")]
"""
    found = set(catalogs.texts_of_python(source))
    plain = {Text("ab"), Text("c"), Text("e"), Text("f"), Text("g")}
    assert found == plain | {Text("one", "many"), Text("d", context="where"), Text("x", "xs", "where")}


def test_a_text_that_is_computed_is_refused() -> None:
    source = "from django.utils.translation import gettext\ngettext(f'{name} escaped')"
    with pytest.raises(ValueError, match="line 2: a text for translation must be written out"):
        list(catalogs.texts_of_python(source))


def test_texts_of_a_template_are_found_in_every_tag_and_filter() -> None:
    source = """
    <p class="it's">{% translate "Sold" %} {% translate 'Open' context "door" as open %}{{ name|default:_("you") }}
    {# {% translate "not this" %} #}{% include "x.html" with title=_("A title") %}
  {% blocktranslate count number=n trimmed %}
    {{ number }} tile
  {% plural %}{{ number }} tiles{% endblocktranslate %}{% blocktranslate %}50 % off{% endblocktranslate %}
"""
    assert list(catalogs.texts_of_template(source)) == [
        Text("Sold"),
        Text("Open", context="door"),
        Text("you"),
        Text("A title"),
        Text("%(number)s tile", "%(number)s tiles"),
        Text("50 %% off"),
    ]


def test_a_new_text_waits_for_its_translation_and_one_that_is_gone_is_dropped() -> None:
    catalog = catalogs.read("fr")
    catalog.clear()
    catalog.append(polib.POEntry(msgid="Sold", msgstr="Vendu"))
    catalog.append(polib.POEntry(msgid="Gone", msgstr="Parti"))
    fresh = catalogs.brought_up_to_date(catalog, {Text("New"): ["a.html"], Text("Sold"): ["a.html", "b.py"]})
    assert [(entry.msgid, entry.msgstr) for entry in fresh] == [("New", ""), ("Sold", "Vendu")]
    assert [file for file, _line in fresh.find("Sold").occurrences] == ["a.html", "b.py"]


def test_the_command_writes_both_files_and_names_what_is_to_be_translated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catalogs, "po_of", lambda language: tmp_path / language / "django.po")
    monkeypatch.setattr(catalogs, "texts_in_use", lambda: {Text("Sold"): ["a.html"]})
    call_command("catalogs")
    assert 'msgid "Sold"' in (tmp_path / "fr" / "django.po").read_text()
    assert (tmp_path / "fr" / "django.mo").read_bytes() == catalogs.compiled(catalogs.read("fr"))
    assert "fr: 1 texts, 1 to be translated\n    Sold\n" in capsys.readouterr().out


# What the catalogs say.


def test_every_language_of_the_site_has_a_catalog() -> None:
    assert set(LANGUAGES) == {"fr", "it", "es", "pt", "de"} == set(catalogs.PLURALS)
    assert all(catalogs.po_of(language).exists() for language in LANGUAGES)


@EACH_LANGUAGE
def test_what_the_site_reads_is_the_catalog_that_people_read(language: str) -> None:
    compiled = catalogs.po_of(language).with_suffix(".mo").read_bytes()
    assert compiled == catalogs.compiled(catalogs.read(language)), "run manage.py catalogs"


@EACH_LANGUAGE
def test_every_text_of_the_sources_is_translated(language: str) -> None:
    translated = {catalogs.text_of(entry) for entry in catalogs.read(language).translated_entries()}
    waiting = [text.singular for text in catalogs.texts_in_use() if text not in translated]
    assert not waiting, f"run manage.py catalogs, translate what it names in the .po files, run it again: {waiting}"


@EACH_LANGUAGE
def test_no_catalog_holds_a_text_that_no_source_uses(language: str) -> None:
    in_use = catalogs.texts_in_use()
    unused = [entry.msgid for entry in catalogs.read(language) if catalogs.text_of(entry) not in in_use]
    assert not unused, f"run manage.py catalogs, which drops them: {unused}"


@EACH_LANGUAGE
def test_no_entry_is_doubtful_or_left_over(language: str) -> None:
    assert [entry.msgid for entry in catalogs.read(language) if entry.fuzzy or entry.obsolete] == []


@EACH_LANGUAGE
def test_every_translation_holds_the_places_and_the_markup_of_its_text(language: str) -> None:
    wrong = [
        f"{entry.msgid!r} became {said!r}"
        for entry, said in translations(language)
        if catalogs.marks(said) not in (catalogs.marks(entry.msgid), catalogs.marks(entry.msgid_plural))
    ]
    assert wrong == []


@EACH_LANGUAGE
def test_every_translation_begins_and_ends_like_its_text(language: str) -> None:
    def ends(text: str) -> tuple[bool, bool, str]:
        return text[0].isspace(), text[-1].isspace(), text[-1] if text[-1] in ".?!…" else ""

    wrong = [
        f"{entry.msgid!r} became {said!r}" for entry, said in translations(language) if ends(said) != ends(entry.msgid)
    ]
    assert wrong == []


@EACH_LANGUAGE
def test_what_is_counted_has_a_translation_for_every_plural_form(language: str) -> None:
    counted = [entry for entry in catalogs.read(language) if entry.msgid_plural]
    assert counted
    assert all(set(entry.msgstr_plural) == {0, 1} for entry in counted)
    assert not [entry.msgid for entry in counted if len({bool(form) for form in entry.msgstr_plural.values()}) > 1]


@EACH_LANGUAGE
def test_quotes_apostrophes_and_dots_are_the_printers_ones(language: str) -> None:
    assert wrong(language, r"""["']|\.\.\.|  """) == []


def test_french_leaves_a_narrow_space_before_its_tall_signs() -> None:
    assert wrong("fr", r"(?<!\u202f)[;!?»]|«(?!\u202f)|(?<!\u202f):(?!//)") == []


@pytest.mark.parametrize(
    ("language", "foreign"), {"de": "«»”", "it": "“”„", "es": "“”„", "pt": "“”„", "fr": "“”„"}.items()
)
def test_quotation_marks_are_those_of_the_language(language: str, foreign: str) -> None:
    assert wrong(language, f"[{foreign}]") == []


def test_spanish_questions_and_calls_begin_where_they_begin() -> None:
    assert [said for _, said in translations("es") if said.count("?") != said.count("¿")] == []
    assert [said for _, said in translations("es") if said.count("!") != said.count("¡")] == []


# What people read.


@EACH_LANGUAGE
def test_a_visitor_reads_the_language_of_the_browser(language: str) -> None:
    page = Client(headers={"accept-language": f"{language}-XX,{language};q=0.9,en;q=0.5"}).get("/about/")
    with translation.override(language):
        heading = translation.gettext("Fair by construction")
    assert heading != "Fair by construction"
    assert f'<html lang="{language}"' in page.text
    assert f"<h2>{heading}</h2>" in page.text
    assert page.headers["Content-Language"] == language


def test_a_language_that_we_do_not_speak_reads_english() -> None:
    page = Client(headers={"accept-language": "fi"}).get("/about/")
    assert '<html lang="en"' in page.text
    assert "Fair by construction" in page.text


def test_the_language_somebody_chose_goes_before_the_browsers() -> None:
    client = Client(headers={"accept-language": "fr"})
    client.post("/display/", {"language": "it", "theme": "dark", "next": "/about/"})
    assert "Equo per costruzione" in client.get("/about/").text


def test_a_refusal_over_the_socket_is_in_the_language_asked_for() -> None:
    assert say("flood", {"most": 20}, "de") == "Das war zu schnell: höchstens 20 Befehle in der Sekunde."
    assert say("flood", {"most": 20}, "en") == "That was too fast: at most 20 commands a second."


def test_dates_are_written_as_the_language_writes_them() -> None:
    said = {}
    for language in ["en", *LANGUAGES]:
        with translation.override(language):
            said[language] = date_format(date(2026, 3, 5))
    assert said == {
        "en": "March 5, 2026",
        "fr": "5 mars 2026",
        "it": "5 marzo 2026",
        "es": "5 de marzo de 2026",
        "pt": "5 de março de 2026",
        "de": "5. März 2026",
    }


def test_nothing_counts_as_none_of_many_in_french_and_as_many_elsewhere() -> None:
    with translation.override("fr"):
        assert [points(0), points(1), points(2)] == ["0 point", "1 point", "2 points"]
    with translation.override("de"):
        assert [points(0), points(1), points(2)] == ["0 Punkte", "1 Punkt", "2 Punkte"]


def test_the_words_of_the_game_are_those_of_the_printed_rules() -> None:
    card = Unique("pharaoh", "statuette")
    said = {}
    for language in LANGUAGES:
        with translation.override(language):
            said[language] = card_in_words(card)
    assert said == {
        "fr": "Statuette de pharaon\u202f: 3 points",
        "it": "Statuetta di faraone: 3 punti",
        "es": "Estatua de un faraón: 3 puntos",
        "pt": "Estatueta de um faraó: 3 pontos",
        "de": "Statue eines Pharaos: 3 Punkte",
    }


# Our catalogs are found before those of Django and allauth: a text without a context replaces theirs everywhere.

# Texts that mean the same on their pages as on ours; only the wording of the translation differs.
SAME_MEANING = {
    *("Administration", "Change", "Passkey", "Recovery codes", "Remove", "Save", "Sessions", "Show all"),
    "Sign in with a passkey",
}


@EACH_LANGUAGE
def test_no_game_word_replaces_a_text_of_a_library(language: str) -> None:
    ours = {entry.msgid: entry.msgstr for entry in catalogs.read(language) if not entry.msgctxt}
    replaced = {
        entry.msgid
        for library in (django, allauth)
        for file in Path(library.__file__).parent.rglob(f"locale/{language}/LC_MESSAGES/django.po")
        for entry in polib.pofile(str(file))
        if not entry.msgctxt and entry.msgstr and ours.get(entry.msgid, entry.msgstr).lower() != entry.msgstr.lower()
    }
    assert replaced <= SAME_MEANING, "give these a context"


@pytest.mark.parametrize(
    ("text", "contexts"),
    [
        ("About", [None, "case"]),
        ("Change", [None, "rating"]),
        ("Mute", [None, "for oneself"]),
        ("Won", ["result", "number of games"]),
        ("open", ["room", "case"]),
        ("you", ["who works on it", "by whom"]),
    ],
)
def test_words_with_two_meanings_have_two_entries(text: str, contexts: list[str | None]) -> None:
    entries = {entry.msgctxt for entry in catalogs.read("fr") if entry.msgid == text}
    assert entries >= set(contexts)


@EACH_LANGUAGE
def test_the_admin_search_button_says_search(language: str) -> None:
    with translation.override(language):
        assert translation.gettext("Search") == {
            "fr": "Rechercher", "it": "Cerca", "es": "Buscar", "pt": "Pesquisar", "de": "Suchen",
        }[language]  # fmt: skip
