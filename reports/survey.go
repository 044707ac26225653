package reports

import (
	"slices"
	"strings"

	"github.com/loggp/loggp/fit"
	"github.com/loggp/loggp/fit/compare"
	"github.com/loggp/loggp/microbench/sample"
)

// Survey is what is shown of transports that were measured on real machines, side by side.
type Survey struct {
	Title    string            // default: of the transports
	Machines []sample.Machine  // what was measured
	Results  []*fit.Result     // of each machine
	Fit      *compare.Survey   // of all of them
	Contrast *compare.Contrast // likewise; nil leaves out where calls that do not block pay
}

// subject is one transport as a page shows it.
type subject struct {
	*place          // its parameters and curves
	name     string // short: shm, Open MPI 4.1.4
	ink      ink
	shape    int             // of solidGlyphs
	facts    [][]sample.Fact // of each of its files
	launches int
}

// subjectInks are the colours of transports, in their order.
var subjectInks = []ink{blue, orange, green, violet, teal, rose, olive, black}

// subjects returns the transports in the order of the fit.
func (s *Survey) subjects() []subject {
	var all []subject
	for i, x := range s.Fit.Subjects {
		m := s.Machines[x.Machine]
		p := &place{platform: x.Platform, library: x.Library, place: x.Place}
		for _, q := range places(s.Results[x.Machine]) {
			if q.platform == p.platform && q.library == p.library && q.place == p.place {
				p = q
			}
		}
		all = append(all, subject{place: p, name: transport(x.Platform, x.Library, x.Name), ink: subjectInks[i%len(subjectInks)], shape: i % len(solidGlyphs),
			facts: factsOf(m, x), launches: launchesOf(m, x.Platform, x.Library, x.Place)})
	}
	return all
}

// transport returns the short name of a subject: of an MPI that of its library.
func transport(platform, library, name string) string {
	if platform != "mpi" {
		return name
	}
	name = strings.TrimPrefix(strings.TrimPrefix(name, "mpi"), "/")
	if !strings.Contains(name, library) {
		name = strings.TrimSuffix(library+", "+name, ", ")
	}
	return name
}

// factsOf returns the facts of the files that have samples of a subject.
func factsOf(m sample.Machine, x compare.Subject) [][]sample.Fact {
	var files []int
	for _, s := range m.Series {
		if s.Platform == x.Platform && s.Library == x.Library && s.Place == x.Place && !slices.Contains(files, s.File) {
			files = append(files, s.File)
		}
	}
	var out [][]sample.Fact
	for i, facts := range m.FactsByFile() {
		if slices.Contains(files, i) {
			out = append(out, facts)
		}
	}
	return out
}

// fact returns what the files of a subject say under the first of some keys that any of them has, each answer once.
func (s *subject) fact(keys ...string) string {
	for _, key := range keys {
		var answers []string
		for _, facts := range s.facts {
			for _, f := range facts {
				if f.Key == key && f.Value != "" && !slices.Contains(answers, f.Value) {
					answers = append(answers, f.Value)
				}
			}
		}
		if len(answers) > 0 {
			return strings.Join(answers, "; ")
		}
	}
	return ""
}

// look is how what blocks looks, and what does not.
func (s *subject) look() look { return look{ink: s.ink, glyph: solidGlyphs[s.shape]} }

func (s *subject) open() look {
	return look{ink: s.ink, glyph: hollowGlyphs[s.shape], dashed: true}
}
