"""Do what reactor.go does, in Python: long-poll a server, work, post a result.

usage: reactor.py URL
"""

import http.client
import json
import subprocess
import sys
import threading
from functools import partial
from urllib.parse import urlsplit

TURNS_PER_MS = 20_000


def spin(turns: int) -> None:
    """Use the CPU for about ``turns / TURNS_PER_MS`` ms, whatever a clock may say."""
    x = 1
    for _ in range(turns):
        x = x * 3 & 0xFFFF


def work(kind: str, ms: float) -> None:
    """Do what the order asks for."""
    turns = int(ms * TURNS_PER_MS)
    if kind == "threads":
        threads = [threading.Thread(target=spin, args=(turns // 3,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    elif kind == "process":
        subprocess.run(["/bin/sh", "-c", "/bin/true; /bin/true"], check=True)
    else:
        spin(turns)


def main() -> None:
    """Work until the server goes away."""
    url = urlsplit(sys.argv[1])
    secured = url.scheme == "https"
    connect = partial(http.client.HTTPSConnection if secured else http.client.HTTPConnection, url.netloc)
    connection = connect()
    while True:
        connection.request("GET", "/wait")
        order = json.loads(connection.getresponse().read())
        for part in range(order["posts"]):
            work(order["kind"], order["ms"] / order["posts"])
            poster = connect()
            poster.request("POST", "/answer", json.dumps({"round": order["round"], "part": part}))
            poster.getresponse().read()
            poster.close()


main()
