/* Tries to get around the filter: by a ring, by the calls of i386 and of x32. Prints the error of each. */

#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(void) {
    char params[256] = "";
    printf("ring %d\n", syscall(SYS_io_uring_setup, 1, params) < 0 ? errno : 0);
#ifdef __x86_64__
    char *low = mmap((void *)0x10000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    long result;
    strcpy(low, "a.txt");
    asm volatile("int $0x80" : "=a"(result) : "a"(10L), "b"(low) : "memory"); /* unlink */
    printf("i386 %ld\n", -result);
    printf("x32 %d\n", syscall(0x40000000 | SYS_unlink, "a.txt") < 0 ? errno : 0);
#endif
    return 0;
}
