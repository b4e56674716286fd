"""Programs in other languages on the simulated clock, unmodified, where they are on this machine."""

import shutil
import subprocess
from pathlib import Path

import pytest

from batkube.clock.tree import missing

from .stage import Stage

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing())


def program(name: str) -> str:
    """Return its path; skip the test where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def dated(stage: Stage, lines: list[str]) -> list[tuple[str, int]]:
    """Return what was said, and the simulated second: lines are ``SECONDS WHAT``, nudges may have added to them."""
    slack = stage.clock.nudged + 0.5
    said = []
    for line in lines:
        date, _, what = line.partition(" ")
        assert float(date) - int(float(date)) <= slack, line
        said.append((what, int(float(date))))
    return said


JAVA = """
import java.util.concurrent.*;

class Waits {
    static final long START = System.nanoTime();

    static void say(String what) {
        System.out.println((System.nanoTime() - START) / 1e9 + " " + what);
    }

    public static void main(String[] args) throws Exception {
        Thread.sleep(100_000); say("sleep");
        synchronized (START_LOCK) { START_LOCK.wait(30_000); } say("wait");
        new LinkedBlockingQueue<String>().poll(20, TimeUnit.SECONDS); say("poll");
        ScheduledExecutorService executor = Executors.newScheduledThreadPool(2);
        CountDownLatch latch = new CountDownLatch(3);
        executor.scheduleAtFixedRate(latch::countDown, 10, 10, TimeUnit.SECONDS);
        latch.await(); say("executor");
        executor.shutdownNow();
    }

    static final Object START_LOCK = new Object();
}
"""


@pytest.fixture
def java_program(tmp_path: Path) -> list[str]:
    java, javac = program("java"), program("javac")
    (tmp_path / "Waits.java").write_text(JAVA)
    subprocess.run([javac, "-d", str(tmp_path), str(tmp_path / "Waits.java")], check=True)
    return [java, "-cp", str(tmp_path), "Waits"]


async def test_java(stage: Stage, java_program: list[str]) -> None:
    """The JVM has a tick of 50 ms of its own: a stop each second is enough for it."""
    lines = await stage.play(*java_program, apart=1.0)
    dates = dict(dated(stage, lines))
    assert list(dates) == ["sleep", "wait", "poll", "executor"]
    for what, due in {"sleep": 100, "wait": 130, "poll": 150, "executor": 180}.items():
        assert due <= dates[what] <= due + 8, lines  # each wait may end a stop late


NODE = """
const start = performance.now();
const say = what => console.log((performance.now() - start) / 1000, what);
const sleep = seconds => new Promise(done => setTimeout(done, 1000 * seconds));
(async () => {
  await sleep(100); say('setTimeout');
  let n = 0, timer;
  await new Promise(done => timer = setInterval(() => { if (++n == 5) done(); }, 10000)); clearInterval(timer);
  say('setInterval');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30000); say('Atomics.wait');
  require('child_process').execSync('sleep 20'); say('execSync');
  const {Worker} = require('worker_threads');
  await new Promise(done => new Worker('setTimeout(() => {}, 40000)', {eval: true}).on('exit', done)); say('Worker');
  await fetch('http://127.0.0.1:9/', {signal: AbortSignal.timeout(5000)}).catch(() => say('fetch'));
})();
"""


async def test_node(stage: Stage) -> None:
    lines = await stage.play(program("node"), "-e", NODE)
    assert dated(stage, lines) == [
        ("setTimeout", 100), ("setInterval", 150), ("Atomics.wait", 180), ("execSync", 200), ("Worker", 240),
        ("fetch", 240),
    ]  # fmt: skip


async def test_perl(stage: Stage) -> None:
    """``sleep``, ``select``, and ``alarm``, whose signal breaks a read."""
    code = (
        "use Time::HiRes qw(time sleep); my $start = time; $| = 1; "
        "sub say_ { printf qq{%.2f %s\\n}, time - $start, shift } "
        "sleep 100.0; say_ q{sleep}; select undef, undef, undef, 20; say_ q{select}; "
        "pipe my $r, my $w; $SIG{ALRM} = sub { die qq{alarm\\n} }; "
        "alarm 30; eval { sysread $r, my $x, 1 }; say_ q{alarm};"
    )
    assert dated(stage, await stage.play(program("perl"), "-e", code)) == [
        ("sleep", 100),
        ("select", 120),
        ("alarm", 150),
    ]


async def test_busybox(stage: Stage) -> None:
    """Often linked statically, with musl: sleep, and timeout, whose clock is a daemon that sleeps."""
    busybox = program("busybox")
    script = (
        "exec 2> /dev/null; start=$(busybox date +%s); say() { echo $(($(busybox date +%s) - start)) $*; }; "
        "busybox sleep 100; say sleep; "
        "busybox timeout 10 busybox sleep 50; say timeout $?"
    )
    said = dict(dated(stage, await stage.play(busybox, "sh", "-c", script)))
    assert said["sleep"] == 100
    assert said.get("timeout 143", said.get("timeout 124")) == 110


RUST = """
use std::time::{Duration, Instant};
fn main() {
    let start = Instant::now();
    let say = |what: &str| println!("{:.2} {}", start.elapsed().as_secs_f64(), what);
    std::thread::sleep(Duration::from_secs(100)); say("sleep");
    let (_sender, receiver) = std::sync::mpsc::channel::<()>();
    let _ = receiver.recv_timeout(Duration::from_secs(20)); say("recv_timeout");
    std::thread::park_timeout(Duration::from_secs(30)); say("park_timeout");
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(40))).unwrap();
    let _ = socket.recv(&mut [0]); say("set_read_timeout");
}
"""


@pytest.fixture
def rust_program(tmp_path: Path) -> str:
    rustc = program("rustc")
    (tmp_path / "waits.rs").write_text(RUST)
    built = tmp_path / "waits"
    done = subprocess.run([rustc, "-o", str(built), str(tmp_path / "waits.rs")], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"rustc builds nothing here: {done.stderr.splitlines()[:1]}")
    return str(built)


async def test_rust(stage: Stage, rust_program: str) -> None:
    """Its sockets have their timeouts by SO_RCVTIMEO."""
    lines = await stage.play(rust_program)
    assert dated(stage, lines) == [
        ("sleep", 100), ("recv_timeout", 120), ("park_timeout", 150), ("set_read_timeout", 190),
    ]  # fmt: skip
