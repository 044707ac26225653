//go:build unix

package main

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// attackFaults are what the error of each fault of testdata/attack.c names beside the rank: the
// call that is wrong, or the last one.
var attackFaults = []string{
	"Send", "Send", "Recv", "Send", "Send", "Send", "Send", "Bcast", "Comm_rank", "Allreduce", "Wait", "Wait", "Type_commit", "Comm_free", "Waitall", "Gather", "Recv", "Type_",
	"last call", "last call", "last call", "last call", "last call", "last call", "last call", "abort", "last call", "last call", "abort", "Abort", "last call", "computes|calls|--limit", "Send", "Finalize",
	"last call", "last call", "last call", "last call", "calls execl", "calls execvp",
}

// TestAttacksOfPrograms runs C programs in which, after random correct calls, one rank does
// something wrong: arguments, addresses, counts, ends, forks. Each run ends with an error that
// names the rank and a call, and as TestAttacks says.
func TestAttacksOfPrograms(t *testing.T) {
	t.Parallel()
	long(t)
	program := buildC(t, "../../../../cmd/loggp/testdata/attack.c")
	loggp := linkCommand(t)
	platforms := []string{"t3d", "cc-cluster", "smp-torus", "shm", "tcp"}
	for i := range *attacks {
		seed := *firstAttack + uint64(i)
		r := rand.New(rand.NewPCG(seed, 34))
		ranks, fault := 1+r.IntN(4), int(seed%uint64(len(attackFaults)))
		bad := r.IntN(ranks)
		words := []string{"run", "--limit", "500ms", "--platform", platforms[r.IntN(len(platforms))], "-n", fmt.Sprint(ranks), program, fmt.Sprint(bad), fmt.Sprint(fault), fmt.Sprint(r.Int32()), fmt.Sprint(r.Int32())}
		for range r.IntN(6) {
			words = append(words, fmt.Sprint(r.IntN(100)))
		}
		end := runAttack(t, fmt.Sprintf("seed %d, fault %d", seed, fault), t.TempDir(), t.TempDir(), loggp, words)
		switch {
		case end.status < 0:
		case end.status == exitSuccess || strings.Contains(end.errs, "had no effect"):
			end.fail("status %d: the fault has no effect", end.status)
		case !regexp.MustCompile(fmt.Sprintf(`rank %d\b.*(?:%s)`, bad, attackFaults[fault])).MatchString(end.errs):
			end.fail("status %d: the error does not name rank %d and %q", end.status, bad, attackFaults[fault])
		}
	}
}
