/* What the parts of the tree helper share. main.c says what the helper is for. */
#ifndef BATKUBE_TREE_H
#define BATKUBE_TREE_H
#define _GNU_SOURCE
#include "../clock_page.h"
#include <errno.h>
#include <linux/filter.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/user.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_epoll_pwait2
#define SYS_epoll_pwait2 441
#endif
#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define NS 1000000000ll
#define LONGEST_S 4000000000ll /* what is longer is for ever: it would not fit */
#define NO_CALL ((unsigned long)-1)
#define NEVER (-1ll) /* instead of a deadline */

/* ---------------------------------------------------------------- tasks.c: threads that are held */
struct task;
typedef void at_exit(struct task *task, struct user_regs_struct *r);

struct task {
    pid_t tid;
    pid_t process;
    at_exit *at_exit; /* what to do when the call that it is in ends; it then goes on by itself */
    int waiting;      /* in a wait that was taken over */
    int interrupted;  /* it is due, and was asked to stop */
    int sockets_stop; /* calls on sockets stop (sockets.c) */
    long number;      /* the system call as the program made it, */
    struct user_regs_struct registers; /* and its arguments */
    int64_t deadline; /* simulated monotonic ns */
    int again;        /* a signal without a handler broke the wait: made again, it keeps its deadline */
    long again_number;
    unsigned long again_stack;
    int64_t again_deadline;
    int born;               /* the stop of the thread that made it was handled, */
    int held;               /* until then it is held at its first stop */
    unsigned char *lineage; /* order.c */
    size_t lineage_size;
    uint32_t children;
    uint64_t random;        /* random.c */
};
extern struct task *tasks;
extern int task_count;
extern unsigned long births; /* processes among them so far */

void die(const char *what) __attribute__((noreturn));
/* Room for one element more in an array that is zeroed as it grows. */
void *room_for_one(void *array, int count, int *room, size_t size);
struct task *known_task(pid_t tid); /* or 0 */
struct task *find_task(pid_t tid); /* made if there is none; valid until the next is made */
void drop_task(pid_t tid);
int peek(pid_t tid, unsigned long address, void *buffer, size_t size); /* 0, or -1 */
int poke(pid_t tid, unsigned long address, const void *buffer, size_t size);
void go_on(pid_t tid);
/* Let the thread make its call as it is, and do something when that ends. */
void follow_call(struct task *task, const struct user_regs_struct *r, at_exit *then);
/* Give the call that the thread is about to make this result, without making it. */
void answer_call(pid_t tid, struct user_regs_struct *r, long result);
pid_t parent_of(pid_t tid); /* the process's, as /proc tells */
int is_pending(pid_t tid, int signal);
int is_caught(pid_t tid, int signal);
/* A descriptor of ours for the file that a process has open as `fd`, or -1. */
int their_file(pid_t process, int fd);

/* ---------------------------------------------------------------- clock.c: the time, as the processes see it */
enum { REALTIME, MONOTONIC, KEEPS_REAL };
extern volatile struct clock_page *page;
extern volatile struct clock_reads *page_reads;

int64_t now_ns(int which);
int clock_kind(int clock);
/* A timespec (unit 1) or timeval (unit 1000) of the program, in ns. 0, or -1 where it cannot be read. */
int read_time(pid_t tid, unsigned long address, int64_t unit, int64_t *ns);
/* An itimerspec or itimerval. 0, or -1 where it cannot be read or the kernel would refuse it. */
int read_timer(pid_t tid, unsigned long address, int64_t unit, int64_t *value, int64_t *interval);
/* The same written, for a timer that is due at `deadline`. 0, or -EFAULT; nothing is done for address 0. */
long write_timer(pid_t tid, unsigned long address, int64_t unit, int64_t deadline, int64_t interval);
/* When a time on one of the clocks, or one from now on, is reached: simulated monotonic ns. */
int64_t deadline_of(int64_t time, int absolute, int which);
/* How many periods a timer that is due has gone through; its deadline is moved on, to NEVER without an interval. */
int64_t expirations(int64_t *deadline, int64_t interval, int64_t now);

/* ---------------------------------------------------------------- order.c: what is due ends in this order */
/* A thread is given the place after all that its parent has made before it. */
void give_lineage(struct task *child, struct task *parent);
/* A wait or timer of a thread that is due: `end` gets the index back. */
void offer(pid_t tid, int64_t deadline, int index, void (*end)(int index, int64_t now));
/* Ends what is due, or only the first of it; how many. */
int end_due(int only_first);

/* ---------------------------------------------------------------- random.c: random bytes that follow from a seed */
extern int has_seed;
void set_seed(const char *hexadecimal);
void begin_stream(struct task *task); /* when it has its lineage */
void draw_bytes(struct task *task, unsigned char *bytes, size_t size);
int on_random_call(struct task *task, struct user_regs_struct *r);

/* ---------------------------------------------------------------- image.c: what a program is given at its start */
extern const char *page_path;
extern unsigned char *vdso;
extern unsigned long vdso_size;

int give_clock(struct task *task); /* at its exec: 0, or -1 */
/* Let a thread that has just ended a system call make another; the result. `r` are its registers, which it gets back. */
long inject_call(pid_t tid, const struct user_regs_struct *r, long number, unsigned long a, unsigned long b,
                 unsigned long c, unsigned long d, unsigned long e, unsigned long f);
/* Signals that came meanwhile are held back until this. */
void deliver_held_back(pid_t tid);

/* ---------------------------------------------------------------- filter.c: which system calls stop */
void install_filter(void);
extern const struct sock_filter socket_filter[];
extern const unsigned short socket_filter_length;

/* ---------------------------------------------------------------- waits.c, timers.c, timerfds.c, sockets.c */
void on_wait(struct task *task, struct user_regs_struct *r);
void offer_waits(int64_t now);
/* `deadline`, or the earlier one where the call goes on after a signal as if that had not been. */
int64_t deadline_again(struct task *task, const struct user_regs_struct *r, int64_t deadline);
/* Let a thread make the call in `changed`, which has no timeout, instead of `original`. */
void begin_wait(struct task *task, const struct user_regs_struct *original, struct user_regs_struct *changed,
                int64_t deadline);

int on_timer_call(struct task *task, struct user_regs_struct *r); /* whether it is one, and was dealt with */
void give_kernel_origin(pid_t tid); /* of a SIGALRM about to be delivered, if it is ours */
void offer_timers(int64_t now);     /* those that are due, to order.c */
int64_t next_timer(int *armed);     /* the earliest deadline or NEVER; adds how many there are */
void drop_timers(pid_t process, int also_alarm);

int on_timerfd_call(struct task *task, struct user_regs_struct *r);
void offer_timerfds(int64_t now);
int64_t next_timerfd(int *armed);

int on_socket_call(struct task *task, struct user_regs_struct *r);
#endif
