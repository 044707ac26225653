package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// A process finds its place by the variables of the manager that has started it.
func TestFindJob(t *testing.T) {
	openMPI := []string{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=4", "PMIX_NAMESPACE=123", "PMIX_SERVER_TMPDIR=/tmp/x"}
	hydra := []string{"PMI_FD=6", "PMI_RANK=2", "PMI_SIZE=3"}
	slurm := []string{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2", "SLURM_JOB_ID=7", "SLURM_STEP_ID=1", "SLURM_STEP_NUM_NODES=1"}
	for _, c := range []struct {
		name string
		env  []string
		want *Job
		says string
	}{
		{"none", nil, nil, ""},
		{"Open MPI", openMPI, &Job{Manager: "Open MPI's mpirun", Rank: 1, Size: 4, jobID: "-123", hostDirectory: "/tmp/x"}, ""},
		{"Open MPI on two hosts", append(openMPI[:4:4], "OMPI_COMM_WORLD_LOCAL_SIZE=2"), &Job{Manager: "Open MPI's mpirun", Rank: 1, Size: 4, jobID: "-123", onSeveralHosts: true}, ""},
		{"PMI", hydra, &Job{Manager: "the process manager", Rank: 2, Size: 3}, ""},
		{"srun", slurm, &Job{Manager: "srun", Size: 2, jobID: "-7-1"}, ""},
		{"srun on two hosts", append(slurm[:4:4], "SLURM_STEP_NUM_NODES=2"), &Job{Manager: "srun", Size: 2, jobID: "-7-1", onSeveralHosts: true}, ""},
		{"srun with PMI", append(slurm, hydra...), &Job{Manager: "the process manager", Rank: 2, Size: 3}, ""},
		{"mpirun within srun", append(slurm, openMPI...), &Job{Manager: "Open MPI's mpirun", Rank: 1, Size: 4, jobID: "-123", hostDirectory: "/tmp/x"}, ""},
		{"a script of sbatch", []string{"SLURM_PROCID=0", "SLURM_NTASKS=2", "SLURM_JOB_ID=7"}, nil, ""},
		{"alone", []string{"PMI_FD=6", "PMI_RANK=0", "PMI_SIZE=1"}, nil, ""},
		{"nonsense", []string{"PMI_FD=6", "PMI_RANK=3", "PMI_SIZE=3"}, nil, "pmi: the process manager has set PMI_RANK=3 and PMI_SIZE=3, which are not a rank"},
		{"no number", []string{"PMI_FD=6", "PMI_RANK=x", "PMI_SIZE=3"}, nil, "PMI_RANK=x"},
	} {
		j, err := findJob(func(name string) string {
			value := ""
			for _, v := range c.env { // the last counts
				if text, ok := strings.CutPrefix(v, name+"="); ok {
					value = text
				}
			}
			return value
		})
		if (err != nil || c.says != "") && (err == nil || c.says == "" || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: the error is %v, want %q", c.name, err, c.says)
		}
		if fmt.Sprintf("%+v", j) != fmt.Sprintf("%+v", c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, j, c.want)
		}
	}
}

// runRanks runs the processes of a job as goroutines.
func runRanks(t *testing.T, exchanges []exchange, do func(j *Job) error) {
	t.Helper()
	var all sync.WaitGroup
	for r, x := range exchanges {
		all.Go(func() {
			if err := do(&Job{Manager: "the test", Rank: r, Size: len(exchanges), exchange: x}); err != nil {
				t.Errorf("rank %d: %v", r, err)
			}
		})
	}
	all.Wait()
}

// allgatherTwice has two rounds.
func allgatherTwice(j *Job) error {
	for round := range 2 {
		text := func(rank int) string { return fmt.Sprintf("a text of rank %d, in=round %d\n", rank, round) }
		got, err := j.Allgather(context.Background(), text(j.Rank))
		if err != nil {
			return err
		}
		for r := range j.Size {
			if got[r] != text(r) {
				return fmt.Errorf("round %d: rank %d has %q", round, r, got[r])
			}
		}
	}
	if err := j.Close(); err != nil {
		return err
	}
	if _, err := j.Allgather(context.Background(), ""); err == nil {
		return errors.New("there is an exchange after its end")
	}
	return j.Close()
}

// All read what each has written, by files, and nothing is left of these.
func TestFileExchange(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "job")
	var all []exchange
	for r := range 5 {
		f, err := openFileExchange(directory, r, 5)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	runRanks(t, all, allgatherTwice)
	if _, err := os.Stat(directory); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory is left: %v", err)
	}
}

// A directory that others could read, or have made, is not used.
func TestForeignDirectoryIsRefused(t *testing.T) {
	base := t.TempDir()
	open := filepath.Join(base, "open")
	if err := os.Mkdir(open, 0o700); err != nil {
		t.Fatal(err)
	}
	os.Chmod(open, 0o750)
	link := filepath.Join(base, "link")
	os.Symlink(t.TempDir(), link)
	file := filepath.Join(base, "file")
	os.WriteFile(file, nil, 0o600)
	foreign := filepath.Join(base, "foreign")
	os.Mkdir(foreign, 0o700)
	places := []string{open, link, file}
	if os.Chown(foreign, 12345, -1) == nil {
		places = append(places, foreign)
	}
	for _, d := range places {
		if _, err := openFileExchange(d, 0, 2); err == nil || !strings.Contains(err.Error(), "remove it") {
			t.Errorf("%s: %v", d, err)
		}
	}
	if _, err := openFileExchange(filepath.Join(base, "no", "such"), 0, 2); err == nil {
		t.Error("a directory is made where there is none")
	}
}

