/* Random bytes that follow from a seed: those that the kernel hands a program at its start (AT_RANDOM), and getrandom.
 *
 * Each thread has a stream of its own. It begins with the seed and the thread's lineage (order.c), and goes on through
 * all that it executes: what one thread draws does not depend on when others do. Not for secrets.
 *
 * Not covered: /dev/random and /dev/urandom, RDRAND. */
#include "tree.h"
#include <stdlib.h>
#include <string.h>

#define MOST (1 << 20) /* bytes of one call: getrandom may give less than it is asked for */

int has_seed;
static uint64_t seed;

void set_seed(const char *hexadecimal)
{
    has_seed = *hexadecimal != 0;
    seed = strtoull(hexadecimal, 0, 16);
}

static uint64_t mixed(uint64_t x) /* splitmix64 */
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void begin_stream(struct task *task)
{
    uint64_t state = mixed(seed + 0x9e3779b97f4a7c15u);
    for (size_t i = 0; i < task->lineage_size; i++)
        state = mixed((state ^ task->lineage[i]) + 0x9e3779b97f4a7c15u);
    task->random = state;
}

void draw_bytes(struct task *task, unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = mixed(task->random += 0x9e3779b97f4a7c15u);
        memcpy(bytes + at, &word, size - at < 8 ? size - at : 8);
    }
}

int on_random_call(struct task *task, struct user_regs_struct *r)
{
    static unsigned char bytes[MOST];
    if (r->orig_rax != SYS_getrandom)
        return 0;
    size_t size = r->rsi < MOST ? r->rsi : MOST;
    draw_bytes(task, bytes, size);
    answer_call(task->tid, r, size && poke(task->tid, r->rdi, bytes, size) < 0 ? -EFAULT : (long)size);
    return 1;
}
