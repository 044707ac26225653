// Package expr is the language in which the claims of a paper are written: arithmetic and
// comparisons of measured quantities with 95 % intervals.
//
//	5 <= o_s(now, isend, 100000) / o_s(now, isend, 1) <= 15
//	o_s(intra, isend, k) < min(o_s(t3d, isend, k), o_s(now, isend, k)) for k in sizes[1..10000]
//	500 <= min(k for k in sizes where o_s(t3d, send, k) > 1.2 * o_s(t3d, isend, k)) <= 1000
//	falls(share(k) for k in {1000, 10000, 100000}) and share(100000) < 0.05
//
// A quantity is a name with words, variables and numbers as arguments. The caller says what it is
// worth, or defines it by another expression. Loops go through a set that is written out or through
// a named list, of which [low..high] takes a part. A condition with a loop behind it must hold for
// every element; min, max, falls and rises evaluate their argument for each.
//
// The value of a condition is True, False, Undecided (the interval of a difference contains zero)
// or Missing (a quantity was not measured). Quantities are taken as independent: their intervals
// add in quadrature. The package knows nothing of papers or machines.
package expr
