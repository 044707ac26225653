package params

import "github.com/loggp/loggp/microbench/sample"

// addRMAParameters adds the parameters of the modes put and get of windows: T, the time of an
// access with its flush; o_s, the time of the call itself; and G, the slope of the longest
// accesses. There is neither L nor g, because no timer observes the target, or what a second access
// waits for.
func (m Mode) addRMAParameters() {
	timer := sample.TimerPut
	if m.Name == "get" {
		timer = sample.TimerGet
	}
	access, flush := m.TimerCurve(timer), m.TimerCurve(sample.TimerFlush)
	if access == nil {
		return
	}
	if flush != nil {
		call := access.Minus(flush, timer+MethodAccessLessFlush, m.Options.ConfidenceLevel)
		call.CutIntoPieces(m.Options)
		m.DerivedCurves = append(m.DerivedCurves, *call)
		m.addSizeRanges(SendOverhead, call)
	}
	m.addSizeRanges(OneWayTime, access)
	m.addGapPerByteFromLastPiece(access, false)
}
