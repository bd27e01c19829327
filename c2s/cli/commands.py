"""The arguments of every command. It imports nothing heavy; declared options are loaded for the commands that take them."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from c2s.cli.arguments import CommandParser, Fill, add_json, add_options, subcommands, whole


def _run(command: CommandParser) -> None:
    from c2s.options import RunOptions

    add_options(command, RunOptions, config=True)
    add_json(command)


def _resume(command: CommandParser) -> None:
    from c2s.options import ResumeOptions

    command.add_argument("dir", metavar="DIR")
    add_options(command, ResumeOptions)
    add_json(command)


def _plan(command: CommandParser) -> None:
    from c2s.options import PlanOptions

    add_options(command, PlanOptions, config=True)
    add_json(command)


def _doctor(command: CommandParser) -> None:
    from c2s.options import Endpoint

    command.add_argument(
        "--model", metavar="NAME", help="also ask this model's server: its models, one probe decision (paid for), its clock"
    )
    _wordnet(command)
    add_options(command, Endpoint)
    add_json(command)


def _wordnet(command: argparse.ArgumentParser) -> None:
    command.add_argument("--wordnet", metavar="DIR", help="a WordNet 3.0 database folder (or C2S_WORDNET)")


def _directory(command: CommandParser) -> None:
    command.add_argument("dir", metavar="DIR")


def _read(command: CommandParser) -> None:
    _directory(command)
    add_json(command)


def _report(command: CommandParser) -> None:
    command.add_argument("dirs", metavar="DIR", nargs="+")
    command.add_argument("--format", choices=("text", "json", "md"), default="text")
    command.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    command.add_argument("--exploratory", action="store_true", help="also the exploratory GEE of characters by item (needs statsmodels)")


def _reproduce(command: CommandParser) -> None:
    command.add_argument("what", choices=("published",), metavar="published")
    add_json(command)


def _review(command: CommandParser) -> None:
    action = subcommands(command, "action", "ACTION")
    action(
        "export", "output_review:export", "write what a reviewer is to judge, without gold, candidates, model or controller", _review_export
    )
    action("score", "output_review:score", "read filled-in files, one per reviewer, and say what they would change", _review_score)


def _review_export(export: CommandParser) -> None:
    export.add_argument("dir", metavar="DIR", help="a run with the support panel")
    export.add_argument("--out", metavar="FILE.csv", required=True)


def _review_score(score: CommandParser) -> None:
    score.add_argument("dir", metavar="DIR")
    score.add_argument("files", metavar="FILE.csv", nargs="+")
    add_json(score)


def _bank(command: CommandParser) -> None:
    action = subcommands(command, "action", "ACTION")
    action("build", "bank:bank", "make the bank again from WordNet and wordfreq", _bank_build)
    action("check", "bank:bank", "derive the shipped bank again and compare", _bank_options)
    action("audit", "bank:bank", "support, quotas, and what candidates-only heuristics score", _bank_options)
    action("export", "bank:bank", "one item a line, as JSON", _bank_export)


def _bank_options(command: CommandParser) -> None:
    _wordnet(command)
    add_json(command)


def _bank_build(build: CommandParser) -> None:
    build.add_argument("--out", metavar="FILE", required=True, help="where to write it")
    build.add_argument("--seed", type=whole, metavar="S")
    build.add_argument("--mixed", action="store_true", help="candidate sets over all strata, as the paper draws them")
    build.add_argument("--workers", type=whole, default=None, metavar="N")
    _bank_options(build)


def _bank_export(export: CommandParser) -> None:
    export.add_argument("file", metavar="FILE.jsonl")
    _bank_options(export)


def _judge(command: CommandParser) -> None:
    action = subcommands(command, "action", "ACTION")
    help = "does the verdict depend on presentation? one page, with the smallest pair of requests that shows it"
    action("audit", "judge:audit", help, _judge_audit)
    action("page", "judge:page", "the page of a finished audit or confirmation", _read)
    action("execution", "judge:execution", "windows, order and chronological quartiles of judge runs", _judge_execution)
    action("cues", "judge:cues", "propose short cues by likelihood beams over a local causal language model", _judge_cues)


def _judge_audit(audit: CommandParser) -> None:
    from c2s.options import AuditOptions

    add_options(audit, AuditOptions, config=True)
    add_json(audit)


def _judge_execution(execution: CommandParser) -> None:
    execution.add_argument("dirs", metavar="DIR", nargs="+")
    add_json(execution)


def _judge_cues(cues: CommandParser) -> None:
    cues.add_argument("--model", metavar="PATH", required=True, help="a folder with a causal language model, or a .gguf file")
    cues.add_argument("--revision", metavar="R", help="its revision, where the path is a repository")
    cues.add_argument("--out", metavar="FILE", required=True, help="where to write the proposals")
    cues.add_argument("--width", type=whole, default=16, metavar="N", help="strings that stay at each length (16)")
    cues.add_argument("--expand", type=whole, default=16, metavar="N", help="most likely tokens tried after each (16)")
    cues.add_argument("--longest", type=whole, default=6, metavar="N", help="most tokens of a proposal (6)")
    cues.add_argument("--show", type=whole, default=10, metavar="N", help="rows per context in the table (10)")
    add_json(cues)


def _data(command: CommandParser) -> None:
    source = subcommands(command, "source", "SOURCE")
    source("sgd", "data:sgd", "dialogues from Schema-Guided Dialogue in its official layout", _data_sgd)
    source("judge", "data:judge", "judge sources from DROP and GSM8K in their official formats", _data_judge)


def _data_sgd(sgd: CommandParser) -> None:
    sgd.add_argument("dir", metavar="DIR", help="the folder that holds test and dev")
    sgd.add_argument("--out", metavar="FILE", required=True, help="where to write it")
    sgd.add_argument("--paraphrases", metavar="FILE.json", help="a JSON object: id of a dialogue -> its reworded user turns")
    sgd.add_argument("--name", default="sgd", metavar="NAME", help="begins every id (default: sgd)")
    for quota, what in (
        ("seed", "keys the choice"),
        ("per_length", "test prefixes of 4, 6 and 8 user turns each (32)"),
        ("services", "how many services (10)"),
        ("per_service", "at most so many test prefixes of one service (12)"),
        ("dev_per_length", "development prefixes of each length (4)"),
    ):
        sgd.add_argument(f"--{quota.replace('_', '-')}", type=whole, metavar="N", help=what)
    sgd.add_argument(
        "--paraphrased", type=_numbers, metavar="N,N,N", help="test prefixes of 4, 6 and 8 user turns that get a paraphrase (5,5,2)"
    )
    sgd.add_argument("--permuted", type=_numbers, metavar="N,N,N", help="of these, how many also get a permutation (3,2,1)")
    add_json(sgd)


def _data_judge(judge: CommandParser) -> None:
    judge.add_argument("--drop", metavar="FILE", help="DROP's training file (JSON)")
    judge.add_argument("--gsm8k", metavar="FILE", help="GSM8K's test file (JSON Lines)")
    judge.add_argument("--synthetic", action="store_true", help="instead: the set of our own text that ships")
    judge.add_argument("--out", metavar="FILE", required=True, help="where to write it")
    judge.add_argument(
        "--exclude",
        metavar="PATH",
        action="append",
        default=[],
        help="an earlier bank, inventory (JSON Lines) or run: none of its ids, clusters or questions",
    )
    judge.add_argument("--confirmation", type=whole, metavar="N", help="confirmation sources per workload (100)")
    judge.add_argument("--preflight", type=whole, metavar="N", help="preflight sources per workload (10)")
    judge.add_argument("--seed", type=whole, metavar="S", help="keys the choice and the letters (20261007154)")
    judge.add_argument("--name", default="judge", metavar="NAME", help="the bank's id (default: judge)")
    add_json(judge)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not whole numbers with commas between, such as 5,5,2") from None


ARGUMENTS: Mapping[str, Fill] = {
    "run": _run,
    "resume": _resume,
    "plan": _plan,
    "doctor": _doctor,
    "pause": _directory,
    "go": _directory,
    "stop": _directory,
    "status": _read,
    "report": _report,
    "verify": _read,
    "reproduce": _reproduce,
    "review": _review,
    "panels": add_json,
    "models": add_json,
    "bank": _bank,
    "judge": _judge,
    "data": _data,
}
