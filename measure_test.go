package loggp

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/loggp/loggp/impl/job"
	"github.com/loggp/loggp/microbench"
	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/platform"
)

// On one machine TCP is measured with messages of many parts; elsewhere, where a long message may
// take many milliseconds, and by shared memory and MPI, with those that others are.
func TestDefaultSizes(t *testing.T) {
	for _, c := range []struct {
		options MeasureOptions
		want    []int
	}{
		{MeasureOptions{Platform: "tcp"}, microbench.SegmentedTransportSizes},
		{MeasureOptions{Platform: "tcp", Hosts: []string{"node2"}}, microbench.RealMachineSizes},
		{MeasureOptions{Platform: "shm"}, microbench.RealMachineSizes},
		{MeasureOptions{Platform: "mpi"}, microbench.RealMachineSizes},
		{MeasureOptions{Platform: "t3d"}, microbench.EmulatedMachineSizes},
		{MeasureOptions{Platform: "t3d", Pairs: PairsAll}, microbench.AllPairsSizes},
		{MeasureOptions{Platform: "t3d", MaxSize: 5000}, []int{0, 1, 4, 16, 64, 128, 256, 500, 700, 1000, 1400, 2000, 3000, 5000}},
		{MeasureOptions{Platform: "t3d", MaxSize: 200_000}, append(slices.Clone(microbench.EmulatedMachineSizes), 131072, 200_000)},
		{MeasureOptions{Platform: "t3d", Sizes: []int{1, 64, 100}, MaxSize: 70}, []int{1, 64}},
	} {
		m := measurement{MeasureOptions: c.options, job: &job.Job{Platform: &platform.Platform{Machine: &model.Machine{}}}}
		if got, err := m.planSizes(); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s, hosts %q, up to %d: %v, %v; want %v", c.options.Platform, c.options.Hosts, c.options.MaxSize, got, err, c.want)
		}
	}
}

// An option that has no effect on what is measured is an error that names it, and every scope is
// that of an option.
func TestMeasureScopes(t *testing.T) {
	for _, c := range []struct {
		options MeasureOptions
		option  string
	}{
		{MeasureOptions{Platform: "shm", Noise: 0.1}, "Noise"},
		{MeasureOptions{Platform: "tcp", Warmup: 3}, "Warmup"},
		{MeasureOptions{Platform: "t3d", Quick: true}, "Quick"},
		{MeasureOptions{Platform: "t3d", NoPin: true}, "NoPin"},
		{MeasureOptions{Platform: "mpi", Library: "chimp"}, "Library"},
		{MeasureOptions{Platform: "mpi", Ranks: 4}, "Ranks"},
		{MeasureOptions{Platform: "shm", Hosts: []string{"node2"}}, "Hosts"},
		{MeasureOptions{Platform: "t3d", MPICC: "mpicc"}, "MPICC"},
		{MeasureOptions{Platform: "t3d", Algorithm: "ring"}, "Algorithm"},
		{MeasureOptions{Platform: "mpi", Collective: []string{"bcast"}, Algorithm: "ring"}, "Algorithm"},
		{MeasureOptions{Platform: "t3d", Collective: []string{"bcast"}, Place: "intra"}, "Place"},
	} {
		_, err := Measure(t.Context(), c.options)
		var wrong *OptionError
		if !errors.As(err, &wrong) || wrong.Option != c.option {
			t.Errorf("%+v: %v; want an error of %s", c.options, err, c.option)
		}
	}
	for option := range measureScopes {
		if _, is := reflect.TypeFor[MeasureOptions]().FieldByName(option); !is {
			t.Errorf("%s has a scope and is no option", option)
		}
	}
}
