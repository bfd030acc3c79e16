"""A web process by itself, as `serve` starts it: `python -m registry.web`."""

import os
import sys

from registry.settings_reader import settings_of_process
from registry.web.granian_options import ALLOCATOR, web_arguments


def main() -> None:
    """Become granian."""
    settings = settings_of_process()
    arguments = web_arguments(settings.host, settings.port, settings.workers)
    environment = {**ALLOCATOR, **os.environ}
    os.execve(sys.executable, [sys.executable, *arguments], environment)  # noqa: S606


if __name__ == "__main__":
    main()
