"""Which words lead somewhere else, and what in them nobody sees."""

from time import thread_time

import pytest

from games import links


@pytest.mark.parametrize(
    "text",
    [
        "https://x.y",
        "HTTP:something",
        "ftp://x.y",
        "look at www.best-site",
        "buy at cheap-gold.com now",
        "cheap . net",
        "bit.ly/x",
        "t.co/abc",
        "youtu.be/abc",
        "foo.online",
        "free-skins.shop",
        "foo.co.uk",
        "evil.at/x",
        "a.ch",
        "1.2.3.4/x",
        "foo\N{FULLWIDTH FULL STOP}com",
        "foo\N{IDEOGRAPHIC FULL STOP}com",
        "foo\N{HALFWIDTH IDEOGRAPHIC FULL STOP}com",
        "\N{FULLWIDTH LATIN SMALL LETTER F}oo.\N{CIRCLED LATIN SMALL LETTER C}om",
        "evil.xn--p1ai",
        "evil . xn--80asehdb",
        "пример.рф",
        "ПРИМЕР.РФ",
        "παράδειγμα.ελ",
        "例子.中国",
        "evil[.]com",
        "evil (.) de",
        "evil [dot] gg",
        "evil(punto)it",
        "cheap gold dot com",
        "oro punto com",
        "discord gg/x",
        "Discord gg / x",
        "bit ly/abc",
        "fo\u200bo.c\u200dom",
        "foo\N{VARIATION SELECTOR-16}.c\N{COMBINING GRAPHEME JOINER}om",
    ],
)
def test_an_address_leads_elsewhere_however_it_is_written(text: str) -> None:
    assert links.leads_elsewhere(text)


@pytest.mark.parametrize(
    "text",
    [
        "Well played.That was close.",
        "Well played.At last",
        "Merci.Au revoir",
        "Good game. It was fun. Me too",
        "Gut. Es geht los",
        "Gracias. De nada",
        "Ja. Com sorte",
        "gg.nice one",
        "ok.so",
        "gg.ça va",
        "Gracias.si",
        "Ja.ich auch",
        "4.5/5",
        "On 12.10.2024 and/or later...",
        # English
        "I paid 3.5, e.g. for art, i.e. too much",
        "That dot is a tile (.)",
        "discord, gg!",
        "gg / wp",
        "Are you on discord? gg/wp",
        "A bit less",
        # French
        "J'arrive à 20.15, p.ex.",
        "Bien joué...et encore",
        "C'est un point net",
        "c.-à-d. le tableau",
        "Un point comme ça [...]",
        # Italian
        "Ho 3.5 punti, ecc.",
        "A che punto com'è la partita?",
        "Sig.ra Rossi",
        # Spanish
        "Un punto. Comienza ya",
        "Son las 20.15 p.m.",
        "Sr. López, EE.UU.",
        # Portuguese
        "Fiz um ponto com a carta",
        "Um ponto (com sorte)",
        "Av. Paulista, 3.º andar",
        # German
        "fertig.los",
        "z.B. hier, d.h. u.a. links",
        "1.Platz um 20.15 Uhr",
        "Der Punkt kommt noch",
        "Na ja...also los",
        "usw. [...] (...)",
    ],
)
def test_a_sentence_is_no_address(text: str) -> None:
    assert not links.leads_elsewhere(text)


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("  a \n\t b\0 ", "a b"),
        ("\u202ea\u202c \u2066b\u2069 \u200f\ufeffc\u00ad", "a b c"),
        ("a \u200b b", "a b"),
        ("a\u200db \u200d é\u200c\u200cé", "ab éé"),
        ("\u3000\u200d\u3000", ""),
        ("👨\u200d👩\u200d👧 ❤️", "👨\u200d👩\u200d👧 ❤️"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("don´t… ½", "don´t… ½"),
    ],
)
def test_what_nobody_sees_is_left_out_and_what_is_seen_stays(written: str, seen: str) -> None:
    assert links.visible(written) == seen


@pytest.mark.parametrize("part", ["x", "-", ".", "a.", "1", " .", "x.y"])
def test_a_longer_text_takes_longer_and_not_the_square_of_that(part: str) -> None:
    def seconds(letters: int) -> float:
        text, began = part * letters, thread_time()
        assert not links.leads_elsewhere(text)
        return thread_time() - began

    def least(letters: int) -> float:
        return min(seconds(letters) for _ in range(3))

    # It is twenty times as long; the square of that is four hundred.
    assert least(20_000) < 100 * least(1_000)
