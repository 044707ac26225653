package machine

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// affinity returns the processors on which the calling thread may run.
func affinity() []int {
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
}

// Pin keeps the calling thread on one processor. Its goroutine is to be locked to it.
func Pin(processor int) error {
	if processor < 0 {
		return errors.New("it is not known on which processors this process may run")
	}
	var set unix.CPUSet
	set.Set(processor)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return fmt.Errorf("pin a thread to processor %d: %w", processor, err)
	}
	return nil
}
