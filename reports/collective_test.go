package reports

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/clean"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/collective"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/chart"
	"github.com/loggp/loggp/reports/chart/charttest"
	"github.com/loggp/loggp/reports/doc"
	"github.com/loggp/loggp/reports/format"
	"github.com/loggp/loggp/reports/pagetest"
	"github.com/loggp/loggp/reports/render"
)

// compared are the operations of together.
var compared = []collective.Operation{collective.Barrier, collective.Bcast, collective.Allgather, collective.Scan}

// counts returns how many algorithms they have, and how many times each library has of a number of
// ranks.
func counts() (algorithms, times int) {
	for _, o := range compared {
		n := len(collective.AlgorithmsOf(o))
		if algorithms += n; o == collective.Barrier {
			times += n
		} else {
			times += 5 * n
		}
	}
	return algorithms, times
}

// together is what two libraries of our own and an MPI took for collective operations, by formula:
// the first among 4 and 16 ranks, with a model, the second behind barriers alone and with few
// repetitions, the MPI among 4 ranks.
func together(t testing.TB) *CollectiveReport {
	t.Helper()
	sizes := []int{8, 64, 512, 4 << 10, 32 << 10}
	machine := func(file, platform, library string, ranks, reps int, start sample.Fact, more ...sample.Fact) sample.Machine {
		m := sample.Machine{Files: []string{file}, Set: &sample.Set{Facts: append([]sample.Fact{start, {Key: sample.RanksFact, Value: strconv.Itoa(ranks)}}, more...)}}
		for _, o := range compared {
			algorithms := collective.AlgorithmsOf(o)
			if platform == "mpi" {
				algorithms = []*collective.Algorithm{collective.NewUnknownAlgorithm(o, "vendor")}
			}
			for i, a := range algorithms {
				for _, k := range sizes {
					if o == collective.Barrier {
						k = 0
					}
					us := float64(5+3*i)*math.Log2(float64(ranks)) + float64(k)/float64(100+60*i)
					for timer, part := range map[string]float64{sample.TimerCollMin: 0.3, sample.TimerCollMedian: 0.8, sample.TimerCollMax: 0.9, sample.TimerCollLast: 1} {
						s := sample.Series{Key: sample.Key{Platform: platform, Library: library, Clock: "real", Place: "inter", Mode: o.String(), Protocol: a.Name, Timer: timer, Bytes: k}}
						for rep := range reps {
							s.Times = append(s.Times, unit.FromMicros(us*part*(1+0.02*math.Sin(float64(7*rep+k+i)))))
						}
						if _, agreed := strings.CutPrefix(start.Value, sample.NoCommonStartPrefix); !agreed || timer != sample.TimerCollLast {
							m.Series = append(m.Series, s)
						}
					}
					if o == collective.Barrier {
						break
					}
				}
			}
		}
		return m
	}
	command := func(s string) sample.Fact {
		return sample.Fact{Key: "command", Value: "loggp measure --collective " + s}
	}
	processor := sample.Fact{Key: "processor", Value: "A processor"}
	r := &CollectiveReport{Machines: []sample.Machine{
		machine("a.csv", "here", "loggp", 4, 20, sample.AgreedStartFact(9, 20), command("4"), processor),
		machine("b.csv", "here", "loggp", 16, 20, sample.AgreedStartFact(1, 20), command("16"), processor),
		machine("c.csv", "tcp", "loggp", 4, 3, sample.Fact{Key: sample.StartFact, Value: sample.NoCommonStartPrefix + "hosts have clocks of their own"}, sample.Fact{Key: sample.FailedChecksFact, Value: "load: high"}),
		machine("d.csv", "mpi", "Open MPI 4.1.4", 4, 20, sample.AgreedStartFact(0, 20)),
	}}
	r.gather(t)
	return r
}

// gather finds what is shown of the machines. The model is of the first subject, and 10 % below.
func (r *CollectiveReport) gather(t testing.TB) {
	t.Helper()
	var err error
	if r.Subjects, err = compare.GroupCollectiveSubjects(r.Machines); err != nil {
		t.Fatal(err)
	}
	if r.SideBySide = compare.CompareCollectives(r.Subjects, clean.Options{}); len(r.SideBySide.Rows) == 0 {
		r.SideBySide = nil
	}
	r.Times = nil
	for i, e := range r.Subjects {
		cs := compare.WithoutPrediction(e.Times)
		for j := range cs {
			if i == 0 {
				took, _ := cs[j].RankedTime()
				cs[j].Predicted, cs[j].Model = 0.9*took, "messages"
			}
		}
		r.Times = append(r.Times, cs)
	}
	r.Warnings = compare.CollectiveWarnings(r.Machines, r.Subjects)
	r.ModelGaps = []string{"of a vendor's MPI there is no model"}
}

// only returns the report of some of its machines.
func (r *CollectiveReport) only(t testing.TB, machines ...int) *CollectiveReport {
	out := &CollectiveReport{}
	for _, i := range machines {
		out.Machines = append(out.Machines, r.Machines[i])
	}
	out.gather(t)
	return out
}

