package trace

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/workload"
)

// ReadGroups reads the ranks of process groups as JSON, {"0": [0, 1], "1": [2, 3]}, as ASTRA-sim
// has them.
func ReadGroups(in io.Reader, name string) (map[string][]int, error) {
	groups := map[string][]int{}
	decoder := json.NewDecoder(in)
	if err := decoder.Decode(&groups); err != nil {
		return nil, fmt.Errorf(`%s: byte %d: %w; process groups are written as {"0": [0, 1], "1": [2, 3]}`, name, decoder.InputOffset(), err)
	}
	return groups, nil
}

// listedGroups returns the groups that the metadata nodes of a file list, by name.
func listedGroups(f *rankFile) (map[string][]int, error) {
	groups := map[string][]int{}
	for i := range f.nodes {
		n := &f.nodes[i]
		if !n.listsGroups() {
			continue
		}
		// The list is a JSON text inside of the text of a Python list, and may be quoted again.
		text := strings.NewReplacer(`\\\"`, `"`, `\"`, `"`).Replace(n.inputs)
		from, to := strings.Index(text, "[{"), strings.LastIndex(text, "}]")
		if from < 0 || to < from {
			continue
		}
		var list []struct {
			Name  string `json:"pg_name"`
			Ranks []int  `json:"ranks"`
		}
		if err := json.Unmarshal([]byte(text[from:to+2]), &list); err != nil {
			return nil, fmt.Errorf("%s: node %d (%s): its list of process groups: %w", f.name, n.id, n.name, err)
		}
		for _, g := range list {
			groups[g.Name] = g.Ranks
		}
	}
	return groups, nil
}

// groupRanks returns the ranks of a process group of a recorded rank; nil: all.
func (a *assembler) groupRanks(rank int, name string, listed map[string][]int) ([]int, error) {
	ranks, known := a.Groups[name]
	if !known {
		ranks, known = listed[name]
	}
	switch {
	case name == "" || known && len(ranks) == 0:
		return nil, nil
	case !known:
		return nil, fmt.Errorf("the ranks of process group %s are not in the file: give them by --groups", name)
	case !slices.Contains(ranks, rank):
		return nil, fmt.Errorf("process group %s has ranks %v, and rank %d executes an operation of it", name, ranks, rank)
	}
	return ranks, nil
}

// addRank returns a rank that executes the program of a file. Groups and peers of a rank that
// repeats another one are as far from it as those of the other one.
func (a *assembler) addRank(rank int, p *programFile) (workload.Rank, error) {
	r := workload.Rank{Program: p.Program}
	for _, g := range p.groups {
		if g.ranks == nil {
			r.Groups = append(r.Groups, a.numberWorld(g.name))
			continue
		}
		ranks, err := a.groupOf(rank, p, g)
		if err != nil {
			return r, fmt.Errorf("%s: process group %s of rank %d cannot be repeated for rank %d: %w", p.Source, g.name, p.rank, rank, err)
		}
		r.Groups = append(r.Groups, a.numberGroup(g.name, ranks))
	}
	for _, peer := range p.peers {
		to := peer + int64(rank-p.rank)
		if to < 0 || to >= int64(a.Ranks) {
			return r, fmt.Errorf("%s: rank %d would exchange messages with rank %d: there are %d ranks", p.Source, rank, to, a.Ranks)
		}
		r.Peers = append(r.Peers, int(to))
	}
	return r, nil
}

// groupOf returns the ranks of a group for a rank that executes a program. For the recorded rank
// they are those of the file. Another rank repeats a group whose ranks have equal distances: all
// ranks are divided into such groups, as tensor, pipeline and data parallelism divide them.
func (a *assembler) groupOf(rank int, p *programFile, g recordedGroup) ([]int, error) {
	if rank == p.rank {
		return g.ranks, nil
	}
	size, stride := len(g.ranks), 1
	if size > 1 {
		stride = g.ranks[1] - g.ranks[0]
	}
	base := func(of int) int { return of - of/max(stride, 1)%size*stride }
	for i, member := range g.ranks {
		if stride < 1 || member != base(p.rank)+i*stride {
			return nil, fmt.Errorf("its ranks %v are not at equal distances from a multiple of them", g.ranks)
		}
	}
	if a.Ranks%(size*stride) != 0 {
		return nil, fmt.Errorf("%d ranks are not a multiple of %d", a.Ranks, size*stride)
	}
	ranks := make([]int, size)
	for i := range ranks {
		ranks[i] = base(rank) + i*stride
	}
	return ranks, nil
}

// numberWorld returns the number of the group of all ranks.
func (a *assembler) numberWorld(name string) int {
	if a.allRanks == nil {
		a.allRanks = make([]int, a.Ranks)
		for i := range a.allRanks {
			a.allRanks[i] = i
		}
	}
	if g, known := a.groups[name]; known {
		return g
	}
	return a.addGroup(name, cmp.Or(name, "world"), a.allRanks)
}

// numberGroup returns the number of a group in the workload. Groups of one name and the same ranks
// are one.
func (a *assembler) numberGroup(name string, ranks []int) int {
	key := make([]byte, 0, 64)
	key = append(append(key, name...), 0)
	for _, r := range ranks {
		key = append(strconv.AppendInt(key, int64(r), 36), ' ')
	}
	if g, known := a.groups[string(key)]; known {
		return g
	}
	return a.addGroup(string(key), name, ranks)
}

func (a *assembler) addGroup(key, name string, ranks []int) int {
	g := len(a.workload.Groups)
	a.groups[key] = g
	a.workload.Groups = append(a.workload.Groups, workload.Group{Name: name, Ranks: ranks})
	return g
}
