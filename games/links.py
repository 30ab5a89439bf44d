"""What a text hides, and whether it leads somewhere else. Pure text: no database."""

import re
import unicodedata

# Controls, and what is drawn as nothing or turns the direction of a line around.
HIDDEN = {"Cc", "Cf"}
# Emoji and some scripts are joined or parted by these; beside anything else they only hide.
STRAY_JOINER = re.compile(r"(?<![^\x00-\x7f\u200c\u200d])[\u200c\u200d]|[\u200c\u200d](?![^\x00-\x7f\u200c\u200d])")

# Of those that are words as well ("ok.so", "gg.si"), only what is pasted most; before a path, any ending will do.
ENDINGS = (
    "com net org info biz xyz link app io gg me tv eu fr it de es pt ru"
    " online shop store site website page blog club vip pro icu click space cloud tech dev casino bet gift co cc ly"
    " ar bg br ch cl cn cz dk ee fi ga gr hk hr hu ie ir jp kr kz lt lv ml mx nl nz pl ro sh sk tk tr tw ua uk uy"
    " vn ws za"
)
# The same in other scripts. None of them is a word that begins a sentence there.
FOREIGN_ENDINGS = (
    "рф рус москва сайт онлайн орг ком дети укр бел срб мкд бг ею қаз ελ ευ հայ გე ישראל קום"
    " موقع شبكة كوم امارات السعودية مصر ایران भारत ไทย"
    " 中国 中國 公司 网络 网址 香港 台湾 台灣 みんな コム 한국 닷컴 닷넷"
)
# A stop in brackets, or the word for it there: "evil[.]com", "evil (dot) com".
DISGUISED_STOP = re.compile(r" ?[\[({<] ?(?:\.|dot|point|punto|ponto|punkt) ?[\])}>] ?", re.I)
# "Fun. It was" and "Gracias. De nada" are sentences: after a space there is one before the stop, too. Nothing looks
# further back than one letter, nor far ahead: a text twice as long takes twice as long.
LINK = re.compile(
    r"\w://|https?:|www\."
    rf"|(?<=[\w-])(?: \. ?|\.)(?:xn--\w|(?:{'|'.join([*ENDINGS.split(), *FOREIGN_ENDINGS.split()])})\b)"
    # The stop in words. Not where those are a sentence: "un point net", "um ponto com".
    r"|(?<=\w) (?:dot (?:com|net|org|gg|io)|(?:point|punto|punkt) (?:com|org))\b(?!['’])"
    # Addresses that everybody knows without the stop.
    r"|\b(?:discord|telegram|youtu|bit|wa) (?:gg|me|be|ly) ?/ ?\w"
    r"|(?<=[\w-])\.[^\W\d_]{2,24}/"
    r"|\b\d{1,3}(?:\.\d{1,3}){3}\b",
    re.I,
)


def fold(text: str) -> str:
    """The text with one blank wherever there is white space."""
    return " ".join(text.split())


def visible(text: str) -> str:
    """The folded text without what nobody sees in it."""
    seen = (char for char in fold(text) if char in "\u200c\u200d" or unicodedata.category(char) not in HIDDEN)
    return fold(STRAY_JOINER.sub("", fold("".join(seen))))


def leads_elsewhere(text: str) -> bool:
    """Whether there is an address in it, in whatever letters and with whatever between them."""
    letters = unicodedata.normalize("NFKC", text).replace("。", ".")
    plain = (char for char in letters if unicodedata.category(char) not in HIDDEN | {"Mn"})
    return LINK.search(DISGUISED_STOP.sub(".", fold("".join(plain)))) is not None
