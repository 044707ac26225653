package launch

import (
	"strings"
	"testing"

	"github.com/loggp/loggp/impl/real/host"
)

// A wrong configuration is an error when the world is opened.
func TestWrongConfigIsRefused(t *testing.T) {
	for _, c := range []struct {
		config Config
		says   string
	}{
		{Config{Ranks: 0}, "test: a job has from 1 to 64 ranks, not 0"},
		{Config{Ranks: MaxRanks + 1}, "not 65"},
		{Config{Ranks: 2, Wait: "often"}, `test: ranks wait by spin or block, not by "often"`},
	} {
		if _, err := NewWorld("test", c.config, nil); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v, want %q", c.config, err, c.says)
		}
	}
	if _, err := NewWorld("test", Config{Ranks: MaxRanks, Wait: Block}, nil); err != nil {
		t.Error(err)
	}
}

// A file that is too large for a message is not sent to other hosts.
func TestLargeInheritedFileIsRefused(t *testing.T) {
	for n, want := range map[int]bool{maxInheritedSize: true, maxInheritedSize + 1: false} {
		f, err := host.NewMemoryFile(make([]byte, n))
		if err != nil {
			t.Skip(err)
		}
		defer f.Close()
		j := &job{Config: Config{Ranks: 1, Team: &Team{Hosts: make([]Host, 1)}}}
		if err := j.startRemoteRanks(f); (err == nil) != want {
			t.Errorf("%d bytes: %v", n, err)
		}
	}
}
