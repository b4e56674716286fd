/* Waits with a timeout: a wait begins, its timeout is taken out of the call and kept as a deadline; it ends. */
#include "tree.h"
#include <linux/futex.h>
#include <time.h>

static void write_clock(pid_t tid, struct user_regs_struct *r, unsigned long address, int which, int64_t unit)
{
    int64_t ns = now_ns(which), seconds = ns / NS - (ns % NS < 0); /* down: it may be before 1970 */
    int64_t words[2] = { seconds, (ns - seconds * NS) / unit };
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
        which = clock_kind((int)r->rdi);
        if (which == KEEPS_REAL || read_time(tid, r->rdx, 1, &ns) < 0)
            return -1;
        *absolute = (int)r->rsi & TIMER_ABSTIME;
        return *absolute ? deadline_of(ns, 1, which) : ns;
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
    case SYS_semtimedop:
        if (read_time(tid, r->r10, 1, &ns) < 0)
            return -1;
        r->r10 = 0;
        return ns;
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
        if (read_time(tid, r->r8, 1, &ns) < 0)
            return -1;
        *absolute = 1;
        r->r8 = 0;
        return deadline_of(ns, 1, REALTIME);
    case SYS_futex_waitv:
        which = clock_kind((int)r->r8);
        if (which == KEEPS_REAL || read_time(tid, r->r10, 1, &ns) < 0)
            return -1;
        *absolute = 1;
        r->r10 = 0;
        return deadline_of(ns, 1, which);
    case SYS_futex:
        if (read_time(tid, r->r10, 1, &ns) < 0)
            return -1;
        operation = (int)r->rsi & 0x7f;
        which = (int)r->rsi & FUTEX_CLOCK_REALTIME || operation == FUTEX_LOCK_PI ? REALTIME : MONOTONIC;
        *absolute = operation != FUTEX_WAIT;
        r->r10 = 0;
        return *absolute ? deadline_of(ns, 1, which) : ns;
    default:
        return -1;
    }
}

/* ---------------------------------------------------------------- a wait ends */
static long timed_out(struct task *task, const struct user_regs_struct *r)
{
    static const char zeros[8192];
    switch (task->number) {
    case SYS_futex:
    case SYS_futex_waitv:
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
        return -ETIMEDOUT;
    case SYS_rt_sigtimedwait:
    case SYS_semtimedop:
        return -EAGAIN;
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
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
        return 0;
    case SYS_connect:
        return -EINPROGRESS;
    default: /* of a socket */
        return -EAGAIN;
    }
}

/* Linux tells what is left of a timeout: always after select and its like, after sleeps where they are broken. */
static void tell_what_is_left(struct task *task, const struct user_regs_struct *r, int broken)
{
    unsigned long at = 0;
    int64_t unit = 1, left = task->deadline - now_ns(MONOTONIC);
    switch (task->number) {
    case SYS_select:
        unit = 1000;
        at = r->r8;
        break;
    case SYS_pselect6:
        at = r->r8;
        break;
    case SYS_ppoll:
        at = r->rdx;
        break;
    case SYS_nanosleep:
        at = broken ? r->rsi : 0;
        break;
    case SYS_clock_nanosleep:
        at = broken && !(r->rsi & TIMER_ABSTIME) ? r->r10 : 0;
    }
    if (left < 0)
        left = 0;
    int64_t words[2] = { left / NS, left % NS / unit };
    if (at)
        poke(task->tid, at, words, 16);
}

static int is_broken(const struct user_regs_struct *r) /* ERESTARTSYS and its like */
{
    long result = (long)r->rax;
    return result == -EINTR || (result <= -512 && result >= -516);
}

