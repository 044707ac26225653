package sample

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/loggp/loggp/model/unit"
)

// longSet has more samples in a series than a row takes, of nine digits each.
func longSet(n int) *Set {
	s := &Set{Series: []Series{{Key: with(func(*Key) {})}}}
	for i := range n {
		s.Series[0].Times = append(s.Series[0].Times, 29*unit.Microsecond+unit.Time(100_000+i))
	}
	return s
}

// A series is written in few rows, in less than twice the digits of its times, and read back.
func TestSeriesTakeFewRows(t *testing.T) {
	const n = 2*maxTimesPerRow + 7
	set := longSet(n)
	text := csvOf(t, set)
	if rows := strings.Count(text, "\nt3d,"); rows != 3 {
		t.Errorf("%d rows of %d samples", rows, n)
	}
	if perSample := float64(len(text)) / n; perSample > 12 {
		t.Errorf("%.1f bytes a sample", perSample)
	}
	back, err := Read(strings.NewReader(text), "x")
	if err != nil || !reflect.DeepEqual(back, set) {
		t.Errorf("%v: read back with %d samples", err, back.SampleCount())
	}
}

// Files with a sample in each row are read as before, and so are rows in another order.
func TestOlderFilesAreRead(t *testing.T) {
	set := longSet(40)
	row := func(rep int) string {
		return fmt.Sprintf("t3d,mpi,virtual,inter,send,auto,timer11,16,0,%d,%s\n", rep, set.Series[0].Times[rep].MicrosString())
	}
	var older, late strings.Builder
	for _, b := range []*strings.Builder{&older, &late} {
		b.WriteString(header + "\n")
	}
	for rep := range 40 {
		older.WriteString(row(rep))
		late.WriteString(row(39 - rep))
	}
	compact := strings.Split(csvOf(t, set), "\n")[1:3]
	first, rest, _ := strings.Cut(compact[1], " ")
	split := compact[0] + "\n" + strings.Replace(first[:strings.LastIndex(first, ",")], ",0,0", ",0,1", 1) + "," + rest + "\n" + first + "\n"
	for name, in := range map[string]string{"older": older.String(), "in another order": late.String(), "rows in another order": split} {
		got, err := Read(strings.NewReader(in), "x")
		if err != nil || !reflect.DeepEqual(got, set) {
			t.Errorf("%s: %v: %+v", name, err, got)
		}
	}
	if _, err := Read(strings.NewReader(compact[0]+"\n"+compact[1][:len(compact[1])-3]+" x\n"), "f.csv"); err == nil || !strings.Contains(err.Error(), `column "times_us": microseconds "x"`) {
		t.Errorf("a time that is none: %v", err)
	}
}
