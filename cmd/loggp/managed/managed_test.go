// Package managed_test runs loggp as users of clusters do: started by process managers. Its tests
// mostly wait for processes, and so have a package of their own, which go test runs beside others.
package managed_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/loggp/loggp/cmd/loggp/commandtest"
	"github.com/loggp/loggp/microbench/sample"
)

func TestMain(m *testing.M) {
	flag.Set("test.parallel", "4") // unless the command line says otherwise: the tests wait for processes
	os.Exit(commandtest.BuildAndRun(m, "../../.."))
}

// look reads the directories of the sources. A test that does is not taken from the cache when the
// program has changed.
func look() {
	const dir = "../../.."
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") || d.Name() == "out") {
			return fs.SkipDir
		}
		return err
	})
}

// small are the flags of a measurement that takes less than a second.
var small = []string{"--modes", "send", "--sizes", "0,1KB", "--reps", "8", "--launches", "2", "--wait", "block"}

// sees checks which files are in a directory.
func sees(t *testing.T, dir string, want ...string) {
	t.Helper()
	var got []string
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%s has %q, want %q: %v", dir, got, want, err)
	}
}

// processManagers are those that there may be, by how they are called for three ranks.
var processManagers = []struct {
	name string
	call string
}{
	{"Open MPI", "mpirun.openmpi --allow-run-as-root --oversubscribe -n 3"},
	{"MPICH", "mpirun.mpich -n 3"},
	{"Slurm, PMI-2", "srun --quiet --overcommit --mpi=pmi2 -n 3"},
	{"Slurm, variables", "srun --quiet --overcommit --mpi=none -n 3"},
}

// manager starts the ranks of a test.
type manager struct {
	index    int // in processManagers
	launcher []string
	dir      string // in which the ranks run
	temp     string // for files that they must not leave
}

// underManagers runs a test with each process manager that is there, in parallel.
func underManagers(t *testing.T, test func(t *testing.T, m manager)) {
	t.Parallel()
	look()
	for i, m := range processManagers {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			launcher := strings.Fields(m.call)
			if _, err := exec.LookPath(launcher[0]); err != nil {
				if os.Getenv("CI") != "" && launcher[0] != "srun" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			if launcher[0] == "srun" {
				needSlurm(t)
			}
			temp, err := os.MkdirTemp("/tmp", "l") // not deeper: Open MPI makes sockets there, whose names are short
			if err != nil {
				t.Fatal(err)
			}
			test(t, manager{i, launcher, t.TempDir(), temp})
			if left, _ := filepath.Glob(temp + "/loggp*"); left != nil {
				t.Errorf("%q are left", left)
			}
			os.RemoveAll(temp)
		})
	}
}

// slurm finds out once whether a Slurm cluster runs here.
var slurm = sync.OnceValue(func() error {
	if out, err := exec.Command("timeout", "5", "srun", "--quiet", "-n", "1", "true").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
})

func needSlurm(t *testing.T) {
	t.Helper()
	if err := slurm(); err != nil {
		t.Skipf("no Slurm cluster is running here (.ci/slurm starts one): %v", err)
	}
}

// run runs this program by a process manager.
func (m manager) run(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	cmd := m.command(t.Context(), args...)
	var o, e bytes.Buffer
	cmd.Stdout, cmd.Stderr = &o, &e
	cmd.Run()
	return o.String(), e.String(), cmd.ProcessState.ExitCode()
}

func (m manager) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, m.launcher[0], slices.Concat(m.launcher[1:], []string{commandtest.Command, "measure", "--platform"}, args)...)
	cmd.Dir, cmd.Env, cmd.WaitDelay = m.dir, append(os.Environ(), "TMPDIR="+m.temp), 5*time.Second
	return cmd
}

// Ranks that a process manager has started find each other, and are measured; rank 0 alone prints.
func TestManaged(t *testing.T) {
	underManagers(t, func(t *testing.T, m manager) {
		out, errs, status := m.run(t, append([]string{"tcp", "-o", "managed.csv"}, small...)...)
		if status != 0 || strings.Count(out, "LogGP parameters of tcp") != 1 || strings.Count(errs, "samples written to managed.csv") != 1 || strings.Count(errs, "spoiled this") > 1 {
			t.Fatalf("status %d:\n%s\n%s", status, out, errs)
		}
		sees(t, m.dir, "managed.csv")
		set, err := sample.ReadFile(filepath.Join(m.dir, "managed.csv"))
		if err != nil {
			t.Fatal(err)
		}
		host, _ := os.Hostname()
		for fact, want := range map[string]string{"host_0": host + "; 127.0.0.1; ", "host_2": host + "; 127.0.0.1; ", sample.RanksFact: "3", sample.PairFact: "0 2"} {
			if got, _ := set.Fact(fact); !strings.HasPrefix(got, want) {
				t.Errorf("the fact %s is %q, want %q", fact, got, want)
			}
		}
	})
}

