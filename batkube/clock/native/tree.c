/* Starts a program on the simulated clock and takes over the waits of it and of all processes it starts. Linux, x86-64.
 *
 *   tree PAGE VDSO CONTROL_FD READY_FD PROGRAM ARGUMENT...
 *
 * The program keeps this process's id. A helper is forked that holds it with ptrace, follows fork and exec, and maps
 * the clock page and the stand-in vDSO into each new image. A seccomp filter stops only at system calls that wait with
 * a timeout, so that no other call is slowed. The timeout is taken out of the call and kept here as a deadline on the
 * simulated clock; when that has passed it, the call is ended as a time-out would end it.
 *
 * The controller sends one byte and gets one line, "ENDED WAITING DEADLINE STOPS\n":
 *   W  end the waits that are due
 *   Q  only tell
 * WAITING counts the waits that go on, DEADLINE is the earliest of theirs (simulated CLOCK_MONOTONIC in ns, or -1), and
 * STOPS how many stops of processes were handled: all that had happened before the question.
 * When the controller closes its end, all the processes are killed. READY_FD gets '1' when the program's image has the
 * clock, '0' when it could not be given one.
 *
 * Not taken over: alarm, setitimer, timer_settime, timerfd, SO_RCVTIMEO, io_uring; 32-bit programs. */
#define _GNU_SOURCE
#include "clock_page.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif
#define NS 1000000000ll
#define LONGEST_S 4000000000ll /* what is longer is for ever: it would not fit */
#define NO_CALL ((unsigned long)-1)

static const char *page_path;
static volatile struct clock_page *page;
static volatile struct clock_reads *page_reads;
static unsigned char *vdso;
static unsigned long vdso_size;
static int control_fd, ready_fd;
static unsigned long stops;

static void die(const char *what)
{
    fprintf(stderr, "batkube: %s: %s\n", what, strerror(errno));
    _exit(127);
}

/* ---------------------------------------------------------------- threads that are held */
struct task {
    pid_t tid;
    int waiting;      /* in a wait that was taken over */
    int interrupted;  /* it is due, and was asked to stop */
    long number;      /* the system call as the program made it, */
    struct user_regs_struct registers; /* and its arguments */
    int64_t deadline; /* simulated monotonic ns */
    int again;        /* a signal broke the wait; if it is made again it keeps its deadline */
    long again_number;
    unsigned long again_stack;
    int64_t again_deadline;
};
static struct task *tasks;
static int task_count, task_room;

static struct task *find_task(pid_t tid)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i].tid == tid)
            return &tasks[i];
    if (task_count == task_room) {
        task_room = task_room ? 2 * task_room : 64;
        tasks = realloc(tasks, task_room * sizeof *tasks);
        if (!tasks)
            die("memory");
    }
    memset(&tasks[task_count], 0, sizeof *tasks);
    tasks[task_count].tid = tid;
    return &tasks[task_count++];
}

static void drop_task(pid_t tid)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i].tid == tid) {
            tasks[i] = tasks[--task_count];
            return;
        }
}

