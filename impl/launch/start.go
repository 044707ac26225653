package launch

import (
	"fmt"
	"os"
)

// start starts all ranks but the first: on this host, or where their agents are.
func (j *job) start(shared *os.File) error {
	if j.Team != nil {
		return j.send(shared)
	}
	for rank := 1; rank < j.Ranks; rank++ {
		p, err := startRank(j.orders(rank), shared)
		if err != nil {
			return fmt.Errorf("launch: start rank %d: %w", rank, err)
		}
		j.ranks.Go(func() {
			if d := p.attend(j.stop, &j.asks, j.reported); d != nil {
				j.end(d)
			}
		})
	}
	return nil
}

func (j *job) orders(rank int) orders {
	return orders{Rank: rank, Ranks: j.Ranks, Args: j.Args, Earlier: runs.ended[line(j.Args)], Hosts: j.Team.places()}
}

// reported takes in what a rank reports, before those that stumble over it.
func (j *job) reported(r report) {
	if uint(r.Rank) < uint(len(j.words)) {
		j.words[r.Rank] = r.Words
	}
	if r.Kind != done {
		j.end(r.err())
	}
}
