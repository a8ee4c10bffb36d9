"""`python -m interlock` is `interlock`."""

from interlock.doors.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
