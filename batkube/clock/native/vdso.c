/* A stand-in for the kernel's vDSO: the same functions under the same names and version, but the time comes from the
 * page below. Go, glibc, musl and others find it where they look for the real one: at AT_SYSINFO_EHDR. x86-64.
 *
 * It must have no relocations and no data of its own: it is mapped wherever there is room. */
#include "clock_page.h"

struct timespec { int64_t sec, nsec; };
struct timeval { int64_t sec, usec; };
struct timezone { int32_t minuteswest, dsttime; };

/* Where vdso.lds puts the two pages. */
extern const volatile struct clock_page batkube_clock __attribute__((visibility("hidden")));
extern volatile struct clock_reads batkube_reads __attribute__((visibility("hidden")));

enum { REALTIME, MONOTONIC, KEEPS_REAL };
enum { SYS_clock_gettime = 228, SYS_clock_getres = 229, SYS_getcpu = 309 };

static inline long system_call(long number, long a, long b)
{
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "0"(number), "D"(a), "S"(b) : "rcx", "r11", "memory");
    return result;
}

static inline int kind(int clock)
{
    switch (clock) {
    case 0: case 5: case 8: case 11: return REALTIME;          /* also COARSE, ALARM and TAI */
    case 1: case 4: case 6: case 7: case 9: return MONOTONIC;  /* also RAW, COARSE, BOOTTIME and its ALARM */
    default: return KEEPS_REAL;                                /* CPU time */
    }
}

static inline int64_t now_ns(int which)
{
    const volatile struct clock_page *page = &batkube_clock;
    uint64_t before;
    int64_t ns;
    do {
        while ((before = page->sequence) & 1)
            __asm__ volatile("pause");
        __asm__ volatile("" ::: "memory"); /* x86 keeps the order of loads */
        ns = which == MONOTONIC ? page->monotonic_ns : page->realtime_ns;
        __asm__ volatile("" ::: "memory");
    } while (page->sequence != before);
    volatile uint64_t *reads = which == MONOTONIC ? &batkube_reads.monotonic : &batkube_reads.realtime;
    return ns + (int64_t)__atomic_add_fetch(reads, 1, __ATOMIC_RELAXED);
}

/* Rounded down: the wall clock may show a date before 1970. */
static inline int64_t seconds_of(int64_t ns)
{
    return ns / 1000000000 - (ns % 1000000000 < 0);
}

int __vdso_clock_gettime(int clock, struct timespec *time)
{
    int which = kind(clock);
    if (which == KEEPS_REAL)
        return (int)system_call(SYS_clock_gettime, clock, (long)time);
    int64_t ns = now_ns(which);
    time->sec = seconds_of(ns);
    time->nsec = ns - time->sec * 1000000000;
    return 0;
}

int __vdso_gettimeofday(struct timeval *time, struct timezone *zone)
{
    if (zone) {
        zone->minuteswest = 0;
        zone->dsttime = 0;
    }
    if (time) {
        int64_t ns = now_ns(REALTIME);
        time->sec = seconds_of(ns);
        time->usec = (ns - time->sec * 1000000000) / 1000;
    }
    return 0;
}

int64_t __vdso_time(int64_t *time)
{
    int64_t seconds = seconds_of(now_ns(REALTIME));
    if (time)
        *time = seconds;
    return seconds;
}

int __vdso_clock_getres(int clock, struct timespec *resolution)
{
    return (int)system_call(SYS_clock_getres, clock, (long)resolution);
}

long __vdso_getcpu(unsigned *cpu, unsigned *node, void *unused)
{
    (void)unused;
    return system_call(SYS_getcpu, (long)cpu, (long)node);
}

int clock_gettime(int, struct timespec *) __attribute__((weak, alias("__vdso_clock_gettime")));
int gettimeofday(struct timeval *, struct timezone *) __attribute__((weak, alias("__vdso_gettimeofday")));
int64_t time(int64_t *) __attribute__((weak, alias("__vdso_time")));
int clock_getres(int, struct timespec *) __attribute__((weak, alias("__vdso_clock_getres")));
long getcpu(unsigned *, unsigned *, void *) __attribute__((weak, alias("__vdso_getcpu")));