// Wrong use is said once, by rank 0, whose status is the manager's.
func TestManagedMisuse(t *testing.T) {
	underManagers(t, func(t *testing.T, m manager) {
		for _, c := range []struct{ args, says string }{
			{"tcp --place 9,9", "loggp: --place: 9,9: the job has the ranks 0 to 2, no rank 9\n"},
			{"tcp --ranks 5", " has started 3\n"},
			{"tcp --hosts node2", " has started the ranks of this job\n"},
			{"shm", "has started 3 processes: start one, or take --platform tcp\n"},
		} {
			out, errs, status := m.run(t, strings.Fields(c.args)...)
			if status != 2 || strings.Count(out+errs, c.says) != 1 {
				t.Errorf("--platform %s: status %d:\n%s\n%s", c.args, status, out, errs)
			}
		}
	})
}

// Processes that were started with other arguments do not take part.
func TestManagedOthers(t *testing.T) {
	underManagers(t, func(t *testing.T, m manager) {
		if m.launcher[0] == "srun" {
			t.Skip("it starts several programs in another way")
		}
		m.launcher[len(m.launcher)-1] = "1"
		one := append([]string{"tcp", "--modes", "send"}, small...)
		another := slices.Concat([]string{":", "-n", "1", commandtest.Command, "measure", "--platform"}, one, []string{"--seed", "7"})
		out, errs, status := m.run(t, append(one, another...)...)
		if says := "rank 1 died: it was not started: it was started with the arguments "; status != 1 || strings.Count(out+errs, says) != 1 {
			t.Errorf("status %d:\n%s\n%s", status, out, errs)
		}
	})
}

// Ranks on several hosts find each other, too. The hosts are this one, by other names.
func TestManagedHosts(t *testing.T) {
	const alias = `unshare --user --map-root-user --uts sh -c 'hostname 127.0.0.$((${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}} + 1)) && exec "$@"' sh "$@"`
	if out, err := exec.Command("sh", "-c", alias, "sh", "true").CombinedOutput(); err != nil {
		t.Skipf("this system lets no process have a host name of its own: %v: %s", err, out)
	}
	underManagers(t, func(t *testing.T, m manager) {
		m.launcher = append(m.launcher, "sh", "-c", alias, "sh")
		out, errs, status := m.run(t, append([]string{"tcp", "--shared-dir", ".", "-o", "managed.csv"}, small...)...)
		if status != 0 {
			t.Fatalf("status %d:\n%s\n%s", status, out, errs)
		}
		sees(t, m.dir, "managed.csv")
		set, err := sample.ReadFile(filepath.Join(m.dir, "managed.csv"))
		if err != nil {
			t.Fatal(err)
		}
		for r := range 3 {
			want := fmt.Sprintf("127.0.0.%d; 127.0.0.1; ", r+1)
			if got, _ := set.Fact(fmt.Sprint("host_", r)); !strings.HasPrefix(got, want) {
				t.Errorf("rank %d is on host %q, want %q", r, got, want)
			}
		}
		if place := set.Series[0].Place; place != "inter" {
			t.Errorf("the ranks are %q", place)
		}
	})
}

