package schedule

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// What is wrong in a file is said with its place.
func TestReadErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "x:1:1: a schedule begins with num_ranks and a number, not with the end of the file"},
		{"rank 0 {\n}\n", `x:1:1: a schedule begins with num_ranks and a number, not with "rank"`},
		{"num_ranks x\n", `x:1:11: a number, the number of ranks, must stand here, not "x"`},
		{"num_ranks 0\n", "x:1:11: a schedule has at least one rank"},
		{"num_ranks 99999999999\n", "x:1:11: number of ranks 99999999999 is too large: at most 268435456"},
		{"num_ranks 2\nrank 0 {\n}\n", "x:4:1: rank 1 is missing: num_ranks says 2"},
		{"num_ranks 2\nrank 1 {\n}\nrank 0 {\n}\n", "x:2:6: rank 1: rank 0 is missing before it; ranks come in the order 0, 1, 2 …"},
		{"num_ranks 2\nrank 0 {\n}\nrank 0 {\n}\n", "x:4:6: rank 0: it stands twice, or too late; ranks come in the order 0, 1, 2 …"},
		{"num_ranks 3\nrank 0 {\n}\nrank 2 {\n}\n", "x:4:6: rank 2: rank 1 is missing before it; ranks come in the order 0, 1, 2 …"},
		{"num_ranks 1\nrank 1 {\n}\n", "x:2:6: rank 1: num_ranks says 1"},
		{"num_ranks 1\nrank 0\n", "x:2:7: { must follow the number of the rank, not the end of the line"},
		{"num_ranks 1\nrank 0 {\n", "x:3:1: } of rank 0 is missing"},
		{"num_ranks 2\nrank 0 {\nrank 1 {\n}\n", "x:3:1: } of rank 0 is missing before the next rank"},
		{"num_ranks 2\nrank 0 {\n  send 8b to 2\n}\n", "x:3:14: rank 2: there are 2 ranks, from 0 to 1"},
		{"num_ranks 2\nrank 0 {\n  recv 8b from 7\n}\n", "x:3:16: rank 7: there are 2 ranks, from 0 to 1"},
		{"num_ranks 2\nrank 0 {\n  send 8b to -1\n}\n", `x:3:14: a number, the rank, must stand here, not "-1"`},
		{"num_ranks 2\nrank 0 {\n  send 8 to 1\n}\n", `x:3:10: b must follow the size, as in 8b, not "to"`},
		{"num_ranks 2\nrank 0 {\n  send 8b from 1\n}\n", `x:3:11: to must follow the size of a send, not "from"`},
		{"num_ranks 2\nrank 0 {\n  send 99999999999999999999b to 1\n}\n", "x:3:8: size 99999999999999999999 is too large: at most 8796093022207"},
		{"num_ranks 1\nrank 0 {\n  calc 4611686018427388\n}\n", "x:3:8: time of calc in ns 4611686018427388 is too large: at most 4611686018427387"},
		{"num_ranks 1\nrank 0 {\n  calc 1.5\n}\n", `x:3:9: the line must end here, before ".5"`},
		{"num_ranks 1\nrank 0 {\n  calc 1 cpu 256\n}\n", "x:3:14: cpu 256 is too large: at most 255"},
		{"num_ranks 1\nrank 0 {\n  calc 1 tag 3\n}\n", `x:3:10: unknown option "tag" of calc: it has cpu`},
		{"num_ranks 1\nrank 0 {\n  recv 1b from 0 tag 3 tag 4\n}\n", "x:3:24: tag stands twice"},
		{"num_ranks 1\nrank 0 {\n  a: calc 1\n  b: calc 1\n  a: calc 2\n}\n", "x:5:3: label a is already that of line 3"},
		{"num_ranks 1\nrank 0 {\n  a: calc 1\n  a requires b\n}\n", "x:4:14: no operation of rank 0 above has the label b"},
		{"num_ranks 1\nrank 0 {\n  a_long_label requires b\n}\n", "x:3:3: no operation of rank 0 above has the label a_long_label"},
		{"num_ranks 1\nrank 0 {\n  a: calc 1\n  a needs a\n}\n", `x:4:5: behind a stands ":" and an operation, or requires or irequires and a label, not "needs"`},
		{"num_ranks 1\nrank 0 {\n  a: calc 1\n  b: calc 2\n  c: calc 3\n  b requires a\n  c requires b\n  b requires c\n}\n", "x:8:3: rank 0 waits for itself: the dependencies of the operations in lines 5 and 4 form a cycle"},
		{"num_ranks 1\nrank 0 {\n  send: calc 1\n}\n", `x:3:3: send is the name of an operation and cannot be a label`},
		{"num_ranks 1\nrank 0 {\n  l: walk 1\n}\n", `x:3:6: send, recv or calc must stand here, not "walk"`},
		{"num_ranks 2\nrank 0 {\n  a: append 10b to priority_list allowed 1 ct 0 tag 53\n}\n", "x:3:6: append is a Portals statement: schedules for Portals (append, put, get, tput and others) cannot be read, only those of send, recv and calc"},
		{"num_ranks 2\nrank 0 {\n  put 200b to 1 tag 10\n}\n", "x:3:3: put is a Portals statement: schedules for Portals (append, put, get, tput and others) cannot be read, only those of send, recv and calc"},
		{"num_ranks 2\nrank 0 {\n  send 8b to 4294967295\n}\n", "x:3:14: rank 4294967295: there are 2 ranks, from 0 to 1"},
		{"num_ranks 2\nrank 0 {\n  recv 8b from 1 tag 4294967296\n}\n", "x:3:22: tag 4294967296 is too large: at most 4294967295"},
		{"num_ranks 1\nrank 0 {\n  /* calc 1\n}\n", "x:3:3: the comment that begins here does not end"},
		{"num_ranks 1\nrank 0 {\n  %\n}\n", `x:3:3: an operation, a label or } must stand here, not "%"`},
		{"num_ranks 1\nrank 0 {\n}\ncalc 7\n", `x:4:1: a rank must begin here: rank, its number and {, not "calc"`},
	} {
		_, err := Read(strings.NewReader(c.text), "x", 0)
		var e *Error
		if err == nil || err.Error() != c.want || !errors.As(err, &e) {
			t.Errorf("%q: error\n%v, want\n%s", c.text, err, c.want)
		}
	}
}

