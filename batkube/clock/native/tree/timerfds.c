/* timerfd: the kernel's timer is disarmed, and armed with what is over when it is due by the simulated clock. So all
 * that can be done with the descriptor stays the kernel's. A copy of it tells one open file from another. */
#include "tree.h"
#include <dirent.h>
#include <linux/kcmp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct timerfd {
    int ours;
    pid_t process;    /* that has it open, */
    int theirs;       /* and as what */
    clockid_t clock;
    int64_t deadline; /* simulated monotonic ns, or NEVER */
    int64_t interval;
    int64_t told;     /* expirations that the kernel's timer was armed with last */
};
static struct timerfd *timerfds;
static int timerfd_count, timerfd_room;

/* ---------------------------------------------------------------- one open file or another */
static int is_timerfd(pid_t process, int theirs)
{
    char path[64], target[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, theirs);
    ssize_t length = readlink(path, target, sizeof target - 1);
    target[length < 0 ? 0 : length] = 0;
    return !strcmp(target, "anon_inode:[timerfd]");
}

static int same_file(const struct timerfd *timer, pid_t process, int theirs)
{
    long order = syscall(SYS_kcmp, getpid(), process, KCMP_FILE, (long)timer->ours, (long)theirs);
    if (order < 0 && errno == ENOSYS) /* a kernel without CONFIG_KCMP: a copy is taken for another */
        return process == timer->process && theirs == timer->theirs && is_timerfd(process, theirs);
    return order == 0;
}

static int has_open(pid_t process, struct timerfd *timer)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd", process);
    DIR *folder = opendir(path);
    struct dirent *entry;
    while (folder && (entry = readdir(folder)))
        if (entry->d_name[0] != '.' && same_file(timer, process, atoi(entry->d_name))) {
            timer->process = process;
            timer->theirs = atoi(entry->d_name);
            closedir(folder);
            return 1;
        }
    if (folder)
        closedir(folder);
    return 0;
}

static int is_open_somewhere(struct timerfd *timer)
{
    if (same_file(timer, timer->process, timer->theirs))
        return 1;
    for (int i = 0; i < task_count; i++)
        if (tasks[i].tid == tasks[i].process && has_open(tasks[i].process, timer))
            return 1;
    return 0;
}

static void disarm(int fd)
{
    static const struct itimerspec nothing;
    timerfd_settime(fd, 0, &nothing, 0);
}

static int is_unread(const struct timerfd *timer)
{
    struct pollfd look = { timer->ours, POLLIN, 0 };
    return poll(&look, 1, 0) == 1;
}

/* Forget what all have closed, and keep a timer from ticking on by the real clock once it was read. */
static void tidy(void)
{
    for (int i = timerfd_count - 1; i >= 0; i--) {
        struct timerfd *timer = &timerfds[i];
        if (timer->told > 1 && !is_unread(timer)) {
            disarm(timer->ours);
            timer->told = 0;
        }
        if (!is_open_somewhere(timer)) {
            close(timer->ours);
            *timer = timerfds[--timerfd_count];
        }
    }
}

/* ---------------------------------------------------------------- calls */
static void go_off(int index, int64_t now);

static clockid_t clock_of(int ours)
{
    char path[64], text[256];
    clockid_t clock = CLOCK_MONOTONIC;
    snprintf(path, sizeof path, "/proc/self/fdinfo/%d", ours);
    FILE *file = fopen(path, "re");
    while (file && fgets(text, sizeof text, file))
        sscanf(text, "clockid: %d", &clock);
    if (file)
        fclose(file);
    return clock;
}

