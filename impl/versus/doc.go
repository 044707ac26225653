// Package versus compares this program with others. BenchmarkPrograms compares emulations of whole
// programs with SimGrid's SMPI. BenchmarkVersus compares this program's own library with other
// MPIs: a ping-pong of each on this machine, in one run. It is a benchmark,
//
//	go test ./impl/versus -run '^$' -bench . -rounds 7
//
// and has no other code. Libraries that use the same transport are compared with each other. In a
// round each library is launched once and measures all lengths. Every other round has the reverse
// order. So effects of time, such as the load of the machine, and effects of the launch, such as
// the placement of buffers, show in the spread of the results. For each length it prints the median
// of launches, and the median and range of the ratios within rounds.
package versus
