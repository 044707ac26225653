package clean

// Options says how to fit. The zero value is right.
type Options struct {
	Replicates int     // bootstrap replicates; default 400
	Seed       uint64  // of the bootstrap
	Level      float64 // of the intervals; default 0.95
	MaxPieces  int     // most pieces of a curve; default 5
	Tolerance  float64 // relative deviation from a straight line that is of no interest; default 0.005
}

func (o Options) Defaults() Options {
	if o.Replicates <= 0 {
		o.Replicates = 400
	}
	if o.Level <= 0 || o.Level >= 1 {
		o.Level = 0.95
	}
	if o.MaxPieces <= 0 {
		o.MaxPieces = 5
	}
	if o.Tolerance <= 0 {
		o.Tolerance = 0.005
	}
	return o
}
