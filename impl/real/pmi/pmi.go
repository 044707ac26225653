// Package pmi finds the other ranks of a job whose processes a process manager has started: mpirun
// or srun.
//
// The manager tells each process its rank and the number of ranks (Find). Ranks then exchange short
// texts by allgather (Job.Allgather): over the manager's key-value space if it offers one by PMI-1,
// as MPICH's mpirun and 'srun --mpi=pmi2' do; otherwise by files in a directory, which on one host
// is the job's or the system's directory for temporary files. Only the user's processes can read
// them. Ranks use it to find each other; messages go over connections of their own.
package pmi

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Job is this process's place in a job that a process manager has started.
type Job struct {
	Manager    string // the users' name for it
	Rank, Size int
	Round      int    // how often Allgather was called
	Directory  string // that all hosts of the job share, for the exchange; "" is enough on one host, or if the manager has a key-value space

	jobID          string   // of the job, the same in all its processes; "": there is a key-value space
	hostDirectory  string   // directory that the processes of one host share
	onSeveralHosts bool     // ranks are on several hosts
	exchange       exchange // nil before the first Allgather
}

// exchange lets the processes of a job exchange texts, once in each round.
type exchange interface {
	allgather(ctx context.Context, round int, text string) ([]string, error)
	close(ctx context.Context) error // waits until all have read
}

// processManager describes the environment variables by which a process manager tells processes
// about their job.
type processManager struct {
	name                       string
	rankVariable, sizeVariable string
	idVariables                []string // that together name the job
	isOnSeveralHosts           func(get func(string) string) bool
	directoryVariable          string // that names a directory of the job on its host
}

// managers are tried in this order: processes also inherit the variables of a manager that started
// their own manager.
var managers = []processManager{
	{
		name: "Open MPI's mpirun", rankVariable: "OMPI_COMM_WORLD_RANK", sizeVariable: "OMPI_COMM_WORLD_SIZE", idVariables: []string{"PMIX_NAMESPACE"}, directoryVariable: "PMIX_SERVER_TMPDIR",
		isOnSeveralHosts: func(get func(string) string) bool {
			return get("OMPI_COMM_WORLD_LOCAL_SIZE") != get("OMPI_COMM_WORLD_SIZE")
		},
	},
	{name: "the process manager", rankVariable: "PMI_RANK", sizeVariable: "PMI_SIZE"},
	{
		name: "srun", rankVariable: "SLURM_PROCID", sizeVariable: "SLURM_STEP_NUM_TASKS", idVariables: []string{"SLURM_JOB_ID", "SLURM_STEP_ID"},
		isOnSeveralHosts: func(get func(string) string) bool { return get("SLURM_STEP_NUM_NODES") != "1" },
	},
}

// Find returns this process's place in the job of a process manager, or nil if no manager started
// it, or started it alone.
func Find() (*Job, error) { return findJob(os.Getenv) }

func findJob(get func(string) string) (*Job, error) {
	for _, m := range managers {
		if get(m.rankVariable) == "" || get(m.sizeVariable) == "" || m.idVariables == nil && get(socketVariable) == "" {
			continue
		}
		rank, err := strconv.Atoi(get(m.rankVariable))
		size, problem := strconv.Atoi(get(m.sizeVariable))
		if err != nil || problem != nil || rank < 0 || rank >= size {
			return nil, fmt.Errorf("pmi: %s has set %s=%s and %s=%s, which are not a rank and a number of ranks", m.name, m.rankVariable, get(m.rankVariable), m.sizeVariable, get(m.sizeVariable))
		}
		if size == 1 {
			return nil, nil
		}
		j := &Job{Manager: m.name, Rank: rank, Size: size, hostDirectory: get(m.directoryVariable)}
		for _, v := range m.idVariables {
			j.jobID += "-" + get(v)
		}
		if m.isOnSeveralHosts != nil {
			j.onSeveralHosts = m.isOnSeveralHosts(get)
		}
		return j, nil
	}
	return nil, nil
}

// arrivalTimeout is how long processes wait for each other.
var arrivalTimeout = time.Minute

// Allgather returns the texts of all processes, by rank. All processes must call it equally often.
func (j *Job) Allgather(ctx context.Context, text string) ([]string, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, arrivalTimeout, errNotArrived)
	defer cancel()
	if j.exchange == nil {
		if err := j.openExchange(); err != nil {
			return nil, fmt.Errorf("pmi: %w", err)
		}
	}
	j.Round++
	texts, err := j.exchange.allgather(ctx, j.Round, text)
	if err != nil {
		return nil, fmt.Errorf("pmi: %d ranks, started by %s: %w", j.Size, j.Manager, err)
	}
	return texts, nil
}

// errNotArrived is the error if a process has waited too long for the others.
var errNotArrived = fmt.Errorf("not all ranks have arrived within %v: has one failed to start or ended early? See the launcher's output", arrivalTimeout)

func (j *Job) openExchange() error {
	if j.jobID == "" {
		s, err := openKeyValueSpace(j.Rank, j.Size)
		if err == nil {
			j.exchange = s
		}
		return err
	}
	directory := j.Directory
	if directory == "" {
		if j.onSeveralHosts {
			return fmt.Errorf("the ranks are on several hosts, and %s offers no way to exchange their addresses: name a directory that these hosts share by --shared-dir, or use MPICH's mpirun or 'srun --mpi=pmi2'", j.Manager)
		}
		directory = j.hostDirectory
	}
	if directory == "" {
		directory = os.TempDir()
	}
	name := "loggp" + strings.Map(func(r rune) rune {
		if strings.ContainsRune("-._", r) || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			return r
		}
		return '_'
	}, j.jobID)
	f, err := openFileExchange(filepath.Join(directory, name), j.Rank, j.Size)
	if err == nil {
		j.exchange = f
	}
	return err
}

// Close ends the exchange. Rank 0 waits until all have read its texts, and then removes the
// exchange.
func (j *Job) Close() error {
	if j.exchange == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	err := j.exchange.close(ctx)
	j.exchange = closedExchange{}
	return err
}

// closeTimeout is how long rank 0 waits for the others when it closes the exchange.
const closeTimeout = 5 * time.Second

// closedExchange is an exchange that has ended.
type closedExchange struct{}

func (closedExchange) allgather(context.Context, int, string) ([]string, error) {
	return nil, errors.New("the exchange has ended")
}
func (closedExchange) close(context.Context) error { return nil }