static int peek(pid_t tid, unsigned long address, void *buffer, size_t size)
{
    struct iovec here = { buffer, size }, there = { (void *)address, size };
    return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

static int poke(pid_t tid, unsigned long address, const void *buffer, size_t size)
{
    struct iovec here = { (void *)buffer, size }, there = { (void *)address, size };
    return process_vm_writev(tid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

static void go_on(pid_t tid) { ptrace(PTRACE_CONT, tid, 0, 0); }

/* ---------------------------------------------------------------- the clock, as the processes see it */
enum { REALTIME, MONOTONIC, KEEPS_REAL };

static int64_t now_ns(int which)
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
    return ns + (int64_t)page_reads->count;
}

static int kind(int clock)
{
    switch (clock) {
    case 0: case 5: case 8: case 11: return REALTIME;
    case 1: case 4: case 6: case 7: case 9: return MONOTONIC;
    default: return KEEPS_REAL;
    }
}

/* ---------------------------------------------------------------- a new image is given the clock */
static int held_back[64], held_back_count; /* signals that came meanwhile */

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

static unsigned long vdso_entry(pid_t tid, unsigned long stack) /* the address of AT_SYSINFO_EHDR's value */
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
        if (words[0] == AT_SYSINFO_EHDR)
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

static int give_clock(pid_t tid)
{
    struct user_regs_struct r;
    if (to_system_call_stop(tid) < 0 || ptrace(PTRACE_GETREGS, tid, 0, &r) < 0) /* leave execve itself */
        return -1;
    unsigned long entry = r.cs == 0x33 ? vdso_entry(tid, r.rsp) : 0; /* else it is a 32-bit program */
    if (!entry)
        return -1;
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

/* ---------------------------------------------------------------- which system calls stop */
#define LOAD(offset) (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define IF_EQUAL(value, yes, no) (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, yes, no)
#define IF_BITS(bits, yes, no) (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, bits, yes, no)
#define AND(bits) (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, bits)
#define STOP (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE)
#define PASS (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define LOW(argument) (offsetof(struct seccomp_data, args) + 8 * (argument))
#define HIGH(argument) (LOW(argument) + 4)

static struct sock_filter filter[256];
static int filter_length;
static void emit(struct sock_filter instruction) { filter[filter_length++] = instruction; }

static void stop_always(int number)
{
    emit(IF_EQUAL(number, 0, 1));
    emit(STOP);
}

static void stop_if_pointer(int number, int argument)
{
    emit(IF_EQUAL(number, 0, 6));
    emit(LOAD(LOW(argument)));
    emit(IF_EQUAL(0, 0, 2));
    emit(LOAD(HIGH(argument)));
    emit(IF_EQUAL(0, 1, 0));
    emit(STOP);
    emit(PASS);
}

static void stop_if_positive(int number, int argument)
{
    emit(IF_EQUAL(number, 0, 5));
    emit(LOAD(LOW(argument)));
    emit(IF_EQUAL(0, 2, 0));
    emit(IF_BITS(0x80000000u, 1, 0));
    emit(STOP);
    emit(PASS);
}

static void install_filter(void)
{
    emit(LOAD(offsetof(struct seccomp_data, arch)));
    emit(IF_EQUAL(AUDIT_ARCH_X86_64, 1, 0));
    emit(PASS);
    emit(LOAD(offsetof(struct seccomp_data, nr)));
    stop_always(SYS_nanosleep);
    stop_always(SYS_clock_nanosleep);
    stop_always(SYS_gettimeofday);
    stop_always(SYS_time);
    emit(IF_EQUAL(SYS_clock_gettime, 0, 6)); /* but for CPU time: 2, 3 and negative ones */
    emit(LOAD(LOW(0)));
    emit(IF_EQUAL(2, 3, 0));
    emit(IF_EQUAL(3, 2, 0));
    emit(IF_BITS(0x80000000u, 1, 0));
    emit(STOP);
    emit(PASS);
    stop_if_positive(SYS_poll, 2);
    stop_if_positive(SYS_epoll_wait, 3);
    stop_if_positive(SYS_epoll_pwait, 3);
    stop_if_pointer(SYS_ppoll, 2);
    stop_if_pointer(SYS_select, 4);
    stop_if_pointer(SYS_pselect6, 4);
    stop_if_pointer(SYS_epoll_pwait2, 3);
    stop_if_pointer(SYS_rt_sigtimedwait, 2);
    emit(IF_EQUAL(SYS_futex, 0, 10)); /* only operations that wait, and only with a timeout */
    emit(LOAD(LOW(1)));
    emit(AND(0x7f));
    emit(IF_EQUAL(FUTEX_WAIT, 4, 0));
    emit(IF_EQUAL(FUTEX_WAIT_BITSET, 3, 0));
    emit(IF_EQUAL(FUTEX_LOCK_PI, 2, 0));
    emit(IF_EQUAL(FUTEX_LOCK_PI2, 1, 0));
    emit(PASS);
    emit(LOAD(LOW(3)));
    emit(IF_EQUAL(0, 1, 0));
    emit(STOP);
    emit(PASS);
    struct sock_fprog program = { filter_length, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
        die("no_new_privs");
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) < 0)
        die("seccomp");
}

/* ---------------------------------------------------------------- a wait begins */
static int read_time(pid_t tid, unsigned long address, int64_t unit, int64_t *ns)
{
    int64_t words[2];
    if (!address || peek(tid, address, words, 16) < 0)
        return -1;
    if (words[0] > LONGEST_S)
        words[0] = LONGEST_S;
    *ns = words[0] * NS + words[1] * unit;
    return 0;
}

static void answer_call(pid_t tid, struct user_regs_struct *r, long result)
{
    r->orig_rax = NO_CALL;
    r->rax = (unsigned long)result;
    ptrace(PTRACE_SETREGS, tid, 0, r);
    go_on(tid);
}

static void write_clock(pid_t tid, struct user_regs_struct *r, unsigned long address, int which, int64_t unit)
{
    int64_t ns = now_ns(which), words[2] = { ns / NS, ns % NS / unit };
    answer_call(tid, r, address && poke(tid, address, words, 16) < 0 ? -EFAULT : 0);
}

/* Takes the timeout out of the call in `r`. Gives how long it is, or (absolute) when it ends; -1: there is none. */
static int64_t take_timeout(pid_t tid, struct user_regs_struct *r, int *absolute)
{
    int64_t ns;
    int which, operation;
    *absolute = 0;
    switch (r->orig_rax) {
    case SYS_nanosleep:
        return read_time(tid, r->rdi, 1, &ns) < 0 ? -1 : ns;
    case SYS_clock_nanosleep:
        which = kind((int)r->rdi);
        if (which == KEEPS_REAL || read_time(tid, r->rdx, 1, &ns) < 0)
            return -1;
        *absolute = (int)r->rsi & TIMER_ABSTIME;
        return *absolute && which == REALTIME ? ns - now_ns(REALTIME) + now_ns(MONOTONIC) : ns;
    case SYS_poll:
        ns = (int64_t)(int)r->rdx * 1000000;
        r->rdx = (unsigned long)-1;
        return ns;
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        ns = (int64_t)(int)r->r10 * 1000000;
        r->r10 = (unsigned long)-1;
        return ns;
    case SYS_ppoll:
    case SYS_rt_sigtimedwait:
        if (read_time(tid, r->rdx, 1, &ns) < 0)
            return -1;
        r->rdx = 0;
        return ns;
    case SYS_select:
    case SYS_pselect6:
        if (read_time(tid, r->r8, r->orig_rax == SYS_select ? 1000 : 1, &ns) < 0)
            return -1;
        r->r8 = 0;
        return ns;
    case SYS_epoll_pwait2:
        if (read_time(tid, r->r10, 1, &ns) < 0)
            return -1;
        r->r10 = 0;
        return ns;
    case SYS_futex:
        if (read_time(tid, r->r10, 1, &ns) < 0)
            return -1;
        operation = (int)r->rsi & 0x7f;
        which = (int)r->rsi & FUTEX_CLOCK_REALTIME || operation == FUTEX_LOCK_PI ? REALTIME : MONOTONIC;
        *absolute = operation != FUTEX_WAIT;
        r->r10 = 0;
        return *absolute && which == REALTIME ? ns - now_ns(REALTIME) + now_ns(MONOTONIC) : ns;
    default:
        return -1;
    }
}

static void on_call(struct task *task)
{
    pid_t tid = task->tid;
    struct user_regs_struct r, original;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
        return;
    original = r;
    long number = (long)r.orig_rax;
    switch (number) {
    case SYS_clock_gettime:
        if (kind((int)r.rdi) == KEEPS_REAL)
            go_on(tid);
        else
            write_clock(tid, &r, r.rsi, kind((int)r.rdi), 1);
        return;
    case SYS_gettimeofday:
        write_clock(tid, &r, r.rdi, REALTIME, 1000);
        return;
    case SYS_time: {
        int64_t seconds = now_ns(REALTIME) / NS;
        if (r.rdi)
            poke(tid, r.rdi, &seconds, 8);
        answer_call(tid, &r, seconds);
        return;
    }
    }
    int absolute, sleeps = number == SYS_nanosleep || number == SYS_clock_nanosleep;
    int64_t timeout = take_timeout(tid, &r, &absolute), now = now_ns(MONOTONIC);
    if (timeout < 0) {
        go_on(tid);
        return;
    }
    int64_t deadline = absolute ? timeout : now + timeout;
    if (task->again && task->again_number == number && task->again_stack == r.rsp)
        deadline = task->again_deadline;
    task->again = 0;
    if (deadline <= now) {
        if (sleeps)
            answer_call(tid, &original, 0);
        else if (number == SYS_futex)
            answer_call(tid, &original, -ETIMEDOUT);
        else
            go_on(tid); /* its timeout is 0 */
        return;
    }
    if (sleeps) { /* wait for a signal */
        r.orig_rax = SYS_ppoll;
        r.rdi = r.rsi = r.rdx = r.r10 = 0;
    }
    task->waiting = 1;
    task->interrupted = 0;
    task->number = number;
    task->registers = original;
    task->deadline = deadline;
    ptrace(PTRACE_SETREGS, tid, 0, &r);
    ptrace(PTRACE_SYSCALL, tid, 0, 0); /* until the call ends */
}

/* ---------------------------------------------------------------- a wait ends */
static long timed_out(struct task *task, const struct user_regs_struct *r)
{
    static const char zeros[8192];
    switch (task->number) {
    case SYS_futex: return -ETIMEDOUT;
    case SYS_rt_sigtimedwait: return -EAGAIN;
    case SYS_select:
    case SYS_pselect6: { /* no descriptor is ready */
        size_t size = (r->rdi + 63) / 64 * 8;
        if (size > sizeof zeros)
            size = sizeof zeros;
        unsigned long sets[] = { r->rsi, r->rdx, r->r10 };
        for (int i = 0; i < 3; i++)
            if (sets[i])
                poke(task->tid, sets[i], zeros, size);
        return 0;
    }
    default: return 0;
    }
}

static void on_wait_end(struct task *task)
{
    pid_t tid = task->tid;
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
        return;
    long result = (long)r.rax, number = task->number;
    int broken = result == -EINTR || (result <= -512 && result >= -516); /* ERESTARTSYS and its like */
    r.rdi = task->registers.rdi; r.rsi = task->registers.rsi; r.rdx = task->registers.rdx;
    r.r10 = task->registers.r10; r.r8 = task->registers.r8; r.r9 = task->registers.r9;
    r.orig_rax = (unsigned long)number;
    if (broken && task->interrupted && task->deadline <= now_ns(MONOTONIC)) {
        r.rax = (unsigned long)timed_out(task, &r);
        r.orig_rax = NO_CALL;
    } else if (broken) {
        /* By a signal. With a handler the program sees EINTR; without one the kernel makes the call again, and its
         * timeout must not start afresh. */
        if (result == -516) /* ERESTART_RESTARTBLOCK */
            r.rax = (unsigned long)-514; /* ERESTARTNOHAND */
        unsigned long left_at = number == SYS_nanosleep ? r.rsi : r.r10;
        if (number == SYS_nanosleep || (number == SYS_clock_nanosleep && !(r.rsi & TIMER_ABSTIME))) {
            int64_t left = task->deadline - now_ns(MONOTONIC), words[2];
            if (left < 0)
                left = 0;
            words[0] = left / NS;
            words[1] = left % NS;
            if (left_at)
                poke(tid, left_at, words, 16);
        }
        task->again = 1;
        task->again_number = number;
        task->again_stack = r.rsp;
        task->again_deadline = task->deadline;
    }
    task->waiting = task->interrupted = 0;
    ptrace(PTRACE_SETREGS, tid, 0, &r);
    go_on(tid);
}

/* ---------------------------------------------------------------- the helper */
static void on_exec(struct task *task)
{
    task->waiting = task->again = 0;
    held_back_count = 0;
    int given = give_clock(task->tid) == 0;
    if (!given)
        fprintf(stderr, "batkube: process %d keeps the real clock\n", task->tid);
    if (ready_fd >= 0) {
        if (write(ready_fd, given ? "1" : "0", 1) < 0)
            die("ready");
        close(ready_fd);
        ready_fd = -1;
    }
    go_on(task->tid);
    for (int i = 0; i < held_back_count; i++)
        kill(task->tid, held_back[i]);
}

static void handle(pid_t tid, int status)
{
    stops++;
    if (!WIFSTOPPED(status)) {
        drop_task(tid);
        return;
    }
    struct task *task = find_task(tid);
    int number = WSTOPSIG(status), event = status >> 16;
    int resume = task->waiting ? PTRACE_SYSCALL : PTRACE_CONT;
    if (number == (SIGTRAP | 0x80)) {
        if (task->waiting)
            on_wait_end(task);
        else
            go_on(tid);
    } else if (event == PTRACE_EVENT_SECCOMP)
        on_call(task);
    else if (event == PTRACE_EVENT_EXEC)
        on_exec(task);
    else if (event == PTRACE_EVENT_STOP
             && (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU))
        ptrace(PTRACE_LISTEN, tid, 0, 0);
    else if (event)
        ptrace(resume, tid, 0, 0);
    else
        ptrace(resume, tid, 0, number); /* a signal: let it have it */
}

static void answer(char question)
{
    int64_t now = now_ns(MONOTONIC), next = -1;
    int ended = 0, waiting = 0;
    for (int i = 0; i < task_count; i++) {
        struct task *task = &tasks[i];
        if (!task->waiting)
            continue;
        if (question == 'W' && task->deadline <= now && !task->interrupted) {
            task->interrupted = 1;
            ended++;
            ptrace(PTRACE_INTERRUPT, task->tid, 0, 0);
        }
        if (task->interrupted)
            continue;
        waiting++;
        if (next < 0 || task->deadline < next)
            next = task->deadline;
    }
    char line[128];
    int length = snprintf(line, sizeof line, "%d %d %lld %lu\n", ended, waiting, (long long)next, stops);
    if (write(control_fd, line, length) < 0)
        _exit(0);
}

static void helper(pid_t program, int started_fd)
{
    setsid();
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, 0);
    int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK
                   | PTRACE_O_TRACECLONE | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, program, 0, options) < 0)
        die("cannot trace the program");
    find_task(program);
    if (write(started_fd, "s", 1) != 1)
        die("pipe");
    close(started_fd);
    int nothing = open("/dev/null", O_RDWR);
    dup2(nothing, 0);
    dup2(nothing, 1);
    for (;;) {
        struct pollfd ready[2] = { { signals, POLLIN, 0 }, { control_fd, POLLIN, 0 } };
        if (poll(ready, 2, -1) < 0 && errno != EINTR)
            die("poll");
        struct signalfd_siginfo ignored;
        while (read(signals, &ignored, sizeof ignored) > 0)
            ;
        for (;;) {
            int status;
            pid_t tid = waitpid(-1, &status, __WALL | WNOHANG);
            if (tid == 0)
                break;
            if (tid > 0)
                handle(tid, status);
            else if (errno != EINTR)
                _exit(0); /* none is left */
        }
        if (ready[1].revents) {
            char questions[64];
            ssize_t count = read(control_fd, questions, sizeof questions);
            if (count <= 0)
                _exit(0); /* the controller is gone: the kernel ends all that is held (EXITKILL) */
            for (ssize_t i = 0; i < count; i++)
                answer(questions[i]);
        }
    }
}