// Comments say to which call operations belong, and are written as they were read.
func TestCalls(t *testing.T) {
	const text = "num_ranks 2\n\nrank 0 {\n// Alltoallv: 1 operations\nsend 1b to 1\ncalc 5\n// Alltoallv: 9 operations\nl2: send 2b to 1\nl3: calc 1\nl3 requires l2\n}\n\n" +
		"rank 1 {\nrecv 1b from 0\n// Scatter: 1 operations\nrecv 2b from 0\n}\n"
	s := parse(t, "// Alltoallv: 1 operations\n"+strings.Replace(text, "calc 5", "// any: comment\ncalc 5 // Gather: 1 operations\n// Gather: -1 operations\n// Gather: 1 operation", 1))
	if got := s.Calls(0); !slices.Equal(got, []Call{{"Alltoallv", 0, 1}, {"Alltoallv", 2, 2}}) {
		t.Error(got)
	}
	if got := s.Calls(1); !slices.Equal(got, []Call{{"Scatter", 1, 1}}) {
		t.Error(got)
	}
	var out strings.Builder
	if err := s.Write(&out); err != nil || out.String() != strings.Replace(text, ": 9 op", ": 2 op", 1) {
		t.Errorf("%v\n%s", err, out.String())
	}
}

// Any source and any tag may be written as unsigned numbers, and mean the same as −1. One message
// of 8 bytes takes 2 o + L + 7 G = 5542 ns.
func TestUnsignedAny(t *testing.T) {
	for _, from := range []string{"1", "-1", "4294967295"} {
		for _, tag := range []string{"-1", "4294967295"} {
			s := parse(t, "num_ranks 2\nrank 0 {\nl1: recv 8b from "+from+" tag "+tag+"\n}\nrank 1 {\nl1: send 8b to 0 tag 7\n}\n")
			for _, d := range []Dialect{LogGP, LogGOPSim} {
				res, err := s.Simulate(Options{Params: DefaultParams, Dialect: d})
				if err != nil || res.LastFinish != 5542*unit.Nanosecond {
					t.Errorf("from %s tag %s, dialect %v: %v, %v", from, tag, d, res, err)
				}
			}
		}
	}
}

