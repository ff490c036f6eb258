// A clock that runs ahead, for `LD_PRELOAD`: each of a program's first looks at it comes eleven seconds after the last
// one. From then on it goes as the system's own does, so that nothing takes longer than without it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>

enum { SECONDS = 11, LOOKS = 60 };

int clock_gettime(clockid_t id, struct timespec *now) {
    static long looks;
    int (*own)(clockid_t, struct timespec *) = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = own(id, now);
    if (!failed && id == CLOCK_MONOTONIC) {
        long look = __sync_add_and_fetch(&looks, 1);
        now->tv_sec += SECONDS * (look < LOOKS ? look : LOOKS);
    }
    return failed;
}
