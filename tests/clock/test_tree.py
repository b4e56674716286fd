"""Programs of any kind on the simulated clock: shells and what they start, Python's ways to wait, Go."""

import asyncio
import os
import shutil
import sys
from pathlib import Path

import pytest

from batkube.clock.tree import Helper, Waits, missing
from tests.waiting import wait_until

from .conftest import GoProgram, state
from .stage import Stage

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


async def test_a_shell_and_the_programs_it_starts(stage: Stage) -> None:
    script = "date -u +%T; sleep 3600; date -u +%T; sleep 30 & sleep 60; wait; date -u +%T"
    assert await stage.play("/bin/sh", "-c", script) == ["00:00:00", "01:00:00", "01:01:00"]


async def test_a_wait_of_bash_that_is_broken_by_its_input(stage: Stage) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("no bash")
    script = (
        "read -t 50 line < <(sleep 20; echo in time); echo $SECONDS $line; read -t 50 line < <(sleep 90); echo $SECONDS"
    )
    assert await stage.play(bash, "-c", script) == ["20 in time", "70"]


WAYS_TO_WAIT = """
import asyncio, queue, select, signal, socket, threading, time
start, wall = time.monotonic(), time.time()
def say(what):
    print(f'{time.monotonic() - start:.2f} {time.time() - wall:.2f} {what}', flush=True)
time.sleep(100); say('sleep')
threading.Event().wait(10); say('event')
try: queue.Queue().get(timeout=20)
except queue.Empty: say('queue')
threading.Lock().acquire() and say('lock')
a, b = socket.socketpair()
select.select([a], [], [], 5); say('select')
poll = select.poll(); poll.register(a, select.POLLIN); poll.poll(7000); say('poll')
a.settimeout(3)
try: a.recv(1)
except TimeoutError: say('recv')
asyncio.run(asyncio.sleep(40)); say('asyncio')
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
signal.sigtimedwait([signal.SIGUSR1], 4); say('sigtimedwait')
threads = [threading.Thread(target=time.sleep, args=(seconds,)) for seconds in (1, 3, 2)]
for thread in threads: thread.start()
for thread in threads: thread.join()
say('threads')
"""


async def test_each_way_to_wait_of_python_takes_its_simulated_time(stage: Stage) -> None:
    lines = [line.split() for line in await stage.play(sys.executable, "-c", WAYS_TO_WAIT)]
    expected = {
        "sleep": 100, "event": 110, "queue": 130, "lock": 130, "select": 135, "poll": 142, "recv": 145, "asyncio": 185,
        "sigtimedwait": 189, "threads": 192,
    }  # fmt: skip
    assert [what for _, _, what in lines] == list(expected)
    # What it computes in between takes nudges at most.
    slack = stage.clock.nudged + 0.1
    for monotonic, wall, what in lines:
        assert float(monotonic) == pytest.approx(expected[what], abs=slack)
        assert float(wall) == pytest.approx(expected[what], abs=slack)


async def test_go_programs_too(stage: Stage, go_program: GoProgram) -> None:
    lines = await stage.play(str(go_program("timers")), "10m")
    assert {line.split()[1]: round(float(line.split()[0]), 1) for line in lines} == {
        "start": 0.0, "func": 0.0, "sleep": 5.0, "tick": 120.0, "context": 90.0, "after": 600.0,
    }  # fmt: skip


async def test_a_process_whose_parent_has_ended_is_observed(stage: Stage) -> None:
    """Daemons are made like this: no living process that is observed has started it."""
    code = "import os, time; print(os.getpid(), flush=True); time.sleep(5)"
    await stage.start("/bin/sh", "-c", f"""for n in 1 2 3; do ('{sys.executable}' -S -c "{code}" &); done; sleep 50""")
    assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
    orphans = {int(pid) for pid in stage.lines()}
    assert len(orphans) == 3
    assert orphans < {thread.pid for thread in stage.oracle.threads()}
    deadline = stage.clock.next_deadline()
    assert deadline is not None
    assert deadline < 6


async def test_the_next_deadline_is_the_earliest_of_all_processes(stage: Stage) -> None:
    await stage.start("/bin/sh", "-c", "sleep 500 & sleep 300 & sleep 400")
    until_started = 0
    while stage.clock.next_deadline() is None or until_started < 3:
        assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
        until_started += 1
    assert stage.clock.next_deadline() == pytest.approx(300, abs=stage.clock.nudged + 0.0011)  # the grid