static void on_wait_end(struct task *task, struct user_regs_struct *r)
{
    int broken = is_broken(r), due = task->interrupted && task->deadline <= now_ns(MONOTONIC);
    r->rdi = task->registers.rdi; r->rsi = task->registers.rsi; r->rdx = task->registers.rdx;
    r->r10 = task->registers.r10; r->r8 = task->registers.r8; r->r9 = task->registers.r9;
    r->orig_rax = (unsigned long)task->number;
    tell_what_is_left(task, r, broken && !due);
    if (broken && due) {
        r->rax = (unsigned long)timed_out(task, r);
        r->orig_rax = NO_CALL;
    } else if (broken) {
        /* By a signal. With a handler the program sees EINTR, as always after a timeout; without one the kernel makes
         * the call again, and its timeout must not start afresh. */
        if ((long)r->rax == -516 || (long)r->rax == -512) /* ERESTART_RESTARTBLOCK, ERESTARTSYS */
            r->rax = (unsigned long)-514; /* ERESTARTNOHAND */
        task->again = 1;
        task->again_number = task->number;
        task->again_stack = r->rsp;
        task->again_deadline = task->deadline;
    }
    task->waiting = task->interrupted = 0;
    ptrace(PTRACE_SETREGS, task->tid, 0, r);
}

static void interrupt(int index, int64_t now)
{
    (void)now;
    tasks[index].interrupted = 1;
    ptrace(PTRACE_INTERRUPT, tasks[index].tid, 0, 0);
}

void offer_waits(int64_t now)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i].waiting && !tasks[i].interrupted && tasks[i].deadline <= now)
            offer(tasks[i].tid, tasks[i].deadline, i, interrupt);
}

/* ---------------------------------------------------------------- a wait begins */
static int is_made_again(const struct task *task, const struct user_regs_struct *r)
{
    return task->again && task->again_number == (long)r->orig_rax && task->again_stack == r->rsp;
}

int64_t deadline_again(struct task *task, const struct user_regs_struct *r, int64_t deadline)
{
    if (is_made_again(task, r))
        deadline = task->again_deadline;
    task->again = 0;
    return deadline;
}

void begin_wait(struct task *task, const struct user_regs_struct *original, struct user_regs_struct *changed,
                int64_t deadline)
{
    task->interrupted = 0;
    task->deadline = deadline;
    task->waiting = 1;
    ptrace(PTRACE_SETREGS, task->tid, 0, changed);
    follow_call(task, original, on_wait_end);
}

void on_wait(struct task *task, struct user_regs_struct *r)
{
    pid_t tid = task->tid;
    struct user_regs_struct original = *r;
    long number = (long)r->orig_rax;
    switch (number) {
    case SYS_clock_gettime:
        if (clock_kind((int)r->rdi) == KEEPS_REAL)
            go_on(tid);
        else
            write_clock(tid, r, r->rsi, clock_kind((int)r->rdi), 1);
        return;
    case SYS_gettimeofday:
        write_clock(tid, r, r->rdi, REALTIME, 1000);
        return;
    case SYS_time: {
        int64_t seconds = now_ns(REALTIME) / NS;
        if (r->rdi)
            poke(tid, r->rdi, &seconds, 8);
        answer_call(tid, r, seconds);
        return;
    }
    }
    int absolute, sleeps = number == SYS_nanosleep || number == SYS_clock_nanosleep;
    int64_t timeout = take_timeout(tid, r, &absolute), now = now_ns(MONOTONIC);
    if (timeout < 0) {
        go_on(tid);
        return;
    }
    int again = is_made_again(task, &original); /* then it waits for its turn to end, also where it is due */
    int64_t deadline = deadline_again(task, &original, absolute ? timeout : now + timeout);
    if (deadline <= now && !again) {
        if (sleeps)
            answer_call(tid, &original, 0);
        else if (number == SYS_futex || number == SYS_futex_waitv)
            answer_call(tid, &original, -ETIMEDOUT);
        else
            go_on(tid); /* its timeout is 0, or long over */
        return;
    }
    if (sleeps) { /* wait for a signal */
        r->orig_rax = SYS_ppoll;
        r->rdi = r->rsi = r->rdx = r->r10 = 0;
    }
    begin_wait(task, &original, r, deadline);
}
