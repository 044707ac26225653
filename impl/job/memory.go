package job

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// minBytesPerRank is the least memory that an emulated rank takes when it communicates: a stack of
// 8 KiB, its port, the state of its engine, and what is recorded of it. Programs with many messages
// under way, or with data, take more.
const minBytesPerRank = 19 << 10

// checkMemory returns an error if emulated ranks take more memory than is available; -1: it is not
// known how much is.
func checkMemory(ranks int, available int64) error {
	need := int64(ranks) * minBytesPerRank
	if available < 0 || need <= available {
		return nil
	}
	return fmt.Errorf("%d ranks take at least %s of memory, and %s are available: use fewer ranks, or a machine with more memory",
		ranks, formatMebibytes(need), formatMebibytes(available))
}

// formatMebibytes prints a number of bytes in whole MiB.
func formatMebibytes(n int64) string { return unit.Bytes(int(n >> 20 << 20)) }
