package versus

import (
	"context"
	"os"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/impl/library/mpi"
)

// A way is how messages of our own travel: through the whole library, or as packets of the port.
type messagePath func(j *job.Job, w device.World, loads []load, half *[]float64) error

// messagePaths are by the first argument of the process that is rank 1: this binary.
var messagePaths = map[string]messagePath{"versus-library": pingPongThroughLibrary, "versus-port": pingPongThroughPort}

// ownCandidate plays between two ranks of a platform that is this machine.
func ownCandidate(platform, how string) func(context.Context, []load) ([]float64, error) {
	return func(ctx context.Context, loads []load) (half []float64, err error) {
		command := append([]string{how, platform}, encodeLoads(loads)...)
		return half, runJob(ctx, command, loads, &half)
	}
}

// runRank is the process of rank 1.
func runRank(command []string) error {
	loads, err := parseLoads(command[2:])
	if err != nil {
		return err
	}
	return runJob(context.Background(), command, loads, nil)
}

func runJob(ctx context.Context, command []string, loads []load, half *[]float64) error {
	j, err := job.NewLocal("", 2, job.LocalOptions{Platform: command[1], WaitPolicy: "spin", PinsRanks: true, RankCommand: command})
	if err != nil {
		return err
	}
	w, err := j.World(ctx, 0)
	if err != nil {
		return err
	}
	return messagePaths[command[0]](j, w, loads, half)
}

func pingPongThroughLibrary(j *job.Job, w device.World, loads []load, half *[]float64) error {
	return mpi.Run(w, j.MPIOptions(""), func(c *mpi.Comm) error {
		for _, l := range loads {
			out, in := l.buffer(), l.buffer()
			if c.Rank() == 1 {
				for range (l.blocks + 1) * l.trips {
					mpi.Recv(c, in, 0, 0)
					mpi.Send(c, out, 0, 0)
				}
				continue
			}
			*half = append(*half, l.measure(func(trips int) {
				for range trips {
					mpi.Send(c, out, 1, 0)
					mpi.Recv(c, in, 1, 0)
				}
			}))
		}
		return nil
	})
}

func pingPongThroughPort(_ *job.Job, w device.World, loads []load, half *[]float64) error {
	return w.Run(func(p device.Port) error {
		for _, l := range loads {
			q := &device.Packet{Data: l.buffer()}
			if p.Rank() == 1 {
				for range (l.blocks + 1) * l.trips {
					p.Recv(true)
					p.Send(0, q)
				}
				continue
			}
			*half = append(*half, l.measure(func(trips int) {
				for range trips {
					p.Send(1, q)
					p.Recv(true)
				}
			}))
		}
		return nil
	})
}

// runIfRank runs the process of rank 1, if this is one.
func runIfRank() (is bool, err error) {
	if len(os.Args) < 3 || messagePaths[os.Args[1]] == nil {
		return false, nil
	}
	return true, runRank(os.Args[1:])
}
