package paper

import (
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/reports"
)

// toy is a machine by simple formulas, in microseconds.
type toy struct {
	send, sendByte       float64 // o_s of isend
	blocking             float64 // over which a blocking send is dearer, by the factor 1.4
	ssend                float64 // o_s of ssend over that of send
	receive, receiveByte float64 // o_r of a blocking receive
	post                 float64 // o_r of one that does not block
	latency, gap, wire   float64
}

// toys are made so that all claims hold.
var toys = map[Subject]toy{
	t3d:         {send: 30, sendByte: 0.01, blocking: 600, ssend: 1.2, receive: 15, receiveByte: 0.0075, post: 24, latency: 3, gap: 0.04, wire: 0.1},
	now:         {send: 1000, sendByte: 0.06, blocking: 600, ssend: 1.5, receive: 1000, receiveByte: 0.3, post: 1000, latency: 124, gap: 0.9, wire: 60},
	nowMPICH:    {send: 1200, sendByte: 0.06, blocking: 600, ssend: 1.5, receive: 900, receiveByte: 0.3, post: 900, latency: 124, gap: 0.9, wire: 60},
	convexInter: {send: 33, sendByte: 0.011, blocking: 600, ssend: 1.2, receive: 30, receiveByte: 0.02, post: 10, latency: 6, gap: 0.05, wire: 2},
	convexIntra: {send: 2.75, sendByte: 0.00092, blocking: 600, ssend: 1.2, receive: 2, receiveByte: 0.01, post: 1, latency: 0.5, gap: 0.008, wire: 0.5},
}

// sound returns results with which all claims hold.
func sound() *Results {
	r := &Results{values: map[quantity]Value{}}
	for s, m := range toys {
		set := func(mode, protocol, name string, k int, x float64) {
			r.values[quantity{s, mode, protocol, name, k}] = Value{V: x, Low: x, High: x, Spread: x / 100}
		}
		for _, k := range slices.Concat(figureSizes, tableSizes, messageSizes) {
			isend := m.send + m.sendByte*float64(k)
			send := isend
			if float64(k) > m.blocking {
				send *= 1.4
			}
			receive := m.receive + m.receiveByte*float64(k)
			for mode, x := range map[string]float64{"send": send, "rsend": send, "bsend": isend, "ssend": m.ssend * send,
				"isend": isend, "irsend": isend, "ibsend": isend, "issend": 0.8 * isend} {
				set(mode, auto, sample.Timer11, k, x)
				set(mode, auto, sample.Timer12, k, receive)
				set(mode, auto, sample.Timer21, k, m.post)
			}
			set("ssend", auto, sample.Timer21, k, receive+m.latency)
			set("send", auto, params.ByBlocking, k, m.gap*float64(k-1))
			set("send", auto, sample.Train, k, send)
			set(microbench.Message, auto, sample.Timer11, k, 2)
			set(microbench.Message, auto, sample.Timer12, k, 3)
			set("MPI_Bsend", auto, callReturns, k, isend)
			set("MPI_Ssend", auto, callReturns, k, letWait.Micros()+send)
		}
		set("send", auto, "G", -1, m.gap)
		set(microbench.Message, auto, "L", -1, 0.1)
		set("any mode", auto, wire, -1, m.wire)
		set("ssend", auto, afterProtocol, -1, 12)
		for _, k := range protocolSizes {
			long := 25 + m.gap*float64(k-1)
			set("ssend", model.RTA.Name, sample.OneWay, k, long)
			set("ssend", model.RTA.Name, sample.Sender, k, long+3.1+12)
			set("ssend", model.RAT.Name, sample.Sender, k, long+12)
			set("ssend", model.RAT.Name, sample.OneWay, k, long+3.1)
		}
	}
	return r
}

// verdicts judges all claims.
func verdicts(t *testing.T, r *Results) map[string]reports.Claim {
	t.Helper()
	src, err := read()
	if err != nil {
		t.Fatal(err)
	}
	all, err := judge(r, src.claims)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]reports.Claim{}
	for _, c := range all {
		m[c.ID] = c
	}
	return m
}

func TestClaimsHold(t *testing.T) {
	found := verdicts(t, sound())
	if len(found) != 29 || len(found) != len(claims) {
		t.Errorf("%d claims are judged by %d functions, the paper makes 29", len(found), len(claims))
	}
	for id, c := range found {
		if c.Verdict != reports.Holds || c.Evidence == "" || c.Text == "" || c.Check == "" {
			t.Errorf("%s: %s: %s %s", id, c.Verdict, c.Evidence, c.Note)
		}
	}
}

