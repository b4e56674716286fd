"""Timers that a program arms, and timeouts that it gives to sockets, on the simulated clock."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from batkube.clock import simulated
from batkube.clock.native.build import compiler
from batkube.clock.tree import missing

from .stage import Stage

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())

PRELUDE = """
import ctypes, os, select, signal, socket, struct, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
start = time.monotonic()
def say(*what):
    print(f'{time.monotonic() - start:.2f}', *what, flush=True)
def nothing(*_): pass
"""


@pytest.fixture(autouse=True)
def no_nudges(monkeypatch: pytest.MonkeyPatch) -> None:
    """None of these programs needs the clock to move while it works, and what a busy machine adds would blur dates."""
    monkeypatch.setattr(simulated, "NUDGE", 0)


async def play(stage: Stage, code: str) -> list[tuple[float, str]]:
    """Run a piece of Python: at which simulated second it said what."""
    lines = await stage.play(sys.executable, "-S", "-c", PRELUDE + code)
    return [(round(float(date), 1), what) for date, _, what in (line.partition(" ") for line in lines)]


async def test_timeout_ends_a_command_after_its_simulated_seconds(stage: Stage) -> None:
    """coreutils: timer_create, timer_settime, SIGALRM."""
    if shutil.which("timeout") is None:
        pytest.skip("no timeout (coreutils)")
    script = (
        "timeout 10 sleep 100; echo $? $SECONDS; timeout 10 sleep 5; echo $? $SECONDS; timeout 0.5 sleep 1; echo $?"
    )
    assert await stage.play("bash", "-c", script) == ["124 10", "0 15", "124"]


async def test_an_alarm_interrupts_a_sleep(stage: Stage) -> None:
    said = await play(
        stage,
        """
signal.signal(signal.SIGALRM, lambda *_: say('alarm'))
say(signal.alarm(30))
time.sleep(10)
say(signal.alarm(25))
signal.pause()
say(signal.alarm(5), signal.alarm(0))
time.sleep(10)
say('no alarm')
""",
    )
    assert said == [(0, "0"), (10, "20"), (35, "alarm"), (35, "0 5"), (45, "no alarm")]


async def test_an_alarm_without_a_handler_ends_the_program(stage: Stage) -> None:
    script = "(exec python3 -S -c 'import signal, time; signal.alarm(60); time.sleep(100)'); echo $? $SECONDS"
    assert (await stage.play("bash", "-c", script))[-1] == "142 60"


async def test_an_interval_timer_goes_off_again_and_again(stage: Stage) -> None:
    said = await play(
        stage,
        """
signal.signal(signal.SIGALRM, lambda *_: say('tick'))
signal.setitimer(signal.ITIMER_REAL, 5, 2.5)
signal.pause(), signal.pause()
time.sleep(1)
say(*(round(x, 1) for x in signal.getitimer(signal.ITIMER_REAL)))
signal.pause()
say(*(round(x, 1) for x in signal.setitimer(signal.ITIMER_REAL, 0)))
time.sleep(60)
say('over')
""",
    )
    assert said == [
        (5, "tick"), (7.5, "tick"), (8.5, "1.5 2.5"), (10, "tick"), (10, "2.5 2.5"), (70, "over")
    ]  # fmt: skip


async def test_a_jump_over_many_periods_is_one_signal(stage: Stage) -> None:
    await stage.start(
        sys.executable,
        "-S",
        "-c",
        PRELUDE
        + """
signal.signal(signal.SIGALRM, lambda *_: say('tick'))
signal.setitimer(signal.ITIMER_REAL, 5, 10)
while True: signal.pause()
""",
    )
    assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
    stage.clock.set(61.0)
    assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
    assert len(stage.lines()) == 1
    assert stage.clock.next_deadline() == pytest.approx(65, abs=0.1)


async def test_an_alarm_outlives_exec_and_is_not_inherited(stage: Stage) -> None:
    said = await play(
        stage,
        """
if os.fork() == 0:
    say('child', signal.alarm(0)); os._exit(0)
os.wait()
signal.alarm(20)
pid = os.fork()
if pid == 0:
    say('child', signal.alarm(0)); signal.alarm(20)
    os.execv(sys.executable, [sys.executable, '-S', '-c', 'import time; time.sleep(50)'])
signal.signal(signal.SIGALRM, lambda *_: say('alarm'))
signal.alarm(30)
say(os.wait()[1])
signal.pause()
""",
    )
    assert said == [(0, "child 0"), (0, "child 0"), (20, "14"), (30, "alarm")]


async def test_signals_of_timers_can_be_waited_for(stage: Stage) -> None:
    said = await play(
        stage,
        """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
