"""`python -m boostlab` is the command line."""

from boostlab.cli import main

if __name__ == "__main__":
    main()
