"""What a name may be made of, and which names look alike. Pure text: no database.

Two names look alike when some way of writing the one in capitals or small letters cannot be told from some way of
writing the other: of `Mira`, `M1RA` and `rnira` one can be taken, and of a Latin and a Greek `ANNA`.
"""

import re
import unicodedata
from functools import lru_cache

from confusable_homoglyphs.categories import alias, unique_aliases
from confusable_homoglyphs.confusables import confusables_data
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

SHORTEST = 2
LONGEST = 20
# No name is as long, however it is written: of what somebody asks for, the rest is not looked at.
LONGEST_ASKED = 200
SEPARATORS = " -_.'"

# What six languages' fonts and sentences carry without surprises: written from left to right, no letter is invisible,
# none needs marks beside it. Japanese is one hand in three scripts; every other name is written in one.
JAPANESE = {"HAN", "HIRAGANA", "KATAKANA"}
SCRIPTS = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "GEORGIAN", "HANGUL"} | JAPANESE
LENGTHENED = "ー々"  # belong to no script of their own

# No name may look like one of these, and no word of a name like one of the voices: they speak for the house.
VOICES = frozenset(
    (
        "admin administrator administration commissaire guest helpdesk midnight mod moderation moderator official staff"
        " support team"
        " administrateur administratrice assistance modérateur modératrice modération officiel officielle équipe invité"
        " amministratore amministratrice amministrazione assistenza moderatore moderatrice moderazione ospite squadra"
        " supporto"
        " administrador administradora administración asistencia equipo invitado invitada moderador moderadora"
        " moderación soporte"
        " administração convidado convidada equipa equipe moderação suporte"
        " administratorin gast moderatorin verwaltung"
    ).split()
)
RESERVED = VOICES | frozenset(
    (
        "aide aiuto ajuda all anonymous apprentice assistente ayuda bot burglar clock contact deleted everybody"
        " everyone former help here hilfe host info master me nobody none null offiziell oficial owner player"
        " postmaster root security server somebody someone spectator superuser system ufficiale undefined visitor"
        " webmaster you"
    ).split()
)


def tidy(name: str) -> str:
    """The one spelling under which a name is stored: composed, without blanks at its ends."""
    return unicodedata.normalize("NFKC", name).strip()


def fold(name: str) -> str:
    """Equal for two spellings of one name that differ in capitals only; what signing in by name goes by."""
    return unicodedata.normalize("NFKC", tidy(name[:LONGEST_ASKED]).casefold())


@lru_cache(maxsize=4096)
def prototype(char: str) -> str:
    """The one that stands for all that look like `char` (Unicode TS 39); it may be two letters: m looks like rn."""
    alike = [str(glyph["c"]) for glyph in confusables_data.get(char, [])]
    if len(alike) != 1:
        return char
    (other,) = alike
    if len(confusables_data.get(other, [])) > 1:
        return other
    return min(char, other, key=lambda text: (len(text), text))


def outline(text: str) -> str:
    """What is left of a text when marks, separators and the differences nobody sees are taken away."""
    drawn = "".join(prototype(char) for char in unicodedata.normalize("NFD", text))
    letters = (char for char in unicodedata.normalize("NFD", drawn) if unicodedata.category(char)[0] in "LN")
    return "".join(letters).casefold()


def looks(name: str) -> frozenset[str]:
    """Every look of a name: two names that share one must not both be given."""
    written = tidy(name)
    return frozenset(outline(way) for way in (written, written.lower(), written.upper()))


@lru_cache(maxsize=8)
def looks_of(reserved: frozenset[str]) -> frozenset[str]:
    return frozenset(look for word in reserved for look in looks(word))


# The site's own pseudonyms in each language: a word, and the pattern that follows it.
PSEUDONYMS = (
    (
        frozenset("former ancien ancienne antiga antigo antigua antiguo ehemalige ehemaliger".split()),
        re.compile(r"\w{7}"),
    ),
    (
        frozenset(
            "player joueur joueuse giocatore giocatrice jugador jugadora jogador jogadora spieler spielerin".split()
        ),
        re.compile(r"[0-9OoIl]{4,}"),
    ),
)


def is_pseudonym(name: str) -> bool:
    """Whether it looks like a name that the house gives to those who left, or whose name was taken away."""
    written = tidy(name)
    for place in range(1, len(written)):
        head, tail = written[:place], written[place:].lstrip(SEPARATORS)
        for heads, number in PSEUDONYMS:
            if number.fullmatch(tail) and looks(head) & looks_of(heads):
                return True
    return False


def words(name: str) -> list[str]:
    return "".join(" " if char in SEPARATORS or char.isdigit() else char for char in name).split()


def is_reserved(name: str) -> bool:
    """Whether the name, or a word of it, could be taken for the house's own voice, or for a name that it gives."""
    # A digit stands between two words, or for a letter.
    parts = {*words(name), *re.split(f"[{re.escape(SEPARATORS)}]+", tidy(name))}
    voices = any(looks(part) & looks_of(VOICES) for part in parts if part)
    return voices or bool(looks(name) & looks_of(RESERVED)) or is_pseudonym(name)


def may_stand_in_a_name(char: str) -> bool:
    """Letters of the scripts above, the digits 0 to 9 and the separators.

    Nothing else: controls, marks that pile up, invisible characters and whatever turns the direction of the line
    around could make a name show as something else, or break the sentence it stands in.
    """
    if char in SEPARATORS or char in "0123456789" or char in LENGTHENED:
        return True
    is_letter = unicodedata.category(char) in {"Lu", "Ll", "Lt", "Lo"} and unicodedata.bidirectional(char) == "L"
    # A lone part of a Korean syllable may be a filler, which is drawn as nothing.
    return is_letter and alias(char) in SCRIPTS and not 0x1100 <= ord(char) <= 0x11FF


def check(name: str, *, of_the_house: bool = False) -> str:
    """The tidied name, or a ValidationError that says in a sentence what is wrong with it.

    A name `of_the_house` may look like one of its own: it is given by staff or by the site itself.
    """
    name = tidy(name)
    if not SHORTEST <= len(name) <= LONGEST:
        raise ValidationError(
            _("A name has %(shortest)d to %(longest)d characters."),
            code="name_length",
            params={"shortest": SHORTEST, "longest": LONGEST},
        )
    if not all(may_stand_in_a_name(char) for char in name):
        raise ValidationError(
            _("A name is made of letters, digits, and blanks, hyphens, dots, apostrophes or underscores between them."),
            code="name_characters",
        )
    pairs = {a + b for a in SEPARATORS for b in SEPARATORS} - {". "}
    if name[0] in SEPARATORS or name[-1] in SEPARATORS or any(pair in name for pair in pairs):
        raise ValidationError(
            _("A name begins and ends with a letter or digit and has no two signs in a row."), code="name_separators"
        )
    if not any(unicodedata.category(char)[0] == "L" for char in name):
        raise ValidationError(_("A name has at least one letter."), code="name_letters")
    scripts = unique_aliases(name) - {"COMMON"}
    if len(scripts) > 1 and not scripts <= JAPANESE:
        raise ValidationError(
            _("A name is written in one script: this one mixes letters of several."), code="name_scripts"
        )
    if not of_the_house and is_reserved(name):
        raise ValidationError(_("This name is reserved. Please choose another."), code="name_reserved")
    return name
