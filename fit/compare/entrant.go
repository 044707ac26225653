package compare

import (
	"slices"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
)

// Entrant is whose collective operations were measured: a library of a platform, in one setting, among any numbers of ranks.
type Entrant struct {
	Name                     string // the platform, with as much more as tells it from the others
	Platform, Library, Clock string
	Place                    string // "" if there are several
	Files                    []string
	Machines                 []int        // of those that were given, those that have its samples
	Times                    []Collective // in their order
}

// Entrants returns whose collective operations some machines have measured, in the order of the machines. Of one library those are together that differ in the
// number of ranks alone.
func Entrants(machines []sample.Machine) ([]Entrant, error) {
	var all []*Entrant
	for i, m := range machines {
		times, err := Collectives(m.Set)
		if err != nil {
			return nil, err
		}
		for _, part := range byLibrary(times) {
			j := slices.IndexFunc(all, func(e *Entrant) bool { return e.takes(part) && alike(machines[e.Machines[0]].Set, m.Set) })
			if j < 0 {
				j, all = len(all), append(all, &Entrant{Platform: part[0].Platform, Library: part[0].Library, Clock: part[0].Clock})
			}
			e := all[j]
			e.Files, e.Machines, e.Times = append(e.Files, m.Files...), append(e.Machines, i), append(e.Times, part...)
		}
	}
	names := make([]*string, len(all))
	for i, e := range all {
		e.Name = platformName(e.Platform)
		names[i] = &e.Name
	}
	tell(names,
		func(i int) string { return strings.TrimPrefix(all[i].Platform, platformName(all[i].Platform)+":") },
		func(i int) string { return all[i].Library },
		func(i int) string { return all[i].Clock },
		func(i int) string { return setting(machines[all[i].Machines[0]].Set, sample.Wait) },
		func(i int) string { return setting(machines[all[i].Machines[0]].Set, sample.Noise) },
		func(i int) string { return strings.Join(all[i].Files, "+") })
	var out []Entrant
	for _, e := range all {
		e.Place = e.Times[0].Place
		if slices.ContainsFunc(e.Times, func(c Collective) bool { return c.Place != e.Place }) {
			e.Place = ""
		}
		out = append(out, *e)
	}
	return out, nil
}

// byLibrary parts times of one machine by platform, library and clock.
func byLibrary(times []Collective) [][]Collective {
	var all [][]Collective
	for _, c := range times {
		i := slices.IndexFunc(all, func(p []Collective) bool {
			return p[0].Platform == c.Platform && p[0].Library == c.Library && p[0].Clock == c.Clock
		})
		if i < 0 {
			i, all = len(all), append(all, nil)
		}
		all[i] = append(all[i], c)
	}
	return all
}

// setting returns the first word of a fact.
func setting(set *sample.Set, key string) string {
	value, _ := set.Fact(key)
	first, _, _ := strings.Cut(value, " ")
	return first
}

// takes says whether times are of the entrant's library, among other numbers of ranks than those that it has.
func (e *Entrant) takes(times []Collective) bool {
	return e.Platform == times[0].Platform && e.Library == times[0].Library && e.Clock == times[0].Clock &&
		!slices.ContainsFunc(e.Times, func(c Collective) bool {
			return slices.ContainsFunc(times, func(d Collective) bool { return d.Ranks == c.Ranks })
		})
}

// alike says whether two sets agree on the facts that change times, but for the number of ranks.
func alike(a, b *sample.Set) bool {
	for _, key := range []string{sample.PlatformSum, sample.Noise, sample.Wait} {
		x, inA := a.Fact(key)
		y, inB := b.Fact(key)
		if inA && inB && x != y {
			return false
		}
	}
	return true
}
