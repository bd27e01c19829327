"""Where keys come from, provider profiles, prices, reservations and caps."""

from __future__ import annotations

import os

import pytest

from c2s.backends.hosted.keys import keyless, read_key, without_key
from c2s.backends.hosted.profiles import choose_profile, load_profiles
from c2s.backends.registry import open_model
from c2s.errors import UsageError
from c2s.ledger.totals import Spend
from c2s.records import Question, Request, Usage
from c2s.spending.budget import Budget, Cap
from c2s.spending.prices import Price, load_price, tokens_expected, tokens_out

SECRET = "sk-test/0123456789"


@pytest.fixture(autouse=True)
def no_settings_of_this_machine(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.endswith("_BASE_URL") or name.startswith("C2S_P"):
            monkeypatch.delenv(name)


def key(**source):
    return read_key("m", **{"variable": None, "command": None, "file": None, **source})[0]


def test_a_key_from_the_environment_a_command_or_a_private_file(monkeypatch, tmp_path):
    monkeypatch.setenv("SOME_KEY", SECRET)
    assert key(variable="SOME_KEY") == SECRET and key(variable="ABSENT_KEY") is None and key() is None
    file = tmp_path / "key"
    file.write_text(SECRET + "\n")
    file.chmod(0o600)
    assert key(file=str(file)) == SECRET
    assert key(command=f"cat {file}") == SECRET


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_file_that_others_may_read_is_refused_with_the_mend(tmp_path, mode):
    file = tmp_path / "key"
    file.write_text(SECRET)
    file.chmod(mode)
    with pytest.raises(UsageError, match="chmod 600"):
        key(file=str(file))


def test_bad_sources_are_refused_without_showing_the_key(tmp_path, monkeypatch):
    empty = tmp_path / "empty"
    empty.touch(0o600)
    cases = [
        ({"file": str(tmp_path / "none")}, "cannot read the key file"), ({"file": str(empty)}, "holds no key"),
        ({"command": "false"}, "exit code 1"), ({"command": "no-such-program"}, "cannot be run"),
        ({"command": "true"}, "no line of output"),
        ({"command": "'unclosed"}, "cannot be run"), ({"command": f"echo {SECRET}"}, "holds the key itself"),
    ]  # fmt: skip
    for source, message in cases:
        with pytest.raises(UsageError, match=message) as refused:
            key(**source)
        assert SECRET not in str(refused.value) and "\n" not in str(refused.value)
    for value in ("two words", "sk-\u00e9", "a\tb"):
        monkeypatch.setenv("SOME_KEY", value)
        with pytest.raises(UsageError, match="blanks or characters") as refused:
            key(variable="SOME_KEY")
        assert value not in str(refused.value)


def test_an_echoed_key_is_cut_out():
    assert (
        without_key(b'{"error":"key sk-test/0123456789 or sk-test\\/0123456789"}', SECRET)
        == b'{"error":"key [key removed] or [key removed]"}'
    )
    assert keyless({"server": f"x {SECRET}"}, SECRET) == {"server": "x [key removed]"}
    assert without_key(b"abc", None) == b"abc" and without_key(b"an EMPTY answer", "EMPTY") == b"an EMPTY answer"


def test_profiles_ship_and_can_be_added_to(tmp_path, monkeypatch):
    shipped = load_profiles()
    assert {"typesafe", "openrouter", "vercel", "litellm", "sglang", "llamacpp", "startlux", "openai", "vllm", "ollama"} <= set(shipped)
    assert (
        shipped["typesafe"].base_url == "https://api.typesafe.ai" and shipped["vercel"].base_url == "https://ai-gateway.vercel.sh/typesafe"
    )
    own = tmp_path / "own.toml"
    own.write_text('[typesafe]\nworkers = 4\nstarts_per_second = 5\n[lab]\nbase_url = "https://lab.example"\nkey_env = "LAB_KEY"\n')
    monkeypatch.setenv("C2S_PROFILES", str(own))
    found = load_profiles()
    assert (
        found["typesafe"].workers == 4
        and found["typesafe"].key_env == "TYPESAFE_API_KEY"
        and found["lab"].base_url == "https://lab.example"
    )
    for text, message in [
        ("[lab]\nbase_urll = 'x'", "did you mean base_url"), ("[lab]\nworkers = 'four'", "line 2: lab.workers: is a whole number"),
        ("[lab]\nworkers = 0", "line 2: lab.workers: is a positive number"),
        ("x = 1", "line 1: x: is not a table"), ("[lab", "not TOML"),
    ]:  # fmt: skip
        own.write_text(text)
        with pytest.raises(UsageError, match=message):
            load_profiles()
    with pytest.raises(UsageError, match="cannot read the profiles"):
        load_profiles(str(tmp_path / "none.toml"))


def test_another_server_has_neither_the_limits_nor_the_cap_of_the_default_one(monkeypatch):
    assert choose_profile(None, "typesafe", base_url=None, file=None).starts_per_second == 20
    moved = choose_profile(None, "typesafe", base_url="http://127.0.0.1:1", file=None)
    assert moved.starts_per_second is None and moved.key_env == "TYPESAFE_API_KEY"
    monkeypatch.setenv("TYPESAFE_BASE_URL", "http://127.0.0.1:2")
    assert choose_profile(None, "typesafe", base_url=None, file=None).starts_per_second is None
    with pytest.raises(UsageError, match=r"unknown profile 'openruter' .did you mean openrouter"):
        choose_profile("openruter", "typesafe", base_url=None, file=None)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("systemone:m", {}, "no API key for api.typesafe.ai"),
        ("systemone:m", {"base_url": "http://example.org", "key_env": "SOME_KEY"}, "refusing to send a key over plain http"),
        ("systemone:m", {"base_url": "https://u:p@example.org"}, "without a name, password or query"),
        ("systemone:m", {"base_url": "ftp://example.org"}, "must be http"),
        ("systemone:m?resend=maybe", {"base_url": "http://127.0.0.1:1"}, "resend is `safe` or `paid`"),
        ("chat:m?contract=free", {"base_url": "http://127.0.0.1:1"}, "contract is direct, code-readout, code-generated; not 'free'"),
        ("chat:m?thinking=on", {"base_url": "http://127.0.0.1:1"}, "thinking is `off`"),
        ("openai:m?colour=red", {"base_url": "http://127.0.0.1:1"}, "no option 'colour'"),
    ],
)
def test_a_model_that_cannot_be_reached_safely_is_refused(name, options, message, monkeypatch):
    monkeypatch.setenv("SOME_KEY", SECRET)
    with pytest.raises(UsageError, match=message) as refused:
        open_model(name, options)
    assert SECRET not in str(refused.value)


