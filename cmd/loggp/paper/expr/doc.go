// Package expr is the language in which the claims of a paper are written: arithmetic and
// comparisons of measured quantities with 95 % intervals, in the syntax of Go, and a few loops.
//
//	5 <= o_s(now, isend, 100000) / o_s(now, isend, 1) <= 15
//	all(k, sizes[1:10000], o_s(intra, isend, k) < min(o_s(t3d, isend, k), o_s(now, isend, k)))
//	500 <= first(k, sizes, o_s(t3d, send, k) > 1.2 * o_s(t3d, isend, k)) <= 1000
//	falls(k, set(1000, 10000, 100000), share(k)) && share(100000) < 0.05
//
// A quantity is a name with words, variables and numbers as arguments. The caller says what it is
// worth, or defines it by another expression. A loop goes through a named list, the part of it from
// one number to another, or a set that is written out: all wants a condition for every element,
// first finds the first for which it holds, min and max are the extremes of a number, and falls and
// rises say whether each is below, or above, the one before.
//
// The value of a condition is True, False, Undecided (the interval of a difference contains zero)
// or Missing (a quantity was not measured). Quantities are taken as independent: their intervals
// add in quadrature. The package knows nothing of papers or machines.
package expr
