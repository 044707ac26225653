package loggp

import (
	"time"

	"github.com/loggp/loggp/impl/real/auth"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// MeasureOptions say what Measure measures, and where. Only Platform is required. An option without
// effect on the platform is an error.
//
// With platforms shm and tcp, ranks are processes of this program: the same executable with the
// same arguments, or with Args. They call Measure as well, which does not return in them.
type MeasureOptions struct {
	Platform string // an emulated machine, or this computer: shm (shared memory), tcp (loopback, or Hosts) or mpi (the installed MPI)
	Library  string // of the platform; "": its first
	Ranks    int    // 0: the platform's default
	Seed     uint64 // seed of the random numbers

	// Options for messages between two ranks.
	Place    string    // pair of ranks: intra, inter, or numbers such as 0,3; "": the first and the last
	Pairs    string    // "" or PairsOne: one pair; PairsAll: every pair, or 4096 random ranks' pairs if there are more
	Modes    []string  // names in microbench.SendModeNames and microbench.OptionalModeNames; "all": all of SendModeNames; nil: all, or few with PairsAll or Quick
	Sizes    []int     // in bytes; nil: the usual sizes of the platform
	MaxSize  int       // omits larger sizes, and without Sizes adds powers of two up to this; in bytes; 0: no limit
	Protocol string    // forced protocol, for which T_s and T_s-r are measured; ProtocolAuto measures them for the library's choice
	Level    string    // LevelMPI or LevelMessage; "": both where the platform has both
	Delta    unit.Time // wait before timer12; 0: derived from the duration of a round

	// Names of collective operations to measure instead, or "all".
	Collective []string
	Algorithm  string // only the algorithm with this name; "": all

	Reps   int     // repetitions with each root of the barrier; 0: 600, or on this computer as Precision and Budget require
	Warmup int     // untimed rounds before the repetitions; 0: the default; negative: none
	Noise  float64 // relative standard deviation of every processor step, at most 0.4; 0: none; negative: that of the platform

	// Options for this computer.
	Quick     bool          // take one second, with fewer modes, sizes and launches
	Budget    time.Duration // time limit; 0: 4 s, with Quick 1 s, with Reps none
	Precision float64       // required half width of a median's 95 % interval, relative to the median; 0: 0.02
	Launches  int           // number of times that the ranks are started; 0: 5 or more, with Quick 3
	Wait      string        // how ranks wait: spin or block; "": spin if each rank has its own processor
	NoPin     bool          // do not pin ranks to processors

	// Options for ranks on several hosts, with platform tcp.
	Hosts         []string                                               // hosts of ranks 1 and up, started over ssh
	Expect        int                                                    // number of further ranks, started by hand
	SSH           []string                                               // command that runs a command on a host; nil: ssh -o BatchMode=yes
	RemoteProgram string                                                 // path of this program on the hosts; "": the same as here
	Listen        string                                                 // address at which other hosts reach this one; "": that of the route to Hosts, or loopback
	SharedDir     string                                                 // directory shared by the hosts, by which ranks of Managed find each other; "": the manager's key-value space
	Managed       *launch.ManagedJob                                     // processes that mpirun or srun has started; nil: none
	AgentArgs     func(address string, rank int, untilEOF bool) []string // arguments with which this program becomes an agent; see launch.TeamConfig
	Announce      func(address string, token auth.Token, ranks []int)    // tells the user how the ranks of Expect join

	// Options for the installed MPI, platform mpi.
	MPICC    string        // its compiler; "": $MPICC, or mpicc
	Launcher []string      // command that starts the ranks; nil: the mpirun next to the compiler, with -n
	Timeout  time.Duration // time limit of a launch; 0: 5 minutes

	Args     []string              // arguments of processes started as ranks; nil: those of this process
	Command  string                // stored with the samples: the command that repeats the measurement
	Progress func(done, total int) // called with the progress of the measurement; nil: no function
}

// Places are the names for placements of a pair of ranks.
var Places = []string{model.IntraNode.String(), model.InterNode.String()}

// Values of fields of MeasureOptions.
const (
	PairsOne     = "one"
	PairsAll     = sample.AllPairsValue
	ProtocolAuto = "auto"
	LevelBoth    = "both"
	LevelMPI     = "mpi"
	LevelMessage = "message"
	ModesAll     = "all"
)
