package microbench

import (
	"github.com/loggp/loggp/impl/mpi"
	"github.com/loggp/loggp/model/unit"
)

// watch is the time of a launch as its first rank sees it.
type watch struct {
	clock      *mpi.Comm // whose clock it is
	begin, end unit.Time // end 0: there is none
}

// started returns a watch of a launch that begins now.
func (l Launch) started(c *mpi.Comm) watch {
	w := watch{clock: c, begin: c.Wtime()}
	if l.Share > 0 {
		w.end = w.begin + unit.Time(l.Share)*unit.Nanosecond
	}
	return w
}

// now returns the time.
func (w *watch) now() unit.Time { return w.clock.Wtime() }

// share returns a part of the launch's time, which has an end.
func (w *watch) share(part float64) unit.Time { return unit.Time(part * float64(w.end-w.begin)) }

// over says whether a part of the launch's time is over.
func (w *watch) over(part float64) bool { return w.end > 0 && w.now()-w.begin >= w.share(part) }

// left returns how much time there is.
func (w *watch) left() unit.Time { return max(0, w.end-w.now()) }
