package reports

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/reports/format"
)

// The tier is named where a mode has other protocols within a node, and a rule that is left with no
// message is not mentioned.
func TestProtocolTable(t *testing.T) {
	l := &model.Library{Name: "lib", Proto: model.ProtoSettings{Rules: []model.ProtocolRule{
		{Mode: model.StandardMode, Peers: model.IntraPeers, MaxBytes: 4000, Protocol: "T"},
		{Mode: model.StandardMode, MaxBytes: 512, Protocol: "TA"},
		{Mode: model.StandardMode, MaxBytes: -1, Protocol: "PTAT"},
		{Mode: model.ReadyMode, Peers: model.IntraPeers, MaxBytes: -1, Protocol: "T"},
		{Mode: model.ReadyMode, Peers: model.InterPeers, MaxBytes: -1, Protocol: "T"},
	}}}
	var got []string
	for _, row := range protocolTable(toy(), l).Groups[0].Rows {
		got = append(got, fmt.Sprintf("%s: %s", row[0].Text, strings.ReplaceAll(row[1].Text, format.NonBreakingSpace, " ")))
	}
	want := []string{"standard, intra: T to 4 KB, PTAT from 4001 B", "standard, inter: TA to 512 B, PTAT from 513 B", "synchronous: ", "ready: T from 0 B", "buffered: "}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
}

// A library that has rules for collective operations has a table of them.
func TestAlgorithmTable(t *testing.T) {
	l := &model.Library{Name: "l"}
	if n := algorithmTable(toy(), l).CountRows(); n != 0 {
		t.Errorf("%d rows of a library without such rules", n)
	}
	l.Collectives = []model.CollectiveRule{
		{Operation: "bcast", Peers: model.InterPeers, MaxBytes: -1, Algorithm: "two-level"},
		{Operation: "bcast", Peers: model.IntraPeers, MaxRanks: 8, MaxBytes: 4000, Algorithm: "linear"},
		{Operation: "scan", MaxRanks: 9, MaxBytes: 0, Algorithm: "linear"},
	}
	var got []string
	for _, row := range algorithmTable(toy(), l).Groups[0].Rows {
		got = append(got, fmt.Sprintf("%s: %s: %s: %s", row[0].Text, row[1].Text, strings.ReplaceAll(row[2].Text, format.NonBreakingSpace, " "), row[3].Text))
	}
	want := []string{"bcast: in several nodes: any: two-level", "bcast: in one node, to 8: to 4 KB: linear", "scan: any, to 9: to 0 B: linear"}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	l.Decisions = "mpich-4"
	rows := algorithmTable(toy(), l).Groups[0].Rows
	if last := rows[len(rows)-1]; len(rows) != 4 || last[3].Text != "as mpich-4 decides" {
		t.Errorf("%d rows, the last is %v", len(rows), last)
	}
}

// The links of a network are listed by number, so that one can be named, each class in a row.
func TestLinksOfANetwork(t *testing.T) {
	p, err := platform.Load("dgx-h100")
	if err != nil {
		t.Fatal(err)
	}
	table := linkTable(p, p.Machine.Network.(*model.Fabric))
	want := [][]string{{"0 to 16383", "host", "host 0 to switch 0", "switch 479 to host 8191"}, {"16384 to 32767", "trunk", "switch 0 to switch 32", "switch 511 to switch 479"}}
	if table.CountRows() != len(want) {
		t.Fatalf("%d rows", table.CountRows())
	}
	for i, row := range table.Groups[0].Rows {
		for k, text := range want[i] {
			if row[k].Text != text {
				t.Errorf("row %d: %q, want %q", i, row[k].Text, text)
			}
		}
	}
}
