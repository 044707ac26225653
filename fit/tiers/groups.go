package tiers

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// groupsMark begins the lines of a file of parameters that say which ranks are in one group.
const groupsMark = "# groups,"

// WriteGroups writes which ranks each tier puts together, as comments that may stand above a table of parameters:
//
//	# groups,PLATFORM,LIBRARY,PLACE,0 1 2 3,4 5 6 7
//
// a line for each tier, the nearest first.
func WriteGroups(w io.Writer, tiers []Tiers) error {
	for _, t := range tiers {
		for _, l := range t.Levels {
			row := []string{t.Platform, t.Library, l.Place}
			for _, g := range l.Groups {
				row = append(row, strings.Trim(fmt.Sprint(g), "[]"))
			}
			var line strings.Builder
			c := csv.NewWriter(&line)
			c.Write(row)
			c.Flush()
			if _, err := io.WriteString(w, groupsMark+line.String()); err != nil {
				return fmt.Errorf("write groups: %w", err)
			}
		}
	}
	return nil
}

// ReadGroups reads what WriteGroups wrote, and nothing else of a file of parameters: of the tiers it knows places, groups and ranks. name
// stands for the input in errors.
func ReadGroups(r io.Reader, name string) ([]Tiers, error) {
	var all []Tiers
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<20)
	for n := 1; in.Scan(); n++ {
		line, ok := strings.CutPrefix(in.Text(), groupsMark)
		if !ok {
			continue
		}
		row, err := csv.NewReader(strings.NewReader(line)).Read()
		if err != nil || len(row) < 4 {
			return nil, fmt.Errorf("%s:%d: groups are a line %sPLATFORM,LIBRARY,PLACE, and the ranks of each group, such as 0 1 2 3", name, n, groupsMark)
		}
		l := Tier{Place: row[2]}
		var ranks []int
		for _, cell := range row[3:] {
			var g []int
			for _, word := range strings.Fields(cell) {
				rank, err := strconv.Atoi(word)
				if err != nil || rank < 0 || slices.Contains(ranks, rank) {
					return nil, fmt.Errorf("%s:%d: %q is not a rank, or stands in two groups", name, n, word)
				}
				g, ranks = append(g, rank), append(ranks, rank)
			}
			l.Groups = append(l.Groups, g)
		}
		slices.Sort(ranks)
		i := slices.IndexFunc(all, func(t Tiers) bool { return t.Platform == row[0] && t.Library == row[1] })
		if i < 0 {
			i = len(all)
			all = append(all, Tiers{Platform: row[0], Library: row[1]})
		}
		all[i].Levels, all[i].Ranks = append(all[i].Levels, l), ranks
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	return all, nil
}

// Place returns the place of messages between two ranks: that of the nearest tier in which they are in one group. It is "" for ranks that
// were not measured.
func (t Tiers) Place(a, b int) string {
	for _, l := range t.Levels {
		for _, g := range l.Groups {
			if slices.Contains(g, a) && slices.Contains(g, b) {
				return l.Place
			}
		}
	}
	return ""
}