// broken are values that make a claim fail, each alone: a factor on what a timer shows.
var broken = []struct {
	id string
	quantity
	factor float64
}{
	{"AM-01", quantity{convexInter, "isend", auto, sample.Timer11, 100}, 2},
	{"AM-01", quantity{convexIntra, "isend", auto, sample.Timer11, 10000}, 3},
	{"AM-02", quantity{convexIntra, "send", auto, params.ByBlocking, 40000}, 1.5},
	{"AM-02", quantity{convexIntra, "send", auto, params.ByBlocking, 10000}, 0.5},
	{"AM-03", quantity{convexIntra, "ssend", auto, sample.Timer21, 16}, 2},
	{"AM-04", quantity{convexInter, "ssend", auto, sample.Timer21, 16}, 10},
	{"AM-04", quantity{t3d, "ssend", auto, sample.Timer21, 16}, 2},
	{"AM-05", quantity{t3d, "isend", auto, sample.Timer11, 5000}, 2},
	{"AM-06", quantity{t3d, "issend", auto, sample.Timer11, 16}, 1.5},
	{"AM-07", quantity{t3d, "ibsend", auto, sample.Timer11, 16}, 1.21},
	{"AM-07", quantity{t3d, "ibsend", auto, sample.Timer11, 10000}, 0.79},
	{"AM-08", quantity{now, "send", auto, sample.Timer11, 16}, 1.6},
	{"AM-08", quantity{now, "bsend", auto, sample.Timer11, 16}, 1.6},
	{"AM-09", quantity{t3d, "bsend", auto, sample.Timer11, 16}, 1.3},
	{"AM-10", quantity{t3d, "bsend", auto, sample.Timer11, 40000}, 0.7},
	{"AM-10", quantity{t3d, "bsend", auto, sample.Timer11, 100000}, 4},
	{"AM-11", quantity{now, "isend", auto, sample.Timer11, 100000}, 0.5},
	{"AM-11", quantity{now, "isend", auto, sample.Timer11, 100000}, 3},
	{"AM-12", quantity{now, "isend", auto, sample.Timer11, 10000}, 0.3},
	{"AM-12", quantity{now, "isend", auto, sample.Timer11, 10000}, 1.3},
	{"AM-13", quantity{t3d, "send", auto, sample.Timer11, 350}, 1.3},
	{"AM-14", quantity{t3d, "send", auto, sample.Timer12, 700}, 2},
	{"AM-15", quantity{now, "send", auto, sample.Timer12, 350}, 2},
	{"AM-16", quantity{convexIntra, "isend", auto, sample.Timer11, 1400}, 20},
	{"AM-17", quantity{convexInter, "isend", auto, sample.Timer11, 64}, 0.8},
	{"AM-17", quantity{convexInter, "isend", auto, sample.Timer11, 10000}, 2},
	{"AM-18", quantity{convexIntra, "send", auto, "G", -1}, 6},
	{"AM-19", quantity{t3d, "send", auto, sample.Train, 16}, 1.25},
	{"AM-19", quantity{t3d, "send", auto, sample.Train, 16}, 0.75},
	{"AM-20", quantity{t3d, "ssend", model.RTA.Name, sample.OneWay, 100000}, 1.1},
	{"AM-20", quantity{t3d, "ssend", model.RTA.Name, sample.OneWay, 3000}, 1.5},
	{"AM-22", quantity{t3d, "rsend", auto, sample.Timer11, 10000}, 1.05},
	{"AM-23", quantity{now, "MPI_Bsend", auto, callReturns, triedBytes}, 10000},
	{"AM-23", quantity{t3d, "MPI_Ssend", auto, callReturns, triedBytes}, 0.001},
	{"AM-24", quantity{now, "ssend", auto, sample.Timer11, 16}, 0.7},
	{"AM-25", quantity{t3d, "any mode", auto, wire, -1}, 100},
	{"AM-26", quantity{now, "ssend", auto, sample.Timer21, 16}, 5},
	{"AM-27", quantity{nowMPICH, "send", auto, sample.Timer11, 16}, 2},
	{"AM-27", quantity{nowMPICH, "isend", auto, sample.Timer21, 10000}, 0.4},
	{"AM-28", quantity{t3d, "issend", auto, sample.Timer11, 10000}, 1.3},
	{"AM-29", quantity{t3d, "ssend", model.RTA.Name, sample.Sender, 10000}, 1.01},
	{"AM-29", quantity{t3d, "ssend", model.RAT.Name, sample.Sender, 10000}, 1.01},
}

