package export

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/loggp/loggp/fit/params"
)

// simulatedMachine is what a simulator needs of one mode, in microseconds and bytes, with where
// each is from.
type simulatedMachine struct {
	subject, mode string
	params        []params.Parameter
	smallBytes    int // bytes of the smallest message that was measured

	latencyValue, gapPerByte valueWithMethod
	eager                    valueWithMethod // bytes

	// For a simulation, which need not stop where a parameter is not known.
	simulated       bool
	oneWay          float64  // T of the smallest message if L is not identifiable; 0: L is
	hasNoEagerLimit bool     // no S is seen: eager has the longest message that was measured
	notes           []string // what was assumed
}

// valueWithMethod is a value and its method.
type valueWithMethod struct {
	value  float64
	method string
}

// remedies say what to measure for a parameter that is missing.
var remedies = map[string]string{
	"L":   "measure rtt, o_s and o_r of this mode at small sizes (loggp measure; of other tools PRTT trains, LogP/MPI or netgauge's ng.out have all three)",
	"o_s": "measure the send call itself (timer11 or idle; PRTT(n,d,s) of other tools): round trips and bandwidth do not show it",
	"o_r": "measure the receive call of a message that is there (timer12; mode por of PRTT trains): round trips and bandwidth do not show it",
	"g":   "measure bursts of the smallest size (train, or PRTT(n,0,s))",
	"G":   "measure sizes up to where the time grows with them, at least three",
}

// missingError is the error of a parameter that a tool needs.
func (m *simulatedMachine) missingError(name, why string) error {
	if why == "" {
		why = "not identifiable in mode " + m.mode + ", or not measured"
	}
	return fmt.Errorf("%s, %s: %s; %s", m.subject, name, why, remedies[name])
}

// newMachine collects what all simulators need.
func newMachine(ps []params.Parameter, o Options) (*simulatedMachine, error) {
	if err := singleValue(ps); err != nil {
		return nil, err
	}
	m := &simulatedMachine{subject: selectSubject(ps[0]), mode: o.Mode, params: ps, simulated: o.simulated}
	if m.mode == "" {
		m.mode = "send"
	}
	if !slices.ContainsFunc(ps, func(p params.Parameter) bool { return p.Mode == m.mode }) {
		return nil, fmt.Errorf("%s: no parameters of mode %s: there are those of %s", m.subject, m.mode, strings.Join(sendModes(ps), ", "))
	}
	var err error
	for _, need := range []string{"o_s", "o_r"} {
		first := m.overheadRanges(m.mode, need)
		if len(first) == 0 {
			return nil, m.missingError(need, "")
		}
		m.smallBytes = max(m.smallBytes, first[0].From)
	}
	if m.latencyValue, err = m.requireParameter("L"); err != nil {
		way, unknown := params.EstimateAt(m.params, m.mode, params.OneWayTime, m.smallBytes)
		if !m.simulated || unknown != nil {
			return nil, err
		}
		m.oneWay = way.Value
		m.addNote("L: o_s and o_r overlap with the transfer: L is 0, and o half of the one-way time of %d bytes", m.smallBytes)
	}
	if m.gapPerByte, err = m.requireParameter("G"); err != nil {
		return nil, err
	}
	if m.eager, err = m.findEagerLimit(o); err != nil {
		if !m.simulated {
			return nil, err
		}
		sends := m.overheadRanges(m.mode, "o_s")
		m.eager, m.hasNoEagerLimit = valueWithMethod{value: float64(sends[len(sends)-1].To)}, true
		m.addNote("S: no eager limit is seen: messages of all sizes are sent at once")
	}
	return m, nil
}

// addNote notes an assumption.
func (m *simulatedMachine) addNote(format string, args ...any) {
	m.notes = append(m.notes, fmt.Sprintf("%s, "+format, append([]any{m.subject}, args...)...))
}

