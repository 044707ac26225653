//go:build race

package proto

// racing says that the race detector is at work. sync.Pool makes garbage on purpose then.
const racing = true
