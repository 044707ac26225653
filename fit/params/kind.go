package params

// Kind identifies a parameter. The S of LogGPS, a number of bytes, and the S of LoGH{sSP}, a time
// per byte, are two kinds.
type Kind uint8

// The kinds. A time that depends on the message size has two: its value at the start of a range of
// sizes, and the increase per byte.
const (
	NoKind                       Kind = iota
	Latency                           // L
	SendOverhead                      // o_s
	SendOverheadPerByte               // its slope
	RecvOverhead                      // o_r
	RecvOverheadPerByte               // its slope
	Gap                               // g
	GapPerByte                        // G
	OneWayTime                        // T: half a round trip of calls, including both overheads
	OneWayTimePerByte                 // its slope
	EagerLimit                        // S of LogGPS: the longest message that does not wait for its receiver
	IntraNodeSendOverhead             // s_s of LoGH{sSP}: o_s within a node
	IntraNodeSendOverheadPerByte      // its slope
	IntraNodeRecvOverhead             // s_r of LoGH{sSP}: o_r within a node
	IntraNodeRecvOverheadPerByte      // its slope
	IntraNodeGapPerByte               // S of LoGH{sSP}: G within a node
	NodeCount                         // H
	ProcessorCount                    // P
)

// Units of parameters.
const (
	UnitMicros        = "us"
	UnitMicrosPerByte = "us/B"
	UnitBytes         = "B"
	UnitCount         = "count"
)

// kindTable is the table of all kinds: the name and the unit that files and tables have.
var kindTable = [...]struct {
	name, unit string
	slope      Kind // for a time that depends on size: the kind of its slope
}{
	Latency:                      {"L", UnitMicros, NoKind},
	SendOverhead:                 {"o_s", UnitMicros, SendOverheadPerByte},
	SendOverheadPerByte:          {"o_s", UnitMicrosPerByte, NoKind},
	RecvOverhead:                 {"o_r", UnitMicros, RecvOverheadPerByte},
	RecvOverheadPerByte:          {"o_r", UnitMicrosPerByte, NoKind},
	Gap:                          {"g", UnitMicros, NoKind},
	GapPerByte:                   {"G", UnitMicrosPerByte, NoKind},
	OneWayTime:                   {"T", UnitMicros, OneWayTimePerByte},
	OneWayTimePerByte:            {"T", UnitMicrosPerByte, NoKind},
	EagerLimit:                   {"S", UnitBytes, NoKind},
	IntraNodeSendOverhead:        {"s_s", UnitMicros, IntraNodeSendOverheadPerByte},
	IntraNodeSendOverheadPerByte: {"s_s", UnitMicrosPerByte, NoKind},
	IntraNodeRecvOverhead:        {"s_r", UnitMicros, IntraNodeRecvOverheadPerByte},
	IntraNodeRecvOverheadPerByte: {"s_r", UnitMicrosPerByte, NoKind},
	IntraNodeGapPerByte:          {"S", UnitMicrosPerByte, NoKind},
	NodeCount:                    {"H", UnitCount, NoKind},
	ProcessorCount:               {"P", UnitCount, NoKind},
}

// Name returns the name that the kind has in files and tables.
func (k Kind) Name() string { return kindTable[k].name }

// Unit returns its unit.
func (k Kind) Unit() string { return kindTable[k].unit }

// KindOf returns the kind with a name and a unit, or NoKind.
func KindOf(name, unit string) Kind {
	for k, row := range kindTable {
		if row.name == name && row.unit == unit {
			return Kind(k)
		}
	}
	return NoKind
}

// kindOfSymbol returns the kind for a parameter's name in models.
func kindOfSymbol(name string) Kind {
	for k, row := range kindTable {
		if k != int(IntraNodeGapPerByte) && row.name == name && (row.unit != UnitMicrosPerByte || name == "G") {
			return Kind(k)
		}
	}
	return NoKind
}

// KindNames returns the names of all kinds, each once.
func KindNames() []string {
	var names []string
	seen := map[string]bool{"": true}
	for _, row := range kindTable {
		if !seen[row.name] {
			seen[row.name] = true
			names = append(names, row.name)
		}
	}
	return names
}
