"""What other programs call to plan, run and resume.

The keywords are the declared options (`c2s/options.py`), written out so that help and completion show them; a test holds them equal to the
declaration. Nothing is printed. Wrong usage raises UsageError; every error of c2s is a C2SError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from c2s.options import PathName, PathNames, PlanOptions, ResumeOptions, RunOptions, Texts

if TYPE_CHECKING:
    from c2s.api.handle import Run
    from c2s.api.planned import PlannedRun
    from c2s.api.watching import Progress, StopToken


def plan(
    model: str | None = None,
    panels: Texts = ("main",),
    limit: int | None = None,
    *,
    domains: Texts = (),
    seed: int | None = None,
    data: PathNames = (),
    contracts: Texts = (),
    rubric: PathName | None = None,
    field_options: Literal["ids", "values"] | None = None,
    observed: PathNames = (),
    wordnet: PathName | None = None,
    base_url: str | None = None,
    profile: str | None = None,
    profiles: PathName | None = None,
    key_env: str | None = None,
    key_command: str | None = None,
    key_file: PathName | None = None,
    timeout: float | None = None,
    concurrency: int | None = None,
    rate: float | None = None,
    token_rate: float | None = None,
    prices: PathName | None = None,
    cap: float | None = None,
    provider_cap: float | None = None,
    retries: int | None = None,
    retry_malformed: int | None = None,
    stop_after_errors: int | None = None,
    on_model_change: Literal["stop", "mark"] | None = None,
    unreachable_after: float | None = None,
) -> PlannedRun:
    """What a run would send, in requests, tokens and money. Nothing is sent and nothing is written.

    The keywords are those of `c2s plan`; `c2s.options.PlanOptions` describes each of them. `panels`, `domains` and `contracts` take one
    name, several in a list, or several in one text with commas between them; an empty list is refused. Raises UsageError for wrong usage,
    MissingDependency where a model or its data are not installed.
    """
    options = PlanOptions(**locals())
    from c2s.api.planned import check_before, estimated, planned
    from c2s.api.sitting import opened

    check_before(options)
    with opened(options.model, options, sends_nothing=True) as backend:
        return estimated(planned(options, backend, lambda message: None), backend, options)


def run(
    model: str | None = None,
    panels: Texts = ("main",),
    out: PathName | None = None,
    limit: int | None = None,
    *,
    domains: Texts = (),
    seed: int | None = None,
    data: PathNames = (),
    contracts: Texts = (),
    rubric: PathName | None = None,
    field_options: Literal["ids", "values"] | None = None,
    observed: PathNames = (),
    wordnet: PathName | None = None,
    reuse_from: PathNames = (),
    base_url: str | None = None,
    profile: str | None = None,
    profiles: PathName | None = None,
    key_env: str | None = None,
    key_command: str | None = None,
    key_file: PathName | None = None,
    timeout: float | None = None,
    concurrency: int | None = None,
    rate: float | None = None,
    token_rate: float | None = None,
    prices: PathName | None = None,
    cap: float | None = None,
    provider_cap: float | None = None,
    retries: int | None = None,
    retry_malformed: int | None = None,
    stop_after_errors: int | None = None,
    on_model_change: Literal["stop", "mark"] | None = None,
    unreachable_after: float | None = None,
    progress: Callable[[Progress], object] | None = None,
    stop: StopToken | None = None,
) -> Run:
    """Run a model over panels, to the end or to a stop; the run's directory is made at `out`.

    The keywords are those of `c2s run`; `c2s.options.RunOptions` describes each of them. `panels`, `domains` and `contracts` take one name,
    several in a list, or several in one text with commas between them (`panels="main"`, `panels="main,readout"`); an empty list is refused.
    `progress` is called about ten times a second, in this thread. `stop`, such as a `threading.Event`, ends the run in order: `Run.state`
    is then "interrupted", and `c2s.resume` goes on. The requests of a hosted model cost money; see `c2s.plan` and `cap`.

    Raises UsageError for wrong usage, before anything is made; LedgerError where the directory cannot be written. What `progress` or
    `stop` raise is raised when the run has stopped in order, and so is KeyboardInterrupt.
    """
    options = RunOptions(**_options(locals()))
    from c2s.api.handle import Run
    from c2s.api.sitting import interruptible, run_new

    with interruptible(progress, stop) as watch:
        path = run_new(options, watch)
    return Run(path)


def resume(
    dir: PathName,
    *,
    base_url: str | None = None,
    profile: str | None = None,
    profiles: PathName | None = None,
    key_env: str | None = None,
    key_command: str | None = None,
    key_file: PathName | None = None,
    timeout: float | None = None,
    concurrency: int | None = None,
    rate: float | None = None,
    token_rate: float | None = None,
    prices: PathName | None = None,
    cap: float | None = None,
    provider_cap: float | None = None,
    retries: int | None = None,
    retry_malformed: int | None = None,
    stop_after_errors: int | None = None,
    on_model_change: Literal["stop", "mark"] | None = None,
    unreachable_after: float | None = None,
    retry_errors: bool = False,
    replay_unknown: bool = False,
    progress: Callable[[Progress], object] | None = None,
    stop: StopToken | None = None,
) -> Run:
    """Go on with an interrupted run, as it was begun and with the options given now in place of the stored ones.

    The keywords are those of `c2s resume`; `progress` and `stop` as in `run`. Raises LedgerError where there is no run at `dir`, or where
    it is being run, and UsageError for wrong usage, before anything is sent.
    """
    options = ResumeOptions(**_options(locals()))
    from c2s.api.handle import Run, named_directory
    from c2s.api.sitting import go_on, interruptible

    with interruptible(progress, stop) as watch:
        path = go_on(named_directory(dir), options, watch)
    return Run(path)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name not in ("dir", "progress", "stop")}