// What the reference reads, and what is sensible beyond it.
func TestReadForms(t *testing.T) {
	text := "// a comment\r\n\n/* and\none */ num_ranks 2 // ranks\n\nrank 0 {\r\n" +
		"l1: send 10 b to 1 tag 3 cpu 1 nic 1\r\n" +
		"   send1 : recv 0b from -1 nic 1 tag -1 /* any */ // two\n" +
		"\tcalc 4611686018427387 cpu 255\n\nsend1 requires l1 // waits\nsend1 irequires l1}\nrank 1 { calc 5 }\n"
	s := parse(t, text)
	var out strings.Builder
	if err := s.Write(&out); err != nil {
		t.Fatal(err)
	}
	want := "num_ranks 2\n\nrank 0 {\nl0: send 10b to 1 tag 3 cpu 1 nic 1\nl1: recv 0b from -1 tag -1 nic 1\n" +
		"calc 4611686018427387 cpu 255\nl1 requires l0\nl1 irequires l0\n}\n\nrank 1 {\ncalc 5\n}\n"
	if out.String() != want {
		t.Errorf("read\n%s\nwant\n%s", out.String(), want)
	}
	if s.CPUsPerRank() != 256 || s.NICsPerRank() != 2 || s.CountOps() != 4 || s.CountRanks() != 2 || !s.hasWildcards {
		t.Errorf("%d CPUs, %d interfaces, %d operations, %d ranks", s.CPUsPerRank(), s.NICsPerRank(), s.CountOps(), s.CountRanks())
	}
	if d := s.Dependants(0, 0); len(d) != 2 || d[0] != (Dependant{1, false}) || d[1] != (Dependant{1, true}) {
		t.Errorf("dependants %v", d)
	}
}

// A file of many chunks is read as one of one, compressed or not, and errors have their place
// there.
func TestReadChunks(t *testing.T) {
	s := dissemination(t, 1<<12)
	for rank := 2505; rank < s.CountRanks(); rank += 100 {
		s.calls = append(s.calls, call{"Alltoallv", s.firstOpOfRank[rank] + 1, 2})
	}
	var text bytes.Buffer
	if err := s.Write(&text); err != nil {
		t.Fatal(err)
	}
	if text.Len() < 2*chunkSize {
		t.Fatalf("%d bytes are one chunk", text.Len())
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text.Bytes())
	z.Close()
	cut := packed.Bytes()[:packed.Len()-9]
	if _, err := Read(bytes.NewReader(cut), "x", 0); err == nil || err.Error() != "x: the compressed file is cut short" {
		t.Errorf("without its last bytes: %v", err)
	}
	again, err := Read(&packed, "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	if text0(again) != text.String() {
		t.Error("not the same schedule after writing and reading")
	}
	lines := strings.SplitAfter(text.String(), "\n")
	if again.lines[len(again.lines)-1] < uint32(len(lines)-60) {
		t.Errorf("the last operation is said to be in line %d of %d", again.lines[len(again.lines)-1], len(lines))
	}
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 10 { // one fault somewhere
		i := 2 + rnd.IntN(len(lines)-3)
		bad := strings.Join(lines[:i], "") + "  $\n" + strings.Join(lines[i:], "")
		_, err := Read(strings.NewReader(bad), "x", 0)
		if want := fmt.Sprintf("x:%d:3: ", i+1); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	if _, err := Read(bytes.NewReader(text.Bytes()[:text.Len()-10]), "x", 0); err == nil {
		t.Error("a file that was cut is read")
	}
	for range 3 {
		_, err := Read(bytes.NewReader(text.Bytes()), "x", 2<<20)
		if err == nil || !strings.HasPrefix(err.Error(), "x:120005:1: rank 2449:") || !strings.HasSuffix(err.Error(), ":1: rank 2449: the operations up to here take more than 2MiB of memory, which is what this machine can spare for a schedule; use fewer ranks or operations, or a machine with more memory") {
			t.Error(err)
		}
	}
	one := "num_ranks 1\nrank 0 {\n" + strings.Repeat("calc 1\n", 1000) + "}\n"
	if _, err := Read(strings.NewReader(one), "x", 16000); err == nil || !strings.HasPrefix(err.Error(), "x:504:1: rank 0: the operations up to here take more than 16000B of memory") {
		t.Errorf("a rank beyond the limit of memory: %v", err)
	}
	comment := strings.Replace(text.String(), "rank 7 {", "/*\nrank 3 {\n*/ rank 7 {", 1)
	if again, err = Read(strings.NewReader(comment), "x", 0); err != nil || text0(again) != text.String() {
		t.Errorf("with a comment of several lines: %v", err)
	}
}

// Reading what was written gives the same, for any schedule.
func TestWrite(t *testing.T) {
	for seed := range uint64(300) {
		s := random(rand.New(rand.NewPCG(seed, 9)))
		text := text0(s)
		if again := text0(parse(t, text)); again != text {
			t.Fatalf("seed %d: wrote\n%s\nread\n%s", seed, text, again)
		}
	}
}

// What does not end is said with its reason.
func TestBlocked(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{
			"num_ranks 2\nrank 0 {\nr: recv 8b from 1\ns: send 8b to 1\ns requires r\n}\nrank 1 {\nr: recv 8b from 0\ns: send 8b to 0\ns requires r\n}\n",
			"the schedule does not end: 2 receives without a message, 0 messages without a receive, 2 operations not begun; a cycle of operations that wait for each other:\n" +
				"  test.goal:3: rank 0: recv 8b from 1, waits for the next\n  test.goal:9: rank 1: send 8b to 0, waits for the next\n" +
				"  test.goal:8: rank 1: recv 8b from 0, waits for the next\n  test.goal:4: rank 0: send 8b to 1, waits for the first",
		},
		{
			"num_ranks 2\nrank 0 {\nrecv 8b from 1 tag 4\n}\nrank 1 {\nsend 8b to 0 tag 5\n}\n",
			"the schedule does not end: 1 receives without a message, 1 messages without a receive, 0 operations not begun; without a partner:\n" +
				"  test.goal:3: rank 0: recv 8b from 1 tag 4: nothing that is sent to it matches\n  test.goal:6: rank 1: send 8b to 0 tag 5: no receive matches",
		},
	} {
		for d := LogGP; d <= LGS; d++ {
			res, err := parse(t, c.text).Simulate(Options{Params: DefaultParams, Dialect: d})
			got := fmt.Sprint(err)
			if d == LGS {
				got = strings.TrimPrefix(res.Warnings[0].Text, "the finishing times mean nothing: ")
			}
			if got != c.want {
				t.Errorf("%v: %s\nwant\n%s", d, got, c.want)
			}
		}
	}
}

