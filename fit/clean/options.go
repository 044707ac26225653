package clean

// Options configure a fit. The zero value has the defaults.
type Options struct {
	ReplicateCount  int     // bootstrap replicates; default 400
	Seed            uint64  // seed of the bootstrap
	ConfidenceLevel float64 // of the intervals; default 0.95
	MaxPieces       int     // maximum number of pieces of a curve; default 5
	Tolerance       float64 // relative deviation from a straight line that is ignored; default 0.005
}

func (o Options) WithDefaults() Options {
	if o.ReplicateCount <= 0 {
		o.ReplicateCount = 400
	}
	if o.ConfidenceLevel <= 0 || o.ConfidenceLevel >= 1 {
		o.ConfidenceLevel = 0.95
	}
	if o.MaxPieces <= 0 {
		o.MaxPieces = 5
	}
	if o.Tolerance <= 0 {
		o.Tolerance = 0.005
	}
	return o
}
