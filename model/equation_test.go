package model_test

import (
	"encoding/csv"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

const us = unit.Microsecond

// table reads a file of testdata as rows by column name.
func table(t *testing.T, name string) []map[string]string {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comment = '#'
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var all []map[string]string
	for _, row := range rows[1:] {
		x := map[string]string{}
		for i, column := range rows[0] {
			x[column] = row[i]
		}
		all = append(all, x)
	}
	return all
}

// coefficients returns numbers of a row.
func coefficients(t *testing.T, row map[string]string, columns ...string) (c []int) {
	t.Helper()
	for _, column := range columns {
		n, err := strconv.Atoi(row[column])
		if err != nil {
			t.Fatalf("equation %s: %s: %v", row["number"], column, err)
		}
		c = append(c, n)
	}
	return c
}

// TestCoefficients compares what follows from the steps of the protocols with equations (1) to (7)
// as printed. (3) is for both times of TA.
func TestCoefficients(t *testing.T) {
	seen := map[string]bool{}
	for _, row := range table(t, "equations.csv") {
		p := model.FindProtocol(row["protocol"])
		if p == nil {
			continue // (8) and (9) are no protocol's
		}
		want := model.Coefficients(coefficients(t, row, "n_os", "n_L", "n_or", "n_G_k_minus_1"))
		got := p.Equations()
		if both := row["number"] == "3"; row["symbol"] == "T_s" || both {
			seen["T_s "+p.Name] = true
			if got.Sender != want {
				t.Errorf("(%s) T_s of %s: %v from the steps, %v printed", row["number"], p.Name, got.Sender, want)
			}
		}
		if row["symbol"] == "T_s-r" {
			seen["T_s-r "+p.Name] = true
			if got.Delivery != want {
				t.Errorf("(%s) T_s-r of %s: %v from the steps, %v printed", row["number"], p.Name, got.Delivery, want)
			}
		}
	}
	if len(seen) != 2*(len(model.Protocols)-1) { // of PTAT none are printed
		t.Errorf("testdata has equations for %v only", seen)
	}
}

// TestCompletion states where the receiver's own end is not the printed T_s-r: for TA alone.
func TestCompletion(t *testing.T) {
	for _, p := range model.Protocols {
		e := p.Equations()
		want := e.Delivery
		if p == model.ProtocolTA {
			want = model.Coefficients{2, 1, 1, 0} // o_s + L + o_r, and the o_s of the ACK
		}
		if e.Completion != want {
			t.Errorf("receiver of %s is done at %v, want %v", p.Name, e.Completion, want)
		}
	}
}

// TestSteps compares the tables with figure 1.
func TestSteps(t *testing.T) {
	var got, want []string
	for _, p := range model.Protocols {
		if p == model.ProtocolPTAT {
			continue // the figure has those of the T3D
		}
		for i, s := range p.Steps {
			kind := s.Kind
			if kind == model.KindFIN {
				kind = model.KindACK // the figure's name for it
			}
			how := ""
			switch {
			case s.Means == model.ByGet:
				how = "pulled"
			case s.Means == model.ByPut:
				how = "pushed"
			case s.Data == model.AllData:
				how = "inside"
			}
			got = append(got, fmt.Sprintf("%s %d %s %v %v %s", p.Name, i+1, kind, s.From, s.To(), how))
		}
	}
	for _, row := range table(t, "figure-1-protocols.csv") {
		n, err := strconv.Atoi(row["step"])
		if err != nil {
			t.Fatal(err)
		}
		how := ""
		for _, word := range []string{"pulled", "pushed", "inside"} {
			if strings.Contains(row["carries"], word) {
				how = word
			}
		}
		want = append(want, fmt.Sprintf("%s %d %s %v %v %s", row["protocol"], n, row["kind"], row["from"], row["to"], how))
	}
	if !slices.Equal(got, want) {
		t.Errorf("steps\n%q\nfigure 1 has\n%q", got, want)
	}
}

func TestProperties(t *testing.T) {
	for _, c := range []struct {
		p                          *model.Protocol
		eager, synchronous, remote bool
	}{
		{model.ProtocolT, true, false, false},
		{model.ProtocolTA, true, true, false},
		{model.ProtocolRTA, false, true, true},
		{model.ProtocolRAT, false, true, true},
		{model.ProtocolPTAT, true, true, false},
	} {
		if c.p.IsEager() != c.eager || c.p.IsSynchronous() != c.synchronous || c.p.UsesRemoteMemory() != c.remote {
			t.Errorf("%s: eager %v, synchronous %v, remote %v", c.p.Name, c.p.IsEager(), c.p.IsSynchronous(), c.p.UsesRemoteMemory())
		}
		if model.FindProtocol(c.p.Name) != c.p {
			t.Errorf("Named(%q) is another", c.p.Name)
		}
	}
	if model.FindProtocol("no such") != nil {
		t.Error("Named finds a protocol that is not there")
	}
}

// example has five parameters that differ, as the synthetic platform of the catalogue.
var example = model.LogGP{L: 5 * us, SendOverhead: 2 * us, RecvOverhead: 3 * us, Gap: 4 * us, GapPerByte: 0.01 * 1e6}

// TestEvaluate has the equations' values computed by hand for a message of 1001 bytes, whose (k−1)
// G is 10 us.
func TestEvaluate(t *testing.T) {
	x := example.Parameters()
	for _, c := range []struct {
		p                            *model.Protocol
		sender, delivery, completion unit.Time
	}{
		{model.ProtocolT, 2 * us, 10 * us, 10 * us},
		{model.ProtocolTA, 20 * us, 20 * us, 12 * us},
		{model.ProtocolRTA, 35 * us, 27 * us, 27 * us},
		{model.ProtocolRAT, 39 * us, 47 * us, 47 * us},
	} {
		if s, d, r := model.SenderTime(c.p, x, 1001), model.DeliveryTime(c.p, x, 1001), model.CompletionTime(c.p, x, 1001); s != c.sender || d != c.delivery || r != c.completion {
			t.Errorf("%s: %v, %v, %v, want %v, %v, %v", c.p.Name, s, d, r, c.sender, c.delivery, c.completion)
		}
	}
	// (k−1) G is not negative for a message of no bytes.
	if d := model.DeliveryTime(model.ProtocolRTA, x, 0); d != 17*us {
		t.Errorf("an empty message by RTA takes %v, want 17us", d)
	}
	// Claim AM-29: the difference of T_s and T_s-r is L + o_r for both, with opposite sign.
	if model.SenderTime(model.ProtocolRTA, x, 1)-model.DeliveryTime(model.ProtocolRTA, x, 1) != 8*us || model.DeliveryTime(model.ProtocolRAT, x, 1)-model.SenderTime(model.ProtocolRAT, x, 1) != 8*us {
		t.Error("T_s and T_s-r of RTA and RAT do not differ by L + o_r")
	}
}

// TestEvaluateSizes gives the parameters that may depend on the size and on the direction: which
// message has which.
func TestEvaluateSizes(t *testing.T) {
	x := model.Parameters{
		L:            1000 * us,
		SendOverhead: model.Curve{{From: 0, ValueAtFrom: 1 * us}, {From: 1, ValueAtFrom: 10 * us}},
		RecvOverhead: model.Curve{{From: 0, ValueAtFrom: 100 * us}, {From: 1, ValueAtFrom: 200 * us}},
		GapPerByte:   7e6, GapPerPulledByte: 1e10, GapPerPushedByte: 2e10, // ps/B
	}
	for _, c := range []struct {
		p                *model.Protocol
		sender, delivery unit.Time
	}{
		{model.ProtocolT, 10 * us, 1210 * us},
		{model.ProtocolTA, 10*us + 1200*us + 1*us + 1100*us, 10*us + 1200*us + 1*us + 1100*us},
		{model.ProtocolRTA, 13202 * us, 12102 * us}, // 2·1 + 3·1000 + 2·100 + 10000; 2·1 + 2·1000 + 100 + 10000
		{model.ProtocolRAT, 23204 * us, 24304 * us}, // 4·1 + 3·1000 + 2·100 + 20000; 4·1 + 4·1000 + 3·100 + 20000
	} {
		if s, d := model.SenderTime(c.p, x, 2), model.DeliveryTime(c.p, x, 2); s != c.sender || d != c.delivery {
			t.Errorf("%s: %v, %v, want %v, %v", c.p.Name, s, d, c.sender, c.delivery)
		}
	}
	x.GapPerPulledByte, x.GapPerPushedByte = 0, 0
	if d := model.DeliveryTime(model.ProtocolRTA, x, 2); d != 2109*us {
		t.Errorf("without a G of its own, pulling takes %v, want 2109us", d)
	}
}

// TestTwoLevels computes (8) and (9) from the printed coefficients.
func TestTwoLevels(t *testing.T) {
	x := model.LoGH{
		BetweenHypernodes: model.Parameters{L: 11 * us, SendOverhead: model.ConstantCurve(13 * us), RecvOverhead: model.ConstantCurve(17 * us), GapPerByte: 19e6},
		InsideHypernode:   model.Parameters{L: 1000 * us, SendOverhead: model.ConstantCurve(23 * us), RecvOverhead: model.ConstantCurve(29 * us), GapPerByte: 31e6},
	}
	found := 0
	for _, row := range table(t, "equations.csv") {
		if model.FindProtocol(row["protocol"]) != nil {
			continue
		}
		found++
		const k = 6
		c := coefficients(t, row, "n_os", "n_L", "n_or", "n_G_k_minus_1", "n_ss", "n_sr", "n_S_k_minus_1")
		var want unit.Time
		for i, value := range []unit.Time{13 * us, 11 * us, 17 * us, (k - 1) * 19 * us, 23 * us, 29 * us, (k - 1) * 31 * us} {
			want += unit.Time(c[i]) * value
		}
		if got := x.OneWayTime(row["number"] == "8", k); got != want {
			t.Errorf("(%s) gives %v, want %v", row["number"], got, want)
		}
	}
	if found != 2 {
		t.Errorf("testdata has %d equations of LoGH, want (8) and (9)", found)
	}
}

// ExampleProtocol_Equations derives equations (1) to (7), and those of PTAT, from the messages of
// the protocols.
func ExampleProtocol_Equations() {
	for _, p := range model.Protocols {
		e := p.Equations()
		fmt.Printf("%-4s T_s   = %v\n", p.Name, e.Sender)
		fmt.Printf("     T_s-r = %v\n", e.Delivery)
	}
	// Output:
	// T    T_s   = o_s
	//      T_s-r = o_s + L + o_r
	// TA   T_s   = 2 o_s + 2 L + 2 o_r
	//      T_s-r = 2 o_s + 2 L + 2 o_r
	// RTA  T_s   = 2 o_s + 3 L + 2 o_r + (k−1) G
	//      T_s-r = 2 o_s + 2 L + o_r + (k−1) G
	// RAT  T_s   = 4 o_s + 3 L + 2 o_r + (k−1) G
	//      T_s-r = 4 o_s + 4 L + 3 o_r + (k−1) G
	// PTAT T_s   = 3 o_s + 2 L + 2 o_r
	//      T_s-r = 3 o_s + 3 L + 3 o_r + (k−1) G
}
