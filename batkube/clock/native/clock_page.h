/* The pages through which processes are told the simulated time.
 *
 * The first is the clock: the controller writes it, processes only read it. The second counts clock reads: processes
 * write it. Both are mapped right below the stand-in vDSO. page.py has the same layout. */
#ifndef BATKUBE_CLOCK_PAGE_H
#define BATKUBE_CLOCK_PAGE_H
#include <stdint.h>

#define CLOCK_PAGE_MAGIC 0x314b4c434b544142ull /* "BATKCLK1" */
#define CLOCK_PAGE_SIZE 4096

struct clock_page {
    uint64_t magic;
    uint64_t sequence;    /* odd while the fields below are being written */
    int64_t realtime_ns;  /* simulated CLOCK_REALTIME                     */
    int64_t monotonic_ns; /* simulated CLOCK_MONOTONIC and CLOCK_BOOTTIME */
};

/* Each read of a clock adds 1 ns to what that clock returns: no two reads say the same, order is kept. The Go runtime
 * reads the monotonic clock whenever it likes, so it has a number of its own: the wall clock does not depend on that. */
struct clock_reads {
    uint64_t monotonic;
    uint64_t realtime;
};
#endif