// A job whose rank is killed ends with what happened to it; one that is interrupted, or whose agent
// or rank 0 is killed, ends, too. No process is left.
func TestManagedEnds(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for process managers")
	}
	underManagers(t, func(t *testing.T, m manager) {
		for i, c := range []struct {
			name   string
			signal syscall.Signal
			rank   int // of which a process gets the signal; -1: the manager
			agent  bool
			says   string
		}{
			{"a rank is killed", syscall.SIGKILL, 1, false, `loggp: measure on tcp: rank 1 died: signal: killed, on host `},
			{"an agent is killed", syscall.SIGKILL, 2, true, ""},
			{"rank 0 is killed", syscall.SIGKILL, 0, false, ""},
			{"the manager is interrupted", syscall.SIGINT, -1, false, ""},
		} {
			mark := fmt.Sprintf("--budget=%dms", 40_000_000+40*(os.Getpid()%1_000_000)+10*m.index+i) // hours, and no other measurement has it
			cmd := m.command(t.Context(), "tcp", "--wait", "block", mark, "-o", "managed.csv")
			var all bytes.Buffer
			cmd.Stdout, cmd.Stderr = &all, &all
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			var found []managedProcess
			complete := func() bool { // rank 0, two agents and their ranks are there
				found = processesWith(mark)
				agents := 0
				for _, p := range found {
					if p.agent {
						agents++
					}
				}
				return len(found) == 5 && agents == 2
			}
			for end := time.Now().Add(30 * time.Second); !complete() && time.Now().Before(end); {
				time.Sleep(20 * time.Millisecond)
			}
			if len(found) != 5 {
				t.Errorf("%s: there are the processes %+v", c.name, found)
			}
			pid := cmd.Process.Pid
			for _, p := range found {
				if c.rank == p.rank && c.agent == p.agent {
					pid = p.pid
				}
			}
			time.Sleep(50 * time.Millisecond)
			syscall.Kill(pid, c.signal)
			var again <-chan time.Time
			if strings.HasPrefix(m.launcher[0], "srun") && c.rank < 0 { // it asks to be interrupted twice within a second, and may be late to see the first
				ticker := time.NewTicker(300 * time.Millisecond)
				defer ticker.Stop()
				again = ticker.C
			}
			for limit, running := time.After(60*time.Second), true; running; {
				select {
				case <-ended:
					running = false
				case <-again:
					syscall.Kill(pid, c.signal)
				case <-limit:
					cmd.Process.Kill()
					t.Errorf("%s: the manager goes on", c.name)
					running = false
				}
			}
			status := cmd.ProcessState.ExitCode()
			if c.rank < 0 && status == 0 {
				status = 1 // Hydra may interrupt a process twice, and returns 0 if it dies by that
			}
			if status == 0 || !strings.Contains(all.String(), c.says) || strings.Count(all.String(), "LogGP") > 0 {
				t.Errorf("%s (of %+v): status %d:\n%s", c.name, found, status, all.String())
			}
			left := processesWith(mark)
			for end := time.Now().Add(5 * time.Second); len(left) > 0 && time.Now().Before(end); left = processesWith(mark) {
				time.Sleep(20 * time.Millisecond)
			}
			if len(left) > 0 {
				t.Errorf("%s: %+v are left", c.name, left)
			}
			sees(t, m.dir)
		}
	})
}

// managedProcess is one of this program's that a process manager or an agent has started.
type managedProcess struct {
	pid, rank int
	agent     bool
}

var rankVariables = regexp.MustCompile(`\x00(OMPI_COMM_WORLD_RANK|PMI_RANK|SLURM_PROCID)=(\d+)\x00`)

// processesWith returns those that have an argument.
func processesWith(argument string) (all []managedProcess) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		line, _ := os.ReadFile(dir + "/cmdline")
		env, _ := os.ReadFile(dir + "/environ")
		m := rankVariables.FindSubmatch(append([]byte{0}, env...))
		if m == nil || !bytes.HasPrefix(line, []byte(commandtest.Command+"\x00")) || !bytes.Contains(line, []byte("\x00"+argument+"\x00")) {
			continue
		}
		pid, _ := strconv.Atoi(filepath.Base(dir))
		rank, _ := strconv.Atoi(string(m[2]))
		all = append(all, managedProcess{pid, rank, rank > 0 && !bytes.Contains(env, []byte("LOGGP_RANK="))})
	}
	return all
}

// The scripts of docs/cluster.md measure this machine as a cluster, under mpirun and under Slurm if
// it is there.
func TestClusterScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("measures a cluster")
	}
	t.Parallel()
	look()
	script := func(name string) string {
		path, err := filepath.Abs("../../../docs/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	env := append(os.Environ(), "PATH="+commandtest.LinkCommand(t)+string(os.PathListSeparator)+os.Getenv("PATH"), "LOGGP_MEASURE=--quick --budget 300ms --launches 1",
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1", "SRUN_MPI=pmi2")
	for name, call := range map[string][]string{
		"cluster-mpirun.sh": {"sh", script("cluster-mpirun.sh"), "3", "--oversubscribe"},
		"cluster-slurm.sh":  {"sbatch", "--wait", "--ntasks", "2", "-o", "output.txt", script("cluster-slurm.sh")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := slices.Clip(env)
			if call[0] == "sbatch" {
				needSlurm(t)
				env = append(env, "MPICC=mpicc.mpich")
			} else if _, err := exec.LookPath("mpirun.openmpi"); err != nil {
				t.Skip(err)
			}
			dir, err := os.MkdirTemp("/tmp", "l") // not deeper: Open MPI makes sockets there, whose names are short
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { os.RemoveAll(dir) })
			cmd := exec.CommandContext(t.Context(), call[0], call[1:]...)
			cmd.Dir, cmd.Env = dir, env
			out, err := cmd.CombinedOutput()
			if err != nil {
				more, _ := os.ReadFile(filepath.Join(dir, "output.txt"))
				t.Fatalf("%v\n%s%s", err, out, more)
			}
			for _, page := range []string{"between-hosts", "within-host", "pairs", "collectives"} {
				if _, err := os.Stat(filepath.Join(dir, page, "index.html")); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
