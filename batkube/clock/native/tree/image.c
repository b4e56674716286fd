/* Calls that a held program is made to do, and the clock that each new image of a program is given with them: the two
 * clock pages and the stand-in vDSO are mapped, and the auxiliary vector points at the latter. The random bytes that it
 * points at as well are drawn anew. */
#include "tree.h"
#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

const char *page_path;
unsigned char *vdso;
unsigned long vdso_size;

static int held_back[64], held_back_count;

static int wait_for(pid_t tid, int *status)
{
    for (;;) {
        pid_t got = waitpid(tid, status, __WALL);
        if (got == tid)
            return 0;
        if (got < 0 && errno != EINTR)
            return -1;
    }
}

static int to_system_call_stop(pid_t tid)
{
    int status;
    for (;;) {
        if (ptrace(PTRACE_SYSCALL, tid, 0, 0) < 0 || wait_for(tid, &status) < 0 || !WIFSTOPPED(status))
            return -1;
        if (WSTOPSIG(status) == (SIGTRAP | 0x80))
            return 0;
        if (status >> 16 == 0 && WSTOPSIG(status) != SIGTRAP && held_back_count < 64)
            held_back[held_back_count++] = WSTOPSIG(status);
    }
}

static long make_call(pid_t tid, const struct user_regs_struct *base, long number, unsigned long a, unsigned long b,
                      unsigned long c, unsigned long d, unsigned long e, unsigned long f)
{
    struct user_regs_struct r = *base;
    r.rax = number;
    r.orig_rax = NO_CALL;
    r.rdi = a; r.rsi = b; r.rdx = c; r.r10 = d; r.r8 = e; r.r9 = f;
    if (ptrace(PTRACE_SETREGS, tid, 0, &r) < 0 || to_system_call_stop(tid) < 0 || to_system_call_stop(tid) < 0
        || ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
        return -EIO;
    return (long)r.rax;
}

/* The address of a value in the auxiliary vector of a program at its start, or 0. */
static unsigned long auxiliary(pid_t tid, unsigned long stack, unsigned long key)
{
    unsigned long at = stack, words[2];
    if (peek(tid, at, words, 8) < 0)
        return 0;
    at += 8 * (words[0] + 2); /* argc, argv, 0 */
    do {
        if (peek(tid, at, words, 8) < 0)
            return 0;
        at += 8;
    } while (words[0]); /* envp, 0 */
    for (;; at += 16) {
        if (peek(tid, at, words, 16) < 0 || words[0] == AT_NULL)
            return 0;
        if (words[0] == key)
            return at + 8;
    }
}

static int map_clock(pid_t tid, const struct user_regs_struct *r, unsigned long entry)
{
    unsigned long path = (r->rsp - 4096) & ~15ul, code = (vdso_size + 4095) & ~4095ul;
    if (poke(tid, path, page_path, strlen(page_path) + 1) < 0)
        return -1;
    long fd = make_call(tid, r, SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0, 0, 0);
    if (fd < 0)
        return -1;
    long base = make_call(tid, r, SYS_mmap, 0, 2 * CLOCK_PAGE_SIZE + code, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base <= 0)
        return -1;
    long clock = make_call(tid, r, SYS_mmap, base, CLOCK_PAGE_SIZE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0);
    long reads = make_call(tid, r, SYS_mmap, base + CLOCK_PAGE_SIZE, CLOCK_PAGE_SIZE, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_FIXED, fd, CLOCK_PAGE_SIZE);
    unsigned long image = base + 2 * CLOCK_PAGE_SIZE;
    make_call(tid, r, SYS_close, fd, 0, 0, 0, 0, 0);
    return clock == base && reads == base + CLOCK_PAGE_SIZE && poke(tid, image, vdso, vdso_size) == 0
                   && make_call(tid, r, SYS_mprotect, image, code, PROT_READ | PROT_EXEC, 0, 0, 0) == 0
                   && poke(tid, entry, &image, 8) == 0
               ? 0 : -1;
}

static void give_random_bytes(struct task *task, unsigned long stack)
{
    unsigned char bytes[16];
    unsigned long entry = auxiliary(task->tid, stack, AT_RANDOM), address;
    if (has_seed && entry && peek(task->tid, entry, &address, sizeof address) == 0) {
        draw_bytes(task, bytes, sizeof bytes);
        poke(task->tid, address, bytes, sizeof bytes);
    }
}

int give_clock(struct task *task)
{
    pid_t tid = task->tid;
    struct user_regs_struct r;
    if (to_system_call_stop(tid) < 0 || ptrace(PTRACE_GETREGS, tid, 0, &r) < 0) /* leave execve itself */
        return -1;
    unsigned long entry = r.cs == 0x33 ? auxiliary(tid, r.rsp, AT_SYSINFO_EHDR) : 0; /* else it is a 32-bit program */
    if (!entry)
        return -1;
    give_random_bytes(task, r.rsp);
    errno = 0;
    long code = ptrace(PTRACE_PEEKTEXT, tid, r.rip, 0);
    if (errno || ptrace(PTRACE_POKETEXT, tid, r.rip, (code & ~0xffffl) | 0x050f) < 0) /* syscall */
        return -1;
    int result = map_clock(tid, &r, entry);
    ptrace(PTRACE_POKETEXT, tid, r.rip, code);
    r.orig_rax = NO_CALL;
    ptrace(PTRACE_SETREGS, tid, 0, &r);
    return result;
}

long inject_call(pid_t tid, const struct user_regs_struct *r, long number, unsigned long a, unsigned long b,
                 unsigned long c, unsigned long d, unsigned long e, unsigned long f)
{
    struct user_regs_struct before = *r;
    before.rip -= 2; /* the instruction that it has just come back from */
    long result = make_call(tid, &before, number, a, b, c, d, e, f);
    ptrace(PTRACE_SETREGS, tid, 0, r);
    return result;
}

void deliver_held_back(pid_t tid)
{
    for (int i = 0; i < held_back_count; i++)
        kill(tid, held_back[i]);
    held_back_count = 0;
}
