package mpi_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/impl/real/loop"
)

// wrongPrograms are the programs in wrong_programs_test.go.
var wrongPrograms = []struct {
	name    string
	ranks   int
	program func(*mpi.Comm)
}{
	{"allReceiveFirst", 3, allReceiveFirst},
	{"bothSendFirst", 2, bothSendFirst},
	{"sendsToItself", 1, sendsToItself},
	{"anotherTag", 2, anotherTag},
	{"oneLeavesEarly", 4, oneLeavesEarly},
	{"oneIsElsewhere", 3, oneIsElsewhere},
	{"withinAGroup", 4, withinAGroup},
	{"anotherOperation", 2, anotherOperation},
	{"anotherRoot", 3, anotherRoot},
	{"onlyOneCalls", 2, onlyOneCalls},
	{"eachItsOwnRoot", 2, eachItsOwnRoot},
	{"noReceive", 3, noReceive},
	{"anotherReduction", 2, anotherReduction},
	{"anotherLength", 2, anotherLength},
	{"anotherKind", 2, anotherKind},
	{"tooLong", 2, tooLong},
	{"otherElements", 2, otherElements},
	{"readyTooEarly", 2, readyTooEarly},
	{"noSuchRank", 2, noSuchRank},
	{"noSuchTag", 2, noSuchTag},
	{"bufferTooShort", 2, bufferTooShort},
	{"noBuffer", 2, noBuffer},
	{"notCommitted", 2, notCommitted},
	{"elementsOverlap", 2, elementsOverlap},
	{"afterFree", 2, afterFree},
	{"completedTwice", 2, completedTwice},
	{"notInIt", 2, notInIt},
	{"receivesOverlap", 2, receivesOverlap},
	{"sendsWhatIsReceived", 2, sendsWhatIsReceived},
	{"inPlace", 2, inPlace},
	{"partsOverlap", 2, partsOverlap},
	{"takesLess", 2, takesLess},
	{"leavesRequests", 2, leavesRequests},
	{"leavesMessage", 2, leavesMessage},
	{"fromElsewhere", 1, fromElsewhere},
}

const wrongSource = "wrong_programs_test.go"

// sourceOf is the text of a function, and its first line in the file.
type sourceOf struct {
	text string
	line int
}

// wrongSources reads the sources of the programs.
func wrongSources(t *testing.T) map[string]sourceOf {
	t.Helper()
	text, err := os.ReadFile(wrongSource)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, wrongSource, text, 0)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]sourceOf{}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok {
			from, to := files.Position(fn.Pos()), files.Position(fn.End())
			all[fn.Name.Name] = sourceOf{string(text[from.Offset:to.Offset]), from.Line}
		}
	}
	return all
}

// counted converts lines of the file in a message to lines of the function.
func (s sourceOf) counted(message string) string {
	return regexp.MustCompile(regexp.QuoteMeta(wrongSource)+`:(\d+)`).ReplaceAllStringFunc(message, func(site string) string {
		n, _ := strconv.Atoi(site[len(wrongSource)+1:])
		return fmt.Sprintf("program.go:%d", n-s.line+1)
	})
}

