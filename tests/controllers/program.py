"""The director as a program on the simulated clock: `python -m tests.controllers.program NAME FILE`.

It finds the cluster by `$KUBECONFIG`, and writes what it has seen into the file.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from pathlib import Path

import httpx
import yaml

from .director import Director
from .scenario import read

EPOCH = 1577836800.0
"""Unix seconds of simulated second 0, as `batkube run` has it by default."""
WATCHED = ("nodes", "pods")


async def follow(client: httpx.AsyncClient, director: Director, resource: str, news: asyncio.Event) -> None:
    """Tell the director of all changes, from the first on."""
    listed = (await client.get(f"/api/v1/{resource}")).json()
    for item in listed["items"]:
        director.told(resource, "ADDED", item)
    query = {"watch": "true", "resourceVersion": listed["metadata"]["resourceVersion"]}
    async with client.stream("GET", f"/api/v1/{resource}", params=query) as answer:
        async for line in answer.aiter_lines():
            change = json.loads(line)
            director.told(resource, change["type"], change["object"])
            news.set()


async def place(director: Director, news: asyncio.Event) -> None:
    """Let the director place pods whenever something has changed."""
    while True:
        await news.wait()
        news.clear()
        await director.place()


async def direct(name: str, url: str, path: Path) -> None:
    """Play the scenario to its end, and stay until the run ends."""
    async with httpx.AsyncClient(base_url=url, timeout=None, trust_env=False) as client:
        director, news = Director(read(name), client, EPOCH), asyncio.Event()
        others = [follow(client, director, resource, news) for resource in WATCHED]
        tasks = [asyncio.create_task(each) for each in (*others, place(director, news))]
        while (date := director.next_date()) is not None:
            await asyncio.sleep(max(0.0, EPOCH + date - time.time()))
            await director.act(time.time() - EPOCH)
        _write(path, json.dumps(director.looks.notes()))
        await asyncio.gather(*tasks)


def _write(path: Path, text: str) -> None:
    """Write the file at once: somebody waits for it."""
    whole = path.with_suffix(".part")
    whole.write_text(text)
    whole.rename(path)


if __name__ == "__main__":
    config = yaml.safe_load(Path(os.environ["KUBECONFIG"]).read_text())
    asyncio.run(direct(sys.argv[1], config["clusters"][0]["cluster"]["server"], Path(sys.argv[2])))