// Each claim fails when the numbers say so, and cannot be decided without them. AM-21 is an identity of the models, which no number
// breaks.
func TestClaimsFail(t *testing.T) {
	seen := map[string]bool{"AM-21": true}
	for _, b := range broken {
		seen[b.id] = true
		r := sound()
		v, ok := r.values[b.quantity]
		if !ok {
			t.Fatalf("%s: no %v to break", b.id, b.quantity)
		}
		r.values[b.quantity] = Value{V: v.V * b.factor, Low: v.V * b.factor, High: v.V * b.factor, Spread: v.Spread}
		if c := verdicts(t, r)[b.id]; c.Verdict != reports.Fails {
			t.Errorf("%s: with %v times %v it is %s: %s", b.id, b.quantity, b.factor, c.Verdict, c.Evidence)
		}
		delete(r.values, b.quantity)
		if c := verdicts(t, r)[b.id]; c.Verdict != reports.NotApplicable || c.Note == "" {
			t.Errorf("%s: without %v it is %s: %s", b.id, b.quantity, c.Verdict, c.Note)
		}
	}
	for _, c := range claims {
		if !seen[c.id] {
			t.Errorf("nothing breaks %s", c.id)
		}
	}
}

// A crossing that never comes, and one that is there from the first size on, are none where the paper has it.
func TestCrossing(t *testing.T) {
	for _, c := range []struct {
		from, want int
	}{{1, 1}, {700, 700}, {100000, 100000}, {1 << 20, 0}} {
		got, evidence := crossing(func(k int) Value {
			if k >= c.from {
				return exactly(1.21)
			}
			return exactly(1.2)
		})
		if got != c.want || evidence == "" {
			t.Errorf("from %d: got %d, %q", c.from, got, evidence)
		}
	}
}

// change multiplies what a timer shows of sound results.
func change(r *Results, q quantity, factor float64) {
	v := r.values[q]
	v.V, v.Low, v.High = v.V*factor, v.Low*factor, v.High*factor
	r.values[q] = v
}

// Where a claim that names no platform holds on the T3D and not on another, the note says where and why; where all agree it says nothing.
func TestOtherwise(t *testing.T) {
	r := sound()
	for _, k := range between(10000, 100000) {
		change(r, quantity{now, "bsend", auto, sample.Timer11, k}, 1.5)
	}
	if c := verdicts(t, r)["AM-10"]; c.Note != "" {
		t.Errorf("all agree: %s", c.Note)
	}
	change(r, quantity{now, "bsend", auto, sample.Timer11, 40000}, 0.1)
	c := verdicts(t, r)["AM-10"]
	if want := "decided on T3D: on NOW the numbers say otherwise"; c.Verdict != reports.Holds || !strings.Contains(c.Note, want) || !strings.Contains(c.Note, causes["AM-10"]) {
		t.Errorf("%s: %s", c.Verdict, c.Note)
	}
	for _, of := range []struct {
		id string
		quantity
		factor float64
	}{
		{"AM-06", quantity{convexInter, "issend", auto, sample.Timer11, small}, 2},
		{"AM-09", quantity{convexIntra, "bsend", auto, sample.Timer11, small}, 2},
		{"AM-19", quantity{now, "send", auto, sample.Train, small}, 2},
		{"AM-25", quantity{now, "any mode", auto, wire, -1}, 100},
	} {
		r := sound()
		change(r, of.quantity, of.factor)
		if c := verdicts(t, r)[of.id]; c.Verdict != reports.Holds || !strings.Contains(c.Note, of.Subject.String()+" the numbers say otherwise") {
			t.Errorf("%s: %s: %s", of.id, c.Verdict, c.Note)
		}
	}
}

// A value that is close to the edge of what a claim is read as is said to be, the closest alone, and one that is not is not.
func TestEdges(t *testing.T) {
	r := sound()
	for _, k := range []int{10000, 20000, 40000, 100000} {
		v := 5.2 * (1 + float64(k)/1e6) / 6.25
		change(r, quantity{convexInter, "send", auto, params.ByBlocking, k}, v)
	}
	for id, want := range map[string]string{"AM-02": "5.252 at 10000 B is 5.0 % from the edge of the reading, 5 to 10", "AM-01": ""} {
		c := verdicts(t, r)[id]
		if c.Verdict != reports.Holds || strings.Count(c.Note, "from the edge") != min(len(want), 1) || !strings.Contains(c.Note, want) {
			t.Errorf("%s %s: %s", id, c.Verdict, c.Note)
		}
	}
	q := quantity{t3d, "ssend", model.RTA.Name, sample.OneWay, 10000}
	v := r.values[q]
	v.Low -= 1
	r.values[q] = v
	if c := verdicts(t, r)["AM-29"]; c.Verdict != reports.Holds || !strings.Contains(c.Note, "The interval of T_s − T_s-r of RTA reaches over") || strings.Contains(c.Note, "of RAT") {
		t.Errorf("%s: %s", c.Verdict, c.Note)
	}
}
