"""On aarch64 the table has the calls that kernel has, by its numbers, and the filter is written for that architecture."""

from __future__ import annotations

import subprocess

import pytest

from interlock.journal.build import SOURCES
from journals import table

# As in the header of aarch64, whose numbers are those of every newer architecture.
NUMBERS = "#define __ARCH_WANT_RENAMEAT\n#define __ARCH_WANT_SET_GET_RLIMIT\n#define __ARCH_WANT_TIME32_SYSCALLS\n#include <asm-generic/unistd.h>\n"
# The C library's headers are this machine's; only what is ours is compiled as on the other.
FILTER = '#include "journal.h"\n#include <linux/audit.h>\n#include <linux/filter.h>\n#include <sys/prctl.h>\n#undef __x86_64__\n#define __aarch64__ 1\n#include "filter.c"\n'
PRINT = """#include "journal.h"
#include <linux/filter.h>
#include <linux/audit.h>
size_t programmed(void *into);
int main(void) {
    for (size_t i = 0; i < CALL_COUNT; i++) printf("%s %d\\n", CALLS[i].name, CALLS[i].nr);
    struct sock_filter code[512];
    programmed(code);
    printf("architecture %d\\nring %d\\n", code[1].k == AUDIT_ARCH_AARCH64, code[6].k == 425);
}
"""
NEWER = {"setxattrat": 463, "removexattrat": 466, "fchmodat2": 452}  # than the headers of some machines


@pytest.fixture(scope="module")
def numbers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """Each line that the table compiled for aarch64 prints."""
    folder = tmp_path_factory.mktemp("aarch64")
    (folder / "asm").mkdir()
    (folder / "asm/unistd.h").write_text(NUMBERS)
    (folder / "filter64.c").write_text(
        f"{FILTER}size_t programmed(void *into) {{ return write_program(into, false); }}\n"
    )
    (folder / "print.c").write_text(PRINT)
    (folder / "front_main.c").write_text(f'#define main unused\n#include "{SOURCES}/supervisor.c"\n')
    ours = [path for path in SOURCES.glob("*.c") if path.name not in ("filter.c", "supervisor.c")]
    argv = ["cc", "-O1", "-Wall", "-I", folder, "-I", SOURCES, "-o", folder / "table"]
    done = subprocess.run([*argv, *folder.glob("*.c"), *ours], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    lines = subprocess.run([folder / "table"], capture_output=True, text=True, check=True).stdout.splitlines()
    return {name: int(number) for name, number in map(str.split, lines)}


def test_the_calls_are_those_that_take_a_folder_or_a_descriptor(numbers: dict[str, int]) -> None:
    gone = {"open", "creat", "unlink", "rmdir", "rename", "link", "symlink", "mkdir", "mknod"}
    gone |= {"chmod", "chown", "lchown", "utime", "utimes", "futimesat"}
    assert set(numbers) - {"architecture", "ring"} == set(table()) - gone
    assert numbers["architecture"] == numbers["ring"] == 1


@pytest.mark.parametrize("name, number", [("openat", 56), ("unlinkat", 35), ("renameat", 38), ("renameat2", 276), ("truncate", 45), ("fchownat", 54), ("setxattr", 5), ("utimensat", 88), *NEWER.items()])  # fmt: skip
def test_a_call_has_the_number_of_that_kernel(name: str, number: int, numbers: dict[str, int]) -> None:
    assert numbers[name] == number


def test_no_two_calls_have_one_number(numbers: dict[str, int]) -> None:
    found = [number for name, number in numbers.items() if name not in ("architecture", "ring")]
    assert len(found) == len(set(found))
