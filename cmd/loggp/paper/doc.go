// Package paper runs the experiments of published papers again and judges their claims.
//
// A paper is a folder of testdata/published: its tables as they were printed, and paper.yaml, which
// says which subjects (a library on a platform, two places in it) are measured by which benchmarks,
// which measured quantity answers to each published number, what its figures show, and how each of
// its claims is decided. Package expr is the language of quantities and claims. No paper is named
// here: a new one is a folder, and Go only if it needs a benchmark that no other paper has (a row of
// benchmarks) or a check that no expression can state (a row of functions).
//
// The way of a number: an experiment gives samples, package fit turns them into parameters and
// curves, and these become cells, such as o_s(t3d,isend,16). Artefacts and claims read cells. There
// are three sets of cells: measured, predicted by the models, and published.
package paper
