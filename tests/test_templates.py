"""What every template and static file of ours holds to, so that the strict CSP costs nothing and nothing is missing."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.contrib.staticfiles import finders
from django.template.loader import get_template

ROOT = Path(__file__).resolve().parent.parent
TEMPLATES = sorted(path for path in (ROOT / "templates").rglob("*") if path.suffix in {".html", ".js", ".svg"})
STATIC = sorted(path for app in ("midnight", "games", "accounts") for path in (ROOT / app / "static").rglob("*.*"))
OURS = [*TEMPLATES, *(path for path in STATIC if path.suffix in {".css", ".js", ".svg", ".html"})]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


class Inline(HTMLParser):
    """Collects whatever a page would need 'unsafe-inline' for."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = dict(attrs)
        if tag == "style" or (tag == "script" and "src" not in names):
            self.found.append(f"<{tag}>")
        for name, value in names.items():
            if name == "style" or name.startswith(("on", "hx-on")) or (value or "").startswith("javascript:"):
                self.found.append(f'{name}="{value}"')


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_a_template_has_no_inline_code_and_no_inline_style(path: Path) -> None:
    inline = Inline()
    inline.feed(path.read_text())
    assert not inline.found


@pytest.mark.parametrize("path", OURS, ids=named)
def test_nothing_of_ours_names_another_host(path: Path) -> None:
    text = path.read_text().replace("http://www.w3.org/2000/svg", "")
    assert not re.findall(r"""(?:https?:)?//[a-z0-9-]+\.[a-z]{2,}[^\s"')]*""", text)


@pytest.mark.parametrize("path", [path for path in TEMPLATES if path.suffix == ".html"], ids=named)
def test_a_template_is_well_formed(path: Path) -> None:
    get_template(str(path.relative_to(ROOT / "templates")))


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_every_static_file_that_a_template_names_exists(path: Path) -> None:
    missing = [
        name for name in re.findall(r"""{% static ['"]([^'"]+)['"]""", path.read_text()) if not finders.find(name)
    ]
    assert not missing


@pytest.mark.parametrize("path", TEMPLATES, ids=named)
def test_every_icon_that_a_template_names_is_drawn(path: Path) -> None:
    drawn = set(re.findall(r'<symbol id="([^"]+)"', (ROOT / "midnight/static/midnight/icons.svg").read_text()))
    assert set(re.findall(r"""{% icon ['"]([^'"]+)['"]""", path.read_text())) <= drawn


@pytest.mark.parametrize("path", [path for path in STATIC if path.suffix == ".css"], ids=named)
def test_a_style_sheet_keeps_to_the_tokens(path: Path) -> None:
    """Every `var()` is defined; a size or colour has its value in tokens.css, or in the page's own sheet."""
    everything = "".join(sheet.read_text() for sheet in STATIC if sheet.suffix == ".css")
    defined = set(re.findall(r"(--[a-z0-9-]+)\s*:", everything))
    assert set(re.findall(r"var\((--[a-z0-9-]+)\)", path.read_text())) <= defined
