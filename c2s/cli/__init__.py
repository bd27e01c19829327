"""The command line: the only place that prints errors and sets exit codes.

Building the parser imports nothing heavy; every command loads its own module when it is called.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
from collections.abc import Sequence

from c2s import __version__
from c2s.cli.options import add_endpoint_options, add_run_options
from c2s.errors import C2SError

EPILOG = "Exit codes: 0 done; 1 finished with error or unknown records, or verification failed; 2 wrong usage; 130 interrupted, resumable."


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="c2s", description="Which correct choices survive another output interface.", epilog=EPILOG)
    top.add_argument("--version", action="version", version=f"c2s {__version__}")
    top.add_argument("--debug", action="store_true", help="show tracebacks")
    commands = top.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name: str, target: str, help: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=help, description=help, epilog=EPILOG)
        sub.set_defaults(target=target)
        sub.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)
        return sub

    run = command("run", "run:run", "run a model over a panel and report")
    _what_to_run(run)
    run.add_argument("--out", metavar="DIR", help="run directory; must not exist (default: runs/PANEL-MODEL-TIME)")
    run.add_argument("--reuse-from", metavar="DIR", help="copy answers to the same requests from an earlier run, with provenance")
    add_run_options(run)
    run.add_argument("--json", action="store_true", help="one JSON document on stdout")

    resume = command("resume", "run:resume", "go on with an interrupted run")
    resume.add_argument("dir", metavar="DIR")
    resume.add_argument("--retry-errors", action="store_true", help="ask again what ended in an error")
    resume.add_argument("--replay-unknown", action="store_true", help="send again what was sent without a response (may be paid twice)")
    add_run_options(resume)
    resume.add_argument("--json", action="store_true", help="one JSON document on stdout")

    plan = command("plan", "plan_command:plan", "what a run would send: requests, tokens and money, without sending anything")
    _what_to_run(plan)
    add_run_options(plan)
    plan.add_argument("--json", action="store_true", help="one JSON document on stdout")

    doctor = command("doctor", "doctor:doctor", "check the installation, WordNet, the extras and, with --model, a server")
    doctor.add_argument(
        "--model", metavar="NAME", help="also ask this model's server: its models, one probe decision (paid for), its clock"
    )
    doctor.add_argument("--wordnet", metavar="DIR", help="a WordNet 3.0 database folder (or C2S_WORDNET)")
    add_endpoint_options(doctor)
    doctor.add_argument("--json", action="store_true", help="one JSON document on stdout")

    for name, help in (
        ("pause", "let nothing more leave a run that is going on"),
        ("go", "go on with a paused run"),
        ("stop", "end a run in an orderly way, resumable"),
    ):
        control = command(name, "control:control", help)
        control.add_argument("dir", metavar="DIR")

    status = command("status", "inspect:status", "how far a run is")
    status.add_argument("dir", metavar="DIR")
    status.add_argument("--json", action="store_true", help="one JSON document on stdout")

    report = command("report", "inspect:report", "the report of one or more runs; Holm corrects over all of them")
    report.add_argument("dirs", metavar="DIR", nargs="+")
    report.add_argument("--format", choices=("text", "json", "md"), default="text")
    report.add_argument("--json", action="store_const", const="json", dest="format", help="the same as --format json")
    report.add_argument("--exploratory", action="store_true", help="also the exploratory GEE of characters by item (needs statsmodels)")

    verify = command("verify", "inspect:verify", "derive every request, outcome and number of a run again and compare")
    verify.add_argument("dir", metavar="DIR")
    verify.add_argument("--json", action="store_true", help="one JSON document on stdout")

    reproduce = command("reproduce", "reproduce:published", "recompute the paper's figures from the counts that it prints")
    reproduce.add_argument("what", choices=("published",), metavar="published")
    reproduce.add_argument("--json", action="store_true", help="one JSON document on stdout")

    _review(command("review", "output_review:", "blinded review of lexical outputs: a spreadsheet out, judgments in"))

    panels = command("panels", "panels:panels", "the panels that can be run, how many requests each makes, and what each needs")
    panels.add_argument("--json", action="store_true", help="one JSON document on stdout")

    models = command("models", "models:models", "the models that can be run and what each needs")
    models.add_argument("--json", action="store_true", help="one JSON document on stdout")

    _bank(command("bank", "bank:bank", "build, check, audit or export the frozen bank"))
    _judge(command("judge", "judge:", "audit your own judge; how a judge run was executed; cue proposals"))
    _data(command("data", "data:", "build a data file from a publisher's files"))
    return top


def _what_to_run(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--panel", default="main", metavar="NAME[,NAME]", help="see `c2s panels`; all: whatever the model supports (default: main)"
    )
    command.add_argument("--model", metavar="NAME", help="see `c2s models` (default: sparrow where it is installed)")
    command.add_argument("--limit", type=int, metavar="N", help="N parents per domain: a seeded prefix, balanced over lengths")
    command.add_argument("--domain", metavar="D", help="only this domain: math or lexical")
    command.add_argument("--seed", type=int, metavar="S", help="keys displayed order and sampling (default: the paper's, 20261005)")
    command.add_argument(
        "--data", action="append", metavar="FILE", help="parents from a data file (see `c2s data`), for panels that read one"
    )
    command.add_argument(
        "--contracts", metavar="NAME[,NAME]", help="judge panels: the grading rules (default: FINAL3,FINAL4; FINAL3 for a text model)"
    )
    command.add_argument("--rubric", metavar="FILE", help="judge panels: your own rubric (TOML or JSON) instead of those")
    command.add_argument(
        "--field-options", choices=("ids", "values"), default=None, help="dialogue panels: name options by id (default) or by value"
    )
    command.add_argument(
        "--observed", action="append", metavar="DIR", help="copying panel: wrong targets from this earlier run's Native, where it has some"
    )
    command.add_argument("--wordnet", metavar="DIR", help="a WordNet 3.0 database folder (or C2S_WORDNET)")


def _review(review: argparse.ArgumentParser) -> None:
    actions = review.add_subparsers(dest="action", required=True, metavar="ACTION")
    export = actions.add_parser("export", help="write what a reviewer is to judge, without gold, candidates, model or controller")
    export.set_defaults(target="output_review:export")
    export.add_argument("dir", metavar="DIR", help="a run with the support panel")
    export.add_argument("--out", metavar="FILE.csv", required=True)
    score = actions.add_parser("score", help="read filled-in files, one per reviewer, and say what they would change")
    score.set_defaults(target="output_review:score")
    score.add_argument("dir", metavar="DIR")
    score.add_argument("files", metavar="FILE.csv", nargs="+")
    score.add_argument("--json", action="store_true", help="one JSON document on stdout")
    for action in (export, score):
        action.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _bank(bank: argparse.ArgumentParser) -> None:
    actions = bank.add_subparsers(dest="action", required=True, metavar="ACTION")
    build = actions.add_parser("build", help="make the bank again from WordNet and wordfreq")
    build.add_argument("--out", metavar="FILE", required=True, help="where to write it")
    build.add_argument("--seed", type=int, metavar="S")
    build.add_argument("--mixed", action="store_true", help="candidate sets over all strata, as the paper draws them")
    build.add_argument("--workers", type=int, default=None, metavar="N")
    check = actions.add_parser("check", help="derive the shipped bank again and compare")
    audit = actions.add_parser("audit", help="support, quotas, and what candidates-only heuristics score")
    export = actions.add_parser("export", help="one item a line, as JSON")
    export.add_argument("file", metavar="FILE.jsonl")
    for action in (build, check, audit, export):
        action.add_argument("--wordnet", metavar="DIR", help="a WordNet 3.0 database folder (or C2S_WORDNET)")
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
        action.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _judge(judge: argparse.ArgumentParser) -> None:
    actions = judge.add_subparsers(dest="action", required=True, metavar="ACTION")
    audit = actions.add_parser(
        "audit", help="does the verdict depend on presentation? one page, with the smallest pair of requests that shows it"
    )
    audit.add_argument("--model", metavar="NAME", help="see `c2s models` (default: sparrow where it is installed)")
    audit.add_argument("--rubric", metavar="FILE", help="your rubric: instruction, criteria, labels (TOML or JSON; default: FINAL3)")
    audit.add_argument("--contracts", metavar="NAME[,NAME]", help="instead: FINAL3, FINAL4 or both")
    audit.add_argument(
        "--data",
        dest="items",
        metavar="FILE.jsonl",
        help="your items: question, reference, correct, wrong (default: our own synthetic ones)",
    )
    audit.add_argument(
        "--limit", type=int, metavar="N", help="only the first N items of each workload: your own items are one, the default ones two"
    )
    audit.add_argument("--out", metavar="DIR", help="run directory; must not exist (default: runs/judge-audit-MODEL-TIME)")
    audit.add_argument("--reuse-from", metavar="DIR", help="copy answers to the same requests from an earlier audit, with provenance")
    audit.add_argument("--yes", action="store_true", help="send the requests to a paid model")
    add_run_options(audit)
    audit.set_defaults(target="judge:audit", domain=None, seed=None, wordnet=None, data=None, field_options=None)
    page = actions.add_parser("page", help="the page of a finished audit or confirmation")
    page.add_argument("dir", metavar="DIR")
    page.set_defaults(target="judge:page")
    execution = actions.add_parser("execution", help="windows, order and chronological quartiles of judge runs")
    execution.add_argument("dirs", metavar="DIR", nargs="+")
    execution.set_defaults(target="judge:execution")
    cues = actions.add_parser("cues", help="propose short cues by likelihood beams over a local causal language model")
    cues.add_argument("--model", metavar="PATH", required=True, help="a folder with a causal language model, or a .gguf file")
    cues.add_argument("--revision", metavar="R", help="its revision, where the path is a repository")
    cues.add_argument("--out", metavar="FILE", required=True, help="where to write the proposals")
    cues.add_argument("--width", type=int, default=16, metavar="N", help="strings that stay at each length (16)")
    cues.add_argument("--expand", type=int, default=16, metavar="N", help="most likely tokens tried after each (16)")
    cues.add_argument("--longest", type=int, default=6, metavar="N", help="most tokens of a proposal (6)")
    cues.add_argument("--show", type=int, default=10, metavar="N", help="rows per context in the table (10)")
    cues.set_defaults(target="judge:cues")
    for action in (audit, page, execution, cues):
        action.add_argument("--json", action="store_true", help="one JSON document on stdout")
        action.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _data(data: argparse.ArgumentParser) -> None:
    sources = data.add_subparsers(dest="source", required=True, metavar="SOURCE")
    sgd = sources.add_parser("sgd", help="dialogues from Schema-Guided Dialogue in its official layout")
    sgd.set_defaults(target="data:sgd")
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
        sgd.add_argument(f"--{quota.replace('_', '-')}", type=int, metavar="N", help=what)
    sgd.add_argument(
        "--paraphrased", type=_numbers, metavar="N,N,N", help="test prefixes of 4, 6 and 8 user turns that get a paraphrase (5,5,2)"
    )
    sgd.add_argument("--permuted", type=_numbers, metavar="N,N,N", help="of these, how many also get a permutation (3,2,1)")
    judge = sources.add_parser("judge", help="judge sources from DROP and GSM8K in their official formats")
    judge.set_defaults(target="data:judge")
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
    judge.add_argument("--confirmation", type=int, metavar="N", help="confirmation sources per workload (100)")
    judge.add_argument("--preflight", type=int, metavar="N", help="preflight sources per workload (10)")
    judge.add_argument("--seed", type=int, metavar="S", help="keys the choice and the letters (20261007154)")
    judge.add_argument("--name", default="judge", metavar="NAME", help="the bank's id (default: judge)")
    for source in (sgd, judge):
        source.add_argument("--json", action="store_true", help="one JSON document on stdout")
        source.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def _numbers(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not whole numbers with commas between, such as 5,5,2") from None


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns its exit code. Every failure is one line on stderr unless --debug asks for more."""
    try:
        options = parser().parse_args(argv)
    except SystemExit as end:  # argparse has printed what was wrong
        return int(end.code or 0)
    module, _, function = options.target.partition(":")
    try:
        code = getattr(importlib.import_module(f"c2s.cli.{module}"), function)(options)
        sys.stdout.flush()
        return code
    except C2SError as error:
        if options.debug:
            raise
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if options.debug:
            raise
        return _fail(f"unexpected {type(error).__name__}: {error} (this is a bug; --debug shows where)", 2)


def _fail(message: str, code: int) -> int:
    from c2s.reports.tables import literal

    print(f"c2s: {literal(' '.join(message.split()))}", file=sys.stderr)
    return code
