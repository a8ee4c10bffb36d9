"""First process in the sandbox: reports that it stands, waits for the acknowledgement, and becomes the agent."""

# It is started by its path, and imports nothing of Interlock.

import ctypes
import fcntl
import os
import signal
import sys
import termios

_CREATE, _RESTRICT = 444, 446  # landlock_create_ruleset, landlock_restrict_self
_ABSTRACT_SOCKETS = 1 << 0  # LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET, from Linux 6.12 on
NOT_FOUND, NOT_RUN = 127, 126


class _Ruleset(ctypes.Structure):
    _fields_ = [("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64)]


def main(given: list[str]) -> int:
    """Returns 126 or 127, as a shell does, where it cannot become the agent."""
    ready, go, flags, *command = given
    if int(ready) >= 0:
        os.write(int(ready), b"\n")
        os.read(int(go), 1)
        os.close(int(ready))
        os.close(int(go))
    os.setsid()
    if "tty" in flags.split(","):
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    if "scoped" in flags.split(","):
        restrict_sockets()
    for sig in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and the agent would inherit that
        signal.signal(sig, signal.SIG_DFL)
    try:
        os.execvp(command[0], command)
    except FileNotFoundError:
        print(f"interlock run: {command[0]}: not found", file=sys.stderr)
        return NOT_FOUND
    except OSError as error:
        print(f"interlock run: {command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_RUN


def restrict_sockets() -> bool:
    """Cuts off abstract sockets outside (X11's, an old D-Bus's); False on an older kernel."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    rules = _Ruleset(0, 0, _ABSTRACT_SOCKETS)
    ruleset = call(_CREATE, ctypes.byref(rules), ctypes.c_size_t(ctypes.sizeof(rules)), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        return bool(call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0)
    finally:
        os.close(ruleset)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
