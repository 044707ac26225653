package launch

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/machine"
)

// live runs the program of a rank on a thread of its own, and returns how it ended.
func live(n Node, rank int, pin bool, program func(device.Port) error) error {
	end := make(chan error, 1)
	go func() {
		err := fmt.Errorf("launch: the program of rank %d ended its goroutine", rank) // if it does
		defer func() {
			if v := recover(); v != nil {
				err = &device.Failure{Rank: rank, Value: v, Stack: debug.Stack()}
			} else if problem := n.Failure(); problem != nil {
				err = problem
			}
			end <- err
		}()
		runtime.LockOSThread() // and not unlocked: the thread ends with the rank, and so does where it is pinned
		if pin {
			if problem := machine.Pin(machine.RankProcessor(rank)); problem != nil {
				err = fmt.Errorf("launch: rank %d: %w", rank, problem)
				return
			}
		}
		n.Start()
		err = program(n.Port())
	}()
	return <-end
}
