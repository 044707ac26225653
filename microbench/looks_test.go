package microbench

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// What a leader makes of looks is what testdata/looks.txt says, as package probe tests of its program.
func TestLooks(t *testing.T) {
	text, err := os.ReadFile("testdata/looks.txt")
	if err != nil {
		t.Fatal(err)
	}
	var l *leader
	var i *item
	var times timer
	var todo []errand
	for n, line := range strings.Split(string(text), "\n") {
		what, rest, _ := strings.Cut(line, " ")
		var of looks
		fmt.Sscan(rest, &of[0], &of[1])
		got := rest
		switch what {
		case "launch":
			i, times = &item{}, timer{}
			l = &leader{items: []*item{i}}
			l.earlier = of
		case "look":
			l.see(of)
		case "looks":
			var count int
			fmt.Sscan(rest, &count, &of[0], &of[1])
			for range count {
				l.see(of)
			}
		case "best":
			b := l.pace.best()
			got = fmt.Sprintf("%d %d", b[0], b[1])
		case "state":
			got = fmt.Sprintf("%d %d %s", of[0], of[1], wordOf(paces[l.state(of)]))
		case "visit":
			at := unit.Time(10 * i.rounds)
			times.times[0], times.times[1] = append(times.times[0], at), append(times.times[1], at+1)
			i.rounds++
			i.visits = append(i.visits, visit{i.rounds, of})
		case "parts":
			words := strings.Fields(rest)
			i.cell.Mode, times.name = words[0], words[1]
			got = words[0] + " " + words[1]
			for _, s := range l.parts(i, &times) {
				got += " " + wordOf(s.Pace)
				for _, x := range s.Times {
					got += fmt.Sprintf(" %d", x)
				}
			}
		case "aim":
			l.choose()
			scarce := 0
			if l.scarce {
				scarce = 1
			}
			got = fmt.Sprintf("%s %d", wordOf(paces[l.aim]), scarce)
		case "errands":
			todo = nil
			for _, w := range strings.Fields(rest) {
				todo = append(todo, errand{alone: w != "both", both: w != "alone"})
			}
		case "next":
			got = fmt.Sprint(l.next(todo))
		}
		if got != rest {
			t.Errorf("line %d: %s %s, but it comes to %s", n+1, what, rest, got)
		}
	}
}

// wordOf returns what the program calls a pace.
func wordOf(pace string) string {
	return []string{"full", "p1", "p2", "both"}[slices.Index(sample.Paced, pace)]
}
