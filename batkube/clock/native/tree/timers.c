/* Timers that end in a signal: alarm, setitimer, and those of timer_create. They are kept here, the kernel's are never
 * armed; one that is due sends its signal from here. */
#include "tree.h"
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ALARM (-1) /* instead of the number of a timer: alarm and setitimer, of which a process has one */
#define MICROSECONDS 1000

struct timer {
    pid_t process;
    int id;
    int which;        /* clock */
    int notify;       /* SIGEV_SIGNAL, SIGEV_NONE or SIGEV_THREAD_ID */
    int signal;
    pid_t thread;     /* of SIGEV_THREAD_ID */
    void *value;      /* what the signal brings */
    int64_t deadline; /* simulated monotonic ns, or NEVER */
    int64_t interval;
    int overrun;      /* expirations that the last signal stands for, but for one */
};
static struct timer *timers;
static int timer_count, timer_room;

/* Linux' own struct sigevent: glibc's is larger. */
struct event {
    void *value;
    int signal, notify;
    pid_t thread;
};

static struct timer *find_timer(pid_t process, int id)
{
    for (int i = 0; i < timer_count; i++)
        if (timers[i].process == process && timers[i].id == id)
            return &timers[i];
    return 0;
}

static struct timer *add_timer(pid_t process, int id)
{
    timers = room_for_one(timers, timer_count, &timer_room, sizeof *timers);
    timers[timer_count] = (struct timer){
        .process = process, .id = id, .which = REALTIME, .notify = SIGEV_SIGNAL, .signal = SIGALRM, .deadline = NEVER,
    };
    return &timers[timer_count++];
}

static struct timer *alarm_of(pid_t process)
{
    struct timer *timer = find_timer(process, ALARM);
    return timer ? timer : add_timer(process, ALARM);
}

void drop_timers(pid_t process, int also_alarm)
{
    for (int i = timer_count - 1; i >= 0; i--)
        if (timers[i].process == process && (also_alarm || timers[i].id != ALARM))
            timers[i] = timers[--timer_count];
}

/* ---------------------------------------------------------------- calls */
static void go_off(int index, int64_t now);

static void arm(struct timer *timer, int64_t value, int64_t interval, int absolute)
{
    timer->deadline = value ? deadline_of(value, absolute, timer->which) : NEVER;
    timer->interval = interval;
    timer->overrun = 0;
    int64_t now = now_ns(MONOTONIC);
    if (value && timer->deadline <= now)
        go_off((int)(timer - timers), now);
}

static long alarm_call(pid_t process, unsigned int seconds)
{
    struct timer *timer = alarm_of(process);
    int64_t left = timer->deadline == NEVER ? 0 : timer->deadline - now_ns(MONOTONIC);
    if (timer->deadline != NEVER && left < 1)
        left = 1;
    /* As Linux rounds: to the nearest, but never to 0 when there is one. */
    long result = left / NS + ((left < NS && left) || left % NS >= NS / 2);
    arm(timer, seconds * NS, 0, 0);
    return result;
}

static void setitimer_call(struct task *task, struct user_regs_struct *r)
{
    int64_t value = 0, interval = 0;
    if (r->rsi && read_timer(task->tid, r->rsi, MICROSECONDS, &value, &interval) < 0) {
        go_on(task->tid); /* the kernel knows how to refuse it */
        return;
    }
    struct timer *timer = alarm_of(task->process);
    long result = write_timer(task->tid, r->rdx, MICROSECONDS, timer->deadline, timer->interval);
    arm(timer, value, interval, 0);
    answer_call(task->tid, r, result);
}

static void timer_created(struct task *task, struct user_regs_struct *r)
{
    const struct user_regs_struct *asked = &task->registers;
    struct event event = { .signal = SIGALRM, .notify = SIGEV_SIGNAL };
    int id, which = clock_kind((int)asked->rdi);
    if (r->rax != 0 || which == KEEPS_REAL || peek(task->tid, asked->rdx, &id, sizeof id) < 0)
        return;
    if (!asked->rsi)
        event.value = (void *)(long)id;
    else if (peek(task->tid, asked->rsi, &event, sizeof event) < 0)
        return;
    struct timer *timer = add_timer(task->process, id);
    timer->which = which;
    timer->notify = event.notify;
    timer->signal = event.signal;
    timer->thread = event.thread;
    timer->value = event.value;
}

