/* Starts a program on the simulated clock and takes over the waits of it and of all processes it starts. Linux, x86-64.
 *
 *   tree PAGE VDSO CONTROL_FD READY_FD SEED PROGRAM ARGUMENT...
 *
 * The program keeps this process's id. A helper is forked that holds it with ptrace, follows fork and exec, and maps
 * the clock page and the stand-in vDSO into each new image. A seccomp filter stops only at system calls that wait with
 * a timeout or arm a timer, so that no other call is slowed. The timeout is taken out of the call and kept here as a deadline on the
 * simulated clock; when that has passed it, the call is ended as a time-out would end it.
 *
 * The controller sends one byte and gets one line, "ENDED WAITING DEADLINE STOPS BIRTHS\n":
 *   W  end the waits that are due, and let timers go off (both in the order of order.c)
 *   O  only the first of them: those that are still due are told by DEADLINE
 *   Q  only tell
 *   P  gets "PID PID ...\n" instead: the processes that are held, also those whose parent has ended
 * ENDED counts what was ended, WAITING the waits that go on, DEADLINE is the earliest of theirs (simulated
 * CLOCK_MONOTONIC in ns, or -1), and STOPS how many stops of processes were handled: all that had happened before the
 * question. BIRTHS is how many processes there have been.
 * When the controller closes its end, all the processes are killed. READY_FD gets '1' when the program's image has the
 * clock, '0' when it could not be given one.
 *
 * Timers (alarm, setitimer, timer_settime, timerfd) and the timeouts of sockets are kept here in the same way, and
 * count in WAITING and DEADLINE; the kernel's own are never armed.
 *
 * SEED is hexadecimal, and all random bytes follow from it (random.c); if it is empty they are the kernel's.
 *
 * Not taken over: io_uring, recvmmsg's own timeout, FUTEX_WAIT_REQUEUE_PI; 32-bit programs. */
#include "tree.h"
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int control_fd, ready_fd;
static unsigned long stops;

static void be_born(struct task *child)
{
    child->born = 1;
    if (child->held)
        ptrace(PTRACE_CONT, child->tid, 0, 0);
    child->held = 0;
}

/* It is known from now on, also before it first stops; it stops where that which made it does. It does nothing before
 * this, so that what it makes itself has a lineage, too. */
static void on_birth(pid_t parent)
{
    unsigned long message = 0;
    if (ptrace(PTRACE_GETEVENTMSG, parent, 0, &message) < 0 || !message || kill((pid_t)message, 0) < 0)
        return;
    struct task *child = find_task((pid_t)message), *maker = find_task(parent);
    child->sockets_stop |= maker->sockets_stop;
    give_lineage(child, maker);
    begin_stream(child);
    be_born(child);
}

/* Children of a thread that was ended while it made them: nobody tells of their birth. */
static void let_orphans_go(pid_t process)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i].held) {
            pid_t parent = parent_of(tasks[i].tid);
            if (parent == process || !known_task(parent))
                be_born(&tasks[i]);
        }
}

static void on_exec(struct task *task)
{
    unsigned long former = 0;
    pid_t tid = task->tid;
    ptrace(PTRACE_GETEVENTMSG, tid, 0, &former);
    if (former && (pid_t)former != tid) { /* another thread than the first has called exec, and is now called that */
        drop_task((pid_t)former);
        task = find_task(tid);
    }
    task->waiting = task->again = 0;
    task->at_exit = 0;
    task->born = 1;
    drop_timers(tid, 0);
    let_orphans_go(tid);
    int given = give_clock(task) == 0;
    if (!given)
        fprintf(stderr, "batkube: process %d keeps the real clock\n", tid);
    if (ready_fd >= 0) {
        if (write(ready_fd, given ? "1" : "0", 1) < 0)
            die("ready");
        close(ready_fd);
        ready_fd = -1;
    }
    go_on(tid);
    deliver_held_back(tid);
}

static void on_call(struct task *task)
{
    struct user_regs_struct r;
    if (ptrace(PTRACE_GETREGS, task->tid, 0, &r) < 0)
        return;
    if (!on_random_call(task, &r) && !on_timer_call(task, &r) && !on_timerfd_call(task, &r) && !on_socket_call(task, &r))
        on_wait(task, &r);
}

