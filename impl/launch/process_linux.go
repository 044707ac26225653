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

	"golang.org/x/sys/unix"

	"github.com/loggp/loggp/impl/process"
)

// rankProcess is a rank that was started on this host.
type rankProcess struct {
	rank    int
	child   *process.Child
	stderr  process.Output
	reports *os.File // from the rank
	orders  *os.File // to the rank, open as long as it may live
}

// startRank starts a rank on this host.
func startRank(o orders, shared *os.File) (*rankProcess, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	theirOrders, orders, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirOrders.Close()
	reports, theirReports, err := os.Pipe()
	if err != nil {
		orders.Close()
		return nil, err
	}
	defer theirReports.Close()
	o.Token = rand.Text()
	p := &rankProcess{rank: o.Rank, reports: reports, orders: orders}
	cmd := exec.Command(exe, o.Args...)
	cmd.Env = append(without(os.Environ()), rankVariable+"="+strconv.Itoa(o.Rank), tokenVariable+"="+o.Token)
	cmd.Stderr = &p.stderr
	cmd.ExtraFiles = []*os.File{theirOrders, theirReports, shared}
	if p.child, err = process.Start(cmd, syscall.SIGKILL); err != nil {
		orders.Close()
		reports.Close()
		return nil, err
	}
	go json.NewEncoder(orders).Encode(o) // a rank that dies does not read them
	return p, nil
}

// attend waits until the rank has ended, and kills it when stop is closed; if asks is set then, it first lets the rank say
// where it is. It passes on what the rank reports, and returns how it died if it did without a report.
func (p *rankProcess) attend(stop <-chan struct{}, asks *bool, reported func(report)) *Death {
	var killer sync.WaitGroup
	killer.Go(func() {
		select {
		case <-stop:
			if *asks {
				p.orders.Write([]byte{leave})
				p.child.EndsWithin(leaveTimeout)
			}
			p.child.Kill()
		case <-p.child.Ended():
		}
	})
	var r report
	reports := json.NewDecoder(p.reports)
	unread := reports.Decode(&r)
	began := r.Kind == begun
	if began {
		r = report{}
		unread = reports.Decode(&r)
	}
	if unread == nil {
		reported(r)
	}
	<-p.child.Ended()
	killer.Wait()
	p.reports.Close()
	p.orders.Close()
	if unread != nil {
		return &Death{p.rank, p.status(began), p.stderr.Indented()}
	}
	return nil
}

// status describes the end of a rank that has not reported the end of its program, which may have begun.
func (p *rankProcess) status(began bool) string {
	switch err := p.child.Err(); {
	case err != nil:
		return err.Error()
	case began:
		return "exit status 0 before its program returned: does that call os.Exit?"
	}
	return "it ended before it came to the run: code between runs must do the same in every process"
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
