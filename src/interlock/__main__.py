"""`python -m interlock` is `interlock`."""

from interlock.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