static void timer_settime_call(struct task *task, struct user_regs_struct *r)
{
    struct timer *timer = find_timer(task->process, (int)r->rdi);
    int64_t value, interval;
    if (!timer || read_timer(task->tid, r->rdx, 1, &value, &interval) < 0) {
        go_on(task->tid); /* the kernel's (CPU time), or wrong */
        return;
    }
    long result = write_timer(task->tid, r->r10, 1, timer->deadline, timer->interval);
    arm(timer, value, interval, (int)r->rsi & TIMER_ABSTIME);
    answer_call(task->tid, r, result);
}

int on_timer_call(struct task *task, struct user_regs_struct *r)
{
    struct timer *timer;
    pid_t tid = task->tid;
    switch (r->orig_rax) {
    case SYS_alarm:
        answer_call(tid, r, alarm_call(task->process, (unsigned int)r->rdi));
        return 1;
    case SYS_setitimer:
        setitimer_call(task, r);
        return 1;
    case SYS_getitimer:
        timer = alarm_of(task->process);
        answer_call(tid, r, write_timer(tid, r->rsi, MICROSECONDS, timer->deadline, timer->interval));
        return 1;
    case SYS_timer_create:
        follow_call(task, r, timer_created);
        return 1;
    case SYS_timer_settime:
        timer_settime_call(task, r);
        return 1;
    case SYS_timer_gettime:
    case SYS_timer_getoverrun:
    case SYS_timer_delete:
        timer = find_timer(task->process, (int)r->rdi);
        if (!timer)
            go_on(tid);
        else if (r->orig_rax == SYS_timer_gettime)
            answer_call(tid, r, write_timer(tid, r->rsi, 1, timer->deadline, timer->interval));
        else if (r->orig_rax == SYS_timer_getoverrun)
            answer_call(tid, r, timer->overrun);
        else {
            *timer = timers[--timer_count];
            go_on(tid);
        }
        return 1;
    default:
        return 0;
    }
}

/* ---------------------------------------------------------------- what is due */
static void send_signal(struct timer *timer, int64_t expired)
{
    if (timer->notify == SIGEV_NONE)
        return;
    if (timer->id == ALARM) {
        kill(timer->process, SIGALRM);
        return;
    }
    if (is_pending(timer->notify & SIGEV_THREAD_ID ? timer->thread : timer->process, timer->signal)) {
        timer->overrun += (int)expired; /* a timer has one signal under way at most */
        return;
    }
    timer->overrun = (int)expired - 1;
    siginfo_t info;
    memset(&info, 0, sizeof info);
    info.si_signo = timer->signal;
    info.si_code = SI_TIMER;
    info.si_timerid = timer->id;
    info.si_overrun = timer->overrun;
    info.si_value.sival_ptr = timer->value;
    if (timer->notify & SIGEV_THREAD_ID)
        syscall(SYS_rt_tgsigqueueinfo, timer->process, timer->thread, timer->signal, &info);
    else
        syscall(SYS_rt_sigqueueinfo, timer->process, timer->signal, &info);
}

static void go_off(int index, int64_t now)
{
    send_signal(&timers[index], expirations(&timers[index].deadline, timers[index].interval, now));
}

void offer_timers(int64_t now)
{
    for (int i = 0; i < timer_count; i++) {
        if (timers[i].deadline == NEVER || timers[i].deadline > now)
            continue;
        if (timers[i].notify == SIGEV_NONE)
            go_off(i, now); /* nobody is told */
        else
            offer(timers[i].process, timers[i].deadline, i, go_off);
    }
}

int64_t next_timer(int *armed)
{
    int64_t next = NEVER;
    for (int i = 0; i < timer_count; i++)
        if (timers[i].deadline != NEVER && timers[i].notify != SIGEV_NONE) {
            ++*armed;
            if (next == NEVER || timers[i].deadline < next)
                next = timers[i].deadline;
        }
    return next;
}

void give_kernel_origin(pid_t tid)
{
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, tid, 0, &info) == 0 && info.si_code == SI_USER && info.si_pid == getpid()) {
        memset(&info, 0, sizeof info);
        info.si_signo = SIGALRM;
        info.si_code = SI_KERNEL;
        ptrace(PTRACE_SETSIGINFO, tid, 0, &info);
    }
}
