# The daily commands. Each needs only Python 3.11+ and a package registry.
PYTHON ?= python3
ENV := .venv
BIN := $(ENV)/bin
STAMP := $(ENV)/.installed

.PHONY: demo reproduce test formats-test tools-test fuzz golden browser-test axe postgres-test campaign-size chaos cluster-chaos load check docs picture bench seeds nojit alone wheel release-check man clean

demo: $(STAMP)                 ## the whole story on built-in data, with a picture
	$(BIN)/labelworth demo

test: $(STAMP)                 ## every test; told and skipped is what needs PostgreSQL, Chromium, JAX or a corpus that is not here
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal -rs

fuzz: $(STAMP)                 ## 100,000 damaged inputs: files through every door of the command line, requests to the studio
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/fuzz/run.py --count 2400 --keep build/fuzz --record
	$(BIN)/python tests/fuzz/studio_requests.py --count 40000 --record

formats-test: $(STAMP)         ## 2,000 generated exports per format go out to it and come back
	OPENBLAS_NUM_THREADS=1 LABELWORTH_FORMATS_EXAMPLES=2000 $(BIN)/python -m pytest -q -n auto tests/properties/test_formats.py

tools-test:                    ## the tools' own code reads what we write, and we what it writes; told and skipped where one is not there
	test -x build/tools/bin/python || $(PYTHON) -m venv build/tools
	build/tools/bin/python -m pip install -q -e ".[parquet]" -r tests/tools/requirements.txt
	build/tools/bin/python -m pip install -q --no-deps doccano==1.8.4
	build/tools/bin/python -m pytest -q -rs tests/tools

golden: $(STAMP)               ## plans, checks, fits and information on small data: the same answers as on record
	$(BIN)/python tests/golden/compare.py

browser-test: $(STAMP) axe     ## only the page of a plan and the studio, in Chromium; LABELWORTH_SCREENSHOTS=FOLDER keeps pictures
	$(BIN)/python -m pytest -q -rs tests/browser

axe:                           ## axe-core, by which those tests look at accessibility; told where npm cannot get it
	npm install --silent --no-audit --no-fund --prefix build/axe axe-core@4.14.0 || echo "npm did not get axe-core: accessibility is looked at only where it is here already."

chaos: $(STAMP)                ## a studio is killed a hundred times, on SQLite, PostgreSQL, and as two on one; its disk is filled; a study is killed twenty times
	$(BIN)/python tests/chaos/kills.py --kills 100 --keep
	$(BIN)/python tests/chaos/kills.py --kills 100 --postgres --keep
	$(BIN)/python tests/chaos/kills.py --kills 20 --postgres --servers 2 --keep
	$(BIN)/python tests/chaos/full_disk.py --keep
	LABELWORTH_TEST_KILLS=20 $(BIN)/python -m pytest -q studies/tests/commands/test_reproduce_killed.py -k kills

cluster-chaos: $(STAMP)        ## workers of a real cluster are killed fifty times, and its scheduler; every bit is compared
	OPENBLAS_NUM_THREADS=1 $(BIN)/python tests/chaos/cluster.py --kills 50 --keep

postgres-test: $(STAMP)        ## only campaigns, on SQLite and on a PostgreSQL that is installed for it; told and skipped where it cannot be
	.ci/get postgresql
	$(BIN)/python -m pytest -q -rs tests/unit/campaign

campaign-size: $(STAMP)        ## how long a campaign of 100,000 items and 1,000,000 answers takes to answer
	$(BIN)/python tests/support/campaign_size.py

load: $(STAMP)                 ## 200 answers a second for five minutes; then pages with 100,000 items and 1,000,000 answers
	$(BIN)/python tests/chaos/load.py --rate 200 --minutes 5 --keep
	$(BIN)/python tests/chaos/load.py --rate 2 --minutes 0.2 --large --keep

check: $(STAMP)                ## format, lint, types, floors, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/codespell

docs: $(STAMP)                 ## the site, offline, into build/site: every example is run, warnings are errors, links are followed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	PATH="$(CURDIR)/$(BIN):$$PATH" OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -q -W --keep-going -j auto -b html docs build/site
	$(BIN)/python docs/_ext/links.py build/site

picture: $(STAMP)              ## the picture of the README
	PYTHONPATH=docs/_ext $(BIN)/python docs/readme_picture.py docs/how_many_more_labels.png

reproduce: $(STAMP)            ## says which corpora the studies need, gets those that can be had, and runs every study that has its own
	$(BIN)/labelworth data list
	-$(BIN)/labelworth data get all
	$(BIN)/labelworth reproduce all $(QUICK) -o build/reproduced

bench: $(STAMP)                ## speed as ratios against named peers, in one run
	$(BIN)/labelworth bench

seeds: $(STAMP)                ## the Monte Carlo tests on seeds 0 to 99
	@for seed in $$(seq 0 99); do LABELWORTH_TEST_SEED=$$seed $(BIN)/python -m pytest -q -m statistical || exit 1; done

nojit: $(STAMP)                ## the kernels as plain Python, without the compiler
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest -q tests/unit/kernels

alone: $(STAMP)                ## a clone with nothing beside it: tests that read corpora, write caches, start processes
	.ci/alone

wheel: $(STAMP)                ## wheel and source as people install them: checked, and in an empty environment demo, fit, plan
	.ci/wheel

release-check: $(STAMP)        ## the same on every Python that we promise and that is here; says which are not
	.ci/release

man: $(STAMP)                  ## the man pages, into man/
	$(BIN)/python docs/man_pages.py man

clean:
	rm -rf $(ENV) build man src/*.egg-info studies/*.egg-info

$(STAMP): pyproject.toml studies/pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "labelworth needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Name another with: make PYTHON=python3.12")'
	test -d $(ENV) || $(PYTHON) -m venv $(ENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' -e studies
	touch $(STAMP)
