/* SO_RCVTIMEO and SO_SNDTIMEO: the kernel is told that there is no timeout, and calls on such sockets become waits with
 * a deadline. They stop by a second filter, which a process gets with its first such socket: all others read and write
 * at full speed. */
#include "tree.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

struct timed_socket {
    ino_t inode;
    int64_t receive, send; /* ns; 0: none */
};
static struct timed_socket *sockets;
static int socket_count, socket_room;

static struct timed_socket *find_socket(ino_t inode)
{
    for (int i = 0; i < socket_count; i++)
        if (sockets[i].inode == inode)
            return &sockets[i];
    return 0;
}

static struct timed_socket *socket_of(pid_t process, int fd)
{
    char path[64];
    struct stat info;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", process, fd);
    return stat(path, &info) == 0 && S_ISSOCK(info.st_mode) ? find_socket(info.st_ino) : 0;
}

static int is_receiving(const struct user_regs_struct *r)
{
    return r->rdx == SO_RCVTIMEO_OLD || r->rdx == SO_RCVTIMEO_NEW;
}

/* ---------------------------------------------------------------- options */
static int let_sockets_stop(struct task *task, const struct user_regs_struct *r)
{
    pid_t tid = task->tid, process = task->process;
    if (task->sockets_stop)
        return 0;
    unsigned long room = inject_call(tid, r, SYS_mmap, 0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                                     0);
    struct sock_fprog program = { socket_filter_length, (struct sock_filter *)(room + sizeof program) };
    if ((long)room < 0)
        return -1;
    int failed = poke(tid, room, &program, sizeof program) < 0
                 || poke(tid, room + sizeof program, socket_filter, socket_filter_length * sizeof *socket_filter) < 0
                 || inject_call(tid, r, SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, room, 0, 0, 0);
    inject_call(tid, r, SYS_munmap, room, 4096, 0, 0, 0, 0);
    if (failed)
        return -1;
    for (int i = 0; i < task_count; i++)
        if (tasks[i].process == process)
            tasks[i].sockets_stop = 1;
    return 0;
}

static void option_set(struct task *task, struct user_regs_struct *r)
{
    struct user_regs_struct asked = task->registers;
    struct timeval timeout, none = { 0, 0 };
    struct stat info;
    socklen_t size = sizeof timeout;
    int option = is_receiving(&asked) ? SO_RCVTIMEO : SO_SNDTIMEO;
    int ours = r->rax == 0 ? their_file(task->process, (int)asked.rdi) : -1;
    if (ours < 0)
        return;
    if (fstat(ours, &info) == 0 && getsockopt(ours, SOL_SOCKET, option, &timeout, &size) == 0) {
        int64_t ns = timeout.tv_sec * NS + timeout.tv_usec * 1000;
        struct timed_socket *found = find_socket(info.st_ino);
        if (ns && let_sockets_stop(task, r) < 0)
            fprintf(stderr, "batkube: process %d: timeouts of its sockets keep the real clock\n", task->process);
        else if (ns || found) {
            setsockopt(ours, SOL_SOCKET, option, &none, sizeof none);
            if (!found) {
                sockets = room_for_one(sockets, socket_count, &socket_room, sizeof *sockets);
                found = &sockets[socket_count++];
                found->inode = info.st_ino;
            }
            *(option == SO_RCVTIMEO ? &found->receive : &found->send) = ns;
        }
    }
    close(ours);
}

static void option_told(struct task *task, struct user_regs_struct *r)
{
    const struct user_regs_struct *asked = &task->registers;
    const struct timed_socket *found = socket_of(task->process, (int)asked->rdi);
    socklen_t size;
    if (r->rax != 0 || !found || peek(task->tid, asked->r8, &size, sizeof size) < 0)
        return;
    int64_t ns = is_receiving(asked) ? found->receive : found->send, words[2] = { ns / NS, ns % NS / 1000 };
    poke(task->tid, asked->r10, words, size < sizeof words ? size : sizeof words);
}

/* ---------------------------------------------------------------- calls that may wait */
static int64_t timeout_of(const struct timed_socket *found, long number)
{
    switch (number) {
    case SYS_read: case SYS_readv: case SYS_recvfrom: case SYS_recvmsg: case SYS_recvmmsg: case SYS_accept:
    case SYS_accept4:
        return found->receive;
    default:
        return found->send;
    }
}

int on_socket_call(struct task *task, struct user_regs_struct *r)
{
    long number = (long)r->orig_rax;
    switch (number) {
    case SYS_setsockopt:
        follow_call(task, r, option_set);
        return 1;
    case SYS_getsockopt:
        follow_call(task, r, option_told);
        return 1;
    case SYS_read: case SYS_readv: case SYS_recvfrom: case SYS_recvmsg: case SYS_recvmmsg: case SYS_accept:
    case SYS_accept4: case SYS_write: case SYS_writev: case SYS_sendto: case SYS_sendmsg: case SYS_sendmmsg:
    case SYS_connect:
        break;
    default:
        return 0;
    }
    const struct timed_socket *found = socket_of(task->process, (int)r->rdi);
    int64_t timeout = found ? timeout_of(found, number) : 0;
    if (timeout)
        begin_wait(task, r, r, deadline_again(task, r, now_ns(MONOTONIC) + timeout));
    else
        go_on(task->tid);
    return 1;
}
