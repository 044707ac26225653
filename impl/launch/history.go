package launch

import (
	"strings"
	"sync"
)

// history is how the runs of this process ended, by the arguments of their ranks: to a process with those arguments, they are the
// runs that come before its own.
type history struct {
	sync.Mutex // held during a run
	ended      map[string][]report
}

var runs history

// over notes the end of a run, of which rank 0 has left words.
func (h *history) over(args []string, err error, words []byte) {
	if h.ended == nil {
		h.ended = make(map[string][]report)
	}
	h.ended[line(args)] = append(h.ended[line(args)], reportOf(0, err, words))
}

// Begin says that a command with these arguments begins: runs that this process had before with the same arguments are of other commands, to
// which a process that is started for this one does not come. In a process that runs one command nobody need call it.
func Begin(args []string) {
	runs.Lock()
	defer runs.Unlock()
	delete(runs.ended, line(args))
}

// line makes one string of arguments, which have no zero bytes.
func line(args []string) string { return strings.Join(args, "\x00") }