/* The one that the program means; made if there is none. 0 where it is no timerfd. */
static struct timerfd *find_timerfd(pid_t process, int theirs)
{
    struct itimerspec ignored;
    for (int i = 0; i < timerfd_count; i++)
        if (same_file(&timerfds[i], process, theirs))
            return &timerfds[i];
    int ours = their_file(process, theirs);
    if (ours < 0 || timerfd_gettime(ours, &ignored) < 0) {
        if (ours >= 0)
            close(ours);
        return 0;
    }
    timerfds = room_for_one(timerfds, timerfd_count, &timerfd_room, sizeof *timerfds);
    timerfds[timerfd_count] = (struct timerfd){
        .ours = ours, .process = process, .theirs = theirs, .clock = clock_of(ours), .deadline = NEVER,
    };
    return &timerfds[timerfd_count++];
}

static void settime(struct task *task, struct user_regs_struct *r)
{
    int64_t value, interval;
    int flags = (int)r->rsi;
    struct timerfd *timer = find_timerfd(task->process, (int)r->rdi);
    if (!timer || flags & ~(TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET)
        || read_timer(task->tid, r->rdx, 1, &value, &interval) < 0) {
        go_on(task->tid); /* the kernel knows how to refuse it */
        return;
    }
    long result = write_timer(task->tid, r->r10, 1, timer->deadline, timer->interval);
    disarm(timer->ours);
    timer->told = 0;
    timer->interval = interval;
    timer->deadline = value ? deadline_of(value, flags & TFD_TIMER_ABSTIME, clock_kind(timer->clock)) : NEVER;
    int64_t now = now_ns(MONOTONIC);
    if (value && timer->deadline <= now)
        go_off((int)(timer - timerfds), now);
    answer_call(task->tid, r, result);
}

int on_timerfd_call(struct task *task, struct user_regs_struct *r)
{
    if (r->orig_rax == SYS_timerfd_settime) {
        settime(task, r);
        return 1;
    }
    if (r->orig_rax != SYS_timerfd_gettime)
        return 0;
    struct timerfd *timer = find_timerfd(task->process, (int)r->rdi);
    if (timer)
        answer_call(task->tid, r, write_timer(task->tid, r->rsi, 1, timer->deadline, timer->interval));
    else
        go_on(task->tid);
    return 1;
}

/* ---------------------------------------------------------------- what is due */
/* Make the descriptor readable. The kernel counts expirations when it is read: so many periods have then gone by as lie
 * between the date that it is given, which is past, and now. The period is as long as can be, for it goes on. */
static void fire(struct timerfd *timer, int64_t expired)
{
    if (timer->told && is_unread(timer))
        expired += timer->told; /* arming it forgets them */
    struct itimerspec past = { .it_value.tv_nsec = 1 };
    if (expired > 1) {
        struct timespec real;
        clock_gettime(timer->clock, &real);
        int64_t now = real.tv_sec * NS + real.tv_nsec, period;
        if (expired > now / NS)
            expired = now / NS; /* more cannot be told by a machine that has been up for so many seconds */
        period = now / expired;
        past.it_interval = (struct timespec){ period / NS, period % NS };
        past.it_value = (struct timespec){ period / 2 / NS, period / 2 % NS };
    }
    timer->told = expired;
    timerfd_settime(timer->ours, expired > 1 ? TFD_TIMER_ABSTIME : 0, &past, 0);
}

static void go_off(int index, int64_t now)
{
    fire(&timerfds[index], expirations(&timerfds[index].deadline, timerfds[index].interval, now));
}

void offer_timerfds(int64_t now)
{
    tidy();
    for (int i = 0; i < timerfd_count; i++)
        if (timerfds[i].deadline != NEVER && timerfds[i].deadline <= now)
            offer(timerfds[i].process, timerfds[i].deadline, i, go_off);
}

int64_t next_timerfd(int *armed)
{
    int64_t next = NEVER;
    tidy();
    for (int i = 0; i < timerfd_count; i++)
        if (timerfds[i].deadline != NEVER) {
            ++*armed;
            if (next == NEVER || timerfds[i].deadline < next)
                next = timerfds[i].deadline;
        }
    return next;
}
