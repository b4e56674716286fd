/* Which system calls stop: those that wait with a timeout, that arm timers, that read the clock past the vDSO, and that
 * draw random bytes. */
#include "tree.h"
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/futex.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

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

static void stop_if_equal(int number, int argument, int value)
{
    emit(IF_EQUAL(number, 0, 4));
    emit(LOAD(LOW(argument)));
    emit(IF_EQUAL(value, 0, 1));
    emit(STOP);
    emit(PASS);
}

static void stop_if_timeout_of_socket(int number)
{
    emit(IF_EQUAL(number, 0, 9));
    emit(LOAD(LOW(1)));
    emit(IF_EQUAL(SOL_SOCKET, 0, 6));
    emit(LOAD(LOW(2)));
    emit(IF_EQUAL(SO_RCVTIMEO_OLD, 3, 0));
    emit(IF_EQUAL(SO_SNDTIMEO_OLD, 2, 0));
    emit(IF_EQUAL(SO_RCVTIMEO_NEW, 1, 0));
    emit(IF_EQUAL(SO_SNDTIMEO_NEW, 0, 1));
    emit(STOP);
    emit(PASS);
}

void install_filter(void)
{
    emit(LOAD(offsetof(struct seccomp_data, arch)));
    emit(IF_EQUAL(AUDIT_ARCH_X86_64, 1, 0));
    emit(PASS);
    emit(LOAD(offsetof(struct seccomp_data, nr)));
    if (has_seed)
        stop_always(SYS_getrandom);
    stop_always(SYS_nanosleep);
    stop_always(SYS_clock_nanosleep);
    stop_always(SYS_gettimeofday);
    stop_always(SYS_time);
    stop_always(SYS_alarm);
    stop_if_equal(SYS_setitimer, 0, ITIMER_REAL);
    stop_if_equal(SYS_getitimer, 0, ITIMER_REAL);
    stop_always(SYS_timer_create);
    stop_always(SYS_timer_settime);
    stop_always(SYS_timer_gettime);
    stop_always(SYS_timer_getoverrun);
    stop_always(SYS_timer_delete);
    stop_always(SYS_timerfd_settime);
    stop_always(SYS_timerfd_gettime);
    stop_if_timeout_of_socket(SYS_setsockopt);
    stop_if_timeout_of_socket(SYS_getsockopt);
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
    stop_if_pointer(SYS_semtimedop, 3);
    stop_if_pointer(SYS_mq_timedsend, 4);
    stop_if_pointer(SYS_mq_timedreceive, 4);
    stop_if_pointer(SYS_futex_waitv, 3);
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

/* A second one, for programs that have a socket with a timeout (sockets.c): all calls that may wait for one. */
#define STOP_AT(number) IF_EQUAL(number, 0, 1), STOP
const struct sock_filter socket_filter[] = {
    LOAD(offsetof(struct seccomp_data, arch)), IF_EQUAL(AUDIT_ARCH_X86_64, 1, 0), PASS,
    LOAD(offsetof(struct seccomp_data, nr)),
    STOP_AT(SYS_read), STOP_AT(SYS_readv), STOP_AT(SYS_recvfrom), STOP_AT(SYS_recvmsg), STOP_AT(SYS_recvmmsg),
    STOP_AT(SYS_accept), STOP_AT(SYS_accept4),
    STOP_AT(SYS_write), STOP_AT(SYS_writev), STOP_AT(SYS_sendto), STOP_AT(SYS_sendmsg), STOP_AT(SYS_sendmmsg),
    STOP_AT(SYS_connect),
    PASS,
};
const unsigned short socket_filter_length = sizeof socket_filter / sizeof *socket_filter;