static void map_files(const char *vdso_path)
{
    int fd = open(page_path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        die(page_path);
    char *pages = mmap(0, 2 * CLOCK_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    page = (void *)pages;
    page_reads = (void *)(pages + CLOCK_PAGE_SIZE);
    if (pages == MAP_FAILED || page->magic != CLOCK_PAGE_MAGIC)
        die("not a clock page");
    struct stat info;
    fd = open(vdso_path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &info) < 0)
        die(vdso_path);
    vdso_size = info.st_size;
    vdso = mmap(0, vdso_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (vdso == MAP_FAILED)
        die(vdso_path);
    close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 6) {
        fprintf(stderr, "usage: tree PAGE VDSO CONTROL_FD READY_FD PROGRAM ARGUMENT...\n");
        return 2;
    }
    page_path = argv[1];
    map_files(argv[2]);
    control_fd = atoi(argv[3]);
    ready_fd = atoi(argv[4]);
    fcntl(control_fd, F_SETFD, FD_CLOEXEC);
    fcntl(ready_fd, F_SETFD, FD_CLOEXEC);
    int from_helper[2], to_helper[2];
    if (pipe2(from_helper, O_CLOEXEC) < 0 || pipe2(to_helper, O_CLOEXEC) < 0)
        die("pipe");
    pid_t self = getpid(), between = fork();
    if (between < 0)
        die("fork");
    if (between == 0) { /* so that the helper is not a child that the program would find and wait for */
        pid_t child = fork();
        if (child == 0) {
            char allowed;
            close(from_helper[0]);
            close(to_helper[1]);
            if (read(to_helper[0], &allowed, 1) != 1)
                _exit(1);
            helper(self, from_helper[1]);
        }
        _exit(write(from_helper[1], &child, sizeof child) != sizeof child);
    }
    pid_t tracer;
    char started;
    if (read(from_helper[0], &tracer, sizeof tracer) != sizeof tracer)
        die("no helper");
    waitpid(between, 0, 0);
    prctl(PR_SET_PTRACER, tracer, 0, 0, 0); /* where Yama lets only parents trace */
    if (write(to_helper[1], "g", 1) != 1)
        die("pipe");
    close(from_helper[1]);
    close(to_helper[0]);
    if (read(from_helper[0], &started, 1) != 1)
        return 127; /* the helper has said why */
    install_filter();
    execvp(argv[5], argv + 5);
    die(argv[5]);
}
