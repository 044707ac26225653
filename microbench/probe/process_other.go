//go:build !unix

package probe

import "os/exec"

// group does nothing: where there are no groups, a command ends alone.
func group(*exec.Cmd) {}

func killGroup(*exec.Cmd) {}
