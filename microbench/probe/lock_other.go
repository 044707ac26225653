//go:build !unix

package probe

import (
	"errors"
	"os"
)

// lock fails: directories that killed processes have left stay.
func lock(*os.File) error { return errors.ErrUnsupported }
