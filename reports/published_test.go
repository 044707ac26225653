package reports

import (
	"math"
	"strings"
	"testing"

	"github.com/loggp/loggp/fit/params"
	"github.com/loggp/loggp/reports/doc"
)

// papers returns numbers of tables 3 and 4 of Al-Tawil and Moritz.
func papers() PublishedRows {
	row := func(name, platform, place, mode, quantity, parameter string, bytes int, printed, unit string, low, high float64) PublishedRow {
		table, _, _ := strings.Cut(name, " ")
		return PublishedRow{Name: name, Source: strings.Replace(table, "table-", "Table ", 1), Platform: platform, Library: map[string]string{"t3d": "chimp", "convex": "mpich"}[platform], Place: place,
			Mode: mode, Quantity: quantity, Parameter: parameter, Bytes: bytes, PrintedValue: printed, Unit: unit, Low: low, High: high}
	}
	all := PublishedRows{
		row("table-3 T3D L low", "t3d", "inter", "ssend", "L", "L", -1, "3.1", "us", 3.1, 3.1),
		row("table-3 T3D o_s low", "t3d", "inter", "isend", "o_s", "o_s", 16, "30", "us", 30, 30),
		row("table-3 T3D o_s high", "t3d", "inter", "isend", "o_s", "o_s", 10000, "130", "us", 130, 130),
		row("table-3 T3D o_r low", "t3d", "inter", "send", "o_r", "o_r", 16, "15", "us", 15, 15),
		row("table-3 T3D G low", "t3d", "inter", "send", "G", "G", -1, "0.04", "us/B", 0.04, 0.04),
		row("table-4 Convex L low", "convex", "inter", "ssend", "L", "L", -1, "4 to 10", "us", 4, 10),
		row("table-4 Convex H low", "convex", "inter", "", "H", "H", -1, "2", "", 2, 2),
		row("table-4 Convex s low", "convex", "intra", "isend", "o_s", "s", 100, "2", "us", 2, 2),
		row("table-4 Convex P low", "convex", "intra", "", "P", "P", -1, "4", "", 4, 4),
	}
	all[1].Contradiction = "Section 4 says that non-blocking send overheads vary little with length; the table has a factor of 4.3."
	all[2].Contradiction = all[1].Contradiction
	return all
}

// What is measured is set beside the right number, and differs by so much.
func TestAnswer(t *testing.T) {
	p := fittedPlaces(example())[0]
	p.parameters = append(p.parameters, params.Parameter{Name: "P", From: -1, To: -1, Value: 8, Low: 8, High: 8, Unit: params.UnitCount})
	for _, x := range []struct {
		row  PublishedRow
		want string
	}{
		{PublishedRow{Mode: "ssend", Quantity: "L", Low: 3.1, High: 3.1, Bytes: -1}, "within"}, // L is a bound, which 3.1 is not above,
		{PublishedRow{Mode: "ssend", Quantity: "L", Low: 3, High: 10, Bytes: -1}, "within"},
		{PublishedRow{Mode: "ssend", Quantity: "L", Low: 6.2, High: 10, Bytes: -1}, "-50.0"},
		{PublishedRow{Mode: "ssend", Quantity: "L", Low: 1, High: 2, Bytes: -1}, "within"},
		{PublishedRow{Mode: "isend", Quantity: "o_s", Low: 30, High: 30, Bytes: 16}, "-0.1"},
		{PublishedRow{Mode: "isend", Quantity: "o_s", Low: 130.14, High: 130.14, Bytes: 10000}, "0.0"},
		{PublishedRow{Mode: "isend", Quantity: "o_s", Low: 30.8, High: 30.8, Bytes: 100}, "0.0"}, // 29.8 + 100·0.01, on the line
		{PublishedRow{Mode: "issend", Quantity: "o_s", Low: 30, High: 30, Bytes: 16}, "-"},
		{PublishedRow{Mode: "send", Quantity: "G", Low: 0.04, High: 0.04, Bytes: -1}, "-"},
		{PublishedRow{Quantity: "P", Low: 4, High: 4, Bytes: -1}, "+100.0"},
		{PublishedRow{Quantity: "H", Low: 2, High: 2, Bytes: -1}, "-"},
	} {
		if _, got := p.comparePublished(&doc.Table{}, x.row); got != x.want {
			t.Errorf("%+v: %s, want %s", x.row, got, x.want)
		}
	}
	if v, ok := p.overheadAt("isend", "o_s", 100); !ok || math.Abs(v-30.8) > 1e-9 {
		t.Errorf("o_s(100) = %v, %v", v, ok)
	}
}

// Each place of a library has its own numbers, and another library has none.
func TestPlaces(t *testing.T) {
	for _, x := range []struct{ library, at, want string }{{"mpich", "inter", "L us H"}, {"mpich", "intra", "s us P"}, {"chimp", "inter", ""}} {
		p := &fittedPlace{platform: "convex", library: x.library, place: x.at}
		var got []string
		for _, g := range p.publishedTable(papers(), nil).Groups {
			for _, r := range g.Rows {
				got = append(got, r[0].Text)
			}
		}
		if strings.Join(got, " ") != x.want {
			t.Errorf("%s, %s: %v, want %s", x.library, x.at, got, x.want)
		}
	}
}
