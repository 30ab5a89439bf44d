import json
import platform
from types import ModuleType

from django.core.management.base import BaseCommand, CommandParser

from games.bench import pages, ratings, rules
from midnight.bench import flood, race

BENCHMARKS: dict[str, ModuleType] = {"rules": rules, "race": race, "flood": flood, "pages": pages, "ratings": ratings}


class Command(BaseCommand):
    help = "Measures how fast this is: one line of JSON with the figures, a table for people on the error stream."
    requires_system_checks = ()

    def add_arguments(self, parser: CommandParser) -> None:
        names = parser.add_subparsers(dest="benchmark", metavar="NAME", required=True)
        for name, benchmark in BENCHMARKS.items():
            one = names.add_parser(name, help=benchmark.HELP, description=benchmark.HELP)
            benchmark.add_arguments(one)

    def handle(self, *args: object, **options: object) -> None:
        name = str(options["benchmark"])
        benchmark = BENCHMARKS[name]
        figures: dict[str, float] = benchmark.run(options)
        for figure, value in figures.items():
            aim = benchmark.AIMS[figure]
            line = f"{aim.what:<45}{value:>12,}   {aim!s:<10} {'ok' if aim.met_by(value) else 'MISSED'}"
            self.stderr.write(line, self.style.SUCCESS if aim.met_by(value) else self.style.ERROR)
        self.stdout.write(json.dumps({"benchmark": name, "python": platform.python_version(), **figures}))