def test_dialects_follow_from_names():
    def dialect_of(name):
        backend = open_model(name, {"base_url": "http://127.0.0.1:1"})
        backend.close()
        return backend.dialect, backend.resend

    assert dialect_of("systemone:m") == ("systemone", "paid") and dialect_of("systemone:m?resend=safe") == ("systemone", "safe")
    assert dialect_of("openai:m") == ("responses", "paid") and dialect_of("chat:m") == ("chat-direct", "paid")
    assert dialect_of("chat:m?contract=code&thinking=off") == ("chat-code-readout:nothink", "paid")


def test_prices_ship_and_can_be_overridden(tmp_path):
    jev = load_price("jev-1.13.0")
    assert jev == Price(0.042, 0) and load_price("typesafe/jev-1.13.0") == jev and load_price("unknown") is None
    sol = load_price("gpt-6-sol")
    assert (sol.input, sol.cached, sol.cache_write, sol.output) == (2, 0.20, 2.50, 10)
    own = tmp_path / "own.toml"
    own.write_text('["jev-1.13.0"]\ninput = 0.05\n[local]\ninput = 0\noutput = 0\n')
    assert load_price("jev-1.13.0", str(own)) == Price(0.05, 0) and load_price("local", str(own)) == Price(0, 0)
    for text, message in [
        ("[jev-1.13.0]\ninput=1", "line 1: jev-1.13: unknown key; known: input.*a name with dots is quoted"),
        ("[m]\ninput = 1", "needs input and output"),
        ("[m]\ninput = -1\noutput = 0", "not an amount"), ("[m]\ninput = 1\noutput = 1\ncashed = 1", "did you mean cached"),
        ("x", "not TOML"),
    ]:  # fmt: skip
        own.write_text(text)
        with pytest.raises(UsageError, match=message):
            load_price("m", str(own)) or load_price("jev-1", str(own))


def test_cost_counts_every_kind_of_token_and_never_takes_silence_for_free():
    sol = Price(2, 10, cached=0.20, cache_write=2.50)
    assert sol.cost(Usage(1000, 100, cached_tokens=400, cache_write_tokens=100)) == pytest.approx(
        (500 * 2 + 400 * 0.2 + 100 * 2.5 + 100 * 10) / 1e6
    )
    assert sol.cost(Usage(1000, None)) is None and sol.cost(Usage(None, 100)) is None and sol.cost(Usage()) is None
    assert sol.cost(Usage(cost_usd=0.5)) == 0.5
    assert Price(0.042, 0).cost(Usage(1000, None)) == pytest.approx(4.2e-5)  # output is free: its count is not needed


def test_reservations_bound_what_is_expected():
    request = Request("", {"answer": Question("q", {"a": None}, unit="whole")})
    price = Price(2, 10, cache_write=2.5, output_reserve=2048, output_expected=64)
    assert price.reserve(1001, 2048) == pytest.approx((501 * 2.5 + 2048 * 10) / 1e6) and tokens_expected(1001) == 251
    assert tokens_out(request, "responses", price) == 2048 and tokens_out(request, "chat-direct", price) == 32
    assert tokens_out(request, "chat-code-readout:nothink", price) == 1 and tokens_out(request, "systemone", None) == 16


def test_caps_count_settled_held_and_the_next_reservation():
    budget = Budget(Price(1, 0), [Cap("on this run", 1.0, "--cap"), Cap("on this provider", 5.0, "--provider-cap", before=4.5)], model="m")
    assert budget.exceeded(Spend(settled_nano=200_000_000, held_nano=200_000_000), 0.1) is None
    assert budget.exceeded(Spend(settled_nano=200_000_000, held_nano=300_000_000), 0.1).option == "--provider-cap"
    assert Budget(Price(1, 0), [Cap("on this run", 1.0, "--cap")]).exceeded(Spend(held_nano=1_000_000_000), 0.0) is None
    with pytest.raises(UsageError, match="no price is known for 'm'"):
        Budget(None, [Cap("on this run", 1.0, "--cap")], model="m")
