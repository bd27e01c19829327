"""Load: c2s with its durable ledger against a bare loop over one httpx.AsyncClient, on 127.0.0.1 alone.

    pytest bench/bench_hosted.py -o python_files='bench_*.py' -s

The machine is shared, so both are measured in turn, several times, and their ratio is what is asserted.
"""

from __future__ import annotations

import asyncio
import json
import os
import resource
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.panels import Listed
from support.runs import drive, make_run, rows, server_model, states

from c2s.controllers.whole_and_local import CANDIDATES_ONLY, INDEPENDENT, NATIVE, SERIAL
from c2s.panels.base import Panel
from c2s.records import Parent

CONCURRENCY = 16


@pytest.fixture
def server():
    process = subprocess.Popen(
        [sys.executable, Path(__file__).with_name("fast_server.py")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    yield f"http://127.0.0.1:{process.stdout.readline().strip()}"
    process.communicate("")


def served(url: str) -> int:
    with urllib.request.urlopen(url + "/count") as response:
        return json.load(response)["count"]


def big_panel(parents: int) -> Panel:
    """Eight-digit items without end: 18 requests a parent, as the main panel asks them."""
    made = [
        Parent(
            f"p{n:06}",
            "math",
            8,
            {
                "target": str(10_000_000 + n),
                "candidates": [str(10_000_000 + (n + k) % 10_000_000) for k in range(8)],
                "problem": f"{n} × 1 = ?",
            },
        )
        for n in range(parents)
    ]
    return Panel(
        "big",
        "load",
        (NATIVE, CANDIDATES_ONLY, INDEPENDENT, SERIAL),
        Listed(made),
        pair=("native", "serial"),
    )


def bare_loop(url: str, bodies: list[bytes]) -> tuple[float, float]:
    """Requests per second and CPU ms per request of the plain way: one AsyncClient, sixteen tasks, answers parsed and dropped."""

    async def go() -> None:
        work = iter(bodies)
        async with httpx.AsyncClient(timeout=60) as client:

            async def one() -> None:
                for body in work:
                    (await client.post(url + "/v1/systemone", content=body, headers={"content-type": "application/json"})).json()

            await asyncio.gather(*(one() for _ in range(CONCURRENCY)))

    began, cpu = time.perf_counter(), time.process_time()
    asyncio.run(go())
    return len(bodies) / (time.perf_counter() - began), (time.process_time() - cpu) / len(bodies) * 1000


def c2s_run(url: str, path: Path, parents: int, **runner) -> tuple[float, float, list[bytes]]:
    panel = big_panel(parents)
    backend = server_model(url, concurrency=CONCURRENCY)
    run = make_run(path, backend, panels=(panel,), settings={"limit": None, "domain": None})
    before = served(url)
    began, cpu = time.perf_counter(), time.process_time()
    drive(run, backend, panels=(panel,), report=False, **runner)
    rate, ms = parents * 18 / (time.perf_counter() - began), (time.process_time() - cpu) / (parents * 18) * 1000
    assert states(run) == {"ok": parents * 18} and served(url) - before == parents * 18
    bodies = [body for (body,) in rows(run, "SELECT request FROM exchanges ORDER BY id LIMIT 2000")]
    backend.close()
    return rate, ms, bodies


def test_twice_the_bare_loop_with_a_durable_ledger(server, tmp_path):
    ratios, costs, lines = [], [], []
    _, _, bodies = c2s_run(server, tmp_path / "warm", 30)
    for turn in range(3):
        bare, bare_ms = bare_loop(server, bodies * 2)
        ours, ours_ms, bodies = c2s_run(server, tmp_path / f"run{turn}", 150)
        ratios.append(ours / bare)
        costs.append(ours_ms)
        lines.append(
            f"c2s {ours:.0f}/s at {ours_ms:.2f} ms CPU, bare AsyncClient {bare:.0f}/s at {bare_ms:.2f} ms CPU, ratio {ours / bare:.2f}"
        )
    print("\n" + "\n".join(lines))
    assert sorted(ratios)[1] >= 2.0
    assert sorted(costs)[1] <= 0.8


def test_inspect_ai_beside_it(server, tmp_path):
    """A peer on the same server: inspect_ai over the OpenAI protocol, sixteen connections. C2S_PEER_PYTHON names a Python that has it."""
    python = os.environ.get("C2S_PEER_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import inspect_ai, openai"], capture_output=True).returncode:
        pytest.skip("inspect_ai is not installed: pip install inspect_ai openai, or name a Python that has it with C2S_PEER_PYTHON")
    count = 600
    words = [python, Path(__file__).with_name("peer_inspect.py"), server, str(count), str(CONCURRENCY)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    theirs = json.loads(done.stdout.strip().splitlines()[-1])
    assert theirs["answered"] == count <= served(server)
    ours, ours_ms, _ = c2s_run(server, tmp_path / "run", 60)
    print(
        f"\nc2s {ours:.0f}/s at {ours_ms:.2f} ms CPU, inspect_ai {theirs['rate']:.0f}/s at {theirs['cpu_ms']:.2f} ms CPU, ratio "
        f"{ours / theirs['rate']:.1f}"
    )
    assert ours > theirs["rate"]


class Watcher(threading.Thread):
    """Resident memory of this process, and the time of `c2s status` on the run, a few times while it goes on."""

    def __init__(self, run: Path) -> None:
        super().__init__(daemon=True)
        self.run_path, self.memory, self.status, self.done = run, [], [], threading.Event()

    def run(self) -> None:
        while not self.done.wait(2.0):
            self.memory.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20)
            if len(self.memory) % 5 == 0:
                began, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
                subprocess.run([sys.executable, "-m", "c2s", "status", self.run_path], check=True, capture_output=True)
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                self.status.append((time.perf_counter() - began, after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime))


def start_up() -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, "-m", "c2s", "--version"], check=True, capture_output=True)
    return time.perf_counter() - began


@pytest.mark.slow
def test_a_plan_of_100_000_requests_takes_flat_memory_and_answers_status(server, tmp_path):
    parents = 5556  # 100,008 requests
    panel = big_panel(parents)
    backend = server_model(server, concurrency=CONCURRENCY)
    run = make_run(tmp_path / "run", backend, panels=(panel,), settings={"limit": None, "domain": None})
    bare = min(start_up() for _ in range(3))
    watcher = Watcher(run.path)
    watcher.start()
    began = time.perf_counter()
    drive(run, backend, panels=(panel,), report=False)
    took = time.perf_counter() - began
    backend.close()
    watcher.done.set()
    watcher.join()
    assert states(run) == {"ok": parents * 18} and served(server) == parents * 18
    early, late = max(watcher.memory[: len(watcher.memory) // 4]), max(watcher.memory)
    status, status_cpu = sorted(wall for wall, _ in watcher.status), sorted(cpu for _, cpu in watcher.status)
    busy = os.getloadavg()[0] > 2 * (os.cpu_count() or 1)
    print(
        f"\n{parents * 18} requests in {took:.0f} s; memory {early:.0f} MB in the first quarter, {late:.0f} MB at most; "
        f"status {status[len(status) // 2]:.2f} s in the middle ({status_cpu[len(status) // 2]:.2f} s of CPU), {status[-1]:.2f} s at "
        f"most, of which Python's start {bare:.2f} s; load {os.getloadavg()[0]:.1f}"
    )
    assert late < 400 and late < early * 1.25
    assert status_cpu[len(status) // 2] < 0.3
    assert busy or status[len(status) // 2] < 0.3  # on an overloaded machine every process waits for its turn
