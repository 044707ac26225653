// Package pattern makes schedules from the algorithms of collective operations, from typical
// communication patterns of programs, and from other schedules.
package pattern

import (
	"fmt"
	"math"
	"slices"

	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/table"
	"github.com/loggp/loggp/model/unit"
)

// Config is the parameters of a pattern. Most patterns use some of them only.
type Config struct {
	Ranks     int
	Size      int       // bytes of a message; of collective operations as collective.Job has it
	Rounds    int       // repetitions of the pattern, one after the other; 0: 1
	Compute   unit.Time // computing of each rank in a round, in whole nanoseconds
	Algorithm string    // of a collective operation; "": its first
	Root      int
	Nodes     *collective.Nodes // of a collective operation: which ranks are near each other; nil: none are

	Copy, Fold unit.PerByte // time to copy and to combine a byte in a collective operation
}

// Pattern is a kind of schedule.
type Pattern struct {
	Name, What string
	build      func(b *StepBuilder, c Config)
	hasRoot    bool
}

// Patterns is all patterns except the collective operations.
var Patterns = []*Pattern{
	{Name: "dissemination", What: "in round i each rank sends to the rank 2^i further on, ⌈log2 n⌉ rounds", build: buildDissemination},
	{Name: "exchange", What: "each rank sends to all others and receives from them, all at once", build: buildExchange},
	{Name: "incast", What: "all ranks send to the root at once", build: buildIncast, hasRoot: true},
	{Name: "outcast", What: "the root sends to all ranks at once", build: buildOutcast, hasRoot: true},
	{Name: "tree", What: "messages go up a binary tree of ranks to the root and down again; a rank computes when it has those of its children", build: buildTree, hasRoot: true},
	{Name: "ring", What: "each rank computes, sends to the next rank and receives from the one before", build: buildRing},
	{Name: "halo", What: "ranks in a periodic grid compute and exchange borders with 4 neighbours", build: buildHalo},
	{Name: "pipeline", What: "a message goes from rank 0 through all ranks, each of which computes; --rounds of them follow each other", build: buildPipeline},
	{Name: "sweep3d", What: "wavefronts go through a grid of ranks from each of its 4 corners, --rounds blocks each; a rank computes when it has what its 2 neighbours send", build: buildSweep},
}

// Names returns the names of all patterns, collective operations first.
func Names() []string {
	var names []string
	for _, o := range collective.Operations() {
		names = append(names, o.String())
	}
	for _, p := range Patterns {
		names = append(names, p.Name)
	}
	return names
}

// UnusedSettings returns the settings of Config that have no effect on a pattern, among
// "algorithm", "root" and "size".
func UnusedSettings(name string) []string {
	if i := slices.IndexFunc(Patterns, func(p *Pattern) bool { return p.Name == name }); i >= 0 {
		if Patterns[i].hasRoot {
			return []string{"algorithm"}
		}
		return []string{"algorithm", "root"}
	}
	switch o, _ := collective.OperationNamed(name); o {
	case collective.Barrier:
		return []string{"root", "size"}
	case collective.Bcast, collective.Scatter, collective.Gather, collective.Reduce:
		return nil
	}
	return []string{"root"}
}

// Limits of what is made.
const (
	maxRanks  = 1 << 24
	MaxRounds = 1 << 20
)

// Make makes a schedule.
func Make(name string, c Config) (*schedule.Schedule, error) {
	c.Rounds = max(c.Rounds, 1)
	switch {
	case c.Ranks < 1 || c.Ranks > maxRanks:
		return nil, fmt.Errorf("%d ranks: it must be from 1 to %d", c.Ranks, maxRanks)
	case c.Size < 0 || c.Size > math.MaxInt32:
		return nil, fmt.Errorf("messages of %d bytes: a size is 0 to %d", c.Size, math.MaxInt32)
	case c.Rounds > MaxRounds:
		return nil, fmt.Errorf("%d rounds: at most %d", c.Rounds, MaxRounds)
	case c.Root < 0 || c.Root >= c.Ranks:
		return nil, fmt.Errorf("root %d: the ranks are 0 to %d", c.Root, c.Ranks-1)
	case c.Compute < 0 || c.Compute%unit.Nanosecond != 0:
		return nil, fmt.Errorf("computing for %v: it must be whole nanoseconds", c.Compute)
	}
	b := &StepBuilder{CopyTime: c.Copy, FoldTime: c.Fold}
	if i := slices.IndexFunc(Patterns, func(p *Pattern) bool { return p.Name == name }); i >= 0 {
		p := Patterns[i]
		if c.Algorithm != "" {
			return nil, fmt.Errorf("%s has no algorithm %q: only collective operations have algorithms", name, c.Algorithm)
		}
		p.build(b, c)
		return b.Build()
	}
	o, ok := collective.OperationNamed(name)
	if !ok {
		return nil, fmt.Errorf("there is no pattern %q%s", name, table.NameChoices(name, Names()))
	}
	a := collective.AlgorithmsOf(o)[0]
	if c.Algorithm != "" {
		if a = collective.AlgorithmNamed(o, c.Algorithm); a == nil {
			return nil, fmt.Errorf("%s has no algorithm %q%s", name, c.Algorithm, table.NameChoices(c.Algorithm, collective.NameForms(o)))
		}
	}
	job := o.StandardJob(c.Ranks, c.Size, c.Nodes)
	job.Root = c.Root
	if !a.Serves(job) {
		return nil, fmt.Errorf("%v needs %s", a, a.RankRequirement())
	}
	for rank := range c.Ranks {
		b.BeginRank()
		for range c.Rounds {
			b.Compute(c.Compute)
			b.AddCollective(a, job, rank, func(r int) int { return r })
		}
	}
	return b.Build()
}

