"""Options that several commands share. It imports nothing heavy: the parser is built for every command."""

from __future__ import annotations

import argparse


def add_endpoint_options(command: argparse.ArgumentParser) -> None:
    """Where a model is and how it is reached."""
    add = command.add_argument_group("models over a network").add_argument
    add("--base-url", metavar="URL", help="the server; wins over the profile and its environment variable")
    add(
        "--profile",
        metavar="NAME",
        help="a provider: typesafe, openrouter, vercel, litellm, sglang, llamacpp, startlux, openai, vllm, ollama",
    )
    add("--profiles", metavar="FILE", help="TOML file with profiles of your own (or C2S_PROFILES)")
    add("--key-env", metavar="VAR", help="environment variable that holds the API key")
    add("--key-command", metavar="CMD", help="a command that prints the API key")
    add("--key-file", metavar="FILE", help="a file that holds the API key and that only you can read (0600)")
    add("--timeout", type=float, metavar="SECONDS", help="for one whole request and response (default: 60)")


def add_run_options(command: argparse.ArgumentParser) -> None:
    """Pace, money and what to do when something goes wrong."""
    add_endpoint_options(command)
    add = command.add_argument_group("pace, money, trouble").add_argument
    add("--concurrency", type=int, metavar="N", help="requests under way at once (default: the profile's, or 8)")
    add("--rate", type=float, metavar="N", help="starts per second, at most")
    add("--token-rate", type=float, metavar="N", help="estimated input tokens per second, at most")
    add("--prices", metavar="FILE", help="TOML file with prices of your own (or C2S_PRICES)")
    add("--cap", type=float, metavar="USD", help="hard cap on this run; reaching it stops the run, resumable")
    add("--provider-cap", type=float, metavar="USD", help="hard cap on this provider over all runs in the same folder")
    add("--retries", type=int, metavar="N", help="further sends of a request that was provably not processed (default: 8; 0: none)")
    add("--retry-malformed", type=int, metavar="N", help="further sends after a response that breaks the protocol (default: 0)")
    add("--stop-after-errors", type=int, metavar="N", help="stop, resumable, after N failed requests in a row (default: 25; 0: never)")
    add("--on-model-change", choices=("stop", "mark"), help="when another model id comes back (default: stop)")
    add(
        "--unreachable-after",
        type=float,
        metavar="SECONDS",
        help="stop, resumable, when the server is out of reach so long (default: 1800)",
    )
