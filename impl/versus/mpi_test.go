package versus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"time"
)

// An implementation is an MPI that is installed: the plain ping-pong in C is compiled and launched
// with it.
type installedMPI struct {
	compiler, launcher string
	environment        []string

	once    sync.Once
	program string
	err     error
}

var (
	openMPI = &installedMPI{compiler: "mpicc.openmpi", launcher: "mpirun.openmpi", environment: []string{
		"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}}
	mpich = &installedMPI{compiler: "mpicc.mpich", launcher: "mpirun.mpich"}
)

// isInstalled reports whether the MPI is installed.
func (m *installedMPI) isInstalled() bool {
	_, err := exec.LookPath(m.compiler)
	_, none := exec.LookPath(m.launcher)
	return err == nil && none == nil
}

// finalizeTimeout is how long an MPI may take to end when it has printed all times. Ranks of MPICH
// on UCX and TCP now and then wait for each other in MPI_Finalize: one for an answer to its last
// bytes, the other, which makes no progress meanwhile, for the barrier of the process manager.
const finalizeTimeout = 10 * time.Second

// candidate returns a candidate's ping-pong, launched with options.
func (m *installedMPI) candidate(options ...string) func(context.Context, []load) ([]float64, error) {
	return func(ctx context.Context, loads []load) ([]float64, error) {
		m.once.Do(m.compile)
		if m.err != nil {
			return nil, m.err
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		args := append(append(options, "-n", "2", m.program), encodeLoads(loads)...)
		c := exec.CommandContext(ctx, m.launcher, args...)
		c.Env = append(os.Environ(), m.environment...)
		c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) } // so that it ends its ranks
		c.WaitDelay = 5 * time.Second
		var stderr bytes.Buffer
		stdout := &pingPongOutput{linesLeft: len(loads), complete: func() { time.AfterFunc(finalizeTimeout, stop) }}
		c.Stdout, c.Stderr = stdout, &stderr
		if err := c.Run(); err != nil && stdout.linesLeft > 0 {
			return nil, fmt.Errorf("%s: %w\n%s", c, err, stderr.Bytes())
		}
		return parseTimes(stdout.text.Bytes(), loads)
	}
}

// pingPongOutput are what a ping-pong prints. It calls complete when the last of its lines is
// there.
type pingPongOutput struct {
	text      bytes.Buffer
	linesLeft int // that are still to come
	complete  func()
}

func (r *pingPongOutput) Write(b []byte) (int, error) {
	before := r.linesLeft
	r.linesLeft -= bytes.Count(b, []byte("\n"))
	if before > 0 && r.linesLeft <= 0 {
		r.complete()
	}
	return r.text.Write(b)
}

// compile compiles the program. It is gone with scratch.
func (m *installedMPI) compile() {
	m.program = filepath.Join(buildDirectory, "pingpong."+m.compiler)
	out, err := exec.Command(m.compiler, "-std=c99", "-O2", "-o", m.program, "testdata/pingpong.c").CombinedOutput()
	if err != nil {
		m.err = fmt.Errorf("%s cannot compile the ping-pong: %w\n%s", m.compiler, err, out)
	}
}

// parseTimes reads what the program has printed.
func parseTimes(out []byte, loads []load) (half []float64, err error) {
	for _, l := range loads {
		var n int
		var x float64
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		if _, err := fmt.Sscan(string(line), &n, &x); err != nil || n != l.bytes || !(x > 0) {
			return nil, fmt.Errorf("the ping-pong printed %q for %d bytes: %w", line, l.bytes, errors.Join(err, errors.New("bytes and nanoseconds are expected")))
		}
		half, out = append(half, x), rest
	}
	return half, nil
}
