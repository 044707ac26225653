package loggp_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/loggp/loggp"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model/unit"
)

// exchange sends a message from rank 0 to rank 1.
func exchange(c *mpi.Comm) error {
	c.Compute(10 * unit.Microsecond)
	switch c.Rank() {
	case 0:
		mpi.Send(c, make([]byte, 10_000), 1, 0)
	case 1:
		mpi.Recv(c, make([]byte, 10_000), 0, 0)
	}
	return nil
}

func run(t *testing.T, o loggp.RunOptions) *loggp.Execution {
	t.Helper()
	e, err := loggp.Run(t.Context(), o, exchange)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func TestRunOptionsTakeEffect(t *testing.T) {
	plain := run(t, loggp.RunOptions{Platform: "t3d"})
	for name, o := range map[string]loggp.RunOptions{
		"library":  {Platform: "t3d", Library: "lean"},
		"protocol": {Platform: "t3d", Protocol: "RTA"},
		"noise":    {Platform: "t3d", Noise: 0.1, Seed: 1},
	} {
		if e := run(t, o); e.Time == plain.Time {
			t.Errorf("with another %s the time is %v, too", name, e.Time)
		}
	}
	first := run(t, loggp.RunOptions{Platform: "t3d", Noise: 0.1, Seed: 1})
	if again := run(t, loggp.RunOptions{Platform: "t3d", Noise: 0.1, Seed: 1}); again.Time != first.Time {
		t.Errorf("the same seed gave %v and %v", first.Time, again.Time)
	}
	if other := run(t, loggp.RunOptions{Platform: "t3d", Noise: 0.1, Seed: 2}); other.Time == first.Time {
		t.Errorf("two seeds gave %v", other.Time)
	}
	if e := run(t, loggp.RunOptions{Platform: "t3d", Ranks: 5}); len(e.Recording.Ranks) != 5 {
		t.Errorf("%d ranks were recorded, want 5", len(e.Recording.Ranks))
	}
	spans := func(e *loggp.Execution) (n int) {
		for _, r := range e.Recording.Ranks {
			n += len(r.Spans)
		}
		return n
	}
	limited := run(t, loggp.RunOptions{Platform: "t3d", MaxSpans: 3})
	if limited.Time != plain.Time || spans(limited) >= spans(plain) || spans(limited) > 3 {
		t.Errorf("with at most 3 spans: %d spans, %v; without a limit: %d spans, %v", spans(limited), limited.Time, spans(plain), plain.Time)
	}
}

// Mistakes in the options are errors of options, before the program starts.
func TestRunRejectsOptions(t *testing.T) {
	for want, o := range map[string]loggp.RunOptions{
		"emulated machines":   {Platform: "shm"},
		"mpi is this machine": {Platform: "mpi"},
		"t3e":                 {Platform: "t3e"},
		"no protocol \"X\"":   {Platform: "t3d", Protocol: "X"},
		"library \"mpich\"":   {Platform: "t3d", Library: "mpich"},
		"-1":                  {Platform: "t3d", Ranks: -1},
		"Check: there is no":  {Platform: "t3d", Check: "false"},
	} {
		_, err := loggp.Run(t.Context(), o, func(*mpi.Comm) error {
			t.Errorf("%+v: the program was started", o)
			return nil
		})
		var option *loggp.OptionError
		if !errors.As(err, &option) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want an OptionError with %q", o, err, want)
		}
	}
}

// The context's end and the error of a rank are the error of the run.
func TestRunReturnsErrors(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := loggp.Run(ctx, loggp.RunOptions{Platform: "t3d"}, exchange); !errors.Is(err, context.Canceled) {
		t.Errorf("after cancel: %v", err)
	}
	failed := errors.New("failed")
	_, err := loggp.Run(t.Context(), loggp.RunOptions{Platform: "t3d"}, func(*mpi.Comm) error { return failed })
	if !errors.Is(err, failed) || !strings.HasPrefix(err.Error(), "run on t3d: ") {
		t.Errorf("a rank fails: %v", err)
	}
}

// Programs are checked: two receives into one buffer are a warning, or an error.
func TestRunChecksPrograms(t *testing.T) {
	program := func(c *mpi.Comm) error {
		buffer := make([]byte, 8)
		for tag := range 2 {
			if c.Rank() == 0 {
				mpi.Send(c, buffer, 1, tag)
			} else {
				request := mpi.Irecv(c, buffer, 0, tag)
				defer request.Wait()
			}
		}
		return nil
	}
	for check, warnings := range map[string]int{"": 1, "warn": 1, "off": 0} {
		e, err := loggp.Run(t.Context(), loggp.RunOptions{Platform: "t3d", Ranks: 2, Check: check}, program)
		if err != nil || len(e.Warnings) != warnings {
			t.Fatalf("check %q: %v, %+v", check, err, e)
		}
		if warnings > 0 && (e.Warnings[0].Kind != mpi.OverlappingReceives || e.Warnings[0].Call != "Irecv") {
			t.Errorf("check %q: the warning is %v", check, e.Warnings[0])
		}
	}
	_, err := loggp.Run(t.Context(), loggp.RunOptions{Platform: "t3d", Ranks: 2, Check: "strict"}, program)
	var e *mpi.Error
	if !errors.As(err, &e) || e.Call != "Irecv" || e.Class != mpi.ErrBuffer {
		t.Errorf("the strict error is %v", err)
	}
}

func TestExecutionWritesPageAndTrace(t *testing.T) {
	e := run(t, loggp.RunOptions{Platform: "t3d", Ranks: 2})
	dir := t.TempDir()
	if err := e.WritePage(dir); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(dir, "index.html"))
	if err != nil || !strings.Contains(string(page), "2 ranks on t3d, chimp") {
		t.Errorf("the page lacks its title: %v", err)
	}
	var trace strings.Builder
	if err := e.WriteTrace(&trace); err != nil {
		t.Fatal(err)
	}
	for _, call := range []string{"Send", "Recv"} {
		if !strings.Contains(trace.String(), call) {
			t.Errorf("the trace has no %s", call)
		}
	}
}
