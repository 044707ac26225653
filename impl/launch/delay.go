package launch

import (
	"time"

	"github.com/loggp/loggp/impl/machine"
	"github.com/loggp/loggp/model/unit"
)

// oversleep is how long a sleep may last beyond its end: the kernel's slack of 50 µs, and the way back to a processor.
const oversleep = 200 * time.Microsecond

// doze is how long a rank that delays sleeps at most before it looks whether the job has failed.
const doze = 20 * time.Millisecond

// Delay returns after d. Before and between its sleeps it calls leave, which ends the goroutine if the job has failed; what is too short to sleep it spends awake, and
// gives others way then by yield, unless that is nil.
func Delay(d unit.Time, leave, yield func()) {
	leave()
	end := machine.Now() + int64((d+unit.Nanosecond-1)/unit.Nanosecond)
	for {
		rest := time.Duration(end - machine.Now())
		if rest <= 0 {
			return
		}
		if rest > oversleep {
			time.Sleep(min(rest-oversleep, doze))
			leave()
		} else if yield != nil {
			yield()
		}
	}
}
