"""A process that is held right after its exec: its registers, its memory, and system calls made in its name.

Linux on x86-64. Only the thread that started the process may use this (man 2 ptrace).
"""

import ctypes
import os
import signal
import struct
from types import TracebackType

_TRACEME, _CONT, _GETREGS, _SETREGS, _DETACH, _SYSCALL, _SETOPTIONS = 0, 7, 12, 13, 17, 24, 0x4200
_SYSGOOD, _EXITKILL = 1, 1 << 20
_SYSCALL_STOP = signal.SIGTRAP | 0x80
_WALL = 0x40000000
_AT_NULL = 0
_SYSCALL_INSTRUCTION = b"\x0f\x05"

_libc = ctypes.CDLL(None, use_errno=True)
_ptrace = _libc.ptrace
_ptrace.restype = ctypes.c_long
_ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]

_NAMES = (
    "r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi "
    "orig_rax rip cs eflags rsp ss fs_base gs_base ds es fs gs"
)


class Registers(ctypes.Structure):
    """The kernel's struct user_regs_struct."""

    _fields_ = tuple((name, ctypes.c_uint64) for name in _NAMES.split())


class TraceError(OSError):
    """The process could not be held, or ended."""


def let_parent_trace() -> None:
    """Stop after exec until the parent lets this process go. To be called in the child before exec."""
    if _ptrace(_TRACEME, 0, None, None) < 0:
        raise OSError(ctypes.get_errno(), "ptrace(PTRACE_TRACEME)")


class HeldProcess:
    """A child of ours that has called ``let_parent_trace``, between exec and its first instruction.

    A context manager: on exit the process is let go, and no trace of the holding is left.
    """

    def __init__(self, pid: int) -> None:
        """Wait for the stop after exec, which comes almost at once. Raises TraceError."""
        self.pid = pid
        self._signals: list[int] = []
        self._wait()  # for the SIGTRAP that the kernel sends itself at the end of exec
        self._request(_SETOPTIONS, _SYSGOOD | _EXITKILL)
        self._memory = os.open(f"/proc/{pid}/mem", os.O_RDWR)
        self.registers = self._get_registers()
        self._code = os.pread(self._memory, 2, self.registers.rip)
        os.pwrite(self._memory, _SYSCALL_INSTRUCTION, self.registers.rip)

    def __enter__(self) -> "HeldProcess":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        os.pwrite(self._memory, self._code, self.registers.rip)
        os.close(self._memory)
        self.registers.orig_rax = 2**64 - 1  # no system call to be made again
        self._set_registers(self.registers)
        self._request(_DETACH, 0)
        for number in self._signals:
            os.kill(self.pid, number)

    def read(self, address: int, size: int) -> bytes:
        """Read up to ``size`` bytes of the process's memory."""
        return os.pread(self._memory, size, address)

    def write(self, address: int, data: bytes) -> None:
        """Change memory of the process, even if the process itself may not write there."""
        os.pwrite(self._memory, data, address)

    def auxiliary(self, wanted: int) -> int | None:
        """Return the address of the value of an auxiliary vector's entry (man 3 getauxval); None if there is none."""
        at = self.registers.rsp  # the stack at entry: argc, argv, 0, envp, 0, vector
        stack = self.read(at, 1 << 21)  # arguments and environment may be large
        offset = 8 * (struct.unpack_from("<Q", stack)[0] + 2)
        while struct.unpack_from("<Q", stack, offset)[0]:
            offset += 8
        offset += 8
        while (key := struct.unpack_from("<Q", stack, offset)[0]) != wanted:
            if key == _AT_NULL:
                return None
            offset += 16
        return int(at + offset + 8)

    def call(self, number: int, *arguments: int) -> int:
        """Make a system call in the process's name, and return the result. Raises TraceError with the call's errno."""
        registers = Registers.from_buffer_copy(self.registers)
        registers.rax, registers.orig_rax = number, 2**64 - 1
        given = [*arguments, 0, 0, 0, 0, 0, 0]
        for name, value in zip(("rdi", "rsi", "rdx", "r10", "r8", "r9"), given, strict=False):
            setattr(registers, name, value % 2**64)
        self._set_registers(registers)
        self._to_system_call_stop()
        self._to_system_call_stop()
        result = ctypes.c_int64(self._get_registers().rax).value
        if -4096 < result < 0:
            raise TraceError(-result, f"system call {number} in the program: {os.strerror(-result)}")
        return result

    def _wait(self) -> int:
        _, status = os.waitpid(self.pid, _WALL)
        if not os.WIFSTOPPED(status):
            raise TraceError(f"it ended while it was started (status {status:#x})")
        return os.WSTOPSIG(status)

    def _to_system_call_stop(self) -> None:
        while True:
            self._request(_SYSCALL, 0)
            number = self._wait()
            if number == _SYSCALL_STOP:
                return
            self._signals.append(number)

    def _request(self, request: int, data: int) -> None:
        if _ptrace(request, self.pid, None, data) < 0:
            number = ctypes.get_errno()
            raise TraceError(number, f"ptrace: {os.strerror(number)}")

    def _get_registers(self) -> Registers:
        registers = Registers()
        self._request(_GETREGS, ctypes.addressof(registers))
        return registers

    def _set_registers(self, registers: Registers) -> None:
        self._request(_SETREGS, ctypes.addressof(registers))