static void on_call_end(struct task *task)
{
    struct user_regs_struct r;
    at_exit *then = task->at_exit;
    pid_t tid = task->tid;
    task->at_exit = 0;
    if (ptrace(PTRACE_GETREGS, tid, 0, &r) < 0)
        return;
    if (then)
        then(task, &r);
    go_on(tid);
    deliver_held_back(tid);
}

static void handle(pid_t tid, int status)
{
    stops++;
    if (!WIFSTOPPED(status)) {
        drop_task(tid);
        drop_timers(tid, 1); /* the first thread is the last to be told of */
        let_orphans_go(tid);
        return;
    }
    struct task *task = find_task(tid);
    int number = WSTOPSIG(status), event = status >> 16;
    int resume = task->at_exit ? PTRACE_SYSCALL : PTRACE_CONT;
    if (number == (SIGTRAP | 0x80))
        on_call_end(task);
    else if (event == PTRACE_EVENT_SECCOMP)
        on_call(task);
    else if (event == PTRACE_EVENT_EXEC)
        on_exec(task);
    else if (event == PTRACE_EVENT_STOP
             && (number == SIGSTOP || number == SIGTSTP || number == SIGTTIN || number == SIGTTOU))
        ptrace(PTRACE_LISTEN, tid, 0, 0);
    else if (event) {
        if (event != PTRACE_EVENT_STOP)
            on_birth(tid);
        if (known_task(tid)->born)
            ptrace(resume, tid, 0, 0);
        else
            known_task(tid)->held = 1;
    } else {
        if (task->again && is_caught(tid, number))
            task->again = 0;
        if (number == SIGALRM)
            give_kernel_origin(tid);
        ptrace(resume, tid, 0, number); /* a signal: let it have it */
    }
}

static void tell_processes(void)
{
    char line[65536];
    size_t length = 0;
    for (int i = task_count - 1; i >= 0; i--) {
        pid_t tid = tasks[i].tid;
        if (tid != tasks[i].process)
            continue;
        if (kill(tid, 0) < 0)
            drop_task(tid);
        else if (length < sizeof line - 16)
            length += (size_t)snprintf(line + length, 16, "%d ", tid);
    }
    line[length++] = '\n';
    if (write(control_fd, line, length) < 0)
        _exit(0);
}

static void answer(char question)
{
    if (question == 'P') {
        tell_processes();
        return;
    }
    int64_t next = NEVER;
    int ended = question == 'W' || question == 'O' ? end_due(question == 'O') : 0, waiting = 0;
    for (int i = 0; i < task_count; i++) {
        struct task *task = &tasks[i];
        if (!task->waiting || task->interrupted)
            continue;
        waiting++;
        if (next == NEVER || task->deadline < next)
            next = task->deadline;
    }
    int64_t others[] = { next_timer(&waiting), next_timerfd(&waiting) };
    for (int i = 0; i < 2; i++)
        if (others[i] != NEVER && (next == NEVER || others[i] < next))
            next = others[i];
    char line[128];
    int length = snprintf(line, sizeof line, "%d %d %lld %lu %lu\n", ended, waiting, (long long)next, stops, births);
    if (write(control_fd, line, length) < 0)
        _exit(0);
}

/* What the program was given to run steadily (steady.py) would only make us slow. */
static void run_freely(void)
{
    cpu_set_t all;
    struct sched_param normal = { 0 };
    memset(&all, 0xff, sizeof all);
    sched_setaffinity(0, sizeof all, &all);
    sched_setscheduler(0, SCHED_OTHER, &normal);
}

static void helper(pid_t program, int started_fd)
{
    setsid();
    run_freely();
    sigset_t children;
    sigemptyset(&children);
    sigaddset(&children, SIGCHLD);
    sigprocmask(SIG_BLOCK, &children, 0);
    int signals = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK
                   | PTRACE_O_TRACECLONE | PTRACE_O_TRACESECCOMP | PTRACE_O_EXITKILL;
    if (ptrace(PTRACE_SEIZE, program, 0, options) < 0)
        die("cannot trace the program");
    struct task *root = find_task(program);
    root->born = 1;
    begin_stream(root);
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
    if (argc < 7) {
        fprintf(stderr, "usage: tree PAGE VDSO CONTROL_FD READY_FD SEED PROGRAM ARGUMENT...\n");
        return 2;
    }
    page_path = argv[1];
    map_files(argv[2]);
    control_fd = atoi(argv[3]);
    ready_fd = atoi(argv[4]);
    set_seed(argv[5]);
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
    execvp(argv[6], argv + 6);
    die(argv[6]);
}
