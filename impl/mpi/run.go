package mpi

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/loggp/loggp/impl/datatype"
	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/proto"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// Error is a failure of a communication: what Run returns when a rank made one.
type Error = proto.Error

// World is what programs run on.
type World = device.World

// Options say how messages are to travel.
type Options struct {
	Library  *model.Library // rules and limits
	Protocol string         // protocol of every point-to-point message, instead of the rules'; synchronous modes keep theirs where it is none

	Tuning []collective.Rule // which algorithms collective operations take; nil: collective.Usual

	Enter func(rank int, call string) // is told of every call that a rank makes, and of "" when its program has ended; nil: nobody is
}

// Run runs a program on every rank of a world. When a rank's program ends, its buffered messages leave before the rank does.
func Run(w World, o Options, program func(*Comm) error) error {
	shared, err := proto.NewJob(proto.Config{Library: o.Library, Force: o.Protocol, Enter: o.Enter, Kinds: kinds})
	if err != nil {
		return err
	}
	j := &job{shared: shared, program: program, tuning: o.Tuning}
	if j.tuning == nil {
		j.tuning = collective.Usual
	}
	err = w.Run(j.rank)
	var d *device.Deadlock
	if errors.As(err, &d) {
		return &DeadlockError{d, j.explain(d)}
	}
	return err
}

func kinds(s proto.Sign) string { return datatype.Signed(uint32(s)) }

// job is what the ranks of a job in this process share.
type job struct {
	shared  *proto.Job
	program func(*Comm) error
	tuning  []collective.Rule

	mu      sync.Mutex
	engines []*proto.Engine
}

// rank is one rank's life. Its frames stay small: a job may have a million.
func (j *job) rank(p device.Port) (err error) {
	defer func() {
		if v := recover(); v != nil {
			e, ok := v.(*Error)
			if !ok {
				panic(v)
			}
			if e.Rank == NoRank {
				e.Rank = p.Rank()
			}
			err = e
		}
	}()
	c := j.comm(p)
	if err := j.program(c); err != nil {
		return err
	}
	c.e.Enter("Finalize")
	c.e.Drain()
	c.e.Enter("")
	return nil
}

func (j *job) comm(p device.Port) *Comm {
	e := proto.New(p, j.shared)
	j.mu.Lock()
	if j.engines == nil {
		j.engines = make([]*proto.Engine, p.Size())
	}
	j.engines[p.Rank()] = e
	j.mu.Unlock()
	return &Comm{e: e, rank: p.Rank(), size: p.Size(), last: new(uint32), own: &own{tuning: j.tuning}}
}

// DeadlockError says who waits for what.
type DeadlockError struct {
	*device.Deadlock
	Waits []string // of the first few ranks
}

// Error lists the ranks, one a line.
func (e *DeadlockError) Error() string {
	return e.Deadlock.Error() + "\n  " + strings.Join(e.Waits, "\n  ")
}

// Unwrap returns the world's own error.
func (e *DeadlockError) Unwrap() error { return e.Deadlock }

func (j *job) explain(d *device.Deadlock) []string {
	const show = 16
	var waits []string
	for i, r := range d.Ranks {
		if i == show {
			waits = append(waits, fmt.Sprintf("and %d more ranks", len(d.Ranks)-show))
			break
		}
		if e := j.engines[r]; e != nil {
			waits = append(waits, fmt.Sprintf("rank %d: %s", r, e.Waiting()))
		}
	}
	return waits
}
