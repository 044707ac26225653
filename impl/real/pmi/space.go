package pmi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// socketVariable has the number of the file by which the manager is spoken to.
const socketVariable = "PMI_FD"

// space is a manager's key-value space, as of PMI-1: a line for each command, and one for its
// answer, of words such as key=value. (P. Balaji et al., PMI: A Scalable Parallel
// Process-Management Interface for Extreme-Scale Systems, EuroMPI 2010; MPICH, src/pmi.)
type space struct {
	rank, size int
	socket     *os.File
	answers    *bufio.Reader
	name       string
}

func openSpace(rank, size int) (*space, error) {
	fd, err := strconv.Atoi(os.Getenv(socketVariable))
	if err != nil {
		return nil, fmt.Errorf("%s=%s is no number of a file", socketVariable, os.Getenv(socketVariable))
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // so that reads can be given a deadline
		return nil, fmt.Errorf("file %d, by which the process manager is spoken to (%s): %w", fd, socketVariable, err)
	}
	syscall.CloseOnExec(fd)
	return newSpace(os.NewFile(uintptr(fd), "process manager"), rank, size)
}

func newSpace(socket *os.File, rank, size int) (*space, error) {
	s := &space{rank: rank, size: size, socket: socket, answers: bufio.NewReader(socket)}
	_, err := s.call("init pmi_version=1 pmi_subversion=1", "response_to_init", "")
	if err == nil {
		s.name, err = s.call("get_my_kvsname", "my_kvsname", "kvsname")
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return s, nil
}

func (s *space) allgather(ctx context.Context, round int, text string) ([]string, error) {
	defer context.AfterFunc(ctx, func() { s.socket.SetDeadline(time.Now()) })()
	texts, err := s.put(round, text)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return texts, err
}

func (s *space) put(round int, text string) ([]string, error) {
	if _, err := s.call(fmt.Sprintf("put kvsname=%s key=%s value=%s", s.name, key(s.rank, round), url.QueryEscape(text)), "put_result", ""); err != nil {
		return nil, err
	}
	if _, err := s.call("barrier_in", "barrier_out", ""); err != nil {
		return nil, err
	}
	texts := make([]string, s.size)
	for r := range texts {
		value, err := s.call(fmt.Sprintf("get kvsname=%s key=%s", s.name, key(r, round)), "get_result", "value")
		if err == nil {
			texts[r], err = url.QueryUnescape(value)
		}
		if err != nil {
			return nil, fmt.Errorf("what rank %d has written: %w", r, err)
		}
	}
	return texts, nil
}

func key(rank, round int) string { return fmt.Sprintf("loggp-%d-%d", round, rank) }

func (s *space) close(ctx context.Context) error {
	defer s.socket.Close()
	defer context.AfterFunc(ctx, func() { s.socket.SetDeadline(time.Now()) })()
	_, err := s.call("finalize", "finalize_ack", "")
	return err
}

// call sends a command, and returns a value of its answer if one is wanted.
func (s *space) call(command, answer, want string) (string, error) {
	name, _, _ := strings.Cut(command, " ")
	if _, err := io.WriteString(s.socket, "cmd="+command+"\n"); err != nil {
		return "", fmt.Errorf("tell the process manager to %s: %w", name, err)
	}
	line, err := s.answers.ReadString('\n')
	if errors.Is(err, io.EOF) {
		return "", fmt.Errorf("the process manager has closed the connection at %s: a process takes part in one job of it", name)
	}
	if err != nil {
		return "", fmt.Errorf("wait for the process manager's answer to %s: %w", name, err)
	}
	values := make(map[string]string)
	for word := range strings.FieldsSeq(line) {
		if k, v, ok := strings.Cut(word, "="); ok {
			values[k] = v
		}
	}
	if rc := values["rc"]; values["cmd"] != answer || rc != "" && rc != "0" {
		return "", fmt.Errorf("the process manager answers %q to %s", strings.TrimSpace(line), name)
	}
	return values[want], nil
}
