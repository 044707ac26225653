package mpi_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/library/mpi"
)

// forgiven are programs of two ranks that violate the standard and run with most implementations.
var forgiven = []struct {
	kind    mpi.WarningKind
	call    string // the call in which it is found
	text    string
	program func(c *mpi.Comm, other int)
}{
	{mpi.OverlappingReceives, "Irecv", "bytes 0 to 99 of this call and bytes 0 to 99 of Irecv (warnings_test.go:", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		var all []mpi.Request
		for range 20 { // a window as in osu_bw
			all = append(all, mpi.Irecv(c, x, other, 0))
		}
		for range 20 {
			all = append(all, mpi.Isend(c, make([]byte, 100), other, 0))
		}
		mpi.WaitAll(all, nil)
	}},
	{mpi.SendOfReceiveMemory, "Send", "may have been written over", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		r := mpi.Irecv(c, x[:50], other, 0)
		mpi.Send(c, x[49:], other, 1)
		mpi.Recv(c, make([]byte, 51), other, 1)
		mpi.Send(c, make([]byte, 50), other, 0)
		r.Wait()
	}},
	{mpi.ReceiveIntoSendMemory, "Irecv", "may be written over", func(c *mpi.Comm, other int) {
		x := make([]byte, 100)
		s := mpi.Isend(c, x, other, 0)
		r := mpi.Irecv(c, x, other, 0)
		mpi.WaitAll([]mpi.Request{s, r}, nil)
	}},
	{mpi.RequestsLeftOpen, mpi.FinalizeCall, "1 request was neither completed nor freed; the first, of Irecv (warnings_test.go:", func(c *mpi.Comm, other int) {
		mpi.Irecv(c, make([]byte, 100), other, 0)
	}},
	{mpi.OverlappingReceives, "Gatherv", "(4 from 3 on) goes to the same memory", func(c *mpi.Comm, _ int) {
		c.Gatherv(mpi.BufferOf(make([]int32, 4)), mpi.BufferOf(make([]int32, 7)), []int{4, 4}, []int{0, 3}, 0)
	}},
	{mpi.LogicalOfFloats, "Allreduce", "Lxor is not for elements of Float64", func(c *mpi.Comm, _ int) {
		x, y := []float64{0.5, 2 * float64(c.Rank()), 0}, make([]float64, 3)
		if c.Allreduce(mpi.BufferOf(x), mpi.BufferOf(y), mpi.Lxor); !slices.Equal(y, []float64{0, 1, 0}) {
			panic(y)
		}
	}},
}

// By default such a program ends normally with one warning of each kind, however many ranks violate
// the standard and however often. With a strict check it fails with an error that names the flag.
// Without checks nothing is reported.
func TestForgivenPrograms(t *testing.T) {
	if enginetest.RaceDetectorOn { // the detector would report the programs' faults
		return
	}
	for _, p := range forgiven {
		for _, at := range slices.Concat(places, enginetest.ProcessWorlds) {
			for _, check := range []mpi.CheckMode{mpi.CheckOff, mpi.CheckWarn, mpi.CheckStrict} {
				t.Run(fmt.Sprintf("%s/%s/%v", p.kind, at.Name, check), func(t *testing.T) {
					var warnings []mpi.Warning
					l := enginetest.T3DLibrary()
					err := mpi.Run(at.Open(t, l, 2), mpi.Options{Engine: carry, Library: l, Check: check, OnWarning: func(w mpi.Warning) { warnings = append(warnings, w) }}, func(c *mpi.Comm) error {
						p.program(c, 1-c.Rank())
						return nil
					})
					var e *mpi.Error
					switch {
					case check == mpi.CheckOff && (err != nil || warnings != nil), check == mpi.CheckWarn && (err != nil || len(warnings) != 1), check == mpi.CheckStrict && (!errors.As(err, &e) || warnings != nil):
						t.Fatalf("%v, with the warnings %v", err, warnings)
					case check == mpi.CheckWarn:
						if w := warnings[0]; w.Kind != p.kind || w.Call != p.call || !isHere(w.CallSite, w.Call) || !strings.Contains(w.Text, p.text) {
							t.Errorf("the warning is %+v", w)
						}
					case check == mpi.CheckStrict:
						if e.Call != p.call || !isHere(e.CallSite, e.Call) || !strings.Contains(e.Text, p.text) || !strings.Contains(e.Text, "--check=warn") {
							t.Errorf("the error is %v", err)
						}
					}
				})
			}
		}
	}
}

// isHere reports whether a call site is in this file, or empty.
func isHere(at mpi.CallSite, call string) bool {
	return call == mpi.FinalizeCall || filepath.Base(at.File) == "warnings_test.go" && at.Line > 0
}

// Each kind is reported once, in the order in which the kinds are found.
func TestEachKindIsWarnedOf(t *testing.T) {
	if enginetest.RaceDetectorOn {
		return
	}
	var got []mpi.WarningKind
	w, o := t3d(t, 2)
	o.Check, o.OnWarning = mpi.CheckWarn, func(w mpi.Warning) { got = append(got, w.Kind) }
	holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
		for range 2 {
			for _, p := range forgiven[:3] {
				p.program(c, 1-c.Rank())
			}
		}
		return nil
	}))
	if want := []mpi.WarningKind{mpi.OverlappingReceives, mpi.SendOfReceiveMemory, mpi.ReceiveIntoSendMemory}; !slices.Equal(got, want) {
		t.Errorf("the warnings are %q, want %q", got, want)
	}
}

// A warning takes no virtual time.
func TestWarningsTakeNoTime(t *testing.T) {
	var ends []string
	for _, check := range []mpi.CheckMode{mpi.CheckOff, mpi.CheckWarn} {
		w, o := t3d(t, 2)
		o.Check, o.OnWarning = check, func(mpi.Warning) {}
		holds(t, mpi.Run(w, o, func(c *mpi.Comm) error {
			forgiven[0].program(c, 1-c.Rank())
			ends = append(ends, fmt.Sprint(c.Rank(), c.Wtime()))
			return nil
		}))
	}
	if !slices.Equal(ends[:2], ends[2:]) {
		t.Errorf("the ranks end at %v", ends)
	}
}
