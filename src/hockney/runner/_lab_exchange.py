"""One host's part in an exchange: it sends to the next host and receives from the one before, size by size.

A program of its own, `SIZES ADDRESSES NUMBER`, that imports nothing of ours; host 0 prints the median times in
seconds, by size, as JSON.
"""

from __future__ import annotations

import json
import socket
import statistics
import sys
import threading
import time

PORT = 7077
ROUNDS = 15
FIRST = 3
"""Rounds that are not counted: they pass on what a token bucket holds."""
PATIENCE_S = 20.0
BUFFERED_B = 65_536
"""What sockets hold, so that all may send before they receive; a thread sends what is longer."""


def connected(address: str) -> socket.socket:
    """A connection to a host that may not listen yet; OSError where it never does."""
    end = time.monotonic() + PATIENCE_S
    while True:
        try:
            return socket.create_connection((address, PORT), timeout=PATIENCE_S)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def receive(source: socket.socket, size_B: int) -> None:
    """Read so many bytes; EOFError where the other side ends before."""
    while size_B:
        data = source.recv(size_B)
        if not data:
            raise EOFError("the host before this one has gone")
        size_B -= len(data)


def main() -> None:
    sizes_B = [int(word) for word in sys.argv[1].split(",")]
    addresses, number = sys.argv[2].split(","), int(sys.argv[3])
    listener = socket.create_server((addresses[number], PORT))
    following = connected(addresses[(number + 1) % len(addresses)])
    listener.settimeout(PATIENCE_S)
    before, _ = listener.accept()
    before.settimeout(PATIENCE_S)
    following.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    median_s = {}
    for size_B in sizes_B:
        times_s = []
        for _ in range(ROUNDS):
            data = bytes(size_B)
            began_s = time.perf_counter()
            if size_B <= BUFFERED_B:
                following.sendall(data)
                receive(before, size_B)
            else:
                sending = threading.Thread(target=following.sendall, args=(data,))
                sending.start()
                receive(before, size_B)
                sending.join()
            times_s.append(time.perf_counter() - began_s)
        median_s[size_B] = statistics.median(times_s[FIRST:])
    if number == 0:
        sys.stdout.write(json.dumps(median_s))


if __name__ == "__main__":
    main()