// TestCollectivePage: the page has what it should, of whatever was measured, and can be read in a
// browser.
func TestCollectivePage(t *testing.T) {
	r := together(t)
	for _, of := range [][]int{{3}, {2}} {
		pagetest.Write(t, r.only(t, of...).Document())
	}
	p := pagetest.Write(t, r.Document())
	algorithms, times := counts()
	algorithms += len(compared) // the MPI has one of each, that nobody knows
	p.CheckFiles(t, "fastest-by-ranks.csv", "fastest.csv", "side-by-side.csv", "model.csv", "bcast.csv", "barrier.csv", "settings.csv", "facts.csv", "warnings.csv", "times.csv",
		"bcast-of-16-ranks-here-start.svg", "bcast-of-16-ranks-here-barrier.png", "scan-here-ranks.svg", "side-by-side-allgather-of-4-ranks.png", "bcast-of-4-ranks-tcp-barrier.svg", "bcast-of-4-ranks-Open-MPI-4.1.4.svg")
	p.CheckText(t, "Collective operations measured: here, tcp, Open MPI 4.1.4", fmt.Sprintf("of barrier, bcast, allgather, scan by %d algorithms among 4, 16 ranks, at 6 lengths from 0 B to 32 KiB.", algorithms),
		fmt.Sprintf("here: %[1]d of %[1]d times are sound", 2*times), fmt.Sprintf("tcp: 0 of %d times are sound; weak, and marked !, are some of barrier of 4 ranks", times), "here: of 40 common starts 10 were dropped", "Open MPI 4.1.4: all ranks came in time to 20 common starts",
		"tcp: behind barriers alone: hosts have clocks of their own", "tcp was disturbed: load: high", "of a vendor&#39;s MPI there is no model", "a rank came too late to 9 of 20 common starts", "fewer than 5 repetitions",
		"<code>loggp measure --collective 16</code>", "By LogGP with the parameters of messages")
	for _, wrong := range []string{"bcast-of-4-ranks-here-start.svg", "barrier-of-16-ranks-here-start.svg", "bcast-of-4-ranks-tcp-start.svg"} {
		if p.Files[wrong] != "" {
			t.Errorf("there is %s", wrong)
		}
	}
	p.CheckAppearance(t, pagetest.NewFault("table of all algorithms out of its box", pagetest.AddStyleRules(".box{max-width:none!important;overflow:visible!important;max-height:none!important}"), 380, false, "box"))
}

// TestHostileCollectives: whatever stands in names and facts, the page shows it as text, and files
// have names.
func TestHostileCollectives(t *testing.T) {
	const evil = pagetest.InjectedMarkup
	r := together(t)
	for i, m := range r.Machines {
		for j := range m.Series {
			m.Series[j].Library = evil + fmt.Sprint(i)
			m.Series[j].Protocol += evil
			if i == 3 && m.Series[j].Mode != "bcast" {
				m.Series[j].Mode += evil
			}
			if i == 2 && m.Series[j].Mode != "bcast" {
				m.Series[j].Mode += strings.ReplaceAll(evil, "<", ">")
			}
		}
		for j := range m.Facts {
			if m.Facts[j].Key != sample.RanksFact {
				m.Facts[j].Value += evil
			}
		}
	}
	pagetest.Write(t, r.only(t, 1, 2, 3).Document())
}

