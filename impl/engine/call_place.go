package engine

import (
	"fmt"
	"runtime"
)

// DescribeCall returns a function that names the current call and its line. The line is looked up
// only when the function is called.
func (r *Rank) DescribeCall() func() string {
	rank := r.port.Rank()
	if c := r.callLocator; c != nil {
		call, at := c.CurrentCall()
		return func() string { return fmt.Sprintf("%s%s of rank %d", call, c.Site(at).Parenthesized(), rank) }
	}
	call, stack, cfg := r.call, make([]uintptr, 32), r.cfg
	stack = stack[:runtime.Callers(2, stack)]
	return func() string {
		return fmt.Sprintf("%s%s of rank %d", call, cfg.stackSite(stack).Parenthesized(), rank)
	}
}
