/* The threads that are held, their memory, registers and open files. */
#include "tree.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct task *tasks;
int task_count;
unsigned long births;
static int task_room;

void die(const char *what)
{
    fprintf(stderr, "batkube: %s: %s\n", what, strerror(errno));
    _exit(127);
}

void *room_for_one(void *array, int count, int *room, size_t size)
{
    if (count == *room) {
        *room = *room ? 2 * *room : 16;
        array = realloc(array, *room * size);
        if (!array)
            die("memory");
    }
    memset((char *)array + count * size, 0, size);
    return array;
}

/* A number that /proc/TID/status gives in a line of this format, else what it was. */
static void read_status(pid_t tid, const char *format, void *number)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    FILE *file = fopen(path, "re");
    while (file && fgets(text, sizeof text, file))
        if (sscanf(text, format, number) == 1)
            break;
    if (file)
        fclose(file);
}

static int has_signal(pid_t tid, const char *format, int signal)
{
    unsigned long long set = 0;
    read_status(tid, format, &set);
    return set >> (signal - 1) & 1;
}

int is_pending(pid_t tid, int signal)
{
    return has_signal(tid, "SigPnd: %llx", signal) || has_signal(tid, "ShdPnd: %llx", signal);
}

int is_caught(pid_t tid, int signal) { return has_signal(tid, "SigCgt: %llx", signal); }

pid_t parent_of(pid_t tid)
{
    pid_t parent = 0;
    read_status(tid, "PPid: %d", &parent);
    return parent;
}

struct task *known_task(pid_t tid)
{
    for (int i = 0; i < task_count; i++)
        if (tasks[i].tid == tid)
            return &tasks[i];
    return 0;
}

struct task *find_task(pid_t tid)
{
    struct task *known = known_task(tid);
    if (known)
        return known;
    tasks = room_for_one(tasks, task_count, &task_room, sizeof *tasks);
    tasks[task_count].tid = tid;
    tasks[task_count].process = tid;
    read_status(tid, "Tgid: %d", &tasks[task_count].process);
    births += tasks[task_count].process == tid;
    return &tasks[task_count++];
}

void drop_task(pid_t tid)
{
    struct task *task = known_task(tid);
    if (!task)
        return;
    free(task->lineage);
    *task = tasks[--task_count];
}

int peek(pid_t tid, unsigned long address, void *buffer, size_t size)
{
    struct iovec here = { buffer, size }, there = { (void *)address, size };
    return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

int poke(pid_t tid, unsigned long address, const void *buffer, size_t size)
{
    struct iovec here = { (void *)buffer, size }, there = { (void *)address, size };
    return process_vm_writev(tid, &here, 1, &there, 1, 0) == (ssize_t)size ? 0 : -1;
}

void go_on(pid_t tid) { ptrace(PTRACE_CONT, tid, 0, 0); }

void follow_call(struct task *task, const struct user_regs_struct *r, at_exit *then)
{
    task->number = (long)r->orig_rax;
    task->registers = *r;
    task->at_exit = then;
    ptrace(PTRACE_SYSCALL, task->tid, 0, 0);
}

void answer_call(pid_t tid, struct user_regs_struct *r, long result)
{
    r->orig_rax = NO_CALL;
    r->rax = (unsigned long)result;
    ptrace(PTRACE_SETREGS, tid, 0, r);
    go_on(tid);
}

int their_file(pid_t process, int fd)
{
    int pidfd = (int)syscall(SYS_pidfd_open, process, 0);
    if (pidfd < 0)
        return -1;
    int ours = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0); /* close-on-exec */
    close(pidfd);
    return ours;
}
