package export

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/model/schedule"
	"github.com/loggp/loggp/model/unit"
)

// logGOPSim writes a command line of LogGOPSim (Hoefler, Schneider, Lumsdaine 2010,
// https://github.com/spcl/LogGOPSim).
//
// Its options -L -o -g -G -O -S are whole numbers of nanoseconds, nanoseconds a byte, and bytes. A
// message of k bytes takes its sender o + (k−1)·O, travels L, and takes its receiver o +
// (k−1)·max(G, O); the next can leave after g + (k−1)·G. One of more than S bytes ends its send
// when the receive is found. There is one o and one O for sends and receives: the means of ours.
var logGOPSim = Format{
	Name:        "logopsim",
	Description: "LogGOPSim: its command line, as a shell script",
	write:       writeLogGOPSim,
}

// simulatorOption is an option of the simulator, in picoseconds, and what it is from.
type simulatorOption struct {
	letter string
	picos  float64
	source string
}

func writeLogGOPSim(w io.Writer, ps []params.Parameter, o Options) error {
	m, err := newMachine(ps, o)
	if err != nil {
		return err
	}
	options, err := m.logGOPS(o)
	if err != nil {
		return err
	}
	step, name, err := m.outputUnit(options)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "#!/bin/sh\n# LogGOPS parameters of %s, mode %s, for LogGOPSim. Usage: sh THIS SCHEDULE.bin\n#\n", m.subject, m.mode)
	fmt.Fprintf(b, "# LogGOPSim computes in whole numbers. One is a %s here", name)
	if step != 1000 {
		fmt.Fprint(b, ", since some of these would be off by more than 1 % in nanoseconds:\n# multiply the times of computation (calc, in ns by convention) in the schedule by 1000, and divide its results by 1000")
	}
	fmt.Fprint(b, ".\n# One way, k bytes take o + L + (k-1)*max(G,O) + o; LogGP says o_s + L + (k-1)*G + o_r.\n#\n")
	for _, doubt := range m.compareOneWay(func(k int) float64 {
		l, o, big, perByte := options[0].picos, options[1].picos, options[3].picos, options[4].picos
		return (o + l + float64(k-1)*max(big, perByte) + o) / picosPerMicro
	}) {
		fmt.Fprintf(b, "# %s\n", doubt)
	}
	line := "LogGOPSim -f \"$1\""
	for _, x := range options {
		fmt.Fprintf(b, "# -%s %.6g ns: %s\n", x.letter, x.picos/1000, x.source)
		line += fmt.Sprintf(" -%s %.0f", x.letter, math.Round(x.picos/step))
	}
	fmt.Fprintf(b, "# -S %.0f bytes: %s\n\n%s -S %.0f\n", m.eager.value, m.eager.method, line, m.eager.value)
	return b.Flush()
}

const picosPerMicro = 1e6 // in a microsecond

// logGOPS returns the options that are times.
func (m *simulatedMachine) logGOPS(o Options) ([]simulatorOption, error) {
	g, err := m.findGap(o)
	if err != nil {
		return nil, err
	}
	s := max(int(m.eager.value), m.smallBytes+1)
	mean := func(k int) float64 { return (m.overhead("o_s", k) + m.overhead("o_r", k)) / 2 }
	small := mean(m.smallBytes)
	perByte := (mean(s) - small) / float64(s-m.smallBytes)
	from := fmt.Sprintf("(o_s + o_r)/2 grows by it a byte from %d to %d bytes", m.smallBytes, s)
	switch {
	case o.TakesSmallOverheads:
		perByte, from = 0, "overheads of small messages at all sizes, as asked for"
	case perByte < 0 && small+perByte*float64(s) > 0.9*small:
		perByte, from = 0, from+": it does not grow"
	case perByte < 0 && m.simulated:
		m.addNote("O: (o_s + o_r)/2 falls from %d to %d bytes: O is 0", m.smallBytes, s)
		perByte = 0
	case perByte < 0:
		return nil, fmt.Errorf("%s, O: (o_s + o_r)/2 falls from %.4g us to %.4g us from %d to %d bytes, and LogGOPSim has no overhead that falls: see the ranges of o_s and o_r, or charge those of small messages (--overheads small)",
			m.subject, small, mean(s), m.smallBytes, s)
	}
	return []simulatorOption{
		{"L", m.latencyValue.value * picosPerMicro, m.latencyValue.method},
		{"o", small * picosPerMicro, fmt.Sprintf("(o_s + o_r)/2 at %d bytes, o_s being %.6g ns and o_r %.6g ns", m.smallBytes, 1e3*m.overhead("o_s", m.smallBytes), 1e3*m.overhead("o_r", m.smallBytes))},
		{"g", g.value * picosPerMicro, g.method},
		{"G", m.gapPerByte.value * picosPerMicro, m.gapPerByte.method + ", a byte"},
		{"O", perByte * picosPerMicro, from},
	}, nil
}

