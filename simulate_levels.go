package loggp

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/program/goal"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// LevelTime is the time of a workload at one level of detail.
type LevelTime struct {
	Level  string
	Finish unit.Time
	Failed string // why there is no time; "": there is one
}

// LevelComparison is what CompareLevels has simulated: by LogGOPS, by flows and by packets.
type LevelComparison struct {
	Levels   [3]LevelTime
	document *doc.Document
}

// Document has the times and says which level is enough.
func (c *LevelComparison) Document() *doc.Document { return c.document }

// levelTolerance is how far the time of a cheap level may be from that of packets if it is enough.
const levelTolerance = 0.1

// CompareLevels simulates a workload on a platform by LogGOPS, with parameters fitted to small
// schedules that it runs, by flows, and by packets. Where a level cannot carry the workload it says
// why.
func CompareLevels(ctx context.Context, w *Workload, o FlowOptions) (*LevelComparison, error) {
	if o.Platform == "" {
		return nil, optionErrorf("Platform", "three levels need a machine that has links and a library: name one")
	}
	flows, _, err := o.simulate(ctx, w, "", "")
	if err != nil {
		return nil, err
	}
	p, err := o.change(o.Platform, "", "")
	if err != nil {
		return nil, err
	}
	j, err := newJob(withFreeRegistration(p), o.Library, len(w.Ranks), 0)
	if err != nil {
		return nil, err
	}
	c := &LevelComparison{Levels: [3]LevelTime{{Level: "LogGOPS"}, {Level: "flows", Finish: flows.Finish}, {Level: "packets"}}}
	s, err := w.Schedule()
	if err != nil {
		c.Levels[0].Failed, c.Levels[2].Failed = err.Error(), err.Error()
	} else if err := c.simulateMessages(ctx, j, s); err != nil {
		return nil, err
	}
	c.document = &doc.Document{Title: "Levels of " + cmp.Or(o.Name, "workload"), Answer: c.answer(), Footer: "Made by loggp."}
	c.document.AddTables("levels", "Time by level", c.table())
	return c, addPlatformError(c.document, o.Platform, o.Library)
}

// withFreeRegistration returns a platform on which letting interfaces access a buffer costs
// nothing. A workload is part of a job whose buffers are registered once, at their first use.
func withFreeRegistration(p *platform.Platform) *platform.Platform {
	free := func(n model.Network) model.Network {
		f, isFabric := n.(*model.Fabric)
		if !isFabric || f.NIC == nil || f.NIC.Registration == nil {
			return n
		}
		fabric, nic, registration := *f, *f.NIC, *f.NIC.Registration
		registration.Start, registration.Page = 0, 0
		fabric.NIC, nic.Registration = &nic, &registration
		return &fabric
	}
	changed, machine := *p, *p.Machine
	if machine.Nodes != nil {
		nodes := *machine.Nodes
		nodes.Inside = free(nodes.Inside)
		machine.Nodes = &nodes
	}
	machine.Network = free(machine.Network)
	changed.Machine = &machine
	return &changed
}

// simulateMessages adds the times by LogGOPS and by packets.
func (c *LevelComparison) simulateMessages(ctx context.Context, j *job.Job, s *schedule.Schedule) error {
	params, err := fitLogGOPS(ctx, j)
	if err != nil {
		return fmt.Errorf("parameters of %s: %w", j.Platform.Machine.Name, err)
	}
	res, err := s.Simulate(schedule.Options{Params: params})
	if err != nil {
		return fmt.Errorf("simulate: %w", err)
	}
	c.Levels[0].Finish = res.LastFinish
	packets := &c.Levels[2]
	if err := (goal.Execution{Schedule: s}).Check(); err != nil {
		packets.Failed = err.Error()
		return nil
	}
	if n := countChunks(s, j.Platform.Machine); n > maxSimulatedChunks {
		packets.Failed = fmt.Sprintf("%d chunks of messages, of which at most %d are simulated here: run the schedule", n, maxSimulatedChunks)
		return nil
	}
	finish, err := runSchedule(ctx, j, s)
	if err != nil {
		return fmt.Errorf("run on %s: %w", j.Platform.Machine.Name, err)
	}
	packets.Finish = slices.Max(finish)
	return nil
}

// maxSimulatedChunks is how many chunks of messages are simulated as packets, which takes about a
// minute.
const maxSimulatedChunks = 1 << 22

// countChunks returns how many chunks the messages of a schedule are, about.
func countChunks(s *schedule.Schedule, m *model.Machine) (n int) {
	chunk := 4096
	if f, isFabric := m.Network.(*model.Fabric); isFabric {
		chunk = f.Chunk
	}
	for rank := range s.CountRanks() {
		for _, o := range s.OpsOfRank(rank) {
			if o.Kind == schedule.Send {
				n += 1 + int(min(o.Size, math.MaxInt32*1024))/chunk
			}
		}
	}
	return n
}

// reference returns the most detailed level that has a time.
func (c *LevelComparison) reference() *LevelTime {
	if c.Levels[2].Failed == "" {
		return &c.Levels[2]
	}
	return &c.Levels[1]
}

// difference returns by which part the time of a level is above that of the reference.
func (c *LevelComparison) difference(l *LevelTime) float64 {
	return float64(l.Finish)/float64(max(c.reference().Finish, 1)) - 1
}

// answer says which level is enough.
func (c *LevelComparison) answer() string {
	of := c.reference()
	for i := range c.Levels {
		l := &c.Levels[i]
		if l == of {
			break
		}
		if d := c.difference(l); l.Failed == "" && math.Abs(d) <= levelTolerance {
			verb := map[bool]string{true: "is", false: "are"}[i == 0]
			return fmt.Sprintf("%s %s enough: within %.0f %% of %s.", strings.ToUpper(l.Level[:1])+l.Level[1:], verb, 100*levelTolerance, of.Level)
		}
	}
	if of == &c.Levels[1] {
		return "Flows are needed: messages share links and processors, of which LogGOPS knows nothing."
	}
	return "Packets are needed: neither LogGOPS nor flows come near them."
}

func (c *LevelComparison) table() *doc.Table {
	t := &doc.Table{Name: "levels", Title: "Time by level", Columns: []doc.Column{{Heading: "level", IsKey: true}, {Heading: "time\nus", Kind: doc.NumberColumn}, {Heading: "to " + c.reference().Level + "\n%", Kind: doc.NumberColumn}}}
	for i := range c.Levels {
		l := &c.Levels[i]
		if l.Failed != "" {
			t.AddRow(doc.TextCell(l.Level), doc.EmptyCell, doc.EmptyCell)
			t.AddNote("No time by %s: %s", l.Level, l.Failed)
			continue
		}
		difference := doc.EmptyCell
		if l != c.reference() {
			difference = doc.PercentCell(100 * c.difference(l))
		}
		t.AddRow(doc.TextCell(l.Level), microsCell(l.Finish), difference)
	}
	t.AddNote("LogGOPS: each message by itself. Flows: links, interfaces and processors are shared. Packets: a library on emulated hardware, whose ranks compute and communicate by one processor. Buffers are registered before: 'loggp run' registers them at their first use")
	return t
}
