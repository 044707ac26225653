package loggp

import (
	"time"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// MeasureOptions say what Measure measures, and where. Only Platform is required. An option that
// has no effect on the platform is an error.
//
// With platforms shm and tcp the ranks are processes of this program: the same executable with the
// same arguments, or with Args. They call Measure as well, which does not return in them.
type MeasureOptions struct {
	Platform string // an emulated machine, or this machine: shm (shared memory), tcp (loopback, or Hosts) or mpi (the installed MPI)
	Library  string // of the platform; "": its first
	Ranks    int    // 0: the platform's default
	Seed     uint64 // of the random numbers

	// Messages between two ranks.
	Place    string    // the pair: intra, inter, or two ranks such as 0,3; "": the first and the last
	Pairs    string    // "" or PairsOne; PairsAll: every pair, of ranks drawn at random beyond 4096 pairs
	Modes    []string  // of microbench.SendModeNames and microbench.OnRequestModeNames; "all" is every one of the former; nil: all, or few with PairsAll or Quick
	Sizes    []int     // in bytes; nil: those usual on the platform
	MaxSize  int       // leaves out longer sizes, and without Sizes adds powers of two up to it; 0: no limit
	Protocol string    // forced, with its T_s and T_s-r measured; ProtocolAuto measures them of the library's choice
	Level    string    // LevelMPI or LevelMessage; "": both where the platform has both
	Delta    unit.Time // wait before timer12; 0: by the length of a round

	// Collective operations of all ranks instead: names, or "all".
	Collective []string
	Algorithm  string // the algorithm of that name alone; "": all

	Reps   int     // repetitions with each root of the barrier; 0: 600, or on this machine by Precision and Budget
	Warmup int     // untimed rounds before the repetitions; 0: as usual; negative: none
	Noise  float64 // relative standard deviation of every processor step, up to 0.4; 0: none; negative: that of the platform

	// On this machine.
	Quick     bool          // take one second, with fewer modes, sizes and launches
	Budget    time.Duration // time limit; 0: 4 s, with Quick 1 s, with Reps none
	Precision float64       // wanted half width of a median's 95 % interval, relative to it; 0: 0.02
	Launches  int           // how often the ranks are started; 0: 5 or more, with Quick 3
	Wait      string        // how ranks wait: spin or block; "": spin if each rank has its own processor
	NoPin     bool          // do not pin each rank to a processor of its own

	// The hosts of ranks on platform tcp.
	Hosts         []string                                               // of the ranks from 1 up, started over ssh
	Expect        int                                                    // further ranks that are started by hand
	SSH           []string                                               // the command that runs one on a host; nil: ssh -o BatchMode=yes
	RemoteProgram string                                                 // path of this program on the hosts; "": as here
	Listen        string                                                 // address at which others reach this one; "": that of the way to Hosts, or loopback
	SharedDir     string                                                 // directory that the hosts share, by which ranks of Managed find each other; "": the manager's key-value space
	Managed       *launch.ManagedJob                                     // processes that mpirun or srun has started; nil: none
	AgentArgs     func(address string, rank int, untilEOF bool) []string // of this program, to become an agent; see launch.TeamConfig
	Announce      func(address string, token auth.Token, ranks []int)    // tells the user how the ranks of Expect join

	// The installed MPI, platform mpi.
	MPICC    string        // its compiler; "": $MPICC, or mpicc
	Launcher []string      // the command that starts the ranks; nil: the mpirun beside the compiler, with -n
	Timeout  time.Duration // of a launch; 0: 5 minutes

	Args     []string              // of a process that is started as a rank; nil: those of this process
	Command  string                // kept with the samples: how to measure them again
	Progress func(done, total int) // told how far the measurement is; nil: nobody
}

// Places are the names of placements of a pair of ranks.
var Places = []string{model.IntraNode.String(), model.InterNode.String()}

// Values of MeasureOptions.
const (
	PairsOne     = "one"
	PairsAll     = sample.AllPairsValue
	ProtocolAuto = "auto"
	LevelBoth    = "both"
	LevelMPI     = "mpi"
	LevelMessage = "message"
	ModesAll     = "all"
)
