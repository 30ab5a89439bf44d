"""README and what it points at stay true: its commands, paths, settings and names are the real ones."""

import ast
import re
import subprocess
from pathlib import Path

import pytest
from django.core.management import get_commands

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()
DEPLOY = ROOT / "midnight" / "deploy"
SETTINGS = (ROOT / "midnight" / "settings.py").read_text()
READ = {
    node.args[0].value
    for node in ast.walk(ast.parse(SETTINGS))
    if isinstance(node, ast.Call)
    and isinstance(node.func, ast.Name)
    and node.func.id.startswith("env")
    and node.args
    and isinstance(node.args[0], ast.Constant)
}
PAGES = sorted(ROOT.glob("*.md")) + sorted(
    path for app in ("games", "accounts", "midnight") for path in (ROOT / app).rglob("*.md")
)
UNSAID = {"DEBUG"}


def tracked() -> list[Path]:
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return [ROOT / name for name in names.split("\0") if name and (ROOT / name).exists()]


def commands() -> list[str]:
    return [line for line in README.splitlines() if line.startswith("python3 ")]


def test_two_commands_each_one_line_that_needs_nothing_but_python() -> None:
    run, test = commands()
    start = "python3 -m venv .venv && .venv/bin/pip install --quiet --require-hashes -r "
    assert run == start + "requirements.txt && .venv/bin/python manage.py up"
    assert test == start + "requirements-dev.txt && .venv/bin/pytest -n logical"


def test_every_management_command_that_a_text_names_exists() -> None:
    texts = [README, *(path.read_text() for path in DEPLOY.rglob("*") if path.is_file())]
    named = {name for text in texts for name in re.findall(r"manage\.py ([a-z_]+)", text)}
    assert {"up", "web", "worker", "beat", "migrate", "check"} <= named
    assert named <= set(get_commands())


def test_every_setting_that_is_read_is_described_and_no_other() -> None:
    table = README.split("## In production")[1].split("`manage.py check")[0]
    described = set(re.findall(r"`([A-Z_]{4,})`", table))
    assert described == READ - UNSAID


def test_the_example_environment_names_real_settings() -> None:
    text = (DEPLOY / "midnight.env.example").read_text()
    named = set(re.findall(r"^([A-Z_]+)=", text, re.MULTILINE))
    assert {name for name in named if not name.startswith("POSTGRES_")} <= READ


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_inside_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
        assert "://" not in target, "a text of ours points at nothing outside"
        assert (page.parent / target).exists(), target


def test_every_path_that_the_readme_names_exists() -> None:
    for name in re.findall(r"`((?:games|accounts|midnight|templates|tests|\.ci)/[^`*]*)`", README):
        assert (ROOT / name).exists(), name


def test_it_says_that_it_is_unofficial_and_whose_the_trademarks_are() -> None:
    said = " ".join(README.split())
    assert "Midnight Exchange and Blue Orange are trademarks of Blue Orange Edition" in said
    assert "This is an unofficial implementation." in said


# Locks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["requirements.txt", "requirements-dev.txt"])
def test_a_lock_pins_every_package_with_its_hashes(name: str) -> None:
    entries = re.split(r"\n(?=\S)", (ROOT / name).read_text().strip())
    packages = [entry for entry in entries if not entry.startswith("#")]
    assert len(packages) > 40
    for entry in packages:
        assert re.match(r"[a-z0-9._-]+==\S+", entry), entry.splitlines()[0]
        assert "--hash=sha256:" in entry, entry.splitlines()[0]


def test_nothing_that_installs_names_an_address() -> None:
    names = re.compile(r"requirements.*\.txt|pyproject\.toml|pip\.conf|\.npmrc|.*lock.*|Dockerfile|run")
    address = re.compile(r"\w+://|--(?:extra-)?index-url|--find-links")
    found = {path for path in tracked() if names.fullmatch(path.name)}
    assert {"requirements.txt", "pyproject.toml", "Dockerfile", "run"} <= {path.name for path in found}
    wrong = [f"{path.name}: {line}" for path in found for line in path.read_text().splitlines() if address.search(line)]
    assert not wrong


def test_the_development_lock_only_adds_to_the_other() -> None:
    def pins(name: str) -> set[str]:
        return set(re.findall(r"^([a-z0-9._-]+==[^\s;]+)", (ROOT / name).read_text(), re.MULTILINE))

    assert pins("requirements.txt") < pins("requirements-dev.txt")


def test_the_image_is_made_with_hashes() -> None:
    assert "pip install --no-cache-dir --require-hashes -r requirements.txt" in (DEPLOY / "Dockerfile").read_text()
