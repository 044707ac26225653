package hw

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// nodes returns a machine of nodes of two ranks, with hypernodes of one memory inside, on a torus
// with a switch for each interface.
func nodes(interfaces int) *model.Machine {
	m := machine()
	t := m.Network.(*model.Torus)
	t.PerNode, t.Link = 1, 100e6
	a := model.Access{Send: model.Channel{Bandwidth: 100e6}, Put: model.Channel{Bandwidth: 1e8}, Get: model.Channel{Bandwidth: 1e8}}
	m.Nodes = &model.Nodes{Ranks: 2, Interfaces: interfaces, Inside: &model.Hypernodes{Sizes: []int{2}, PerBlock: 2, Port: 100e6, Rings: 1, Chunk: 1000,
		Access: [model.NumTiers]model.Access{model.Intra: a}}}
	return m
}

// together returns how long it takes until ranks have got a packet of 100 kB, each from the rank
// that is so many before it, if those of the first node, or both, send at once.
func together(t *testing.T, m *model.Machine, senders, apart int) (end unit.Time) {
	t.Helper()
	run(t, m, 4, func(p device.Port) {
		switch r := p.Rank(); {
		case r < senders:
			p.Send((r+apart)%4, &device.Packet{Data: make([]byte, 100_000)})
		case r >= apart && r < apart+senders:
			p.Recv(true)
			end = max(end, p.Now())
		}
	})
	return end
}

// Ranks of a node share its interfaces: two that send to another node at once take twice as long as
// one where there is one interface, and no longer where each has its own. Here a rank uses the
// interface of its place in the node.
func TestNodesShareInterfaces(t *testing.T) {
	alone := together(t, nodes(1), 1, 2)
	for interfaces, want := range map[int]float64{1: 2, 2: 1} {
		both := together(t, nodes(interfaces), 2, 2)
		if got := float64(both) / float64(alone); got < want-0.05 || got > want+0.05 {
			t.Errorf("%d interfaces: two ranks take %v, one takes %v: %.2f times as long, want %v", interfaces, both, alone, got, want)
		}
	}
}

// Ranks of a node share its memory, and nodes do not share theirs: exchanges within two nodes take
// as long as within one, which take twice as long as one message, as each way has to pass the port
// of the memory.
func TestNodesShareMemory(t *testing.T) {
	within := func(senders ...int) (end unit.Time) {
		run(t, nodes(1), 4, func(p device.Port) {
			r := p.Rank()
			if slices.Contains(senders, r) {
				p.Send(r^1, &device.Packet{Data: make([]byte, 100_000)})
			}
			if slices.Contains(senders, r^1) {
				p.Recv(true)
			}
			end = max(end, p.Now())
		})
		return end
	}
	one, exchange, two := within(0), within(0, 1), within(0, 1, 2, 3)
	if x := float64(exchange) / float64(one); x < 1.95 || x > 2.05 {
		t.Errorf("an exchange takes %v, one message %v", exchange, one)
	}
	if two != exchange {
		t.Errorf("exchanges in two nodes take %v, in one %v", two, exchange)
	}
}

// A kind of network consists, as docs/design.md says, of a package here, a file in model and
// one in model/platform, named for it, and a row in a table of each. No other package names a kind,
// but for what is only about that one.
func TestKinds(t *testing.T) {
	if len(networks) != len(model.Kinds) {
		t.Errorf("%d kinds of networks here, %d in package model", len(networks), len(model.Kinds))
	}
	design, err := os.ReadFile("../../docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	var packages []string
	for i, k := range model.Kinds {
		key := k.Kind()
		if got := networks[i].sample.Kind(); got != key {
			t.Errorf("row %d is %s here, and %s in package model", i, got, key)
		}
		packages = append(packages, key)
		for _, file := range []string{"../../model/" + key + ".go", "../../model/platform/" + key + ".go", key + "/" + key + ".go"} {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
	}
	all, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range all {
		if x.IsDir() && !slices.Contains(append(packages, "activity", "core", "hwtest", "sim"), x.Name()) {
			t.Errorf("package %s is no kind of network", x.Name())
		}
	}
	for _, words := range []string{"`impl/hw/NAME/`", "`model/NAME.go`", "`model/platform/NAME.go`", "`hw.networks`", "`model.Kinds`", "`platform.networks`"} {
		if !strings.Contains(string(design), words) {
			t.Errorf("docs/design.md does not say %s", words)
		}
	}
}

// naming are the files that name a kind of network and are not its own, beside the three tables:
// they are about what only that kind has.
var naming = map[string][]string{
	"model.FatTree":    {"cmd/loggp/paper/start.go"},                          // programmed I/O by words and by bursts
	"model.Hypernodes": {"cmd/loggp/paper/predict.go"},                        // the H and P of papers
	"model.LogGP":      {"cmd/loggp/predict.go", "model/platform/machine.go"}, // the model's parameters as such
	"model.Torus":      {"model/aclmpl/aclmpl.go"},                            // closed forms of puts on the T3D
}

// A kind of network is named in its own files only, so that the list of them is complete.
func TestKindsAreNamedInTheirFiles(t *testing.T) {
	for _, name := range []string{"Torus", "Hypernodes", "Ethernet", "LogGP", "FatTree"} {
		own := strings.ToLower(name)
		for _, file := range sources(t, "../..") {
			b, err := os.ReadFile("../../" + file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(b), "model."+name+"{") || strings.Contains(string(b), "*model."+name) {
				if dir, base := file[:strings.LastIndex(file, "/")], file[strings.LastIndex(file, "/")+1:]; dir != "impl/hw/"+own && base != own+".go" && !slices.Contains(naming["model."+name], file) {
					t.Errorf("%s names model.%s", file, name)
				}
			}
		}
	}
}

// sources returns the sources below a directory that are no tests, nor of packages for tests.
func sources(t *testing.T, root string) (files []string) {
	t.Helper()
	var walk func(dir string)
	walk = func(dir string) {
		all, err := os.ReadDir(root + dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range all {
			switch name := dir + "/" + x.Name(); {
			case x.IsDir() && !strings.HasPrefix(x.Name(), ".") && !strings.HasSuffix(x.Name(), "test"):
				walk(name)
			case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
				files = append(files, name[1:])
			}
		}
	}
	walk("")
	return files
}

// Processors of a node that copy share its memory where copies pass the port: as many take no
// longer than one until the port is full, and then they share it. Those of another node do not
// matter.
func TestCopiesShareMemory(t *testing.T) {
	const bytes = 100_000
	for _, c := range []struct {
		shared         bool
		copying, apart int
		times          float64
	}{{true, 1, 1, 1}, {true, 2, 1, 2}, {true, 2, 2, 1}, {false, 2, 1, 1}} {
		m := nodes(1)
		m.Processor.Copy = model.Channel{Start: us, Bandwidth: 100e6}
		m.Nodes.Inside.(*model.Hypernodes).Copies = c.shared
		var end unit.Time
		run(t, m, 4, func(p device.Port) {
			if r := p.Rank(); r%c.apart == 0 && r/c.apart < c.copying {
				p.Copy(make([]byte, bytes), make([]byte, bytes))
				end = max(end, p.Now())
			}
		})
		alone := m.Processor.Copy.Bandwidth.Time(bytes)
		if got := float64(end) / float64(alone); got < c.times || got > c.times+0.02 {
			t.Errorf("%d processors, %d apart, port %v: %v, which is %.2f times a copy alone, want %v", c.copying, c.apart, c.shared, end, got, c.times)
		}
	}
}
