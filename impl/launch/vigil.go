package launch

import (
	"errors"
	"time"

	"github.com/loggp/loggp/impl/machine"
)

// errSwitchedOff says that the machine at the other end is switched off, or cannot be reached any more.
var errSwitchedOff = errors.New("its machine does not answer")

// A vigil is kept over the machine at the other end of a connection. Its kernel answers for it, so that a process may be stopped, or wait for a processor, for as long as it likes.
// Nothing is said while all is well but what kernels ask each other each second (keep-alive), which they do in whole seconds only and would wait for several answers. So who keeps the vigil
// looks whether an answer is due, says something then, which the kernel repeats several times in the following half second, and gives the machine up after that.
type vigil struct {
	seen  time.Duration // when it was looked last; 0: never
	doubt time.Duration // since when the other side has been silent, as far as was seen; 0: it is not
}

// Bounds of a vigil. A machine that is gone is given up after 1.8 s: a second until the kernel asks, a look later, and the doubt.
const (
	heed     = 150 * time.Millisecond // from one look to the next
	doubtful = 600 * time.Millisecond // or
	slowly   = 4                      // times a round trip, if that is longer
)

// look is told the time, whether an answer is due, and how long a round trip takes. It says whether the other side is to be asked, and whether it is gone. Who has not looked for
// a while was not running itself, and did not take in what may have come: then the doubt begins anew.
func (v *vigil) look(now time.Duration, due bool, trip time.Duration) (ask, gone bool) {
	late := v.seen != 0 && now-v.seen > 2*heed
	v.seen = now
	switch {
	case !due:
		v.doubt = 0
	case v.doubt == 0 || late:
		v.doubt = now
		return true, false
	default:
		return false, now-v.doubt >= max(doubtful, slowly*trip)
	}
	return false, false
}

// watch keeps a vigil until a channel is closed, and ends it when the machine at the other end is gone. What is said where an answer is due means nothing.
func watch(c *control, nothing any) {
	var v vigil
	for {
		time.Sleep(heed)
		due, trip, err := awaited(c.TCP)
		if err != nil { // it is closed
			return
		}
		switch ask, gone := v.look(time.Duration(machine.Now()), due, trip); {
		case gone:
			c.end(errSwitchedOff)
			return
		case ask:
			go c.say(nothing) // which waits where there is no room
		}
	}
}
