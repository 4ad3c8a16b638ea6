"""``python -m unacked``."""

from unacked.cli import main

if __name__ == "__main__":
    main()
