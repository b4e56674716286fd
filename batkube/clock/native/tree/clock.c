/* The simulated time, and times of programs. */
#include "tree.h"

volatile struct clock_page *page;
volatile struct clock_reads *page_reads;

int64_t now_ns(int which)
{
    uint64_t before;
    int64_t ns;
    do {
        while ((before = page->sequence) & 1)
            ;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        ns = which == MONOTONIC ? page->monotonic_ns : page->realtime_ns;
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
    } while (page->sequence != before);
    return ns + (int64_t)(which == MONOTONIC ? page_reads->monotonic : page_reads->realtime);
}

int clock_kind(int clock)
{
    switch (clock) {
    case 0: case 5: case 8: case 11: return REALTIME;
    case 1: case 4: case 6: case 7: case 9: return MONOTONIC;
    default: return KEEPS_REAL;
    }
}

static int64_t to_ns(const int64_t words[2], int64_t unit)
{
    return (words[0] > LONGEST_S ? LONGEST_S : words[0]) * NS + words[1] * unit;
}

int read_time(pid_t tid, unsigned long address, int64_t unit, int64_t *ns)
{
    int64_t words[2];
    if (!address || peek(tid, address, words, 16) < 0)
        return -1;
    *ns = to_ns(words, unit);
    return 0;
}

int read_timer(pid_t tid, unsigned long address, int64_t unit, int64_t *value, int64_t *interval)
{
    int64_t words[4];
    if (!address || peek(tid, address, words, 32) < 0)
        return -1;
    for (int i = 0; i < 4; i += 2)
        if (words[i] < 0 || words[i + 1] < 0 || words[i + 1] >= NS / unit)
            return -1;
    *interval = to_ns(words, unit);
    *value = to_ns(words + 2, unit);
    return 0;
}

long write_timer(pid_t tid, unsigned long address, int64_t unit, int64_t deadline, int64_t interval)
{
    int64_t left = deadline == NEVER ? 0 : deadline - now_ns(MONOTONIC);
    if (deadline != NEVER && left < unit)
        left = unit; /* 0 would say that it is not armed */
    int64_t words[4] = { interval / NS, interval % NS / unit, left / NS, left % NS / unit };
    return address && poke(tid, address, words, 32) < 0 ? -EFAULT : 0;
}

int64_t deadline_of(int64_t time, int absolute, int which)
{
    if (!absolute)
        return now_ns(MONOTONIC) + time;
    return which == REALTIME ? time - now_ns(REALTIME) + now_ns(MONOTONIC) : time;
}

int64_t expirations(int64_t *deadline, int64_t interval, int64_t now)
{
    int64_t count = 1;
    if (interval > 0) {
        count += (now - *deadline) / interval;
        *deadline += count * interval;
    } else
        *deadline = NEVER;
    return count;
}