// One message between idle ranks takes what the comment on the dialect says.
func TestOneMessage(t *testing.T) {
	p, err := ParseParams("L=100ns,o=10ns,g=7ns,G=0.3ns,O=0.1ns,S=1000")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		size uint64
		want unit.Time
	}{{0, 120_000}, {1, 120_000}, {2, 120_300}, {1001, 360_000 + 300_000}} {
		s := parse(t, fmt.Sprintf("num_ranks 2\nrank 0 {\nsend %db to 1\n}\nrank 1 {\nrecv %db from 0\n}\n", c.size, c.size))
		if res, err := s.Simulate(Options{Params: p}); err != nil || res.LastFinish != c.want {
			t.Errorf("%d bytes: %v, %v, want %v", c.size, res.LastFinish, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("num_ranks 2\nrank 0 {\nl1: send 8b to 1 tag 3 cpu 1 nic 1\nl2: calc 5\nl2 requires l1\n}\nrank 1 {\nrecv 8b from -1 tag -1\n}\n"))
	f.Add([]byte("num_ranks 1\n/* x */ rank 0 {\na: calc 1\nb: calc 2\na requires b\nb irequires a\n}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := Read(bytes.NewReader(b), "x", 1<<20)
		if err != nil {
			return
		}
		text := text0(s)
		again, err := Read(strings.NewReader(text), "x", 0)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if text0(again) != text {
			t.Fatalf("read again differs\n%s", text)
		}
		if s.CPUsPerRank()*s.NICsPerRank()*s.CountRanks() > 1000 {
			return
		}
		for d := LogGP; d <= LGS; d++ {
			if res, err := s.Simulate(Options{Params: DefaultParams, Dialect: d, RecordsPath: true}); err == nil && len(res.FinishTimes) != s.CountRanks() {
				t.Fatal(res)
			}
		}
	})
}