// TestCollectiveText: in a terminal it says the same as on the page, in lines that fit.
func TestCollectiveText(t *testing.T) {
	r := together(t)
	var b bytes.Buffer
	if err := render.WriteText(&b, r.Document(), render.Style{Width: 110, Verbose: true}); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(strings.ReplaceAll(b.String(), format.NonBreakingSpace, " ")), " ")
	for _, want := range []string{"The fastest algorithms by ranks and bytes on here", "The fastest algorithms of 16 ranks on here, loggp, between nodes", "by the model", "Collective operations side by side", "bcast of 4 ranks on tcp, loggp, between nodes", "The model on here",
		"How each transport was measured", "How far to trust it", "of a vendor's MPI there is no model", "no-common-start", fmt.Sprintf("barrier of 4 ranks, %[1]d of %[1]d times, bcast of 4 ranks, %[2]d of %[2]d times", len(collective.AlgorithmsOf(collective.Barrier)), 5*len(collective.AlgorithmsOf(collective.Bcast)))} {
		if !strings.Contains(text, want) {
			t.Errorf("nothing is said of %q", want)
		}
	}
	for line := range strings.Lines(b.String()) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > 110 {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// TestCollectiveCharts: in every width the labels of charts lie in the picture, none on another.
func TestCollectiveCharts(t *testing.T) {
	r := together(t)
	for _, of := range [][]int{{0, 1, 2, 3}, {3}} {
		x := r.only(t, of...)
		for _, c := range charts(x.Document()) {
			charttest.CheckLabels(t, c)
		}
	}
}

// By hand: among 4 ranks linear takes 10 us and a hundredth of a byte's, binomial 16 and a 160th,
// which is less from 1600 bytes on; of 16 ranks it is twice the time, and the turn comes at 3200
// bytes.
func TestFastestTables(t *testing.T) {
	r := together(t).only(t, 0, 1)
	for i := range r.Times {
		r.Times[i] = slices.DeleteFunc(r.Times[i], func(c compare.CollectiveComparison) bool {
			return c.Operation != "bcast" || c.Algorithm != "linear" && c.Algorithm != "binomial"
		})
	}
	fs := compare.FastestAlgorithms(r.Times[0])
	var b bytes.Buffer
	for _, x := range append([]*doc.Table{fastestByRanksTable("here", fs)}, fastestTables(fs)...) {
		if err := render.WriteTableCSV(&b, x); err != nil {
			t.Fatal(err)
		}
	}
	want := `group,ranks,8_B,64_B,512_B,4_KiB,32_KiB
bcast,4,linear,linear,linear,binomial,binomial
bcast,16,linear,linear,linear,binomial,binomial
`
	if got := b.String(); !strings.HasPrefix(got, want) || strings.Count(got, "group,bytes,measured,time_us,next,slower_percent,by_the_model,loss_percent") != 2 || !strings.Contains(got, "bcast,8,linear,10.1") {
		t.Errorf("%s", got)
	}
}

// A subject that has measured nothing that another has is not in the table, and the others are
// named by the letters of their columns.
func TestCollectiveSubjectTable(t *testing.T) {
	of := func(operation string, micros float64) compare.CollectiveSubject {
		return compare.CollectiveSubject{Platform: operation, Files: []string{"f"}, Times: []compare.CollectiveTimes{{Operation: operation, Algorithm: "x", Ranks: 4, Bytes: 8, Max: micros, LastRankEnd: math.NaN(), Low: micros, High: micros}}, Machines: []int{0}}
	}
	subjects := []compare.CollectiveSubject{of("scan", 1), of("bcast", 10), of("gather", 1), of("bcast", 25)}
	var b bytes.Buffer
	if err := render.WriteTableCSV(&b, collectiveTable(subjects, compare.CompareCollectives(subjects, clean.Options{}))); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "group,bytes,A_us,A_us_low,A_us_high,A's_fastest,B_us,B_us_low,B_us_high,B's_fastest,B/A,B/A_low,B/A_high\nbcast of 4 ranks,8,10,10,10,x,25,25,25,x,2.5,2.5,2.5\n"; got != want {
		t.Errorf("%s, not\n%s", got, want)
	}
}

// A model that is far from what was measured is named with its error; one that is near, or none, is
// not.
func TestFaithful(t *testing.T) {
	of := func(by string, predicted ...float64) []compare.CollectiveComparison {
		var cs []compare.CollectiveComparison
		for _, p := range predicted {
			cs = append(cs, compare.CollectiveComparison{CollectiveTimes: compare.CollectiveTimes{Operation: "bcast", LastRankEnd: 100, Low: 99, High: 101}, Predicted: p, Model: by})
		}
		return cs
	}
	for _, c := range []struct {
		cs   []compare.CollectiveComparison
		want string
	}{
		{nil, ""},
		{of("", math.NaN()), ""},
		{of("messages", 80, 124, 99), ""},
		{append(of("messages", 33, 170, 98), of("", math.NaN())...), "x: its model (messages) is off by 67 % at the median: go by what was measured."},
	} {
		if got := modelErrorSentence("x", c.cs); !strings.HasPrefix(got, c.want) || c.want == "" && got != "" {
			t.Errorf("%+v: %q", c.cs, got)
		}
	}
}

// Of many algorithms those that are the fastest at some length have colours, and lie over the
// others.
func TestManyAlgorithms(t *testing.T) {
	var cs []compare.CollectiveComparison
	for i, name := range []string{"linear", "binomial", "posted", "binomial-posted", "scatter-allgather", "pipelined-1KiB", "pipelined-8KiB"} {
		for _, k := range []int{8, 1024} {
			last := float64(10 + i)
			if name == "posted" && k == 1024 {
				last = 1
			}
			cs = append(cs, compare.CollectiveComparison{Predicted: math.NaN(), CollectiveTimes: compare.CollectiveTimes{Operation: "bcast", Algorithm: name, Ranks: 8, Bytes: k, LastRankEnd: last, Low: last, High: last}})
		}
	}
	a := algorithmChartOf(cs, false)
	var coloured []string
	for _, s := range a.Upper.LegendRows[0] {
		coloured = append(coloured, s.Name)
	}
	if !slices.Equal(coloured, []string{"linear", "posted"}) || len(a.Upper.LegendRows[1]) != 5 {
		t.Errorf("in colours: %v, grey: %d", coloured, len(a.Upper.LegendRows[1]))
	}
	if last := a.Upper.Series[len(a.Upper.Series)-1]; last.Style.Color == chart.Gray {
		t.Errorf("%s lies above all and is grey", last.Name)
	}
	if a := algorithmChartOf(cs[:12], false); a.isGrey {
		t.Error("six algorithms are not all in colours")
	}
}
