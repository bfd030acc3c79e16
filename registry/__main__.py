"""`python -m registry` is `fair-registry`."""

from registry.cli import main

if __name__ == "__main__":
    main()