signal.alarm(40)
say(signal.sigtimedwait([signal.SIGALRM], 10))
say(signal.sigwait([signal.SIGALRM]) == signal.SIGALRM)
""",
    )
    assert said == [(10, "None"), (40, "True")]


TIMERFD = """
CLOCK_REALTIME, CLOCK_MONOTONIC, TFD_TIMER_ABSTIME = 0, 1, 1
def timerfd(clock, flags=0):
    return libc.timerfd_create(clock, flags)
def settime(fd, value, interval=0.0, flags=0):
    words = [int(interval), round(interval % 1 * 1e9), int(value), round(value % 1 * 1e9)]
    old = ctypes.create_string_buffer(32)
    if libc.timerfd_settime(fd, flags, struct.pack('4q', *words), old):
        raise OSError(ctypes.get_errno(), 'timerfd_settime')
    return told(old)
def gettime(fd):
    now = ctypes.create_string_buffer(32)
    assert libc.timerfd_gettime(fd, now) == 0
    return told(now)
def told(buffer):
    interval, interval_ns, value, value_ns = struct.unpack('4q', buffer.raw)
    return round(value + value_ns / 1e9, 1), round(interval + interval_ns / 1e9, 1)
def read(fd):
    return struct.unpack('q', os.read(fd, 8))[0]
"""


async def test_timerfds_relative_absolute_and_repeated(stage: Stage) -> None:
    said = await play(
        stage,
        TIMERFD
        + """
fd = timerfd(CLOCK_MONOTONIC)
settime(fd, 100); say('relative', read(fd))
settime(fd, time.monotonic() + 50, flags=TFD_TIMER_ABSTIME); say('absolute', read(fd))
settime(fd, 5, 10); say('first', read(fd)); say('second', read(fd))
say(*gettime(fd)); time.sleep(3); say(*gettime(fd)); say(*settime(fd, 0)); say(*gettime(fd))
fd = timerfd(CLOCK_REALTIME)
settime(fd, time.time() + 3600, flags=TFD_TIMER_ABSTIME); say('wall', read(fd))
settime(fd, 1, flags=TFD_TIMER_ABSTIME); say('past', read(fd))
""",
    )
    assert said == [
        (100, "relative 1"), (150, "absolute 1"), (155, "first 1"), (165, "second 1"),
        (165, "10.0 10.0"), (168, "7.0 10.0"), (168, "7.0 10.0"), (168, "0.0 0.0"),
        (3768, "wall 1"), (3768, "past 1"),
    ]  # fmt: skip


async def test_timerfds_are_waited_for_in_poll_and_epoll(stage: Stage) -> None:
    said = await play(
        stage,
        TIMERFD
        + """
fd, idle = timerfd(CLOCK_MONOTONIC, os.O_NONBLOCK), timerfd(CLOCK_MONOTONIC)
epoll = select.epoll(); epoll.register(fd, select.EPOLLIN); epoll.register(idle, select.EPOLLIN)
poll = select.poll(); poll.register(fd, select.POLLIN)
settime(fd, 20)
say('epoll', epoll.poll(5)); say('epoll', [f == fd for f, _ in epoll.poll()], read(fd))
settime(fd, 20, 20)
say('poll', poll.poll(5000)); say('poll', len(poll.poll(50000)), read(fd))
say('select', len(select.select([fd], [], [], 50)[0]))
try: read(fd), read(fd)
except BlockingIOError: say('read')
""",
    )
    assert said == [
        (5, "epoll []"), (20, "epoll [True] 1"), (25, "poll []"), (40, "poll 1 1"), (60, "select 1"), (60, "read"),
    ]  # fmt: skip


async def test_a_timerfd_counts_the_periods_of_a_jump(stage: Stage) -> None:
    code = TIMERFD + "fd = timerfd(CLOCK_MONOTONIC); settime(fd, 10, 10)\nwhile True: say(read(fd))"
    await stage.start(sys.executable, "-S", "-c", PRELUDE + code)
    for date in (10.5, 45.5, 50.5, 90.5):
        assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
        stage.clock.set(date)
    assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
    assert [line.split()[1] for line in stage.lines()] == ["1", "3", "1", "4"]


async def test_a_timerfd_that_is_closed_is_no_deadline(stage: Stage) -> None:
    """Nor one that a child has inherited and closed; what a child has still open is."""
    said = await play(
        stage,
        TIMERFD
        + """
for n in range(3):
    fd = timerfd(CLOCK_MONOTONIC); settime(fd, 10, 1); os.close(fd)
fd = timerfd(CLOCK_MONOTONIC); settime(fd, 30)
if os.fork() == 0:
    say('child', read(fd)); os._exit(0)
os.close(fd)
os.wait(); say('parent')
time.sleep(1000); say('slept')
""",
    )
    assert said == [(30, "child 1"), (30, "parent"), (1030, "slept")]
    assert len(stage.jumps) == 2


async def test_a_wrong_timerfd_is_refused_as_by_the_kernel(stage: Stage) -> None:
    said = await play(
        stage,
        TIMERFD
        + """
