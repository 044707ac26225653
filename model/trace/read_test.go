package trace

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/loggp/loggp/model/workload"
)

// testNode is a node as a test writes it.
type testNode struct {
	id, kind, start, duration uint64
	name                      string
	data, control             []uint64
	numbers                   map[string]int64
	texts                     map[string]string
	inputs                    string
}

// encode returns the bytes of a trace with the nodes.
func encode(nodes ...testNode) []byte {
	message := func(file, m []byte) []byte { return append(binary.AppendUvarint(file, uint64(len(m))), m...) }
	file := message(nil, protowire.AppendString(protowire.AppendTag(nil, 1, protowire.BytesType), "0.0.4"))
	for _, n := range nodes {
		number := func(m []byte, field protowire.Number, x uint64) []byte {
			return protowire.AppendVarint(protowire.AppendTag(m, field, protowire.VarintType), x)
		}
		text := func(m []byte, field protowire.Number, s string) []byte {
			return protowire.AppendString(protowire.AppendTag(m, field, protowire.BytesType), s)
		}
		m := text(number(number(nil, 1, n.id), 3, n.kind), 2, n.name)
		for _, id := range n.control {
			m = number(m, 4, id)
		}
		if len(n.data) > 0 {
			var packed []byte
			for _, id := range n.data {
				packed = protowire.AppendVarint(packed, id)
			}
			m = text(m, 5, string(packed))
		}
		if n.start > 0 {
			m = number(m, 6, n.start)
		}
		m = number(m, 7, n.duration)
		if n.inputs != "" {
			m = text(m, 8, string(text(nil, 1, n.inputs)))
		}
		for name, x := range n.numbers {
			m = text(m, 10, string(number(text(nil, 1, name), 9, uint64(x))))
		}
		for name, s := range n.texts {
			m = text(m, 10, string(text(text(nil, 1, name), 29, s)))
		}
		file = message(file, m)
	}
	return file
}

func read(o Options, files ...[]byte) (*workload.Workload, *Report, error) {
	var all []File
	for i, f := range files {
		all = append(all, File{fmt.Sprintf("t.%d.et", i), bytes.NewReader(f)})
	}
	return Read(all, o)
}

// allreduce is a node of a group.
func allreduce(id uint64, bytes int64, group string) testNode {
	return testNode{id: id, kind: uint64(commCollNode), name: "ar", numbers: map[string]int64{"comm_type": 0, "comm_size": bytes}, texts: map[string]string{"pg_name": group}}
}

