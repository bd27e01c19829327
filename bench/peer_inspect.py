"""inspect_ai as a peer of the load benchmark: `python peer_inspect.py URL COUNT CONNECTIONS` prints its rate as JSON.

A task of COUNT samples, one short generation each, over its OpenAI-compatible provider, with its own log as it comes.
"""

from __future__ import annotations

import json
import os
import sys
import time

url, count, connections = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
os.environ |= {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": url + "/v1", "INSPECT_LOG_DIR": "logs"}

from inspect_ai import Task, eval  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.scorer import match  # noqa: E402
from inspect_ai.solver import generate  # noqa: E402

task = Task(dataset=[Sample(input=f"Which letter is first? {n}", target="a") for n in range(count)], solver=generate(), scorer=match())
began, cpu = time.perf_counter(), time.process_time()
(log,) = eval(
    task,
    model="openai/m",
    max_connections=connections,
    max_samples=connections * 2,
    display="none",
    log_level="error",
    model_args={"responses_api": False},
)
took, used = time.perf_counter() - began, time.process_time() - cpu
answered = sum(1 for sample in log.samples or [] if sample.output.completion == "a")
print(json.dumps({"rate": count / took, "cpu_ms": used / count * 1000, "answered": answered}))
