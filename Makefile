# The two commands of the README, and a few for developers.
BUILD ?= build
JOBS ?= 2

.PHONY: help setup build test test-long demo bench fuzz format clean

help:
	@echo "make demo    install what is missing, build, scan a simulated cohort, call ancestry"
	@echo "make test    install what is missing, build, run every test"
	@echo "make test-long  hours: accuracy of the fast training engine against the faithful one"
	@echo "make build   build build/bin/tallele"
	@echo "make bench   measure scans beside their floor; writes docs/performance.md's table"
	@echo "make fuzz    30 seconds of each fuzz target"
	@echo "make format  format the sources"

setup:
	@tools/setup.sh

build: setup
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo >$(BUILD).configure.log 2>&1 \
	  || { cat $(BUILD).configure.log; exit 1; }
	@rm -f $(BUILD).configure.log
	@ninja -C $(BUILD) -j$(JOBS) --quiet

test: build
	@ctest --test-dir $(BUILD) --output-on-failure -j$(JOBS)

test-long: build
	@ctest --test-dir $(BUILD) --output-on-failure --verbose -C Long -L long

demo: build
	@tools/demo.sh $(BUILD)/bin/tallele demo

bench: build
	@python3 bench/scan_bench.py --tallele $(BUILD)/bin/tallele --floor $(BUILD)/bench/inflate_floor \
	  --work $(BUILD)/bench-data --write docs/performance.md
	@python3 bench/binary_bench.py --tallele $(BUILD)/bin/tallele --floor $(BUILD)/bench/inflate_floor \
	  --work $(BUILD)/bench-data --write docs/performance.md

fuzz: setup
	@mkdir -p $(BUILD)
	@tools/fuzz.sh $(BUILD)/fuzz-build 30

format:
	@tools/check_format.sh --fix

clean:
	rm -rf $(BUILD) demo
