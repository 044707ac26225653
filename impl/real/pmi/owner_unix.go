//go:build unix

package pmi

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser reports whether a file is the user's.
func isOwnedByUser(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}
