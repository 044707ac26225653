package launch

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/loggp/loggp/impl/real/process"
)

// rankProcess is a rank that was started on this host.
type rankProcess struct {
	rank    int
	child   *process.Child
	stderr  process.Output
	reports *os.File // from the rank
	task    *os.File // to the rank; open as long as the rank may live
}

// startRank starts a rank on this host. Without an output its standard output is lost.
func startRank(t task, shared, output *os.File) (*rankProcess, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, err
	}
	theirTask, ourTask, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer theirTask.Close()
	reports, theirReports, err := os.Pipe()
	if err != nil {
		ourTask.Close()
		return nil, err
	}
	defer theirReports.Close()
	t.Token = rand.Text()
	p := &rankProcess{rank: t.Rank, reports: reports, task: ourTask}
	cmd := exec.Command(exe, t.Args...)
	cmd.Env = append(withoutRankVariables(os.Environ()), rankVariable+"="+strconv.Itoa(t.Rank), tokenVariable+"="+t.Token)
	cmd.Stderr = &p.stderr
	if output != nil {
		cmd.Stdout, cmd.Stderr = output, io.MultiWriter(os.Stderr, &p.stderr)
	}
	cmd.ExtraFiles = []*os.File{theirTask, theirReports, shared}
	if p.child, err = process.Start(cmd, syscall.SIGKILL); err != nil {
		ourTask.Close()
		reports.Close()
		return nil, err
	}
	go json.NewEncoder(ourTask).Encode(t) // a rank that dies does not read them
	return p, nil
}

// superviseProcess waits until the rank has ended, and kills it when stop is closed; if explain is
// set then, the rank may first report where it is. It passes on what the rank reports, and returns
// how it died if there was no report of its end.
func (p *rankProcess) superviseProcess(stop <-chan struct{}, explain *bool, reported func(report)) *RankDeath {
	var killer sync.WaitGroup
	killer.Go(func() {
		select {
		case <-stop:
			if *explain {
				p.task.Write([]byte{leaveProgramByte})
				p.child.EndsWithin(explainTimeout)
			}
			p.child.Kill()
		case <-p.child.Ended():
		}
	})
	var r report
	reports := json.NewDecoder(p.reports)
	unread := reports.Decode(&r)
	began := r.Kind == reportBegun
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
	p.task.Close()
	if unread == nil {
		return nil
	}
	status := "it ended before it came to the run: code between runs must do the same in every process"
	if err := p.child.Err(); err != nil {
		status = err.Error()
	} else if began {
		status = "exit status 0 before its program returned: does that call os.Exit?"
	}
	return &RankDeath{p.rank, status, p.stderr.Indented()}
}

// checkInheritedFiles returns an error if this process has not inherited the files of a rank, and
// keeps them from processes that it starts.
func checkInheritedFiles() error {
	for fd := taskFile; fd <= sharedFile; fd++ {
		if _, err := unix.FcntlInt(uintptr(fd), unix.F_SETFD, unix.FD_CLOEXEC); err != nil {
			return fmt.Errorf("file %d: %w", fd, err)
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(taskFile, &st); err != nil || st.Mode&unix.S_IFMT != unix.S_IFIFO {
		return errors.New("there is no task")
	}
	return nil
}
