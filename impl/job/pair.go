package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/collective"
)

// PairToMeasure returns the ranks of the job between which to measure, beginning with the one that
// sends first.
//
//	""              the first rank and the last
//	"intra"         the first two ranks of one node
//	"inter"         the first rank, and the last that is in another node
//	"3,0"           these ranks
//
// It is an error if the job has no such ranks.
func (j *Job) PairToMeasure(place string) (pair [2]int, err error) {
	switch place {
	case "":
		return [2]int{0, j.Ranks - 1}, nil
	case model.IntraNode.String():
		return j.intraPair()
	case model.InterNode.String():
		return j.interPair()
	}
	return j.parsePair(place)
}

// intraPair returns the first pair of ranks in one node, ordered by the first rank and then the
// second.
func (j *Job) intraPair() (pair [2]int, err error) {
	for a := range j.Ranks {
		for b := a + 1; b < j.Ranks; b++ {
			if j.tierOfRanks(a, b) == model.IntraNode {
				return [2]int{a, b}, nil
			}
		}
	}
	return pair, fmt.Errorf("platform %s has no two of %d ranks in one node: measure inter, or with more ranks if its nodes have room for several",
		j.Platform.Machine.Name, j.Ranks)
}

// interPair returns rank 0 and the last rank in another node.
func (j *Job) interPair() (pair [2]int, err error) {
	for b := j.Ranks - 1; b > 0; b-- {
		if j.tierOfRanks(0, b) == model.InterNode {
			return [2]int{0, b}, nil
		}
	}
	return pair, fmt.Errorf("platform %s has all of %d ranks in one node: measure intra, or with more ranks if it has more nodes",
		j.Platform.Machine.Name, j.Ranks)
}

// parsePair parses two ranks.
func (j *Job) parsePair(s string) (pair [2]int, err error) {
	first, second, two := strings.Cut(s, ",")
	for i, word := range []string{first, second} {
		var wrong error
		if pair[i], wrong = strconv.Atoi(strings.TrimSpace(word)); wrong != nil || !two {
			return pair, fmt.Errorf("%q is neither intra nor inter nor two ranks, such as 0,3", s)
		}
		if pair[i] < 0 || pair[i] >= j.Ranks {
			return pair, fmt.Errorf("%s: the job has the ranks 0 to %d, no rank %d", s, j.Ranks-1, pair[i])
		}
	}
	if pair[0] == pair[1] {
		return pair, fmt.Errorf("%s: a rank does not measure with itself: name two", s)
	}
	return pair, nil
}

// RanksByNode returns which ranks of the job are near each other.
func (j *Job) RanksByNode() *collective.Nodes {
	names := make([]int, j.Ranks)
	var first []int // ranks of nodes
	for r := range names {
		isNear := func(other int) bool { return j.PlaceOfPair(other, r) == model.IntraNode.String() }
		if r > 0 && isNear(r-1) {
			names[r] = names[r-1]
			continue
		}
		if i := slices.IndexFunc(first, isNear); i >= 0 {
			names[r] = first[i]
			continue
		}
		names[r], first = r, append(first, r)
	}
	return collective.NewNodes(names)
}
