"""A simulator that means harm: each of its tools tries one way out of the sandbox, or one way to take it down."""

from __future__ import annotations

HOSTILE = """
import ctypes
import os
import socket
import subprocess
import sys
import threading

STATE = {}
libc = ctypes.CDLL(None, use_errno=True)


def read(state, path):
    return open(path).read()


def look(state, path):
    return os.listdir(path)


def write(state, path):
    open(path, "w").write("mine")


def surroundings(state):
    return dict(os.environ) | {"argv": sys.argv, "uid": os.getuid()}


def be_root(state):
    os.setuid(0)


def connect(state, port):
    socket.create_connection(("127.0.0.1", port))


def resolve(state):
    socket.getaddrinfo("example.org", 80)


def connect_by_system_call(state, port):
    address = port.to_bytes(2, "big")
    descriptor = libc.socket(2, 1, 0)
    return libc.connect(descriptor, b"\\x02\\x00" + address + b"\\x7f\\x00\\x00\\x01" + bytes(8), 16)


def fork(state):
    while True:
        os.fork()


def fork_by_system_call(state):
    return [libc.fork() for _ in range(5)]


def shell(state):
    subprocess.run(["/bin/sh"])


def threads(state):
    while True:
        threading.Thread(target=threading.Event().wait).start()


def hidden_memory(state):
    held = []
    try:
        while len(held) < 8:
            held.append(os.memfd_create("hidden"))
            os.write(held[-1], bytes(64 << 20))
    except OSError as error:
        return [len(held), error.errno]
    return [len(held), 0]


def system_calls(state, calls):
    return [[libc.syscall(*each), ctypes.get_errno()] for each in calls]


def many_values(state):
    state["many"] = [[] for _ in range(2000)]


def allocate(state):
    hoard = []
    while True:
        hoard.append(bytearray(1 << 20))


def allocate_at_once(state):
    return len(bytearray(1 << 34))


def spin(state):
    while True:
        pass


def sleep(state):
    threading.Event().wait()


def spin_and_catch(state):
    while True:
        try:
            [0] * 1000
        except BaseException:
            pass


def print_much(state):
    while True:
        print("x" * 1000)


def return_much(state):
    return "x" * 1_000_000


def write_much(state):
    with open("/tmp/much", "wb") as file:
        while True:
            file.write(bytes(1 << 16))


def many_files(state):
    return [open(f"/tmp/{number}", "w") for number in range(1000)]


def crash(state):
    ctypes.string_at(0)


def leave(state):
    raise SystemExit(3)


def kill_itself(state):
    os.kill(os.getpid(), 9)


def lie(state):
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, b'{"died": "of boredom"}\\n')
        except OSError:
            pass


def babble(state):
    for descriptor in range(3, 20):
        try:
            while True:
                os.write(descriptor, bytes(1 << 16))
        except OSError:
            pass
"""
