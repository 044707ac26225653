//go:build !cgo || !linux || !(amd64 || arm64)

package cprog

import (
	"errors"

	"github.com/loggp/loggp/impl/library/mpi"
)

type program struct{}

func (p *Program) main() (func(*mpi.Comm) error, error) { return nil, errors.New(unsupportedBuild) }

func (p *Program) reserveRanks(ranks int) error { return nil }

func (p *Program) exitError() error { return nil }

func (p *Program) RunSpawned(world, parent *mpi.Comm, start []byte) error {
	return errors.New(unsupportedBuild)
}

func (p *Program) close() {}

const unsupportedBuild = "this loggp cannot run C programs: build it on Linux for amd64 or arm64 with a C compiler and CGO_ENABLED=1"

func (p *Program) interruptedShare() float64 { return 0 }