// The errors of wrong programs are those in testdata/wrong_programs.txt, which -update rewrites.
// docs/errors.md shows some of them, with or without their programs.
func TestWrongPrograms(t *testing.T) {
	const golden = "testdata/wrong_programs.txt"
	sources := wrongSources(t)
	page := read(t, "../../../docs/errors.md")
	var all strings.Builder
	for _, p := range wrongPrograms {
		s := sources[p.name]
		message := s.counted(wrong(t, p.ranks, p.program).Error())
		fmt.Fprintf(&all, "%s\n%s\n\n", p.name, message)
		block := fmt.Sprintf("```go\n%s\n```\n\n```text\n%s\n```\n", s.text, message)
		if strings.Contains(page, "\nfunc "+p.name+"(") && !strings.Contains(page, block) {
			t.Errorf("docs/errors.md does not have\n%s", block)
		}
	}
	if len(sources) != len(wrongPrograms) {
		t.Errorf("%s has %d programs, %d are tried", wrongSource, len(sources), len(wrongPrograms))
	}
	if *update {
		if err := os.WriteFile(golden, []byte(all.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want := read(t, golden); all.String() != want {
		t.Errorf("the errors are\n%swant\n%s", &all, want)
	}
	for _, shown := range regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(page, -1) {
		for line := range strings.Lines(shown[1]) {
			if !strings.Contains(all.String(), "\n"+line) {
				t.Errorf("docs/errors.md shows, and no program has:\n%s", line)
			}
		}
	}
}

// wrong runs a wrong program.
func wrong(t *testing.T, ranks int, program func(*mpi.Comm)) error {
	t.Helper()
	l := enginetest.T3DLibrary()
	err := mpi.Run(emulated(t, "t3d", l, ranks, 0), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, func(c *mpi.Comm) error { program(c); return nil })
	if err == nil {
		t.Fatal("the program ends")
	}
	return err
}

// The error of a wrong program is the same in all worlds, except for names of protocols and for
// which rank fails first.
func TestWrongProgramsEverywhere(t *testing.T) {
	for _, p := range wrongPrograms {
		want := wrong(t, p.ranks, p.program)
		for _, at := range places {
			l := enginetest.T3DLibrary()
			got := mpi.Run(at.Open(t, l, p.ranks), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, func(c *mpi.Comm) error { p.program(c); return nil })
			if got == nil || telling(got) != telling(want) {
				t.Errorf("%s on %s: %v\nwant %v", p.name, at.Name, got, want)
			}
		}
	}
}

// telling returns the part of an error that is the same in all worlds.
func telling(err error) string {
	var e *mpi.Error
	var d *mpi.DeadlockError
	switch {
	case errors.As(err, &e):
		return fmt.Sprint(e.Class, e.Call, e.CallSite)
	case errors.As(err, &d):
		s := fmt.Sprint(d.Ranks, d.TotalRanks, d.Cycle)
		for _, w := range d.Waits {
			s += fmt.Sprint(w.Rank, w.Call, w.CallSite, w.WaitsOnRank)
		}
		return s
	}
	return err.Error()
}

// A call site contains the full path of the source.
func TestSiteHasPath(t *testing.T) {
	var e *mpi.Error
	if err := wrong(t, 2, tooLong); !errors.As(err, &e) || !filepath.IsAbs(e.CallSite.File) || filepath.Base(e.CallSite.File) != wrongSource {
		t.Errorf("the site is %+v", e.CallSite)
	}
}

// A report on many ranks shows the lowest ones with their lines, whichever is stopped first. Of a
// long cycle it shows both ends.
func TestManyWait(t *testing.T) {
	const ranks = 40
	program := func(c *mpi.Comm) error {
		mpi.Recv(c, make([]byte, 1), (c.Rank()+1)%ranks, 0)
		return nil
	}
	for name, w := range map[string]device.World{"t3d": emulated(t, "t3d", enginetest.T3DLibrary(), ranks, 0), "loop": loop.New(ranks)} {
		var d *mpi.DeadlockError
		if err := mpi.Run(w, mpi.Options{Engine: carry, Library: enginetest.T3DLibrary()}, program); !errors.As(err, &d) {
			t.Fatalf("%s: %v", name, err)
		}
		if len(d.Waits) != 16 || len(d.Cycle) != ranks {
			t.Errorf("%s: %d ranks are shown, and a cycle of %d", name, len(d.Waits), len(d.Cycle))
		}
		for i, w := range d.Waits {
			if w.Rank != i || w.WaitsOnRank != i+1 || filepath.Base(w.CallSite.File) != "wrong_test.go" {
				t.Errorf("%s: place %d has %+v", name, i, w)
			}
		}
		for _, want := range []string{"\n  and 24 more ranks\n", "rank 0 → rank 1 → rank 2 → rank 3 → rank 4 → rank 5 → 33 more → rank 39 → rank 0"} {
			if !strings.Contains(d.Error(), want) {
				t.Errorf("%s: no %q in %v", name, want, d)
			}
		}
	}
}

// A rank that waits for any of several ranks is on no cycle. A rank that waits for all of them
// waits for the first.
func TestCycles(t *testing.T) {
	both := func(c *mpi.Comm) []mpi.Request {
		other := 1 - c.Rank()
		return []mpi.Request{mpi.Irecv(c, make([]byte, 1), other, 0), mpi.Irecv(c, make([]byte, 1), other, 1)}
	}
	for name, x := range map[string]struct {
		program func(c *mpi.Comm)
		cycle   []int
	}{
		"any":       {func(c *mpi.Comm) { mpi.WaitAny(both(c)) }, nil},
		"any of 1":  {func(c *mpi.Comm) { mpi.WaitAny(both(c)[:1]) }, []int{0, 1}},
		"all":       {func(c *mpi.Comm) { mpi.WaitAll(both(c), nil) }, []int{0, 1}},
		"a source":  {func(c *mpi.Comm) { c.Probe(1-c.Rank(), 0) }, []int{0, 1}},
		"no source": {func(c *mpi.Comm) { c.Probe(mpi.AnySource, 0) }, nil},
		"a tail":    {func(c *mpi.Comm) { mpi.Recv(c, make([]byte, 1), 1, 0) }, []int{1}},
	} {
		var d *mpi.DeadlockError
		if err := wrong(t, 2, x.program); !errors.As(err, &d) || !slices.Equal(d.Cycle, x.cycle) {
			t.Errorf("%s: %v\nwant the cycle %v", name, err, x.cycle)
		}
	}
}

// Every call on a nil communicator is recognized. Other nil pointers are not attributed to the
// library.
func TestNilCommunicator(t *testing.T) {
	for call, program := range map[string]func(c *mpi.Comm){
		"Rank":      func(c *mpi.Comm) { c.Rank() },
		"Wtime":     func(c *mpi.Comm) { c.Wtime() },
		"Send":      func(c *mpi.Comm) { mpi.Send(c, []byte{1}, 0, 0) },
		"Irecv":     func(c *mpi.Comm) { c.Irecv(mpi.BufferOf([]byte{1}), 0, 0) },
		"Allreduce": func(c *mpi.Comm) { mpi.Allreduce(c, []int{1}, []int{2}, mpi.Sum) },
		"Free":      func(c *mpi.Comm) { c.Free() },
	} {
		var e *mpi.Error
		err := wrong(t, 1, func(*mpi.Comm) { program(nil) })
		if !errors.As(err, &e) || e.Class != engine.ErrComm || e.Call != call || e.Rank != 0 || filepath.Base(e.CallSite.File) != "wrong_test.go" {
			t.Errorf("%s: %v", call, err)
		}
	}
	var f *device.Failure
	if err := wrong(t, 1, func(*mpi.Comm) { var p *sourceOf; p.line++ }); !errors.As(err, &f) || f.Rank != 0 {
		t.Errorf("a nil pointer of the program: %v", err)
	}
}

// Using a communicator after the end of its rank fails without any other effect.
func TestAfterTheEnd(t *testing.T) {
	for name, call := range map[string]func(c *mpi.Comm){
		"Send":    func(c *mpi.Comm) { mpi.Send(c, []byte{1}, 0, 0) },
		"Irecv":   func(c *mpi.Comm) { mpi.Irecv(c, []byte{1}, 0, 0) },
		"Recv":    func(c *mpi.Comm) { mpi.Recv(c, []byte{1}, 0, 0) },
		"Barrier": func(c *mpi.Comm) { c.Barrier() },
		"Iprobe":  func(c *mpi.Comm) { c.Iprobe(0, 0) },
	} {
		for _, at := range places {
			l := enginetest.T3DLibrary()
			var last *mpi.Comm
			holds(t, mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: map[bool]mpi.CheckMode{true: mpi.CheckStrict}[name == "Send"]}, func(c *mpi.Comm) error {
				if c.Rank() == 1 {
					last = c
				}
				return nil
			}))
			func() {
				defer func() {
					e, ok := recover().(*mpi.Error)
					if !ok || e.Rank != 1 || e.Call != name || !strings.Contains(e.Text, "has ended") || filepath.Base(e.CallSite.File) != "wrong_test.go" {
						t.Errorf("%s on %s: %v", name, at.Name, e)
					}
				}()
				call(last)
			}()
		}
	}
}

// withoutSite removes source lines from the text of an error.
func withoutSite(err error) string {
	return regexp.MustCompile(` \(\w+\.go:\d+\)`).ReplaceAllString(err.Error(), "")
}

// Wrong programs of processes fail with the same error as in one process, from whichever rank, and
// all ranks of a deadlock report where they wait.
func TestWrongProgramsOfProcesses(t *testing.T) {
	if enginetest.RaceDetectorOn {
		return // the detector does not see between processes, and slows them down
	}
	for _, name := range []string{"allReceiveFirst", "oneLeavesEarly", "withinAGroup", "tooLong", "noSuchRank", "onlyOneCalls", "eachItsOwnRoot", "noReceive"} {
		for _, at := range enginetest.ProcessWorlds {
			t.Run(name+"/"+at.Name, func(t *testing.T) {
				for _, p := range wrongPrograms {
					if p.name != name {
						continue
					}
					want := wrong(t, p.ranks, p.program)
					l := enginetest.T3DLibrary()
					got := mpi.Run(at.Open(t, l, p.ranks), mpi.Options{Engine: carry, Library: l, Check: mpi.CheckStrict}, func(c *mpi.Comm) error { p.program(c); return nil })
					if got == nil || telling(got) != telling(want) {
						t.Errorf("%v\nwant %v", got, want)
					}
				}
			})
		}
	}
}

// The error detail of a rank is part of a run's end, also for processes that join the run later.
func TestErrorDetailOfLaterRuns(t *testing.T) {
	if enginetest.RaceDetectorOn {
		return
	}
	for _, at := range enginetest.ProcessWorlds {
		t.Run(at.Name, func(t *testing.T) {
			l := enginetest.T3DLibrary()
			w := at.Open(t, l, 2)
			first := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error { tooLong(c); return nil })
			second := mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
				var e *mpi.Error
				if !errors.As(first, &e) || e.Call != "Recv" || e.Rank != 1 {
					return errors.New("the first run has ended otherwise here")
				}
				mpi.Recv(c, make([]byte, 1), 1-c.Rank(), 0)
				return nil
			})
			holds(t, mpi.Run(w, mpi.Options{Engine: carry, Library: l}, func(c *mpi.Comm) error {
				var e *mpi.DeadlockError
				if !errors.As(second, &e) || len(e.Waits) != 2 || e.Waits[0].Call != "Recv" || e.Waits[1].Call != "Recv" || len(e.Cycle) != 2 {
					return errors.New("the second run has ended otherwise here: " + second.Error())
				}
				return nil
			}))
			var d *device.Deadlock
			if !errors.As(second, &d) {
				t.Error(second)
			}
		})
	}
}
