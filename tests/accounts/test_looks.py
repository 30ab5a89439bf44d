"""Names are safe for display, and no two people can be taken for each other."""

import pytest
from django.core.exceptions import ValidationError

from accounts import administrators, closing, looks
from accounts.models import GUEST_NAMES


@pytest.mark.parametrize(
    "name",
    ["Mira", "José", "Ünï", "Jean-Paul", "O'Neil", "J. R. Ewing", "player_1x", "王伟", "ひらカタ漢", "Ελένη"],
)
def test_names_of_one_script_are_allowed(name: str) -> None:
    assert looks.check(name) == name


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a", "name_length"),
        ("", "name_length"),
        ("x" * 21, "name_length"),
        ("Bob\u202eecila", "name_characters"),  # turns the line around
        ("Bo\u200bb", "name_characters"),  # zero width
        ("Bo\u0000b", "name_characters"),
        ("Bo\nb", "name_characters"),
        ("Bo\u00adb", "name_characters"),  # soft hyphen
        ("Z\u0351\u0352a", "name_characters"),  # marks that pile up
        ("Bo\u3164b", "name_characters"),  # a Korean filler, drawn as nothing
        ("שלום", "name_characters"),
        ("<b>x</b>", "name_characters"),
        ("mail@host", "name_characters"),
        ("★star", "name_characters"),
        ("Bo\u0430b", "name_scripts"),  # a Cyrillic a
        ("A--b", "name_separators"),
        ("-Bob", "name_separators"),
        ("Bob.", "name_separators"),
        ("1234", "name_letters"),
        ("admin", "name_reserved"),
        ("Adm1n", "name_reserved"),
        ("Mod Anna", "name_reserved"),
        ("Guest 5", "name_reserved"),
        ("rnidnight", "name_reserved"),
        ("Former", "name_reserved"),
    ],
)
def test_a_name_that_could_mislead_is_refused_with_its_reason(name: str, code: str) -> None:
    with pytest.raises(ValidationError) as refused:
        looks.check(name)
    assert refused.value.code == code


STAFF = """Modérateur Modératrice Administrateur Équipe Moderatore Amministratore Squadra Moderación Moderador
Administrador Equipo Soporte Moderação Administração Equipa Suporte Moderatorin Administratorin Verwaltung Hilfe Ayuda
Aide Aiuto Ajuda Team Support Invité Ospite Invitado Convidado Gast Commissaire""".split()


@pytest.mark.parametrize("word", STAFF)
def test_no_name_speaks_for_the_house_in_any_language(word: str) -> None:
    for name in (
        word,
        word.upper(),
        word.replace("o", "0").replace("i", "1"),
        word.replace("é", "e").replace("ó", "o"),
    ):
        assert looks.is_reserved(name), name
        with pytest.raises(ValidationError):
            looks.check(name)


PRETENDERS = [
    *("Commissaire 2", "Commissaire2", "Commissaire Juve", "M0dérateur Anna", "Anna Moderatore", "L'Équipe"),
    *("Soporte-Midnight", "Gast 4711", "Former ABCDEFG", "former abcdefg", "FormerABCDEFG", "F0rmer A2C4E6G"),
    *("Ancien ABCDEFG", "Ehemaliger ABCDEFG", "Player 1234567", "Player1234567", "PLAYER 0000001", "P1ayer 123456"),
    *("Joueur 1234567", "Giocatrice 1234567", "Jugador 12345", "Jogadora_1234567", "Spieler-1234567", "Player 1OO4567"),
]


@pytest.mark.parametrize("name", PRETENDERS)
def test_nobody_looks_like_staff_or_like_a_given_name(name: str) -> None:
    with pytest.raises(ValidationError) as refused:
        looks.check(name)
    assert refused.value.code == "name_reserved"
    assert looks.check(name, of_the_house=True) == name


@pytest.mark.parametrize(
    "name", ["Former Pilot", "Player One", "Ancien Régime", "Spieler 7", "Gastón", "Teamo", "Stafford"]
)
def test_a_name_with_a_word_of_the_house_in_it_may_be_fine(name: str) -> None:
    assert looks.check(name) == name


def test_every_name_that_the_house_gives_is_reserved() -> None:
    assert looks.is_reserved("Former " + closing.PSEUDONYM_ALPHABET[:7])
    assert looks.is_reserved(f"Guest {GUEST_NAMES[0]} 0001")
    assert all(looks.is_reserved(name) for name in administrators.NAMES)


def test_a_name_is_kept_in_one_spelling() -> None:
    assert looks.check("  Jose\u0301 ") == "José"
    assert looks.check("Ｍira") == "Mira"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Mira", "MIRA"),
        ("Mira", "M1RA"),
        ("Mira", "Mlra"),
        ("Mira", "rnira"),
        ("Jose", "José"),
        ("Jean-Paul", "Jean Paul"),
        ("JeanPaul", "jean_paul"),
        ("ANNA", "ΑΝΝΑ"),  # Greek
        ("coca", "соса"),  # Cyrillic
        ("Oscar", "0scar"),
        ("Straße", "STRASSE"),
    ],
)
def test_names_that_look_alike_share_a_look(one: str, other: str) -> None:
    assert looks.looks(one) & looks.looks(other)


@pytest.mark.parametrize(("one", "other"), [("Henry", "Nenru"), ("Mira", "Mara"), ("Anna", "Hanna"), ("Bob", "Rob")])
def test_names_that_differ_to_the_eye_share_none(one: str, other: str) -> None:
    assert not looks.looks(one) & looks.looks(other)


def test_signing_in_by_name_overlooks_capitals_only() -> None:
    assert looks.fold("ÉLOÏSE") == looks.fold("e\u0301loïse") == looks.fold(" Éloïse")
    assert looks.fold("Eloise") != looks.fold("Éloïse")


def test_of_what_is_longer_than_any_name_the_rest_is_not_looked_at() -> None:
    assert looks.fold("A" * 60_000) == "a" * looks.LONGEST_ASKED
    assert len(looks.fold("A" + "\u0315\u0300" * 30_000)) <= looks.LONGEST_ASKED
