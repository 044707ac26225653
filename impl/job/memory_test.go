package job

import (
	"strings"
	"testing"
)

// A job that takes more memory than is available is refused before it starts, with the numbers.
func TestRanksNeedMemory(t *testing.T) {
	for _, c := range []struct {
		ranks     int
		available int64
		says      string
	}{
		{1, 1 << 30, ""},
		{100_000, 4 << 30, ""},
		{1 << 20, 4 << 30, "1048576 ranks take at least 16GiB of memory beside the data of their program, and 4GiB are available: use fewer ranks"},
		{1 << 20, 20 << 30, "1048576 ranks take at least 16GiB"},
		{1 << 20, 22 << 30, ""},
		{100_000, 1 << 30, "100000 ranks take at least 1562MiB of memory beside the data of their program, and 1GiB are available"},
		{1 << 20, -1, ""},
		{2, 0, "2 ranks take at least 0B of memory"},
	} {
		err := checkMemory(c.ranks, c.available)
		if (err == nil) != (c.says == "") || err != nil && !strings.HasPrefix(err.Error(), c.says) {
			t.Errorf("%d ranks, %d bytes: %v, want %s", c.ranks, c.available, err, c.says)
		}
	}
}
