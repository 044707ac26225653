package launch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is a rank that was started on this host.
type process struct {
	*exec.Cmd
	rank   int
	words  words
	report *os.File // its
	hold   *os.File // open as long as it may live
}

// start starts a rank on this host. The kernel kills it when the thread that calls this ends.
func start(o orders, shared *os.File) (*process, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	theirOrders, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirOrders.Close()
	report, theirReport, err := os.Pipe()
	if err != nil {
		orders.Close()
		return nil, err
	}
	defer theirReport.Close()
	o.Token = rand.Text()
	p := &process{Cmd: exec.Command(exe, o.Args...), rank: o.Rank, report: report, hold: orders}
	p.Env = append(without(os.Environ()), rankVariable+"="+strconv.Itoa(o.Rank), tokenVariable+"="+o.Token)
	p.Stderr = &p.words
	p.WaitDelay = grace
	p.ExtraFiles = []*os.File{theirOrders, theirReport, shared}
	bind(p.Cmd)
	if err := p.Start(); err != nil {
		orders.Close()
		report.Close()
		return nil, err
	}
	go json.NewEncoder(orders).Encode(o) // a rank that dies does not read them
	return p, nil
}

// bind makes a command end with the thread that starts it, and keeps the terminal's interrupts from it.
func bind(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Setpgid:   true, // an interrupt from the terminal is for rank 0, which ends the others
		Pdeathsig: syscall.SIGKILL,
	}
}

// attend stays with a rank until it has ended, and kills it when stop is closed; before that it lets it say where it is if asks. It says what the rank
// reports, and returns how it died if it did without.
func (p *process) attend(stop <-chan struct{}, asks *bool, reported func(report)) *Death {
	buried := make(chan struct{})
	var killer sync.WaitGroup
	killer.Go(func() {
		select {
		case <-stop:
			if *asks {
				p.ask(buried)
			}
			p.Process.Kill()
		case <-buried:
		}
	})
	var r report
	reports := json.NewDecoder(p.report)
	unread := reports.Decode(&r)
	began := r.Kind == begun
	if began {
		r = report{}
		unread = reports.Decode(&r)
	}
	if unread == nil {
		reported(r)
	}
	err := p.Wait()
	close(buried)
	killer.Wait()
	p.report.Close()
	p.hold.Close()
	if unread != nil {
		return &Death{p.rank, status(err, began), p.words.String()}
	}
	return nil
}

// ask lets a rank that waits leave its program and report, for a moment.
func (p *process) ask(buried <-chan struct{}) {
	p.hold.Write([]byte{leave})
	select {
	case <-buried:
	case <-time.After(hearing):
	}
}

// status says how a process ended that has not reported the end of its program, which may have begun.
func status(err error, began bool) string {
	var exit *exec.ExitError
	switch succeeded := err == nil || errors.Is(err, exec.ErrWaitDelay); {
	case succeeded && began:
		return "exit status 0 before its program returned: does that call os.Exit?"
	case succeeded:
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

// letter returns a file without a name that has a text.
func letter(text []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("loggp", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), "letter")
	if _, err := f.Write(text); err != nil {
		f.Close()
		return nil, err
	}
	_, err = f.Seek(0, 0)
	return f, err
}
