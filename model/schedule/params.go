package schedule

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/loggp/loggp/model/unit"
)

// Params are the parameters of LogGOPS. Hoefler, Schneider and Lumsdaine, LogGOPSim, HPDC 2010,
// section 2.
type Params struct {
	L               unit.Time    // latency
	Overhead        unit.Time    // o: the CPU is busy sending or receiving a message
	Gap             unit.Time    // g: an interface is busy with a message
	GapPerByte      unit.PerByte // G: for each byte after the first, longer
	OverheadPerByte unit.PerByte // O: for each byte after the first, the CPU is busy longer
	EagerLimit      uint64       // bytes of the longest message that is sent at once; longer ones wait for their receive
}

// DefaultParams are the parameters that LogGOPSim has if none are given.
var DefaultParams = Params{L: 2500 * unit.Nanosecond, Overhead: 1500 * unit.Nanosecond, Gap: 1000 * unit.Nanosecond, GapPerByte: 6000, EagerLimit: 65535}

// String prints the parameters as ParseParams reads them.
func (p Params) String() string {
	per := func(g unit.PerByte) string { return strings.TrimSuffix(g.String(), "/B") }
	text := fmt.Sprintf("L=%v,o=%v,g=%v,G=%s,O=%s", p.L, p.Overhead, p.Gap, per(p.GapPerByte), per(p.OverheadPerByte))
	if p.EagerLimit == math.MaxUint64 {
		return text
	}
	return fmt.Sprintf("%s,S=%d", text, p.EagerLimit)
}

// ParseParams reads parameters such as L=2500ns,o=1500ns,g=1000ns,G=6ns,O=0ns,S=65535: L, o and g
// are times, G and O times per byte (G=6ns and G=6ns/B are the same), S is a size. What is not
// given is 0; an S that is not given is no limit.
func ParseParams(s string) (Params, error) {
	p := Params{EagerLimit: math.MaxUint64}
	given := map[string]bool{}
	for _, item := range strings.Split(s, ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if !ok {
			return p, fmt.Errorf("parameter %q: write a name, = and a value, as in L=2500ns", item)
		}
		if given[name] {
			return p, fmt.Errorf("parameter %s stands twice", name)
		}
		given[name] = true
		var err error
		var size int
		switch name {
		case "L":
			p.L, err = unit.ParseTime(value)
		case "o":
			p.Overhead, err = unit.ParseTime(value)
		case "g":
			p.Gap, err = unit.ParseTime(value)
		case "G":
			p.GapPerByte, err = parsePerByte(value)
		case "O":
			p.OverheadPerByte, err = parsePerByte(value)
		case "S":
			size, err = unit.ParseSize(value)
			p.EagerLimit = uint64(size)
		default:
			err = errors.New("there is none: the parameters are L, o, g, G, O and S")
		}
		if err != nil {
			return p, fmt.Errorf("parameter %s: %w", name, err)
		}
	}
	return p, p.check()
}

func parsePerByte(s string) (unit.PerByte, error) {
	if s = strings.TrimSpace(s); strings.Trim(s, "0.") != "" && !strings.HasSuffix(s, "/B") {
		s += "/B"
	}
	return unit.ParsePerByte(s)
}

// Rounded returns the parameters as a dialect can have them: LogGOPSim has whole nanoseconds, and
// LGS a fractional G.
func (p Params) Rounded(d Dialect) Params {
	if d == LogGP {
		return p
	}
	const ns = unit.Nanosecond
	p.L, p.Overhead, p.Gap = (p.L+ns/2)/ns*ns, (p.Overhead+ns/2)/ns*ns, (p.Gap+ns/2)/ns*ns
	p.OverheadPerByte = unit.PerByte(math.Round(float64(p.OverheadPerByte)/1000) * 1000)
	if d == LogGOPSim {
		p.GapPerByte = unit.PerByte(math.Round(float64(p.GapPerByte)/1000) * 1000)
	}
	return p
}

// Most that a parameter may be, so that sums of many stay within a time.
const (
	longestTime        = 1000 * unit.Second
	longestTimePerByte = unit.PerByte(unit.Second)
)

func (p Params) check() error {
	for _, x := range []struct {
		name string
		time unit.Time
	}{{"L", p.L}, {"o", p.Overhead}, {"g", p.Gap}} {
		if x.time < 0 || x.time > longestTime {
			return fmt.Errorf("parameter %s is %v: it must be between 0 and %v", x.name, x.time, longestTime)
		}
	}
	for _, x := range []struct {
		name string
		gap  unit.PerByte
	}{{"G", p.GapPerByte}, {"O", p.OverheadPerByte}} {
		if !(x.gap >= 0 && x.gap <= longestTimePerByte) {
			return fmt.Errorf("parameter %s is %v: it must be between 0 and %v", x.name, x.gap, longestTimePerByte)
		}
	}
	return nil
}
