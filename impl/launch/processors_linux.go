package launch

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Processors returns the processors on which this process may run, before any rank of it was pinned.
func Processors() []int { return allowed }

// allowed is asked for once: a thread that is pinned may run on one only.
var allowed = func() []int {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil
	}
	var list []int
	for cpu := 0; len(list) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			list = append(list, cpu)
		}
	}
	return list
}()

// Place returns the processor of a rank that is pinned, or -1 if there are none.
func Place(rank int) int {
	if len(allowed) == 0 {
		return -1
	}
	return allowed[rank%len(allowed)]
}

// Pin pins the calling thread to the processor of a rank: the first of those allowed to the first rank, and so on, around if there are more ranks.
func Pin(rank int) error {
	cpu := Place(rank)
	if cpu < 0 {
		return fmt.Errorf("launch: rank %d: it is not known on which processors it may run", rank)
	}
	var set unix.CPUSet
	set.Set(cpu)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("launch: pin rank %d to processor %d: %w", rank, cpu, err)
	}
	return nil
}
