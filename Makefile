.PHONY: check test race pages bench fuzz soak mutants build release

check: ## all that CI runs
	.ci/run

build:
	go build -o loggp ./cmd/loggp

# Archives for Linux and macOS in out/release.
release:
	.ci/release

test:
	go test ./...

race: ## all tests under the race detector, twenty minutes
	go test -race -short -timeout 0 ./...

# The pages as a browser shows them, wide and narrow, light and dark: pictures in out/pages, to be looked at.
pages:
	.ci/chromium
	mkdir -p out/pages
	CI=true go test -count=1 ./reports ./reports/study ./reports/timeline -run 'Page$$/^shown' -screenshots "$(CURDIR)/out/pages"

# Speed is compared, never asserted: run it before and after a change, and give both to
# go run golang.org/x/perf/cmd/benchstat@latest old.txt new.txt
bench:
	go test -run '^$$' -bench . -benchmem ./...

# Each fuzz target for a while.
FUZZTIME ?= 20s
fuzz:
	@for pkg in $$(go list ./...); do \
		for f in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz'); do \
			echo "$$pkg $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$pkg || exit 1; \
		done; \
	done

# What is random, for long: many random machines, programs with many seeds on every kind of world under every table of
# protocols, then each fuzz target; and the papers that take minutes to reproduce. It takes hours, unless the variables
# say less, as in CI. LONG= leaves as few random machines and classes of problems as `go test` takes.
PROGRAMS ?= 2000
SEED ?= 1
MACHINES ?= 2000
INTERLEAVINGS ?= 200000
SCHEDULES ?= 200000
ATTACKS ?= 5000
LONG ?= 1
COLLECTIONS ?= 20
PAPERS ?= aclmpl,cc-mpi,mbcf,mpi-start
soak: FUZZTIME = 10m
soak:
	LOGGP_SOAK=$(LONG) go test -count=1 -timeout 0 ./fit/... ./impl/library/mpi -run 'ComeBack|OneTier|BelowZero|Crossovers|RecordingChanges|Noise'
	LOGGP_SOAK=$(LONG) go test -count=1 -timeout 0 ./cmd/loggp -run 'TiersOfConvex|Papers|FirstSteps' -papers $(PAPERS) -defaults
	go test -count=1 -timeout 0 ./cmd/loggp -run Attacks -attacks $(ATTACKS) -first-attack $(SEED)
	LOGGP_SOAK=$(LONG) go test -count=1 -timeout 0 ./impl/program/npb
	LOGGP_SOAK=$(LONG) go test -count=1 -timeout 0 -v . ./model/collective -run 'CollectivePredictions|NoJobEnds'
	go test -count=1 -timeout 0 ./impl/engine/mbcf ./impl/engine/proto ./impl/engine/queue -run 'Engine/.*/.*/random' -programs $(PROGRAMS) -seed $(SEED)
	go test -count=1 -timeout 0 ./impl/engine/mbcf -run Rules -interleavings $(INTERLEAVINGS)
	go test -count=1 -timeout 0 ./model/schedule -run SlowModels -schedules $(SCHEDULES)
	go test -count=1 -timeout 0 ./impl/job -run RandomPrograms -recordings $(PROGRAMS)
	go test -count=1 -timeout 0 ./fit -run SecretMachines -machines $(MACHINES) -seed $(SEED)
	go test -count=1 -timeout 0 ./impl/program/cprog -run Others -others
	GOGC=1 GODEBUG=gcshrinkstackoff=0 go test -count=$(COLLECTIONS) -timeout 0 ./impl/program/cprog -run 'Suite|Field|Wrong'
	go test -count=1 -timeout 0 ./impl/program/cprog -run RandomPrograms -programs $(PROGRAMS) -first $(SEED)
	go test -count=1 -timeout 0 ./impl/library/aclmpl -run TestRandom -random $(PROGRAMS) -first $(SEED)
	$(MAKE) fuzz FUZZTIME=$(FUZZTIME)

# Which changes of a package's code its tests do not notice (docs/testing.md).
PKG ?= ./impl/engine/match
mutants:
	go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash $(PKG) --timeout-coefficient 10
