/* Timers of C programs, each with the second at which it went off. */
#define _GNU_SOURCE
#include <errno.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static struct timespec start;

static double seconds(struct timespec t) { return t.tv_sec + t.tv_nsec / 1e9; }

static void say(const char *format, ...)
{
    struct timespec now;
    va_list arguments;
    clock_gettime(CLOCK_MONOTONIC, &now);
    va_start(arguments, format);
    printf("%.2f ", seconds(now) - seconds(start));
    vprintf(format, arguments);
    printf("\n");
    fflush(stdout);
    va_end(arguments);
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    if (number == SIGALRM)
        say("alarm code %d", info->si_code);
    else
        say("signal %d code %d value %d overrun %d", number, info->si_code, info->si_value.sival_int, info->si_overrun);
}

static sem_t called;
static void on_thread(union sigval value)
{
    say("thread value %d", value.sival_int);
    sem_post(&called);
}

static struct itimerspec every(double value, double interval)
{
    return (struct itimerspec){ { (time_t)interval, (long)((interval - (time_t)interval) * 1e9) },
                                { (time_t)value, (long)((value - (time_t)value) * 1e9) } };
}

static void tell(const char *what, struct itimerspec t)
{
    say("%s %.1f every %.1f", what, seconds(t.it_value), seconds(t.it_interval));
}

int main(void)
{
    struct sigaction action = { .sa_sigaction = on_signal, .sa_flags = SA_SIGINFO };
    struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1, .sigev_value.sival_int = 7 };
    struct itimerspec spec = every(2, 3), told;
    timer_t timer;
    clock_gettime(CLOCK_MONOTONIC, &start);
    sigaction(SIGUSR1, &action, 0);
    sigaction(SIGALRM, &action, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &spec, 0);
    pause();
    pause();
    usleep(500000);
    timer_gettime(timer, &told);
    tell("left", told);
    spec = every(0, 0);
    timer_settime(timer, 0, &spec, 0);
    timer_gettime(timer, &told);
    tell("disarmed", told);
    timer_delete(timer);

    sem_init(&called, 0, 0);
    struct sigevent thread = { .sigev_notify = SIGEV_THREAD, .sigev_notify_function = on_thread };
    thread.sigev_value.sival_int = 3;
    timer_create(CLOCK_REALTIME, &thread, &timer);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    spec = every(0, 0);
    spec.it_value = (struct timespec){ now.tv_sec + 4, now.tv_nsec };
    timer_settime(timer, TIMER_ABSTIME, &spec, 0);
    sem_wait(&called);
    timer_delete(timer);

    sigset_t usr1, pending;
    siginfo_t info;
    sigemptyset(&usr1);
    sigaddset(&usr1, SIGUSR1);
    sigprocmask(SIG_BLOCK, &usr1, 0);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    spec = every(2, 2);
    timer_settime(timer, 0, &spec, 0);
    sleep(20);
    sigpending(&pending);
    if (sigismember(&pending, SIGUSR1))
        say("overrun %d", timer_getoverrun(timer));
    timer_delete(timer);
    sigwaitinfo(&usr1, &info);

    ualarm(1000, 0);
    pause();

    int set = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf take = { 0, -1, 0 };
    struct timespec ten = { 10, 0 };
    if (semtimedop(set, &take, 1, &ten) < 0 && errno == EAGAIN)
        say("semtimedop timed out");
    semctl(set, 0, IPC_RMID);

    char name[64], message[8192];
    snprintf(name, sizeof name, "/batkube-test-%d", getpid());
    mqd_t queue = mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, 0);
    mq_unlink(name);
    clock_gettime(CLOCK_REALTIME, &now);
    now.tv_sec += 10;
    if (mq_timedreceive(queue, message, sizeof message, 0, &now) < 0 && errno == ETIMEDOUT)
        say("mq_timedreceive timed out");

    int ends[2];
    if (pipe(ends) < 0)
        return 1;
    struct timeval left = { 7, 0 };
    fd_set readable;
    FD_ZERO(&readable);
    FD_SET(ends[0], &readable);
    if (fork() == 0) {
        sleep(3);
        _exit(write(ends[1], "x", 1) != 1);
    }
    select(ends[0] + 1, &readable, 0, 0, &left);
    say("select left %.1f", left.tv_sec + left.tv_usec / 1e6);

    timer_create(CLOCK_PROCESS_CPUTIME_ID, &event, &timer);
    spec = every(100, 0);
    timer_settime(timer, 0, &spec, 0);
    sleep(10);
    timer_gettime(timer, &told);
    if (told.it_value.tv_sec >= 99)
        say("cpu timer is real");
    return 0;
}
