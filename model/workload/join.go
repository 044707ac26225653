package workload

import "fmt"

// PlacedJob is a workload with the ranks of a machine that are its ranks, in its order.
type PlacedJob struct {
	Name string
	*Workload
	Ranks []int
}

// JoinJobs returns the workload of jobs that run at the same time on a machine of so many ranks.
// Ranks without a job do nothing. Jobs must not share ranks.
func JoinJobs(jobs []PlacedJob, ranks int) (*Workload, error) {
	if ranks > MaxRanks {
		return nil, fmt.Errorf("%d ranks: there must be at most %d", ranks, MaxRanks)
	}
	idle := NewProgram("no job")
	all := &Workload{Ranks: make([]Rank, ranks)}
	owners := make([]string, ranks)
	for i := range all.Ranks {
		all.Ranks[i].Program = idle
	}
	for _, job := range jobs {
		if len(job.Ranks) != len(job.Workload.Ranks) {
			return nil, fmt.Errorf("%s has %d ranks, and %d are named for it", job.Name, len(job.Workload.Ranks), len(job.Ranks))
		}
		place := func(of []int) []int {
			placed := make([]int, len(of))
			for i, r := range of {
				placed[i] = job.Ranks[r]
			}
			return placed
		}
		firstGroup := len(all.Groups)
		for _, g := range job.Groups {
			all.Groups = append(all.Groups, Group{Name: g.Name, Ranks: place(g.Ranks)})
		}
		for i, r := range job.Workload.Ranks {
			at := job.Ranks[i]
			switch {
			case at < 0 || at >= ranks:
				return nil, fmt.Errorf("%s: there is no rank %d: the machine has %d", job.Name, at, ranks)
			case owners[at] != "":
				return nil, fmt.Errorf("rank %d is one of %s and of %s: jobs have ranks of their own", at, owners[at], job.Name)
			}
			owners[at] = job.Name
			groups := make([]int, len(r.Groups))
			for k, g := range r.Groups {
				groups[k] = firstGroup + g
			}
			all.Ranks[at] = Rank{Program: r.Program, Groups: groups, Peers: place(r.Peers)}
		}
	}
	return all, nil
}
