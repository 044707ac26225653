package launch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// start starts all ranks but the first.
//
// The kernel kills them when the thread that started them ends, which is to be that of the process: so they are started on
// a thread that stays until all are buried.
func (j *job) start(shared *os.File) error {
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := j.startAll(shared)
		started <- err
		j.ranks.Wait()
	}()
	return <-started
}

func (j *job) startAll(shared *os.File) error {
	if j.Ranks == 1 {
		return nil
	}
	exe, err := os.Executable()
	if err != nil {
		return fmt.Errorf("launch: %w", err)
	}
	for rank := 1; rank < j.Ranks; rank++ {
		if err := j.startOne(exe, rank, shared); err != nil {
			return fmt.Errorf("launch: start rank %d: %w", rank, err)
		}
	}
	return nil
}

// grace is how long the standard error of a rank that has ended may be held open by what it has started.
const grace = 500 * time.Millisecond

// process is a rank that was started.
type process struct {
	*exec.Cmd
	rank   int
	words  words
	report *os.File // its
	hold   *os.File // open as long as it may live
}

func (j *job) startOne(exe string, rank int, shared *os.File) error {
	theirOrders, orders, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirOrders.Close()
	report, theirReport, err := os.Pipe()
	if err != nil {
		orders.Close()
		return err
	}
	defer theirReport.Close()
	token := rand.Text()
	p := &process{Cmd: exec.Command(exe, j.Args...), rank: rank, report: report, hold: orders}
	p.Env = append(without(os.Environ()), rankVariable+"="+strconv.Itoa(rank), tokenVariable+"="+token)
	p.Stderr = &p.words
	p.WaitDelay = grace
	p.ExtraFiles = []*os.File{theirOrders, theirReport, shared}
	p.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true, // an interrupt from the terminal is for rank 0, which ends the others
		Pdeathsig: syscall.SIGKILL,
	}
	if err := p.Start(); err != nil {
		orders.Close()
		report.Close()
		return err
	}
	go json.NewEncoder(orders).Encode(j.orders(rank, token)) // a rank that dies does not read them
	j.ranks.Go(func() { j.attend(p) })
	return nil
}

func (j *job) orders(rank int, token string) orders {
	return orders{Token: token, Rank: rank, Ranks: j.Ranks, Args: j.Args, Earlier: runs.ended[line(j.Args)]}
}

// without returns an environment without what makes a process a rank.
func without(env []string) []string {
	var kept []string
	for _, v := range env {
		if !strings.HasPrefix(v, rankVariable+"=") && !strings.HasPrefix(v, tokenVariable+"=") {
			kept = append(kept, v)
		}
	}
	return kept
}

// attend stays with a rank until it has ended, and kills it if the job fails.
func (j *job) attend(p *process) {
	buried := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		select {
		case <-j.stop:
			p.Process.Kill()
		case <-buried:
		}
	})
	var r report
	unread := json.NewDecoder(p.report).Decode(&r)
	if unread == nil && r.Kind != done {
		j.end(r.err()) // before those that stumble over it
	}
	err := p.Wait()
	close(buried)
	killer.Wait()
	p.report.Close()
	p.hold.Close()
	if unread != nil {
		j.end(&Death{p.rank, status(err), p.words.String()})
	}
}

// status says how a process ended that was to say more.
func status(err error) string {
	var exit *exec.ExitError
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return "it ended before it came to the run: code between runs must do the same in every process"
	case errors.As(err, &exit):
		return exit.ProcessState.String()
	}
	return err.Error()
}

// inherited says whether the files of a rank are there, and keeps them from processes that it starts.
func inherited() error {
	for fd := ordersFile; fd <= sharedFile; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return fmt.Errorf("file %d: %w", fd, err)
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(ordersFile, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return errors.New("there are no orders")
	}
	return nil
}
