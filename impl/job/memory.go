package job

import (
	"fmt"

	"github.com/loggp/loggp/model/unit"
)

// minBytesPerRank is the least memory that an emulated rank takes when it communicates, measured
// with 20,000 of them: a stack of 8 KiB, its port, the state of its engine, and what is recorded of
// it. Programs with many messages under way, or with data, take more.
const minBytesPerRank = 16 << 10

// checkMemory returns an error if emulated ranks take more memory than is available; -1: it is not
// known how much is. A quarter of it is left to the data of programs, without which a machine
// would be busy with paging before the run can fail.
func checkMemory(ranks int, available int64) error {
	need := int64(ranks) * minBytesPerRank
	if available < 0 || need <= available/4*3 {
		return nil
	}
	return fmt.Errorf("%d ranks take at least %s of memory beside the data of their program, and %s are available: use fewer ranks, or a machine with more memory",
		ranks, formatMebibytes(need), formatMebibytes(available))
}

// formatMebibytes prints a number of bytes in whole MiB.
func formatMebibytes(n int64) string { return unit.Bytes(int(n >> 20 << 20)) }
