package predictions_test

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The table of docs/predictions.md has the errors of docs/predictions/modern.csv, whose collective
// operations were predicted before they were compared with what others measured.
func TestBlindErrorsOfMachinesOfToday(t *testing.T) {
	text, err := os.ReadFile("../../docs/predictions.md")
	if err != nil {
		t.Fatal(err)
	}
	predictions, err := os.Open("modern.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer predictions.Close()
	predicted, _ := readMeasurements(t, predictions)
	measured, order := readModernMeasurements(t)
	factors := map[string][]float64{}
	var subjects []string
	for _, key := range order {
		p, ok := predicted[key]
		if !ok {
			t.Fatalf("%s is not predicted", key)
		}
		columns := strings.Split(key, "\t")
		library := "Open MPI"
		if strings.HasPrefix(columns[1], "Intel") {
			library = "Intel MPI"
		} else if !strings.Contains(columns[1], library) {
			library = "unknown"
		}
		subject := fmt.Sprintf("%s, %s | %s", columns[0], library, columns[3])
		if factors[subject] == nil {
			subjects = append(subjects, subject)
		}
		factors[subject] = append(factors[subject], math.Max(p/measured[key], measured[key]/p))
	}
	for _, s := range subjects {
		checkErrorRow(t, string(text), s, factors[s])
	}
}

// checkErrorRow checks that a page has the row of some factors between prediction and measurement,
// or of several such sets.
func checkErrorRow(t *testing.T, text, subject string, f ...[]float64) {
	t.Helper()
	row := "| " + subject + " |"
	for _, factors := range f {
		row += errorColumns(factors)
	}
	if !strings.Contains(text, row) {
		t.Errorf("the page has no row\n%s", row)
	}
}

// errorColumns returns the number of factors, their median, and how many are within 1.3 and 2. It
// sorts them.
func errorColumns(f []float64) string {
	slices.Sort(f)
	below := func(limit float64) int {
		n, _ := slices.BinarySearchFunc(f, limit, func(x, limit float64) int {
			if x <= limit {
				return -1
			}
			return cmp.Compare(x, limit)
		})
		return (100*n + len(f)/2) / len(f)
	}
	return fmt.Sprintf(" %d | %.2f | %d %% | %d %% |", len(f), f[len(f)/2], below(1.3), below(2))
}

// readModernMeasurements reads what others measured.
func readModernMeasurements(t *testing.T) (values map[string]float64, order []string) {
	t.Helper()
	packed, err := os.Open("../../testdata/modern/collectives.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	measurements, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	return readMeasurements(t, measurements)
}

// readMeasurements reads rows of measurements or predictions by what they are of, and the order of
// these.
func readMeasurements(t *testing.T, from io.Reader) (values map[string]float64, order []string) {
	t.Helper()
	rows, err := csv.NewReader(from).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	at := slices.Index(rows[0], "value")
	values = map[string]float64{}
	for _, r := range rows[1:] {
		x, err := strconv.ParseFloat(r[at], 64)
		if err != nil || !(x > 0) {
			t.Fatalf("%v: %v", r, err)
		}
		key := strings.Join(r[:at], "\t")
		values[key] = x
		order = append(order, key)
	}
	return values, order
}
