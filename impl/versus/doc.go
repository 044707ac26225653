// Package versus sets this program's own library beside those of others: a ping-pong of each on this machine, in one run. It is a benchmark,
//
//	go test ./impl/versus -run '^$' -bench . -rounds 7
//
// and has nothing else. Whoever plays is a contender, what they have in common is a wire. In a round each contender of a wire is launched once and
// measures all lengths; every other round goes the other way round. So what changes with time, as the load of the machine does, or with the launch, as
// the places of buffers do, is in the spread of what is printed: for each length the median of launches, and of ratios within rounds with their range.
package versus