func sendModes(ps []params.Parameter) []string {
	var all []string
	for _, p := range ps {
		if p.Mode != "" && !slices.Contains(all, p.Mode) {
			all = append(all, p.Mode)
		}
	}
	return all
}

// requireParameter returns a parameter that does not depend on size, as fit.Value takes it.
func (m *simulatedMachine) requireParameter(name string) (valueWithMethod, error) {
	v, ok := params.ValueAt(m.params, m.mode, name, 0)
	if !ok {
		return valueWithMethod{}, m.missingError(name, "")
	}
	i := slices.IndexFunc(m.params, func(p params.Parameter) bool { return p.Mode == m.mode && p.Name == name && p.Value == v })
	return valueWithMethod{v, m.params[i].Method}, nil
}

// findGap returns g, which may be known by a bound only.
func (m *simulatedMachine) findGap(o Options) (valueWithMethod, error) {
	if n, err := m.requireParameter("g"); err == nil {
		return n, nil
	}
	i := slices.IndexFunc(m.params, func(p params.Parameter) bool { return p.Mode == m.mode && p.Name == "g" && p.IsBound() })
	switch {
	case i >= 0 && (o.TakesBounds || m.simulated):
		if !o.TakesBounds {
			m.addNote("g: only known to be at most %.6g us (%s), which is taken", m.params[i].Value, m.params[i].Method)
		}
		return valueWithMethod{m.params[i].Value, m.params[i].Method}, nil
	case i >= 0:
		return valueWithMethod{}, m.missingError("g", fmt.Sprintf("only known to be at most %.6g us (%s), which --bounds takes for it", m.params[i].Value, m.params[i].Method))
	}
	return valueWithMethod{}, m.missingError("g", "")
}

// overheadRanges returns the ranges of an overhead of a mode.
func (m *simulatedMachine) overheadRanges(mode, name string) []params.SizeRange {
	return params.SizeRanges(m.params, mode, params.KindOf(name, params.UnitMicros))
}

// maxOneWayError is the error of a one-way time beyond which a simulation by these numbers is
// doubtful.
const maxOneWayError = 0.1

// compareOneWay compares the one-way times that a simulator will have with those that were
// measured, T, at the ends of its ranges up to S, and says how far they are off.
func (m *simulatedMachine) compareOneWay(oneWay func(k int) float64) []string {
	var errors []float64
	worst, at := 0.0, 0
	for _, p := range m.params {
		if p.Mode != m.mode || p.Kind() != params.OneWayTime {
			continue
		}
		for _, k := range []int{p.From, p.To} {
			e, err := params.EstimateAt(m.params, m.mode, params.OneWayTime, k)
			if err != nil || k < 1 || k > int(m.eager.value) || e.Value <= 0 {
				continue
			}
			off := oneWay(k)/e.Value - 1
			if errors = append(errors, math.Abs(off)); math.Abs(off) >= math.Abs(worst) {
				worst, at = off, k
			}
		}
	}
	if len(errors) == 0 {
		return nil
	}
	line := fmt.Sprintf("One-way times by these numbers beside the measured T, up to S: %+.0f %% at most, at %d bytes.", 100*worst, at)
	if math.Abs(worst) > maxOneWayError {
		line += " DOUBTFUL: a simulation of such messages will be as far off."
	}
	return []string{line}
}

// overhead returns o_s or o_r at k bytes.
func (m *simulatedMachine) overhead(name string, k int) float64 {
	v, _ := params.ValueAt(m.params, m.mode, name, k)
	return v
}

// findEagerLimit returns S: what is given, or what the parameters show.
func (m *simulatedMachine) findEagerLimit(o Options) (valueWithMethod, error) {
	if o.EagerLimit > 0 {
		return valueWithMethod{float64(o.EagerLimit), "given"}, nil
	}
	limit, from, err := params.FindEagerLimit(m.params, m.mode)
	if err != nil {
		return valueWithMethod{}, fmt.Errorf("%s, S: %w", m.subject, err)
	}
	return valueWithMethod{limit, from}, nil
}