func TestWrongTraces(t *testing.T) {
	comp := func(id uint64, data ...uint64) testNode {
		return testNode{id: id, kind: uint64(compNode), name: "c", duration: 1, data: data}
	}
	good := encode(comp(1), comp(2, 1))
	send := testNode{id: 4, kind: uint64(commSendNode), name: "s", numbers: map[string]int64{"comm_size": 8, "comm_dst": 1}}
	for _, c := range []struct {
		name  string
		o     Options
		files [][]byte
		want  string
	}{
		{"empty", Options{}, [][]byte{{}}, "t.0.et: an empty file"},
		{"another JSON file", Options{}, [][]byte{[]byte("{}")}, "t.0.et: it has no node, and neither a list workload_graph nor metadata of a trace"},
		{"cut", Options{}, [][]byte{good[:len(good)-2]}, "t.0.et: message 2: the file ends within it: it is cut short"},
		{"10 GB", Options{}, [][]byte{append(slices.Clone(good), binary.AppendUvarint(nil, 10<<30)...)}, "t.0.et: message 3: it claims 10737418240 bytes, and a node has at most 16777216"},
		{"text", Options{}, [][]byte{[]byte("num_ranks 2\nrank 0 {\n}\n")}, "t.0.et: message 0"},
		{"self", Options{}, [][]byte{encode(comp(7, 7))}, "t.0.et: the dependencies form a cycle: node 7 (c) waits for node 7 (c)"},
		{"cycle", Options{}, [][]byte{encode(comp(1, 3), comp(2, 1), comp(3, 2), comp(4, 3))}, "cycle: node 1 (c) waits for node 3 (c) waits for node 2 (c) waits for node 1 (c)"},
		{"twice", Options{}, [][]byte{encode(comp(1), comp(1))}, "t.0.et: node 1 is there twice: c and c"},
		{"type", Options{}, [][]byte{encode(testNode{id: 3, kind: 77, name: "x"})}, "t.0.et: node 3 (x): node type 77 is unknown"},
		{"no type", Options{}, [][]byte{encode(testNode{id: 3, name: "x"})}, "t.0.et: node 3 (x): node type 0 is unknown"},
		{"unknown group", Options{}, [][]byte{encode(allreduce(5, 8, "3"))}, "t.0.et: node 5 (ar): the ranks of process group 3 are not in the file"},
		{"not in group", Options{Groups: map[string][]int{"3": {1, 2}}}, [][]byte{encode(allreduce(5, 8, "3"))}, "process group 3 has ranks [1 2], and rank 0 executes"},
		{"group too large", Options{Groups: map[string][]int{"3": {0, 2}}}, [][]byte{encode(allreduce(5, 8, "3"))}, "group 3 (number 0): it has rank 2: there are 1 ranks"},
		{"sizes", Options{}, [][]byte{encode(allreduce(5, 8, "")), encode(allreduce(6, 16, ""))}, "t.1.et: node 6 (ar), rank 1: it is allreduce of 16 bytes; collective operation 1 of group world is allreduce of 8 bytes in rank 0 (t.0.et: node 5 (ar))"},
		{"fewer", Options{}, [][]byte{encode(allreduce(5, 8, ""), allreduce(6, 8, "")), encode(allreduce(5, 8, ""))}, "t.1.et, rank 1: it has 1 collective operations of group world; rank 0 has 2, the next is t.0.et: node 6"},
		{"none", Options{}, [][]byte{encode(allreduce(5, 8, "")), encode(comp(1))}, "t.1.et, rank 1: it has no collective operation of group world; rank 0 begins with t.0.et: node 5 (ar)"},
		{"no receive", Options{}, [][]byte{encode(send), encode(comp(1))}, "t.0.et: node 4 (s), rank 0: rank 0 sends 1 messages with tag 0 to rank 1, which receives 0 of them"},
		{"peer", Options{}, [][]byte{encode(send)}, "t.0.et: rank 0 would exchange messages with rank 1: there are 1 ranks"},
		{"too long", Options{}, [][]byte{encode(testNode{id: 1, kind: uint64(compNode), duration: 1 << 60})}, "it takes 1152921504606846976 us: at most"},
		{"no rate", Options{}, [][]byte{encode(testNode{id: 1, kind: uint64(compNode), numbers: map[string]int64{"num_ops": 9}})}, "it has 9 operations and no duration"},
		{"no size", Options{}, [][]byte{encode(testNode{id: 1, kind: uint64(commCollNode)})}, "without comm_type, comm_size or duration"},
		{"unequal group", Options{Ranks: 8, Groups: map[string][]int{"3": {0, 1, 5}}}, [][]byte{encode(allreduce(5, 8, "3"))}, "process group 3 of rank 0 cannot be repeated for rank 1: its ranks [0 1 5] are not at equal distances"},
		{"odd group", Options{Ranks: 7, Groups: map[string][]int{"3": {0, 2}}}, [][]byte{encode(allreduce(5, 8, "3"))}, "7 ranks are not a multiple of 4"},
	} {
		_, _, err := read(c.o, c.files...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestWrongRanksOfFiles(t *testing.T) {
	file := encode(testNode{id: 1, kind: uint64(compNode), duration: 1})
	for _, c := range []struct {
		names []string
		ranks int
		want  string
	}{
		{[]string{"a.0.et", "a.2.et"}, 0, "a.2.et: it is of rank 2, and rank 1 has no file"},
		{[]string{"a.0.et", "b.0.et.gz"}, 0, "a.0.et and b.0.et.gz are both of rank 0"},
		{[]string{"a.0.et", "b.et"}, 0, "1 of 2 files have a rank in their name"},
		{[]string{"a.1.et"}, 4, "a.1.et: it is of rank 1; ranks below have no file to repeat"},
		{[]string{"a.0.et", "a.4.et"}, 4, "a.4.et: it is of rank 4; there are 4 ranks"},
		{nil, 0, "a trace without files"},
	} {
		var files []File
		for _, name := range c.names {
			files = append(files, File{name, bytes.NewReader(file)})
		}
		if _, _, err := Read(files, Options{Ranks: c.ranks}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: error %v, want %q", c.names, err, c.want)
		}
	}
}

// Two stages of two ranks each, of which ranks 0 and 2 were recorded, are repeated for 8 ranks:
// group tensor is a rank and its neighbour, group data the ranks of a stage that are 4 apart.
func TestRanksRepeatGroupsOfOthers(t *testing.T) {
	metadata := testNode{id: 1, kind: uint64(metadataNode), name: "## process_group:init ##",
		inputs: `['[{\"pg_name\": \"tensor\", \"ranks\": [RANK, NEXT]}, {\"pg_name\": \"all\", \"ranks\": [], \"group_size\": 4}]']`}
	file := func(rank int) []byte {
		m := metadata
		m.inputs = strings.NewReplacer("RANK", fmt.Sprint(rank), "NEXT", fmt.Sprint(rank+1)).Replace(m.inputs)
		return encode(m, allreduce(2, 64, "tensor"), allreduce(3, 128, "all"))
	}
	w, report, err := Read([]File{{"s.0.et", bytes.NewReader(file(0))}, {"s.2.et", bytes.NewReader(file(2))}}, Options{Ranks: 8})
	if err != nil {
		t.Fatal(err)
	}
	if report.RepeatedRanks != 6 {
		t.Errorf("%d ranks repeat others, want 6", report.RepeatedRanks)
	}
	for rank, r := range w.Ranks {
		if g := w.Groups[r.Groups[0]].Ranks; !slices.Equal(g, []int{rank / 2 * 2, rank/2*2 + 1}) {
			t.Errorf("rank %d: group tensor has ranks %v", rank, g)
		}
		if g := w.Groups[r.Groups[1]].Ranks; len(g) != 8 {
			t.Errorf("rank %d: group all has ranks %v", rank, g)
		}
	}
}

// Nodes 2 and 1 of stream 7 have no dependency; node 2 started first.
func TestStreamsKeepTheirOrder(t *testing.T) {
	stream := func(id, start uint64) testNode {
		return testNode{id: id, kind: uint64(compNode), start: start, duration: 5, name: fmt.Sprint(id), numbers: map[string]int64{"tid": 7}}
	}
	w, report, err := read(Options{}, encode(stream(1, 20), stream(2, 10)))
	if err != nil {
		t.Fatal(err)
	}
	p := w.Ranks[0].Program
	if report.StreamEdges != 1 || p.NameOf(0) != "2" || p.Ops()[0].Stream != p.Ops()[1].Stream {
		t.Errorf("%d edges, first node %s", report.StreamEdges, p.NameOf(0))
	}
	if _, res := simulate(t, w, "L=1us"); res.LastFinish.Micros() != 10 {
		t.Errorf("they end after %v, want 10 us", res.LastFinish)
	}
}

func TestRateOfComputing(t *testing.T) {
	w, report, err := read(Options{ComputeRate: 2e9}, encode(testNode{id: 1, kind: uint64(compNode), duration: 77, numbers: map[string]int64{"num_ops": 10_000}}))
	if err != nil || report.ByRate != 1 || w.Ranks[0].Program.Ops()[0].Size != 5000 {
		t.Errorf("%v %+v", err, report)
	}
}

// The same step as protobuf, as the objects of its messages, and as an object with workload_graph.
func TestFormsOfATrace(t *testing.T) {
	protobuf := encode(testNode{id: 3, kind: uint64(compNode), name: "c", duration: 4, numbers: map[string]int64{"tid": 7}},
		testNode{id: 5, kind: uint64(commCollNode), name: "ar", data: []uint64{3}, numbers: map[string]int64{"comm_type": 6, "comm_size": 80, "tid": 9}})
	objects := `{"version": "0.0.4"}
{"id": "3", "name": "c", "type": "COMP_NODE", "durationMicros": "4", "attr": [{"name": "tid", "int64Val": "7"}]}
{"id": "5", "name": "ar", "type": "COMM_COLL_NODE", "dataDeps": ["3"], "attr": [{"name": "comm_type", "int64Val": "6"}, {"name": "comm_size", "int64Val": "80"}, {"name": "tid", "int64Val": "9"}]}`
	graph := `{"workload_graph": [{"Id": 3, "Name": "c", "NodeType": 4, "runtime": 4, "tid": 7},
{"Id": 5, "Name": "ar", "NodeType": 7, "data_deps": [3], "comm_type": 6, "comm_size": 80, "tid": 9}], "ngpus": 8}`
	files := []string{string(protobuf), "\n " + objects, graph}
	for _, length := range []byte{'\t', '\n', '\r', ' ', '[', '{', '#'} { // of the first message, whose code may be that of other forms
		first := protowire.AppendString(protowire.AppendTag([]byte{length}, 1, protowire.BytesType), strings.Repeat("4", int(length)-2))
		files = append(files, string(append(first, protobuf[1+protobuf[0]:]...)))
	}
	var first string
	for _, file := range files {
		w, _, err := read(Options{Ranks: 4}, []byte(file))
		if err != nil {
			t.Fatal(err)
		}
		p := w.Ranks[1].Program
		if text := fmt.Sprintf("%+v %v %v", p.Ops(), p.DependenciesOf(1), p.Names); first == "" {
			first = text
		} else if text != first {
			t.Errorf("%.30q: %s, want %s", file, text, first)
		}
	}
}

func TestSmallJSON(t *testing.T) {
	w, report, err := Read(openFiles(t, "small.0.json"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.Nodes != 7 || report.HostCalls != 2 || report.WithoutBytes != 1 || w.CountOps() != 7 {
		t.Errorf("%+v", report)
	}
}

func TestReadGroups(t *testing.T) {
	groups, err := ReadGroups(strings.NewReader(`{"0": [0, 1], "1": [2, 3]}`), "g.json")
	if err != nil || !slices.Equal(groups["1"], []int{2, 3}) {
		t.Errorf("%v %v", groups, err)
	}
	if _, err := ReadGroups(strings.NewReader(`{"0": [0, -`), "g.json"); err == nil || !strings.Contains(err.Error(), "g.json: byte") {
		t.Errorf("error %v", err)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"all_reduce_8.0.et", "ring_allreduce_8.0.et", "small.0.json"} {
		text, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text, 1)
		f.Add(text, 8)
	}
	f.Add(encode(allreduce(5, 8, "3")), 2)
	f.Fuzz(func(t *testing.T, text []byte, ranks int) {
		if ranks < 0 || ranks > 16 {
			return
		}
		w, _, err := read(Options{Ranks: ranks}, text)
		if err != nil {
			return
		}
		if err := w.Check(); err != nil {
			t.Error(err)
		}
	})
}