// Waiting for ranks that do not come ends with an error that names them, or when it is cancelled.
func TestMissingRankIsNamed(t *testing.T) {
	arrivalTimeout = 100 * time.Millisecond
	defer func() { arrivalTimeout = time.Minute }()
	f, err := openFileExchange(filepath.Join(t.TempDir(), "job"), 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	j := &Job{Manager: "the test", Size: 2, exchange: f}
	if _, err := j.Allgather(context.Background(), ""); !errors.Is(err, errNotArrived) || !strings.Contains(err.Error(), "rank 1 has written nothing") {
		t.Error(err)
	}
	arrivalTimeout = time.Minute
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("enough")
	cancel(enough)
	if _, err := j.Allgather(ctx, ""); !errors.Is(err, enough) {
		t.Error(err)
	}
	s := &fakeManager{size: 2, values: make(map[string]string)}
	space, err := newKeyValueSpace(s.open(t), 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	arrivalTimeout = 100 * time.Millisecond
	j = &Job{Manager: "the test", Size: 2, exchange: space}
	if _, err := j.Allgather(context.Background(), ""); !errors.Is(err, errNotArrived) {
		t.Error(err)
	}
}

// Ranks on several hosts need a directory if there is no key-value space.
func TestSeveralHosts(t *testing.T) {
	j := &Job{Manager: "srun", Size: 2, jobID: "-7-1", onSeveralHosts: true}
	if _, err := j.Allgather(context.Background(), ""); err == nil || !strings.Contains(err.Error(), "--shared-dir") {
		t.Error(err)
	}
	j.Directory = t.TempDir()
	if err := j.openExchange(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(j.Directory, "loggp-7-1")); err != nil {
		t.Error(err)
	}
}

// fakeManager is a process manager's, with the answers that Hydra gives.
type fakeManager struct {
	size int

	mu     sync.Mutex
	values map[string]string
	here   []net.Conn // in the barrier
	change func(answer string) string
}

// open returns a rank's end of a connection.
func (s *fakeManager) open(t *testing.T) *os.File {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.SetNonblock(fds[0], true)
	far := os.NewFile(uintptr(fds[1]), "far")
	c, err := net.FileConn(far)
	far.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	go s.serve(c)
	return os.NewFile(uintptr(fds[0]), "near")
}

func (s *fakeManager) serve(c net.Conn) {
	defer c.Close()
	for lines := bufio.NewScanner(c); lines.Scan(); {
		v := make(map[string]string)
		for word := range strings.FieldsSeq(lines.Text()) {
			k, value, _ := strings.Cut(word, "=")
			v[k] = value
		}
		s.mu.Lock()
		answer := ""
		switch v["cmd"] {
		case "init":
			answer = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0"
		case "get_my_kvsname":
			answer = "cmd=my_kvsname kvsname=kvs_1_0"
		case "put":
			s.values[v["kvsname"]+v["key"]] = v["value"]
			answer = "cmd=put_result rc=0 msg=success"
		case "get":
			answer = "cmd=get_result rc=-1 msg=key_" + v["key"] + "_not_found value=unknown"
			if value, ok := s.values[v["kvsname"]+v["key"]]; ok {
				answer = "cmd=get_result rc=0 msg=success value=" + value
			}
		case "barrier_in":
			if s.here = append(s.here, c); len(s.here) == s.size {
				for _, there := range s.here {
					fmt.Fprintln(there, "cmd=barrier_out")
				}
				s.here = nil
			}
		case "finalize":
			answer = "cmd=finalize_ack"
		}
		if s.change != nil {
			answer = s.change(answer)
		}
		s.mu.Unlock()
		switch answer {
		case "":
		case "end":
			return
		default:
			fmt.Fprintln(c, answer)
		}
	}
}

// All read what each has written, by the key-value space of a process manager.
func TestKeyValueSpace(t *testing.T) {
	s := &fakeManager{size: 5, values: make(map[string]string)}
	var all []exchange
	for r := range s.size {
		x, err := newKeyValueSpace(s.open(t), r, s.size)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, x)
	}
	runRanks(t, all, allgatherTwice)
}

// A wrong answer of a process manager is an error that quotes it.
func TestKeyValueSpaceFails(t *testing.T) {
	for _, c := range []struct{ at, answer, says string }{
		{"response_to_init", "end", "closed the connection at init"},
		{"response_to_init", "cmd=response_to_init pmi_version=1 rc=-1", "rc=-1\" to init"},
		{"response_to_init", "who are you?", "answers \"who are you?\" to init"},
		{"my_kvsname", "end", "closed the connection at get_my_kvsname"},
		{"put_result", "cmd=put_result rc=-1 msg=full", "msg=full\" to put"},
		{"get_result", "cmd=get_result rc=-1 msg=none", "what rank 0 has written: the process manager answers"},
		{"get_result", "cmd=get_result rc=0 value=%zz", "what rank 0 has written: invalid URL escape"},
		{"finalize_ack", "end", "closed the connection at finalize"},
	} {
		s := &fakeManager{size: 1, values: make(map[string]string)}
		s.change = func(answer string) string {
			if strings.HasPrefix(answer, "cmd="+c.at) {
				return c.answer
			}
			return answer
		}
		x, err := newKeyValueSpace(s.open(t), 0, 1)
		if err == nil {
			j := &Job{Manager: "the test", Size: 1, exchange: x}
			_, err = j.Allgather(context.Background(), "text")
			if problem := j.Close(); err == nil {
				err = problem
			}
		}
		if err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s becomes %q: the error is %v, want %q", c.at, c.answer, err, c.says)
		}
	}
}
