//go:build !linux

package shm

import (
	"errors"
	"os"
	"sync/atomic"
)

var errLinux = errors.New("ranks that share memory need Linux")

func mapFile(*os.File, int) ([]byte, error)        { return nil, errLinux }
func unmap([]byte)                                 {}
func futexSleep(word *atomic.Uint32, value uint32) {}
func futexWakeOne(word *atomic.Uint32)             {}
func allowOthers()                                 {}
func denyOthers()                                  {}
func readFrom(int, uintptr, []byte) error          { return errLinux }

type vector struct{}

func (*vector) move(int, uintptr, []byte, bool) error { return errLinux }
