package mpi_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/impl/proto"
	"github.com/loggp/loggp/impl/trace"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestTranscripts runs the scripts in testdata/transcripts, and compares the packets with those that stand below each.
//
// A file holds cases with an empty line between them. A case is a comment, words about machine and library, the calls of each rank, a
// line of dashes, and then what passed through the ports, in the order in which it did. Without words about the library there is
// no staging, no bounce buffer, and much of a window.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/transcripts/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatal("no transcripts: ", err)
	}
	for _, file := range files {
		old, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var now []string
		for _, c := range strings.Split(strings.TrimSpace(string(old)), "\n\n") {
			script, want, _ := strings.Cut(c, "----")
			got := strings.TrimSpace(play(t, script))
			if want = strings.TrimSpace(want); got != want && !*update {
				t.Errorf("%s:\n%sgot:\n%s\nwant:\n%s", file, script, got, want)
			}
			now = append(now, script+"----\n"+got+"\n")
		}
		if *update {
			if err := os.WriteFile(file, []byte(strings.Join(now, "\n")), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// play runs a script and returns its transcript.
func play(t *testing.T, script string) string {
	t.Helper()
	w, o := t3d(t, 2)
	o.Library.Long = model.EveryTier(model.Long{})
	var ranks [2][]string
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		words := strings.Fields(line)
		switch words[0] {
		case "#":
		case "machine": // apart: without remote memory
			w = apart{w}
		case "library":
			about(t, &o, words[1:])
		case "0:", "1:":
			r := number(words[0][:1])
			for _, call := range strings.Split(line[2:], ";") {
				ranks[r] = append(ranks[r], strings.TrimSpace(call))
			}
		default:
			t.Fatalf("script line %q", line)
		}
	}
	var log trace.Log
	err := mpi.Run(trace.World(w, &log), o, func(c *mpi.Comm) error {
		p := player{Comm: c}
		for _, call := range ranks[c.Rank()] {
			if err := p.do(strings.Fields(call)); err != nil {
				return fmt.Errorf("rank %d: %s: %w", c.Rank(), call, err)
			}
		}
		return nil
	})
	var out strings.Builder
	for _, e := range log.Events() {
		if e.Kind != trace.Spend {
			fmt.Fprintf(&out, "%*d: %s\n", 1+30*e.Rank, e.Rank, e.Text(proto.Tell))
		}
	}
	if err != nil {
		fmt.Fprintln(&out, withoutSite(err))
	}
	return out.String()
}

// about sets what a script says of the library.
func about(t *testing.T, o *mpi.Options, words []string) {
	long := o.Library.Long[0]
	defer func() { o.Library.Long = model.EveryTier(long) }()
	for i := 0; i < len(words); i++ {
		switch l := o.Library; words[i] {
		case "stage":
			long.Stage = true
		case "bounce":
			i++
			long.Bounce = number(words[i])
		case "first":
			i++
			l.First = number(words[i])
		case "window":
			i++
			l.Window = number(words[i])
		case "all": // by one protocol, as long as the window allows
			i++
			l.Rules = nil
			for m := range model.NumModes {
				l.Rules = append(l.Rules, model.Rule{Mode: m, UpTo: -1, Protocol: words[i]})
			}
		case "force":
			i++
			o.Protocol = words[i]
		default:
			t.Fatalf("no word %q about the library", words[i])
		}
	}
}

// player is a rank that does what a script says.
type player struct {
	*mpi.Comm
	open []mpi.Request
}

// do makes a call: its name, a size, a rank or any, a tag or any.
func (p *player) do(call []string) error {
	arg := func(i int) int { return number(call[i]) }
	send := map[string]func(mpi.Buffer, int, int){"send": p.Send, "ssend": p.Ssend, "rsend": p.Rsend, "bsend": p.Bsend}
	isend := map[string]func(mpi.Buffer, int, int) mpi.Request{"isend": p.Isend, "issend": p.Issend, "irsend": p.Irsend, "ibsend": p.Ibsend, "irecv": p.Irecv}
	switch name := call[0]; {
	case send[name] != nil:
		send[name](mpi.Of(make([]byte, arg(1))), arg(2), arg(3))
	case isend[name] != nil:
		p.open = append(p.open, isend[name](mpi.Of(make([]byte, arg(1))), arg(2), arg(3)))
	case name == "recv":
		mpi.Recv(p.Comm, make([]byte, arg(1)), arg(2), arg(3))
	case name == "probe":
		p.Probe(arg(1), arg(2))
	case name == "wait":
		mpi.WaitAll(p.open, nil)
	case name == "compute":
		p.Compute(unit.Time(arg(1)) * us)
	case name == "attach":
		p.AttachBuffer(make([]byte, arg(1)))
	case name == "detach":
		p.DetachBuffer()
	default:
		return fmt.Errorf("no such call")
	}
	return nil
}

// number reads a number or a wildcard.
func number(s string) int {
	if s == "any" {
		return mpi.AnyTag
	}
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}
