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

# Each fuzz target of a directory for a while.
FUZZTIME ?= 20s
FUZZDIR ?= .
fuzz:
	@grep -r --include='*_test.go' '^func Fuzz' $(FUZZDIR) | sed 's|^\(.*\)/[^/]*:func \(Fuzz[^(]*\)(.*|\1 \2|' | sort | while read -r dir f; do \
		echo "$$dir $$f"; go test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x ./$$dir </dev/null || exit 1; \
	done

# What is random, for long: many random machines, programs with many seeds on every kind of world under every table of
# protocols, then each fuzz target; and the papers that take minutes to reproduce. It takes hours, unless the variables
# say less, as in CI: a line whose variable is empty is left out, since `go test` runs it with less. LONG is for lines
# that take as many random machines and classes of problems as there are.
PROGRAMS ?= 2000
SEED ?= 1
MACHINES ?= 2000
INTERLEAVINGS ?= 200000
SCHEDULES ?= 200000
RECORDINGS ?= 2000
ATTACKS ?= 5000
LONG ?= 1
COLLECTIONS ?= 20
OTHERS ?= 7
PAPERS ?= aclmpl,cc-mpi,mbcf,mpi-start
soak: FUZZTIME = 10m
soak:
	$(if $(LONG),LOGGP_SOAK=1 go test -count=1 -timeout 0 ./fit/... ./impl/library/mpi -run 'ComeBack|OneTier|BelowZero|Crossovers|RecordingChanges|Noise')
	$(if $(LONG),LOGGP_SOAK=1 go test -count=1 -timeout 0 ./cmd/loggp -run TiersOfConvex)
	$(if $(LONG),LOGGP_SOAK=1 go test -count=1 -timeout 0 ./docs -run FirstSteps -defaults)
	$(if $(LONG),LOGGP_SOAK=1 go test -count=1 -timeout 0 ./impl/program/npb)
	$(if $(LONG),LOGGP_SOAK=1 go test -count=1 -timeout 0 -v . ./model/collective -run 'CollectivePredictions|NoJobEnds')
	$(if $(PAPERS),go test -count=1 -timeout 0 ./cmd/loggp -run Papers -papers $(PAPERS))
	go test -count=1 -timeout 0 ./cmd/loggp -run Attacks -attacks $(ATTACKS) -first-attack $(SEED)
	go test -count=1 -timeout 0 ./impl/engine/mbcf ./impl/engine/proto ./impl/engine/queue -run 'Engine/.*/.*/random' -programs $(PROGRAMS) -seed $(SEED)
	$(if $(INTERLEAVINGS),go test -count=1 -timeout 0 ./impl/engine/mbcf -run Rules -interleavings $(INTERLEAVINGS))
	$(if $(SCHEDULES),go test -count=1 -timeout 0 ./model/schedule -run SlowModels -schedules $(SCHEDULES))
	$(if $(RECORDINGS),go test -count=1 -timeout 0 ./impl/job -run RandomPrograms -recordings $(RECORDINGS))
	$(if $(MACHINES),go test -count=1 -timeout 0 ./fit -run SecretMachines -machines $(MACHINES) -seed $(SEED))
	$(if $(OTHERS),go test -count=1 -timeout 0 ./impl/program/cprog -run Others -others $(OTHERS))
	$(if $(COLLECTIONS),GOGC=1 GODEBUG=gcshrinkstackoff=0 go test -count=$(COLLECTIONS) -timeout 0 ./impl/program/cprog -run 'Suite|Field|Wrong')
	go test -count=1 -timeout 0 ./impl/program/cprog -run RandomPrograms -programs $(PROGRAMS) -first $(SEED)
	go test -count=1 -timeout 0 ./impl/library/aclmpl -run TestRandom -random $(PROGRAMS) -first $(SEED)
	$(MAKE) fuzz FUZZTIME=$(FUZZTIME)

# Which changes of a package's code its tests do not notice (docs/testing.md).
PKG ?= ./impl/engine/match
mutants:
	go run github.com/go-gremlins/gremlins/cmd/gremlins@v0.6.0 unleash $(PKG) --timeout-coefficient 10
