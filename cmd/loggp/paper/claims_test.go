package paper

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/reports/study"
	"github.com/loggp/loggp/testdata"
)

// read reads a paper of testdata.
func read(t *testing.T) *Paper {
	t.Helper()
	p, err := Read(testdata.Published, "altawil-moritz")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// simple is a machine by simple formulas, in microseconds.
type simple struct {
	send, sendByte       float64 // o_s of isend
	blocking             float64 // size over which a blocking send costs more, by the factor 1.4
	ssend                float64 // o_s of ssend over that of send
	receive, receiveByte float64 // o_r of a blocking receive
	post                 float64 // o_r of one that does not block
	latency, gap, wire   float64
}

// machines are made so that all claims hold.
var machines = map[string]simple{
	"t3d":       {send: 30, sendByte: 0.01, blocking: 600, ssend: 1.2, receive: 15, receiveByte: 0.0075, post: 24, latency: 3, gap: 0.04, wire: 0.1},
	"now":       {send: 1000, sendByte: 0.06, blocking: 600, ssend: 1.5, receive: 1000, receiveByte: 0.3, post: 1000, latency: 124, gap: 0.9, wire: 60},
	"now_mpich": {send: 1200, sendByte: 0.06, blocking: 600, ssend: 1.5, receive: 900, receiveByte: 0.3, post: 900, latency: 124, gap: 0.9, wire: 60},
	"inter":     {send: 33, sendByte: 0.011, blocking: 600, ssend: 1.2, receive: 30, receiveByte: 0.02, post: 10, latency: 6, gap: 0.05, wire: 2},
	"intra":     {send: 2.75, sendByte: 0.00092, blocking: 600, ssend: 1.2, receive: 2, receiveByte: 0.01, post: 1, latency: 0.5, gap: 0.008, wire: 0.4},
}

// sound returns cells with which all claims hold.
func sound(p *Paper) quantityValues {
	c := quantityValues{}
	for s, m := range machines {
		set := func(x float64, name string, arguments ...string) {
			c[expr.QuantityKey(name, append([]string{s}, arguments...)...)] = expr.ExactValue(x)
		}
		for _, size := range slices.Concat(p.Lists["sizes"], []string{"0"}) {
			k, _ := strconv.ParseFloat(size, 64)
			isend := m.send + m.sendByte*k
			send := isend
			if k > m.blocking {
				send *= 1.4
			}
			receive := m.receive + m.receiveByte*k
			for mode, x := range map[string]float64{"send": send, "rsend": send, "bsend": isend, "ssend": m.ssend * send,
				"isend": isend, "irsend": isend, "ibsend": isend, "issend": 0.8 * isend} {
				set(x, "o_s", mode, size)
				set(x/100, "spread", mode, size)
				set(receive, "timer12", mode, size)
				set(m.post, "timer21", mode, size)
				if set(receive, "o_r", mode, size); mode[0] == 'i' {
					set(m.post, "o_r", mode, size)
				}
			}
			set(receive+m.latency, "timer21", "ssend", size)
			set(m.gap*(k-1), "transfer", "send", size)
			set(send, "train", "send", size)
			set(2, "o_s", "message", size)
			set(3, "o_r", "message", size)
			set(isend, "returns", "bsend", size)
			set(1e6+send, "returns", "ssend", size)
		}
		set(m.latency, "L", "ssend")
		set(m.gap, "G", "send")
		set(0.1, "L", "message")
		set(m.wire, "wire")
		set(12, "after_protocol", "ssend")
		for _, size := range p.Lists["protocol_sizes"] {
			k, _ := strconv.ParseFloat(size, 64)
			long := 25 + m.gap*(k-1)
			set(long, "T_sr", "ssend", size, "RTA")
			set(long+3.1+12, "T_s", "ssend", size, "RTA")
			set(long+12, "T_s", "ssend", size, "RAT")
			set(long+3.1, "T_sr", "ssend", size, "RAT")
		}
	}
	return c
}

// verdicts judges all claims.
func verdicts(p *Paper, c quantityValues) map[string]study.Claim {
	x := newReproduction(p, Options{})
	x.measured = c
	all := map[string]study.Claim{}
	for i := range p.Claims {
		v := x.judgeClaim(&p.Claims[i])
		all[v.ID] = v
	}
	return all
}

func TestClaimsHold(t *testing.T) {
	p := read(t)
	for id, c := range verdicts(p, sound(p)) {
		if c.Verdict != study.VerdictHolds || c.Evidence == "" || c.Text == "" || c.Check == "" || c.Basis == "" {
			t.Errorf("%s: %s: %s %s", id, c.Verdict, c.Evidence, c.Note)
		}
	}
	if len(p.Claims) != 29 {
		t.Errorf("%d claims, the paper makes 29", len(p.Claims))
	}
}

// broken are cells that make a claim fail, each alone: a factor.
var broken = []struct {
	id, key string
	factor  float64
}{
	{"AM-01", "o_s(inter,isend,100)", 2}, {"AM-01", "o_s(intra,isend,10000)", 3},
	{"AM-02", "transfer(intra,send,40000)", 1.5}, {"AM-02", "transfer(intra,send,10000)", 0.5},
	{"AM-03", "L(intra,ssend)", 3}, {"AM-04", "L(inter,ssend)", 30}, {"AM-04", "L(t3d,ssend)", 3},
	{"AM-05", "o_s(t3d,isend,5000)", 2}, {"AM-06", "o_s(t3d,issend,16)", 1.5},
	{"AM-07", "o_s(t3d,ibsend,16)", 1.21}, {"AM-07", "o_s(t3d,ibsend,10000)", 0.79},
	{"AM-08", "o_s(now,send,16)", 1.6}, {"AM-08", "o_s(now,bsend,16)", 1.6}, {"AM-09", "o_s(t3d,bsend,16)", 1.3},
	{"AM-10", "o_s(t3d,bsend,40000)", 0.7}, {"AM-10", "o_s(t3d,bsend,100000)", 4},
	{"AM-11", "o_s(now,isend,100000)", 0.5}, {"AM-11", "o_s(now,isend,100000)", 3},
	{"AM-12", "o_s(now,isend,10000)", 0.3}, {"AM-12", "o_s(now,isend,10000)", 1.3},
	{"AM-13", "o_s(t3d,send,350)", 1.3}, {"AM-14", "o_r(t3d,send,700)", 2}, {"AM-15", "o_r(now,send,350)", 2},
	{"AM-16", "o_s(intra,isend,1400)", 20}, {"AM-17", "o_s(inter,isend,64)", 0.8}, {"AM-17", "o_s(inter,isend,10000)", 2},
	{"AM-18", "G(intra,send)", 6}, {"AM-19", "train(t3d,send,16)", 1.25}, {"AM-19", "train(t3d,send,16)", 0.75},
	{"AM-20", "T_sr(t3d,ssend,100000,RTA)", 1.1}, {"AM-20", "T_sr(t3d,ssend,3000,RTA)", 1.5},
	{"AM-22", "o_s(t3d,rsend,10000)", 1.05}, {"AM-23", "returns(now,bsend,2000)", 10000}, {"AM-23", "returns(t3d,ssend,2000)", 0.001},
	{"AM-24", "o_s(now,ssend,16)", 0.7}, {"AM-25", "wire(t3d)", 100}, {"AM-26", "L(now,ssend)", 20},
	{"AM-27", "o_s(now_mpich,send,16)", 2}, {"AM-27", "o_r(now_mpich,isend,10000)", 0.4}, {"AM-28", "o_s(t3d,issend,10000)", 1.3},
	{"AM-29", "T_s(t3d,ssend,10000,RTA)", 1.01}, {"AM-29", "T_s(t3d,ssend,10000,RAT)", 1.01},
}

// Each claim fails when the numbers say so, is undecided when the interval contains what makes it
// fail, and cannot be decided without the numbers. AM-21 is an identity of the models, which no
// number breaks.
func TestClaimsFail(t *testing.T) {
	p := read(t)
	seen := map[string]bool{"AM-21": true}
	for _, b := range broken {
		seen[b.id] = true
		c := sound(p)
		v, ok := c[b.key]
		if !ok {
			t.Fatalf("%s: no %s to break", b.id, b.key)
		}
		c[b.key] = expr.ExactValue(b.factor * v.Center)
		if got := verdicts(p, c)[b.id]; got.Verdict != study.VerdictFails || !strings.Contains(got.Note, got.Check) {
			t.Errorf("%s: with %s times %v it is %s: %s", b.id, b.key, b.factor, got.Verdict, got.Evidence)
		}
		c[b.key] = expr.Value{Center: v.Center, Low: min(v.Center, b.factor*v.Center), High: max(v.Center, b.factor*v.Center)}
		if got := verdicts(p, c)[b.id]; got.Verdict != study.VerdictUndecided {
			t.Errorf("%s: with %s of %v it is %s: %s", b.id, b.key, c[b.key], got.Verdict, got.Evidence)
		}
		delete(c, b.key)
		if got := verdicts(p, c)[b.id]; got.Verdict != study.VerdictNotApplicable || !strings.Contains(got.Note, b.key) {
			t.Errorf("%s: without %s it is %s: %s", b.id, b.key, got.Verdict, got.Note)
		}
	}
	for _, c := range p.Claims {
		if !seen[c.ID] {
			t.Errorf("nothing breaks %s", c.ID)
		}
	}
}

// If a claim that names no platform holds where it is decided and fails on another, the note says
// where and why; if all agree it says nothing.
func TestOtherwise(t *testing.T) {
	p := read(t)
	const text = "is decided on T3D: on NOW the numbers say otherwise. There the wire of 10 Mbit/s"
	c := sound(p)
	for _, k := range []string{"10000", "20000", "40000", "100000"} {
		key := expr.QuantityKey("o_s", "now", "bsend", k)
		c[key] = expr.ExactValue(1.5 * c[key].Center)
	}
	if got := verdicts(p, c)["AM-10"]; strings.Contains(got.Note, "otherwise") || !strings.Contains(got.Evidence, "Convex intra: ") {
		t.Errorf("all agree: %s, %s", got.Evidence, got.Note)
	}
	c["o_s(now,bsend,40000)"] = expr.ExactValue(1)
	if got := verdicts(p, c)["AM-10"]; got.Verdict != study.VerdictHolds || !strings.Contains(got.Note, text) {
		t.Errorf("%s: %s", got.Verdict, got.Note)
	}
}

// A value that is close to the threshold is noted, the closest alone.
func TestThreshold(t *testing.T) {
	p := read(t)
	c := sound(p)
	c["o_s(now,isend,100000)"] = expr.ExactValue(5.2 * c["o_s(now,isend,1)"].Center)
	found := verdicts(p, c)
	if got := found["AM-11"]; got.Verdict != study.VerdictHolds || strings.Count(got.Note, "from the threshold") != 1 || !strings.Contains(got.Note, "4.0 % from the threshold 5.") {
		t.Errorf("%s: %s", got.Verdict, got.Note)
	}
	if got := found["AM-01"]; strings.Contains(got.Note, "threshold") {
		t.Errorf("AM-01: %s", got.Note)
	}
}

// The cause of a failing claim is in the study; a claim that holds has none, and where the file
// says nothing it is not known. A cause is one sentence, of a claim that is decided.
func TestFailingClaimsHaveACause(t *testing.T) {
	p := read(t)
	p.Claims[slices.IndexFunc(p.Claims, func(c Claim) bool { return c.ID == broken[0].id })].Cause = "The test breaks it."
	if got := verdicts(p, sound(p))[broken[0].id]; got.Cause != "" {
		t.Errorf("%s holds, and its cause is %q", got.ID, got.Cause)
	}
	for i, want := range map[int]string{0: "The test breaks it.", len(broken) - 1: unknownCause} {
		b, c := broken[i], sound(p)
		c[b.key] = expr.ExactValue(b.factor * c[b.key].Center)
		if got := verdicts(p, c)[b.id]; got.Cause != want {
			t.Errorf("%s fails, and its cause is %q, want %q", b.id, got.Cause, want)
		}
	}
	for in, want := range map[string]string{
		"cause: 'No stop', check":                            "write a sentence, with a full stop",
		"cause: 'One. Two.', check":                          "write one sentence, on one line",
		"cause: 'Its own.', undecided: By the table., check": "it is undecided, which needs none",
	} {
		_, err := Read(os.DirFS(write(t, invented, "{id: T-2, check", "{id: T-2, "+in)), "toys")
		if want := "toys/paper.yaml: cause of claim T-2: " + want; err == nil || err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// docs/claims.md has each failing claim with its cause. That no others fail is shown by
// TestPapers of the command.
func TestDocsShowCauses(t *testing.T) {
	b, err := os.ReadFile("../../../docs/claims.md")
	if err != nil {
		t.Fatal(err)
	}
	papers, err := ReadAll(testdata.Published)
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for _, p := range papers {
		for _, c := range p.Claims {
			if c.Cause == "" {
				continue
			}
			rows++
			if want := fmt.Sprintf("| %s | %s |", c.ID, c.Cause); !strings.Contains(string(b), want) {
				t.Errorf("docs/claims.md does not have\n%s", want)
			}
		}
	}
	if want := fmt.Sprintf("%d of %d claims fail", rows, countClaims(papers)); !strings.Contains(string(b), want) {
		t.Errorf("docs/claims.md does not say that %s", want)
	}
}

func countClaims(papers []*Paper) (n int) {
	for _, p := range papers {
		n += len(p.Claims)
	}
	return n
}