def refused(*args, **kwargs):
    try: settime(*args, **kwargs)
    except OSError as error: say(error.errno)
refused(99, 1); refused(0, 1); refused(timerfd(0), 1, flags=64); refused(timerfd(0), -1)
""",
    )
    assert [what for _, what in said] == ["9", "22", "22", "22"]


async def test_timeouts_given_to_sockets(stage: Stage) -> None:
    said = await play(
        stage,
        """
def timed(call):
    try: call()
    except BlockingIOError: return 'timed out'
    return 'done'
def timeout(sock, option, seconds):
    sock.setsockopt(socket.SOL_SOCKET, option, struct.pack('ll', int(seconds), int(seconds % 1 * 1e6)))
def told(sock, option):
    return struct.unpack('ll', sock.getsockopt(socket.SOL_SOCKET, option, 16))
a, b = socket.socketpair()
timeout(a, socket.SO_RCVTIMEO, 12.5)
say(*told(a, socket.SO_RCVTIMEO), *told(a, socket.SO_SNDTIMEO))
say('recv', timed(lambda: a.recv(1)))
say('read', timed(lambda: os.read(a.fileno(), 1)))
say('recvmsg', timed(lambda: a.recvmsg(1)))
b.send(b'x'); say('recv', timed(lambda: a.recv(1)))
threading.Timer(5, b.send, [b'x']).start(); say('recv', timed(lambda: a.recv(1)))
r, w = os.pipe(); threading.Timer(30, os.write, [w, b'x']).start(); say('pipe', os.read(r, 1))
if os.fork() == 0:
    say('child', timed(lambda: a.recv(1))); os._exit(0)
os.wait()
timeout(a, socket.SO_RCVTIMEO, 0); say(*told(a, socket.SO_RCVTIMEO))
threading.Timer(100, b.send, [b'x']).start(); say('recv', timed(lambda: a.recv(1)))
with socket.create_server(('127.0.0.1', 0)) as server:
    timeout(server, socket.SO_RCVTIMEO, 3); say('accept', timed(server.accept))
""",
    )
    assert said == [
        (0, "12 500000 0 0"), (12.5, "recv timed out"), (25, "read timed out"), (37.5, "recvmsg timed out"),
        (37.5, "recv done"), (42.5, "recv done"), (72.5, "pipe b'x'"), (85, "child timed out"), (85, "0 0"),
        (185, "recv done"), (188, "accept timed out"),
    ]  # fmt: skip


async def test_a_signal_breaks_a_timed_receive(stage: Stage) -> None:
    """With EINTR, as Linux does it; Python then receives again, with the whole timeout."""
    said = await play(
        stage,
        """
a, b = socket.socketpair()
a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 20, 0))
signal.signal(signal.SIGALRM, lambda *_: say('alarm'))
signal.alarm(5)
try: a.recv(1)
except BlockingIOError: say('timed out')
""",
    )
    assert said == [(5, "alarm"), (25, "timed out")]


async def test_sockets_of_python_with_a_timeout(stage: Stage) -> None:
    said = await play(
        stage,
        """
a, b = socket.socketpair()
a.settimeout(30)
try: a.recv(1)
except TimeoutError: say('timed out')
""",
    )
    assert said == [(30, "timed out")]


C_PROGRAM = Path(__file__).parent / "programs" / "timers.c"


@pytest.fixture(params=[[], ["-static"]], ids=["dynamic", "static"])
def c_program(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    command = compiler()
    if command is None:
        pytest.skip("no C compiler")
    program = tmp_path / "timers"
    words = [command, "-O1", "-pthread", *request.param, "-o", str(program), str(C_PROGRAM), "-lrt"]
    built = subprocess.run(words, capture_output=True, text=True)
    if request.param and built.returncode:
        pytest.skip(f"no static C library: {built.stderr.splitlines()[-1:]}")
    assert built.returncode == 0, built.stderr
    return program


async def test_c_programs(stage: Stage, c_program: Path) -> None:
    """timer_create with signals, values, threads and overruns; message queues and semaphores; select."""
    lines = await stage.play(str(c_program))
    said = [(round(float(date), 1), what) for date, _, what in (line.partition(" ") for line in lines)]
    expected = [
        (2, "signal 10 code -2 value 7 overrun 0"), (5, "signal 10 code -2 value 7 overrun 0"),
        (5.5, "left 2.5 every 3.0"), (5.5, "disarmed 0.0 every 0.0"),
        (9.5, "thread value 3"), (29.5, "overrun 9"), (29.5, "alarm code 128"),
        (39.5, "semtimedop timed out"), (49.5, "mq_timedreceive timed out"), (52.5, "select left 4.0"),
        (62.5, "cpu timer is real"),
    ]  # fmt: skip
    assert said == expected
