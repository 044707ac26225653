package mpi_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/device/trace"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/impl/engine/proto"
	"github.com/loggp/loggp/impl/hw"
	"github.com/loggp/loggp/impl/library/mpi"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestTranscripts runs the scripts in testdata/transcripts and compares the packets with those
// below each script.
//
// A file has cases with an empty line between them. A case is a comment, options of machine and
// library, the calls of each rank or of all, a line of dashes, and the packets that passed the
// ports, in order. By default the library has no staging, no bounce buffer and a large window, and
// there are two ranks.
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
			got := strings.TrimRight(play(t, script), "\n")
			if want = strings.Trim(want, "\n"); got != want && !*update {
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

// Each protocol has a transcript of each send mode.
func TestTranscriptsOfModes(t *testing.T) {
	modes, err := os.ReadFile("testdata/transcripts/modes.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range proto.Protocols {
		for _, call := range []string{"send", "ssend", "rsend", "bsend", "isend", "issend", "irsend", "ibsend"} {
			has := func(script string) bool {
				return strings.Contains(script, "library force "+p.Name) && strings.Contains(script, " "+call+" ")
			}
			if !slices.ContainsFunc(strings.Split(string(modes), "\n\n"), has) {
				t.Errorf("no transcript of %s by %s", call, p.Name)
			}
		}
	}
}

// Each collective algorithm has a transcript whose messages are those of its schedule, so no other
// algorithm was used.
func TestTranscriptsOfAlgorithms(t *testing.T) {
	text, err := os.ReadFile("testdata/transcripts/collective.txt")
	if err != nil {
		t.Fatal(err)
	}
	transcripts := strings.Split(string(text), "\n\n")
	for _, a := range extendedAlgorithms() {
		of := func(x string) bool { return strings.Contains(x, "\ncollective "+a.String()+"\n") }
		at := slices.IndexFunc(transcripts, of)
		if at < 0 && !slices.Contains(collective.Algorithms, a) {
			continue // families have one transcript for a member
		}
		if at < 0 {
			t.Errorf("no transcript of %v", a)
			continue
		}
		script, packets, _ := strings.Cut(transcripts[at], "----\n")
		j := jobOfScript(script, a)
		if !a.Serves(j) || j.Ranks < 3 {
			t.Errorf("the transcript of %v is of %d ranks", a, j.Ranks)
			continue
		}
		for r := range j.Ranks {
			want := sendsOfSchedule(a, j, r)
			got := sendsOfTranscript(packets, r)
			if len(got) < len(want) || !slices.Equal(got[len(got)-len(want):], want) {
				t.Errorf("by the transcript of %v rank %d sends %v, its schedule says %v", a, r, got, want)
			}
			if !a.NeedsNodes && len(got) != len(want) { // ranks first exchange their nodes in algorithms of two levels
				t.Errorf("by the transcript of %v rank %d sends more than %v: %v", a, r, want, got)
			}
		}
	}
}

// jobOfScript returns the collective job of a script: a call of all ranks, with a length and a root
// if it has them, and two ranks in each node.
func jobOfScript(script string, a *collective.Algorithm) collective.Job {
	j := collective.Job{}
	for _, line := range strings.Split(script, "\n") {
		words := strings.Fields(line)
		switch {
		case len(words) > 1 && words[0] == "ranks":
			j.Ranks = number(words[1])
		case len(words) > 2 && words[0] == "all:":
			j.Bytes = number(words[2])
			if len(words) > 3 {
				j.Root = number(words[3])
			}
		}
	}
	if a.NeedsNodes {
		names := make([]int, j.Ranks)
		for r := range names {
			names[r] = r / 2
		}
		j.Nodes = collective.NewNodes(names)
	}
	return j
}

// sendsOfSchedule lists the destination and the bytes of each message that a rank sends in a
// schedule.
func sendsOfSchedule(a *collective.Algorithm, j collective.Job, rank int) (all []string) {
	for st := range a.Steps(j, rank) {
		if st.To != collective.NoRank {
			all = append(all, fmt.Sprintf("%d to %d", st.Send.Bytes, st.To))
		}
	}
	return all
}

// sendsOfTranscript lists the destination and the bytes of each first packet of a rank in a
// transcript.
func sendsOfTranscript(packets string, rank int) (all []string) {
	first := regexp.MustCompile(`^ *(\d+): send \d+ to (\d+): RM? \(.*, (\d+) bytes\)`)
	for _, line := range strings.Split(packets, "\n") {
		if m := first.FindStringSubmatch(line); m != nil && number(m[1]) == rank {
			all = append(all, m[3]+" to "+m[2])
		}
	}
	return all
}

// play runs a script and returns its transcript.
func play(t *testing.T, script string) string {
	t.Helper()
	o := mpi.Options{Engine: carry, Library: lib()}
	o.Library.Proto.LongMessages = model.ForEveryTier(model.LongMessage{})
	open := func(w device.World) device.World { return w }
	ranks := make([][]string, 2)
	for _, line := range strings.Split(strings.TrimSpace(script), "\n") {
		words := strings.Fields(line)
		switch words[0] {
		case "#":
		case "machine": // apart: without remote memory
			open = enginetest.HideRemoteMemory
		case "ranks":
			ranks = make([][]string, number(words[1]))
		case "library":
			about(t, &o, words[1:])
		case "collective": // operation and algorithm
			o.Tuning = append(o.Tuning, algorithm(t, words[1], words[2]))
		default:
			who, calls, ok := strings.Cut(line, ":")
			if !ok {
				t.Fatalf("script line %q", line)
			}
			for r := range ranks {
				if who != "all" && number(who) != r {
					continue
				}
				for _, call := range strings.Split(calls, ";") {
					ranks[r] = append(ranks[r], strings.TrimSpace(call))
				}
			}
		}
	}
	w := build(t, hw.Config{Machine: machine(), Library: o.Library, Ranks: len(ranks), Seed: 1})
	var log trace.Log
	err := mpi.Run(trace.World(open(w), &log), o, func(c *mpi.Comm) error {
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
			fmt.Fprintf(&out, "%*d: %s\n", 1+60/len(ranks)*e.Rank, e.Rank, e.Text(tell))
		}
	}
	if err != nil {
		fmt.Fprintln(&out, withoutSite(err))
	}
	return out.String()
}

// algorithm returns the rule for one algorithm.
func algorithm(t *testing.T, operation, name string) collective.Rule {
	o, _ := collective.OperationNamed(operation)
	a := collective.AlgorithmNamed(o, name)
	if a == nil {
		t.Fatalf("no algorithm %s for %s", name, operation)
	}
	return forced(a)[0]
}

// about sets an option of the library.
func about(t *testing.T, o *mpi.Options, words []string) {
	long := o.Library.Proto.LongMessages[0]
	defer func() { o.Library.Proto.LongMessages = model.ForEveryTier(long) }()
	for i := 0; i < len(words); i++ {
		switch l := o.Library; words[i] {
		case "stage":
			long.CopiesToAccessibleMemory = true
		case "bounce":
			i++
			long.BounceBufferBytes = number(words[i])
		case "first":
			i++
			l.Proto.FirstBytes = number(words[i])
		case "window":
			i++
			l.Proto.WindowBytes = number(words[i])
		case "all": // one protocol for all messages up to the window
			i++
			l.Proto.Rules = nil
			for m := range model.NumModes {
				l.Proto.Rules = append(l.Proto.Rules, model.ProtocolRule{Mode: m, MaxBytes: -1, Protocol: words[i]})
			}
		case "force":
			i++
			o.Protocol = words[i]
		default:
			t.Fatalf("no word %q about the library", words[i])
		}
	}
}

// player is a rank that executes a script.
type player struct {
	*mpi.Comm
	open []mpi.Request
}

// do makes one call: its name, a size, a rank or any, a tag or any. Collective calls have a size
// and optionally a root.
func (p *player) do(call []string) error {
	arg := func(i int) int { return number(call[i]) }
	send := map[string]func(mpi.Buffer, int, int){"send": p.Send, "ssend": p.Ssend, "rsend": p.Rsend, "bsend": p.Bsend}
	isend := map[string]func(mpi.Buffer, int, int) mpi.Request{"isend": p.Isend, "issend": p.Issend, "irsend": p.Irsend, "ibsend": p.Ibsend, "irecv": p.Irecv,
		"sendinit": p.SendInit, "ssendinit": p.SsendInit, "rsendinit": p.RsendInit, "bsendinit": p.BsendInit, "recvinit": p.RecvInit}
	switch name := call[0]; {
	case send[name] != nil:
		send[name](mpi.BufferOf(make([]byte, arg(1))), arg(2), arg(3))
	case isend[name] != nil:
		p.open = append(p.open, isend[name](mpi.BufferOf(make([]byte, arg(1))), arg(2), arg(3)))
	case name == "recv":
		mpi.Recv(p.Comm, make([]byte, arg(1)), arg(2), arg(3))
	case name == "probe":
		p.Probe(arg(1), arg(2))
	case name == "wait":
		return p.wait(call[1:])
	case name == "start":
		mpi.StartAll(p.open)
	case name == "free":
		for i := range p.open {
			p.open[i].Free()
		}
		p.open = nil
	case name == "cancel":
		for i := range p.open {
			p.open[i].Cancel()
		}
	case name == "compute":
		p.Compute(unit.Time(arg(1)) * us)
	case name == "attach":
		p.AttachBuffer(make([]byte, arg(1)))
	case name == "detach":
		p.DetachBuffer()
	default:
		return p.together(call)
	}
	return nil
}

// together makes a collective call.
func (p *player) together(call []string) error {
	arg := func(i int) int { return number(call[i]) }
	blocks := func(n int) mpi.Buffer {
		b := mpi.BufferOf(make([]byte, n*p.Size()))
		b.Count = n
		return b
	}
	mine := func(n int) mpi.Buffer { return mpi.BufferOf(make([]byte, n)) }
	switch call[0] {
	case "barrier":
		p.Barrier()
	case "bcast":
		p.Bcast(mine(arg(1)), arg(2))
	case "scatter":
		p.Scatter(blocks(arg(1)), mine(arg(1)), arg(2))
	case "gather":
		p.Gather(mine(arg(1)), blocks(arg(1)), arg(2))
	case "allgather":
		p.Allgather(mine(arg(1)), blocks(arg(1)))
	case "alltoall":
		p.Alltoall(blocks(arg(1)), blocks(arg(1)))
	case "reduce":
		p.Reduce(mine(arg(1)), mine(arg(1)), mpi.Bor, arg(2))
	case "allreduce":
		p.Allreduce(mine(arg(1)), mine(arg(1)), mpi.Bor)
	case "reduce-scatter":
		p.ReduceScatter(blocks(arg(1)), mine(arg(1)), slices.Repeat([]int{arg(1)}, p.Size()), mpi.Bor)
	case "scan":
		p.Scan(mine(arg(1)), mine(arg(1)), mpi.Bor)
	default:
		return fmt.Errorf("no such call")
	}
	return nil
}

// wait completes all started requests, and checks whether each was cancelled or received, if the
// script says so.
func (p *player) wait(said []string) error {
	st := make([]mpi.Status, len(p.open))
	mpi.WaitAll(p.open, st)
	for i := range st {
		if len(said) > 0 && st[i].Cancelled != (said[0] == "cancelled") {
			return fmt.Errorf("request %d: %+v", i, st[i])
		}
	}
	p.open = slices.DeleteFunc(p.open, func(r mpi.Request) bool { return r.IsNull() })
	return nil
}

// number parses a number or a wildcard.
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

var creditDetail = regexp.MustCompile(`(?:, )?credit for (\d+) bytes$`)

// tell formats the head of a packet, with its credit as the last number.
func tell(head device.Head) string {
	name, detail := proto.Describe(head)
	credit := ""
	if m := creditDetail.FindStringSubmatch(detail); m != nil {
		credit, detail = " +"+m[1], strings.TrimSuffix(detail, m[0])
	}
	if detail != "" {
		name += " (" + detail + ")"
	}
	return name + credit
}