async def test_a_wait_that_is_due_ends_only_because_the_helper_ends_it(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ablation: the call that the kernel waits in has no timeout any more."""
    await stage.start("/bin/sh", "-c", "sleep 0.05; echo slept")
    await stage.clock.wait_for_quiescence(timeout=120)
    with monkeypatch.context() as without:
        without.setattr(Helper, "wake_one", Helper.tell)
        stage.clock.set(10.0)
        await asyncio.sleep(0.2)
        assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
        assert stage.lines() == []
    stage.clock.set(11.0)
    assert (await stage.clock.wait_for_quiescence(timeout=120)).gone
    assert stage.lines() == ["slept"]


async def test_all_processes_end_with_the_clock(stage: Stage) -> None:
    """Also one that has left the session of the program."""
    code = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(1000)"
    await stage.start("/bin/sh", "-c", f'"{sys.executable}" -S -c "{code}" & wait')
    while not stage.lines():
        await stage.clock.wait_for_quiescence(timeout=120)
    stray = int(stage.lines()[0])
    os.kill(stray, 0)
    stage.clock.close()
    wait_until("the process is gone", lambda: not Path(f"/proc/{stray}").exists() or state(stray) == "Z")


async def test_exit_codes_come_through(stage: Stage) -> None:
    await stage.start("/bin/sh", "-c", "sleep 1; exit 7")
    await stage.clock.wait_for_quiescence(timeout=120)
    stage.clock.set(2.0)
    assert stage.process is not None
    assert await stage.process.wait() == 7


SIMULTANEOUS = """
import os, signal, threading, time
def ends(name, seconds, readings=0):
    for _ in range(readings): time.monotonic()
    time.sleep(seconds)
    print(name, flush=True)
def child(work):
    if os.fork() == 0:
        work()
        os._exit(0)
def threads():
    # The first to start reads the clock most, and is due last by some microseconds.
    started = [threading.Thread(target=ends, args=(f'thread {n}', 5, 3000 - 1000 * n)) for n in (1, 2)]
    for thread in started: thread.start()
    for thread in started: thread.join()
def alarm():
    signal.alarm(5)
    signal.sigwait([signal.SIGALRM])
    print('alarm', flush=True)
def parent():
    child(lambda: ends('grandchild', 5))
    ends('parent', 5, 3000)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
for work in (parent, threads, lambda: ends('child', 5, 1000), alarm, lambda: ends('early', 4.999)):
    child(work)
ends('main', 5, 5000)
time.sleep(100)
"""


async def test_waits_that_are_due_together_end_one_by_one_in_the_order_of_births(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines_when_quiescent = []
    wake_one = Helper.wake_one

    def looked_at(helper: Helper) -> Waits:
        lines_when_quiescent.append(len(stage.lines()))
        return wake_one(helper)

    monkeypatch.setattr(Helper, "wake_one", looked_at)
    await stage.start(sys.executable, "-S", "-c", SIMULTANEOUS)
    assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
    lines_when_quiescent.clear()
    stage.clock.set(6.0)
    assert (await stage.clock.wait_for_quiescence(timeout=120)).idle
    assert lines_when_quiescent == list(range(9))
    assert stage.lines() == [
        "early", "main", "parent", "grandchild", "thread 1", "thread 2", "child", "alarm",
    ]  # fmt: skip


RANDOM = """
import os, random, threading, time, uuid
def draws():
    return f'{random.Random().random()} {uuid.uuid4()} {os.urandom(3000)[-4:].hex()} {hash("text")}'
def say(who):
    print(who, draws(), flush=True)
say(f'main {id(object())}')
if os.fork() == 0:
    say('child')
    os._exit(0)
os.wait()
thread = threading.Thread(target=say, args=('thread',))
thread.start()
thread.join()
os.execv('/bin/sh', ['sh', '-c', 'mktemp -u; mktemp -u'])
"""


@pytest.mark.skipif(shutil.which("mktemp") is None, reason="no mktemp")
async def test_random_bytes_follow_from_the_seed_and_addresses_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def said(seed: int | None) -> list[str]:
        stage = Stage(tmp_path / "out", seed)
        try:
            return await stage.play(sys.executable, "-S", "-c", RANDOM)
        finally:
            await stage.close()

    monkeypatch.delenv("PYTHONHASHSEED", raising=False)

    first, again, other, free = [await said(seed) for seed in (1, 1, 2, None)]
    assert len(set(first)) == 5
    assert again == first
    assert not set(first) & set(other)
    assert not set(first) & set(free)
