"""The stand-in vDSO, its functions called directly: the image of the repository and one built anew do the same."""

import ctypes
import mmap
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from batkube.clock.native.build import IMAGE_BY, build, compiler
from batkube.clock.page import SIZE, ClockPage
from batkube.clock.vdso import IMAGE

from .symbols import dynamic_symbols

Function = Callable[..., int]


class Loaded:
    """An image in this process's memory, right above a clock page."""

    def __init__(self, image: bytes, page: ClockPage) -> None:
        self._memory = mmap.mmap(-1, SIZE + len(image), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        fd = os.open(page.path, os.O_RDWR)
        self._memory[:SIZE] = os.pread(fd, SIZE, 0)
        os.close(fd)
        self._memory[SIZE:] = image
        self._base = ctypes.addressof(ctypes.c_char.from_buffer(self._memory)) + SIZE
        self._symbols = dynamic_symbols(image)

    def __getitem__(self, name: str) -> Function:
        prototype = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p)
        return prototype(self._base + self._symbols[name])

    def clock_gettime(self, clock: int) -> int:
        """Nanoseconds."""
        words = (ctypes.c_int64 * 2)()
        assert self["__vdso_clock_gettime"](clock, ctypes.addressof(words)) & 0xFFFFFFFF == 0
        return words[0] * 1_000_000_000 + words[1]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if compiler() is None:
        pytest.skip("no C compiler")
    image = tmp_path_factory.mktemp("vdso") / "vdso.so"
    build(image)
    return image


@pytest.fixture(params=["committed", "built"])
def loaded(request: pytest.FixtureRequest) -> Iterator[tuple[Loaded, ClockPage]]:
    path = IMAGE if request.param == "committed" else request.getfixturevalue("built")
    page = ClockPage(1_600_000_000_123_456_789)
    yield Loaded(path.read_bytes(), page), page
    page.close()


def test_wall_and_monotonic_clocks_say_what_the_page_says(loaded: tuple[Loaded, ClockPage]) -> None:
    vdso, page = loaded
    for count, clock in enumerate((time.CLOCK_REALTIME, 5, 11), 1):  # COARSE, TAI
        assert vdso.clock_gettime(clock) == page.realtime + count
    for count, clock in enumerate((time.CLOCK_MONOTONIC, 4, 6, 7), 1):  # RAW, COARSE, BOOTTIME
        assert vdso.clock_gettime(clock) == page.monotonic + count


def test_no_two_readings_are_the_same(loaded: tuple[Loaded, ClockPage]) -> None:
    vdso, _ = loaded
    readings = [vdso.clock_gettime(time.CLOCK_MONOTONIC) for _ in range(100)]
    assert readings == list(range(readings[0], readings[0] + 100))


def test_the_older_calls(loaded: tuple[Loaded, ClockPage]) -> None:
    vdso, _ = loaded
    assert vdso["__vdso_time"](None, None) == 1_600_000_000
    words = (ctypes.c_int64 * 2)()
    vdso["__vdso_gettimeofday"](ctypes.addressof(words), None)
    assert list(words) == [1_600_000_000, 123_456]


def test_before_1970_the_wall_clock_is_below_zero_and_its_fraction_is_not() -> None:
    page = ClockPage(-60_370_000_000)
    vdso = Loaded(IMAGE.read_bytes(), page)
    words = (ctypes.c_int64 * 2)()
    vdso["__vdso_clock_gettime"](time.CLOCK_REALTIME, ctypes.addressof(words))
    assert list(words) == [-61, 630_000_001]
    vdso["__vdso_gettimeofday"](ctypes.addressof(words), None)
    assert list(words) == [-61, 630_000]
    assert vdso["__vdso_time"](None, None) == -61
    page.close()


def test_cpu_time_stays_real(loaded: tuple[Loaded, ClockPage]) -> None:
    vdso, _ = loaded
    before = time.process_time_ns()
    assert before <= vdso.clock_gettime(time.CLOCK_PROCESS_CPUTIME_ID) <= time.process_time_ns()


def test_the_image_built_anew_offers_the_same_without_relocations(built: Path) -> None:
    assert sorted(dynamic_symbols(built.read_bytes())) == sorted(dynamic_symbols(IMAGE.read_bytes()))
    for image in (built, IMAGE):
        told = subprocess.run(["readelf", "-r", image], capture_output=True, text=True)
        assert "no relocations" in told.stdout


def test_the_image_is_what_its_compiler_makes_of_the_source(built: Path) -> None:
    command = compiler()
    assert command is not None
    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    # The first word is what the program is called by.
    if version.split()[1:] != IMAGE_BY.split()[1:]:
        pytest.skip(f"the image is by {IMAGE_BY}, this is {version}")
    assert built.read_bytes() == IMAGE.read_bytes()
