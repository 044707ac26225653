package pmi

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// fileExchange is an exchange by files in a directory, which only processes of the user can enter.
type fileExchange struct {
	rank, size int
	directory  string
}

func openFileExchange(directory string, rank, size int) (*fileExchange, error) {
	if err := os.Mkdir(directory, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("a directory by which ranks find each other: %w", err)
	}
	if info, err := os.Lstat(directory); err != nil {
		return nil, err
	} else if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !isOwnedByUser(info) {
		return nil, fmt.Errorf("%s is there, and others could have made it or can enter it: remove it, or name another place by --shared-dir", directory)
	}
	return &fileExchange{rank, size, directory}, nil
}

// pollInterval is how often a process looks for the files of the others.
const pollInterval = 5 * time.Millisecond

func (f *fileExchange) allgather(ctx context.Context, round int, text string) ([]string, error) {
	if err := f.writeText(strconv.Itoa(round), text); err != nil {
		return nil, err
	}
	return f.readTexts(ctx, strconv.Itoa(round))
}

// writeText writes this rank's text of a round. It is there at once or not at all.
func (f *fileExchange) writeText(round, text string) error {
	file := filepath.Join(f.directory, round+"."+strconv.Itoa(f.rank))
	if err := os.WriteFile(file+".new", []byte(text), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// readTexts waits for the texts of all ranks.
func (f *fileExchange) readTexts(ctx context.Context, round string) ([]string, error) {
	texts := make([]string, f.size)
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for r := 0; r < f.size; {
		b, err := os.ReadFile(filepath.Join(f.directory, round+"."+strconv.Itoa(r)))
		switch {
		case err == nil:
			texts[r] = string(b)
			r++
			continue
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil, fmt.Errorf("rank %d has written nothing to %s: %w", r, f.directory, context.Cause(ctx))
		}
	}
	return texts, nil
}

func (f *fileExchange) close(ctx context.Context) error {
	const end = "end"
	if err := f.writeText(end, ""); err != nil || f.rank != 0 {
		return err
	}
	_, err := f.readTexts(ctx, end)
	return errors.Join(err, os.RemoveAll(f.directory))
}
