"""The catalogs of the site's languages: which texts the sources hold, and what becomes of them in each language.

A text is what is handed to gettext: in Python by its functions, whatever name they are imported by, in a template by
its tags. The catalogs are `locale/<language>/LC_MESSAGES/django.po`; the `.mo` beside each is its compilation. Both
are made without the gettext programs, by polib, which is needed here only and not by the site.
"""

import ast
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import polib
from django.conf import settings
from django.utils.translation.template import templatize

ROOT: Path = settings.BASE_DIR
LANGUAGES = [code for code, _name in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
# How many forms a counted thing has, and which one a number takes.
PLURALS = {
    "fr": "nplurals=2; plural=(n > 1);",
    "it": "nplurals=2; plural=(n != 1);",
    "es": "nplurals=2; plural=(n != 1);",
    "pt": "nplurals=2; plural=(n != 1);",
    "de": "nplurals=2; plural=(n != 1);",
}
# The functions of gettext, and which of their arguments are the text.
ARGUMENTS = {
    "gettext": ("singular",),
    "ngettext": ("singular", "plural"),
    "pgettext": ("context", "singular"),
    "npgettext": ("context", "singular", "plural"),
}
FUNCTIONS = {name + ending: arguments for name, arguments in ARGUMENTS.items() for ending in ("", "_lazy")} | {
    "gettext_noop": ("singular",)
}
# What a translation must take over as it is: places for values, markup.
MARK = re.compile(r"%\(\w+\)[a-z]|%[a-z%]|\{\w*\}|<[^<>]+>")


class Text(NamedTuple):
    singular: str
    plural: str = ""
    context: str | None = None


def texts_of_python(source: str) -> Iterator[Text]:
    """The texts of a module, in their order; a ValueError where one is not written out."""
    tree = ast.parse(source)
    known: dict[str, tuple[str, ...]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation":
            known |= {name.asname or name.name: FUNCTIONS[name.name] for name in node.names if name.name in FUNCTIONS}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        arguments = known.get(call.func.id) if isinstance(call.func, ast.Name) else None
        if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "translation":
            arguments = FUNCTIONS.get(call.func.attr)
        if arguments:
            yield Text(**{name: written_out(value) for name, value in zip(arguments, call.args, strict=False)})


def written_out(value: ast.expr) -> str:
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        return value.value
    raise ValueError(f"line {value.lineno}: a text for translation must be written out, not computed")


def texts_of_template(source: str) -> Iterator[Text]:
    """The texts of a template, in their order. Django turns it into calls of gettext among rows of other letters."""
    rows = "\n".join(row.strip() for row in templatize(source).splitlines())
    words = list(tokenize.generate_tokens(StringIO(rows).readline))
    for place, word in enumerate(words[:-1]):
        arguments = ARGUMENTS.get("gettext" if word.string == "_" else word.string)
        if arguments and words[place + 1].string == "(":
            yield Text(**dict(zip(arguments, strings_until_closed(words[place + 2 :]), strict=False)))


def strings_until_closed(words: list[tokenize.TokenInfo]) -> Iterator[str]:
    for word in words:
        if word.string == ")":
            return
        if word.type == tokenize.STRING:
            yield ast.literal_eval(word.string)


def sources() -> Iterator[Path]:
    for package in ("midnight", "games", "accounts"):
        yield from sorted((ROOT / package).rglob("*.py"))
    yield from sorted(path for path in (ROOT / "templates").rglob("*") if path.is_file())


def texts_in_use() -> dict[Text, list[str]]:
    """Every text of the sources with the files that it stands in, in their order."""
    found: dict[Text, list[str]] = {}
    for path in sources():
        texts = texts_of_python if path.suffix == ".py" else texts_of_template
        file = path.relative_to(ROOT).as_posix()
        try:
            for text in texts(path.read_text()):
                if file not in found.setdefault(text, []):
                    found[text].append(file)
        except ValueError as error:
            raise ValueError(f"{file}, {error}") from None
    return one_entry_each(found)


def one_entry_each(found: dict[Text, list[str]]) -> dict[Text, list[str]]:
    """A catalog has one entry for a text that is counted here and stands alone there: the counted one."""
    counted = {(text.singular, text.context): text for text in found if text.plural}
    merged: dict[Text, list[str]] = {}
    for text, files in found.items():
        merged.setdefault(counted.get((text.singular, text.context), text), []).extend(files)
    return merged


def marks(text: str) -> Counter[str]:
    """What the text holds besides words, and how often."""
    return Counter(MARK.findall(text))


def po_of(language: str) -> Path:
    return ROOT / "midnight" / "locale" / language / "LC_MESSAGES" / "django.po"


def read(language: str) -> polib.POFile:
    """The catalog, or an empty one."""
    path = po_of(language)
    catalog: polib.POFile = polib.pofile(str(path), wrapwidth=120) if path.exists() else polib.POFile(wrapwidth=120)
    catalog.metadata = {
        "Project-Id-Version": "Midnight",
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": PLURALS[language],
    }
    return catalog


def text_of(entry: polib.POEntry) -> Text:
    return Text(entry.msgid, entry.msgid_plural, entry.msgctxt)


def translation_of(entry: polib.POEntry) -> list[str]:
    """The translation, or one for each plural form."""
    return [entry.msgstr_plural[form] for form in sorted(entry.msgstr_plural)] if entry.msgid_plural else [entry.msgstr]


def brought_up_to_date(catalog: polib.POFile, in_use: dict[Text, list[str]]) -> polib.POFile:
    """A catalog of the texts in use and no other, in the order of the sources; the new ones are not translated yet."""
    known = {text_of(entry): entry for entry in catalog if not entry.obsolete}
    fresh = polib.POFile(wrapwidth=120)
    fresh.metadata = catalog.metadata
    for text, files in in_use.items():
        entry = known.get(text) or polib.POEntry(
            msgid=text.singular,
            msgid_plural=text.plural,
            msgctxt=text.context,
            msgstr_plural={0: "", 1: ""} if text.plural else {},
        )
        entry.occurrences = [(file, "") for file in files]
        entry.flags = ["python-format"] if re.search(r"%\(\w+\)|%[sd]", text.singular + text.plural) else []
        fresh.append(entry)
    return fresh


def compiled(catalog: polib.POFile) -> bytes:
    """What belongs into the `.mo`: the same bytes for the same catalog."""
    binary: bytes = catalog.to_binary()
    return binary
