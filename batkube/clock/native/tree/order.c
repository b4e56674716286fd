/* In which order waits and timers end that are due at the same time.
 *
 * By deadline; but each reading of the clock adds a nanosecond to it, so that deadlines of processes that ran side by
 * side differ by nanoseconds that depend on real time. Those that lie closer together than TIE count as one, and the
 * lineage decides: where in the tree of all that the program has started a thread is. A lineage is the parent thread's,
 * and which of its children this one is: it does not depend on who was faster. Parents come before their children, and
 * older children, with all that descends from them, before younger ones. */
#include "tree.h"
#include <stdlib.h>
#include <string.h>

#define TIE 100000 /* ns: a thousand times what is read between two jumps; timers lie milliseconds apart */

struct due {
    const struct task *task;
    int64_t deadline;
    int index;
    void (*end)(int index, int64_t now);
};
static struct due *due;
static int due_count, due_room;

void give_lineage(struct task *child, struct task *parent)
{
    uint32_t index = parent->children++;
    unsigned char last[4] = { index >> 24, index >> 16, index >> 8, index };
    child->lineage = realloc(child->lineage, parent->lineage_size + sizeof last);
    if (!child->lineage)
        die("memory");
    if (parent->lineage_size)
        memcpy(child->lineage, parent->lineage, parent->lineage_size);
    memcpy(child->lineage + parent->lineage_size, last, sizeof last);
    child->lineage_size = parent->lineage_size + sizeof last;
}

static int compare(const struct task *a, const struct task *b)
{
    size_t common = a->lineage_size < b->lineage_size ? a->lineage_size : b->lineage_size;
    int order = common ? memcmp(a->lineage, b->lineage, common) : 0;
    return order ? order : (a->lineage_size > b->lineage_size) - (a->lineage_size < b->lineage_size);
}

void offer(pid_t tid, int64_t deadline, int index, void (*end)(int index, int64_t now))
{
    static const struct task nobody;
    const struct task *task = known_task(tid);
    due = room_for_one(due, due_count, &due_room, sizeof *due);
    due[due_count++] = (struct due){ task ? task : &nobody, deadline, index, end };
}

static int end_first(int64_t now)
{
    due_count = 0;
    /* A thread that waits has armed its timers before: they go off first. */
    offer_timers(now);
    offer_timerfds(now);
    offer_waits(now);
    int64_t earliest = due_count ? due[0].deadline : NEVER;
    for (int i = 1; i < due_count; i++)
        if (due[i].deadline < earliest)
            earliest = due[i].deadline;
    const struct due *first = 0;
    for (int i = 0; i < due_count; i++) {
        int order = !first ? -1 : compare(due[i].task, first->task);
        if (due[i].deadline - earliest <= TIE && (order < 0 || (order == 0 && due[i].deadline < first->deadline)))
            first = &due[i];
    }
    if (first)
        first->end(first->index, now);
    return first != 0;
}

int end_due(int only_first)
{
    int64_t now = now_ns(MONOTONIC);
    int ended = 0;
    while (end_first(now)) {
        ended++;
        if (only_first)
            break;
    }
    return ended;
}
