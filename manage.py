#!/usr/bin/env python3
"""Django's command line for Midnight."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

from midnight.private_files import keep_private

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "midnight.settings")
    try:
        keep_private(*sys.argv[1:2])
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        # A setting is wrong: one sentence that names it is worth more than a traceback.
        sys.exit(f"Midnight cannot start: {error}")
