//go:build !linux

package launch

import (
	"errors"
	"os"
)

var errLinux = errors.New("launch: ranks as processes need Linux")

func (j *job) start(*os.File) error { return errLinux }

func inherited() error { return errLinux }

// Processors returns none: they are not known.
func Processors() []int { return nil }

// Place returns -1: no processor is known.
func Place(int) int { return -1 }

// Pin fails.
func Pin(int) error { return errLinux }