func buildDissemination(b *StepBuilder, c Config) {
	for r := range c.Ranks {
		b.BeginRank()
		for range c.Rounds {
			b.Compute(c.Compute)
			for far := 1; far < c.Ranks; far *= 2 {
				b.send((r+far)%c.Ranks, c.Size)
				b.recv((r-far+c.Ranks)%c.Ranks, c.Size)
				b.EndStep()
			}
		}
	}
}

func buildExchange(b *StepBuilder, c Config) {
	for r := range c.Ranks {
		b.BeginRank()
		for range c.Rounds {
			b.Compute(c.Compute)
			for far := 1; far < c.Ranks; far++ {
				b.recv((r-far+c.Ranks)%c.Ranks, c.Size)
				b.send((r+far)%c.Ranks, c.Size)
			}
			b.Join()
		}
	}
}

func buildIncast(b *StepBuilder, c Config)  { buildStar(b, c, b.recv, b.send) }
func buildOutcast(b *StepBuilder, c Config) { buildStar(b, c, b.send, b.recv) }

// buildStar lets the root do one thing with every other rank, and these another with the root.
func buildStar(b *StepBuilder, c Config, root, leaf func(peer, size int)) {
	for r := range c.Ranks {
		b.BeginRank()
		for range c.Rounds {
			b.Compute(c.Compute)
			if r != c.Root {
				leaf(c.Root, c.Size)
				b.EndStep()
				continue
			}
			for i := 1; i < c.Ranks; i++ {
				root((c.Root+i)%c.Ranks, c.Size)
			}
			b.Join()
		}
	}
}

// buildTree has at place v of the tree the rank v places behind the root; its children are at 2 v +
// 1 and 2 v + 2.
func buildTree(b *StepBuilder, c Config) {
	rank := func(place int) int { return (c.Root + place) % c.Ranks }
	for r := range c.Ranks {
		place := (r - c.Root + c.Ranks) % c.Ranks
		children := func(do func(peer, size int)) {
			for child := 2*place + 1; child <= 2*place+2 && child < c.Ranks; child++ {
				do(rank(child), c.Size)
			}
			b.EndStep()
		}
		b.BeginRank()
		for range c.Rounds {
			children(b.recv)
			b.Compute(c.Compute)
			if place > 0 {
				b.send(rank((place-1)/2), c.Size)
				b.EndStep()
				b.recv(rank((place-1)/2), c.Size)
				b.EndStep()
			}
			children(b.send)
		}
	}
}

func buildRing(b *StepBuilder, c Config) {
	for r := range c.Ranks {
		b.BeginRank()
		for range c.Rounds {
			b.Compute(c.Compute)
			b.recv((r-1+c.Ranks)%c.Ranks, c.Size)
			b.send((r+1)%c.Ranks, c.Size)
			b.EndStep()
		}
	}
}

// squarestGrid returns the sides of a grid of ranks that is as square as it can be.
func squarestGrid(ranks int) (rows, columns int) {
	for rows = int(math.Sqrt(float64(ranks))); ranks%rows != 0; rows-- {
	}
	return rows, ranks / rows
}

func buildHalo(b *StepBuilder, c Config) {
	rows, columns := squarestGrid(c.Ranks)
	for r := range c.Ranks {
		y, x := r/columns, r%columns
		at := func(y, x int) int { return (y+rows)%rows*columns + (x+columns)%columns }
		b.BeginRank()
		for range c.Rounds {
			b.Compute(c.Compute)
			// A tag for each direction: with two ranks in a row both neighbours are one.
			for tag, d := range [4][2]int{{0, 1}, {0, -1}, {1, 0}, {-1, 0}} {
				b.Add(schedule.Op{Kind: schedule.Recv, Peer: uint32(at(y-d[0], x-d[1])), Size: uint64(c.Size), Tag: uint32(tag)})
				b.Add(schedule.Op{Kind: schedule.Send, Peer: uint32(at(y+d[0], x+d[1])), Size: uint64(c.Size), Tag: uint32(tag)})
			}
			b.Join()
		}
	}
}

func buildPipeline(b *StepBuilder, c Config) {
	for r := range c.Ranks {
		b.BeginRank()
		for range c.Rounds {
			if r > 0 {
				b.recv(r-1, c.Size)
				b.EndStep()
			}
			b.Compute(c.Compute)
			if r+1 < c.Ranks {
				b.send(r+1, c.Size)
				b.EndStep()
			}
		}
	}
}

// buildSweep is the communication of Sweep3D: Hoisie, Lubeck and Wasserman, Performance and
// Scalability Analysis of Teraflop-Scale Parallel Architectures Using Multidimensional Wavefront
// Applications,
// 2000.
func buildSweep(b *StepBuilder, c Config) {
	rows, columns := squarestGrid(c.Ranks)
	for r := range c.Ranks {
		y, x := r/columns, r%columns
		b.BeginRank()
		for corner, d := range [4][2]int{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}} {
			neighbour := func(dy, dx int) (int, bool) {
				ny, nx := y+dy, x+dx
				return ny*columns + nx, ny >= 0 && ny < rows && nx >= 0 && nx < columns
			}
			transfer := func(k schedule.Kind, dy, dx int) {
				if peer, ok := neighbour(dy, dx); ok {
					b.Add(schedule.Op{Kind: k, Peer: uint32(peer), Size: uint64(c.Size), Tag: uint32(corner)})
				}
			}
			for range c.Rounds {
				transfer(schedule.Recv, -d[0], 0)
				transfer(schedule.Recv, 0, -d[1])
				b.EndStep()
				b.Compute(c.Compute)
				transfer(schedule.Send, d[0], 0)
				transfer(schedule.Send, 0, d[1])
				b.EndStep()
			}
		}
	}
}
