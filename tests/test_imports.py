"""The arrow: a module imports only from lines below its own, and the rules know nothing but the game."""

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

# From the top of the house to its foundation. A module is found by the longest prefix that names it.
LEVELS: list[list[str]] = [
    ["midnight"],
    [
        "games.consumers",
        "games.header",
        "games.listening",
        "games.readiness",
        "games.receivers",
        "games.talking",
        "games.views",
        "games.tasks",
        "games.admin",
        "games.checks",
        "games.urls",
        "games.routing",
        "games.apps",
        "games.sentences",
        "games.showing",
        "games.told",
        "games.story",
        "games.api",
        "games.judge_worker",
        "games.judging",
        "games.limits",
        "games.replaying",
        "games.templatetags",
        "games.management",
        "games.bench",
    ],
    ["games.lobby", "games.chat", "games.moderation", "games.forms", "games.history", "games.dumps", "games.profiles"],
    ["games.quick", "games.stale"],
    ["games.pace"],
    ["games.rooms"],
    ["games.table", "games.tables", "games.bot_hands", "games.course", "games.turns"],
    ["games.allowance", "games.backoff", "games.handover", "games.pauses", "games.storing"],
    ["games.sweep", "games.gauges", "games.troubles", "games.archive", "games.intervention"],
    ["games.careers"],
    ["games.steps", "games.counted"],
    ["games.frames"],
    ["games.ranked"],
    ["games.ladder"],
    [
        "games.log",
        "games.heartbeat",
        "games.doorbell",
        "games.news",
        "games.opening",
        "games.shares",
        "games.fairness",
        "games.servers",
        "games.stalls",
        "games.clock",
        "games.pulse",
    ],
    ["games.chance_secrets"],
    ["games.repeats"],
    ["games.models", "games.migrations"],
    ["accounts"],
    ["games.names"],
    [
        "games.bots",
        "games.rating",
        "games.packing",
        "games.figures",
        "games.charts",
        "games.deadlines",
        "games.links",
        "games.one_by_one",
        "games.valkey",
        "games.channel_layer",
    ],
    ["games.rules"],
]


def level_of(module: str) -> int | None:
    found = [
        (len(prefix), level)
        for level, prefixes in enumerate(LEVELS)
        for prefix in prefixes
        if module == prefix or module.startswith(prefix + ".")
    ]
    return max(found)[1] if found else None


def modules() -> list[tuple[str, Path]]:
    return [
        (".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"), path)
        for package in ("midnight", "games", "accounts")
        for path in sorted((ROOT / package).rglob("*.py"))
    ]


def imports(module: str, path: Path) -> set[str]:
    """Every module named by an import anywhere in the file, relative ones made absolute."""
    names: set[str] = set()
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            names |= {source} | {f"{source}.{alias.name}" for alias in node.names}
    return names


def test_a_module_imports_only_from_its_own_line_or_below() -> None:
    wrong = []
    for module, path in modules():
        own = level_of(module)
        for name in imports(module, path):
            other = level_of(name)
            if own is not None and other is not None and other < own:
                wrong.append(f"{module} imports {name}")
    assert not wrong, wrong


def test_every_module_of_games_has_a_place_in_the_list() -> None:
    missing = [module for module, _ in modules() if module != "games" and level_of(module) is None]
    assert not missing, f"say in LEVELS where these belong: {missing}"


def test_the_rules_import_the_standard_library_and_themselves_only() -> None:
    wrong = []
    for module, path in modules():
        if not module.startswith("games.rules"):
            continue
        for name in imports(module, path):
            top = name.split(".")[0]
            if not name.startswith("games.rules") and name != "games" and top not in sys.stdlib_module_names:
                wrong.append(f"{module} imports {name}")
    assert not wrong, wrong


def test_the_rules_never_ask_the_time_or_roll_dice() -> None:
    forbidden = {"time", "datetime", "random", "secrets", "os", "socket", "threading", "asyncio"}
    wrong = [
        f"{module} imports {name}"
        for module, path in modules()
        if module.startswith("games.rules")
        for name in imports(module, path)
        if name.split(".")[0] in forbidden
    ]
    assert not wrong, wrong


def test_nobody_imports_the_wiring() -> None:
    wrong = [
        f"{module} imports {name}"
        for module, path in modules()
        if not module.startswith("midnight")
        for name in imports(module, path)
        if name.split(".")[0] == "midnight"
    ]
    assert not wrong, wrong