// LogGOPSParameters returns the parameters that Write gives LogGOPSim, exact to a picosecond, for
// simulations. Options select as in Write. Where Write has no L, g, S or O, these are estimated:
//
//   - If o_s and o_r overlap with the transfer, so that L is not identifiable, L is 0, o is half of
//     the one-way time of a small message, and O is at most G.
//   - If g is known by a bound only, it is the bound.
//   - If no eager limit is seen, there is none.
//   - If overheads fall with the size, O is 0.
//
// notes says which of them were.
func LogGOPSParameters(ps []params.Parameter, o Options) (p schedule.Params, notes []string, err error) {
	o.simulated = true
	m, err := newMachine(params.ParametersOfPlace(ps, o.Platform, o.Library, o.Place), o)
	if err != nil {
		return p, nil, err
	}
	options, err := m.logGOPS(o)
	if err != nil {
		return p, nil, err
	}
	if m.oneWay > 0 {
		options[1].picos = m.oneWay / 2 * picosPerMicro
		options[4].picos = min(options[4].picos, options[3].picos)
	}
	for _, x := range options {
		if x.picos < 0 {
			return p, nil, fmt.Errorf("%s, %s: %.4g ns is negative", m.subject, x.letter, x.picos/1000)
		}
	}
	time := func(i int) unit.Time { return unit.Time(math.Round(options[i].picos)) }
	p = schedule.Params{
		L: time(0), Overhead: time(1), Gap: time(2),
		GapPerByte: roundPerByte(options[3].picos), OverheadPerByte: roundPerByte(options[4].picos), EagerLimit: uint64(m.eager.value),
	}
	if m.hasNoEagerLimit {
		p.EagerLimit = math.MaxUint64
	}
	return p, m.notes, nil
}

// roundPerByte rounds picoseconds a byte to nine digits, as more mean nothing.
func roundPerByte(picos float64) unit.PerByte {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(picos, 'g', 9, 64), 64)
	return unit.PerByte(x)
}

// outputUnit returns the unit of the numbers in picoseconds: a nanosecond if that makes none of
// them wrong by more than a percent.
func (m *simulatedMachine) outputUnit(options []simulatorOption) (step float64, name string, err error) {
	const coarse, most = 0.01, math.MaxInt32
	step, name = 1000, "nanosecond"
	for _, x := range options {
		if math.Abs(math.Round(x.picos/step)*step-x.picos) > coarse*x.picos {
			step, name = 1, "picosecond"
		}
	}
	for _, x := range options {
		switch {
		case x.picos < 0:
			return 0, "", fmt.Errorf("%s, %s: %.4g ns is negative", m.subject, x.letter, x.picos/1000)
		case x.picos/step > most:
			return 0, "", fmt.Errorf("%s, %s: %.4g ns are too many for LogGOPSim to count in %ss", m.subject, x.letter, x.picos/1000, name)
		}
	}
	return step, name, nil
}
