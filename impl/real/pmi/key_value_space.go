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

// socketVariable has the descriptor of the connection to the manager.
const socketVariable = "PMI_FD"

// keyValueSpace is a manager's key-value space, as of PMI-1: a line for each command, and one for
// its answer, of words such as key=value. (P. Balaji et al., PMI: A Scalable Parallel
// Process-Management Interface for Extreme-Scale Systems, EuroMPI 2010; MPICH, src/pmi.)
type keyValueSpace struct {
	rank, size int
	socket     *os.File
	answers    *bufio.Reader
	name       string
}

func openKeyValueSpace(rank, size int) (*keyValueSpace, error) {
	fd, err := strconv.Atoi(os.Getenv(socketVariable))
	if err != nil {
		return nil, fmt.Errorf("%s=%s is not the number of a file descriptor", socketVariable, os.Getenv(socketVariable))
	}
	if err := syscall.SetNonblock(fd, true); err != nil { // so that reads can be given a deadline
		return nil, fmt.Errorf("file descriptor %d, the connection to the process manager (%s): %w", fd, socketVariable, err)
	}
	syscall.CloseOnExec(fd)
	return newKeyValueSpace(os.NewFile(uintptr(fd), "process manager"), rank, size)
}

func newKeyValueSpace(socket *os.File, rank, size int) (*keyValueSpace, error) {
	s := &keyValueSpace{rank: rank, size: size, socket: socket, answers: bufio.NewReader(socket)}
	_, err := s.sendCommand("init pmi_version=1 pmi_subversion=1", "response_to_init", "")
	if err == nil {
		s.name, err = s.sendCommand("get_my_kvsname", "my_kvsname", "kvsname")
	}
	if err != nil {
		socket.Close()
		return nil, err
	}
	return s, nil
}

func (s *keyValueSpace) allgather(ctx context.Context, round int, text string) ([]string, error) {
	defer context.AfterFunc(ctx, func() { s.socket.SetDeadline(time.Now()) })()
	texts, err := s.exchangeTexts(round, text)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return texts, err
}

func (s *keyValueSpace) exchangeTexts(round int, text string) ([]string, error) {
	if _, err := s.sendCommand(fmt.Sprintf("put kvsname=%s key=%s value=%s", s.name, textKey(s.rank, round), url.QueryEscape(text)), "put_result", ""); err != nil {
		return nil, err
	}
	if _, err := s.sendCommand("barrier_in", "barrier_out", ""); err != nil {
		return nil, err
	}
	texts := make([]string, s.size)
	for r := range texts {
		value, err := s.sendCommand(fmt.Sprintf("get kvsname=%s key=%s", s.name, textKey(r, round)), "get_result", "value")
		if err == nil {
			texts[r], err = url.QueryUnescape(value)
		}
		if err != nil {
			return nil, fmt.Errorf("what rank %d has written: %w", r, err)
		}
	}
	return texts, nil
}

func textKey(rank, round int) string { return fmt.Sprintf("loggp-%d-%d", round, rank) }

func (s *keyValueSpace) close(ctx context.Context) error {
	defer s.socket.Close()
	defer context.AfterFunc(ctx, func() { s.socket.SetDeadline(time.Now()) })()
	_, err := s.sendCommand("finalize", "finalize_ack", "")
	return err
}

// sendCommand sends a command, and returns a value of the answer.
func (s *keyValueSpace) sendCommand(command, answer, want string) (string, error) {
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
