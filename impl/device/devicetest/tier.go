package devicetest

import (
	"fmt"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/model"
)

// A library chooses protocols by how near the other rank is, on both sides of a message: at the sender what goes first, at the receiver how
// it takes in the rest. The two have to agree, and go on to.
func tiers(open func(int) device.World) error {
	for _, n := range []int{1, 2, 5} {
		err := run(open(n), func(p *rank) error {
			if t := p.Tier(p.Rank()); t != model.Intra {
				return fmt.Errorf("rank %d: the tier of itself is %d, want %d (%v)", p.Rank(), t, model.Intra, model.Intra)
			}
			for dst := range n {
				p.sendWord(dst, uint64(p.Tier(dst)))
			}
			for range n {
				q := p.next()
				here, there := p.Tier(q.Src), model.Tier(q.Head[0])
				if here >= model.NumTiers || here != there {
					return fmt.Errorf("rank %d: the tier of rank %d is %d, and %d the other way round, of %d that there are", p.Rank(), q.Src, here, there, model.NumTiers)
				}
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("%d ranks: %w", n, err)
		}
	}
	return run(open(5), func(p *rank) error {
		before := make([]model.Tier, p.Size())
		for r := range before {
			before[r] = p.Tier(r)
		}
		for i := range 20 {
			p.sendWord((p.Rank()+i)%p.Size(), 0)
			p.next()
			for r, t := range before {
				if now := p.Tier(r); now != t {
					return fmt.Errorf("rank %d: the tier of rank %d was %d and is %d after %d messages", p.Rank(), r, t, now, i+1)
				}
			}
		}
		return nil
	})
}

// A program that asks where it runs finds out who runs there, too.
func nodes(open func(int) device.World) error {
	return run(open(5), func(p *rank) error {
		node := p.Node()
		if node == "" {
			return fmt.Errorf("rank %d: its node has no name", p.Rank())
		}
		for dst := range p.Size() {
			p.Send(dst, &device.Packet{Data: []byte(node)})
		}
		for range p.Size() {
			q := p.next()
			if other := string(q.Data); p.Tier(q.Src) == model.Intra && other != node {
				return fmt.Errorf("rank %d is on %q, and rank %d, which is near, on %q", p.Rank(), node, q.Src, other)
			}
		}
		if now := p.Node(); now != node {
			return fmt.Errorf("rank %d: its node was called %q, and is called %q", p.Rank(), node, now)
		}
		return nil
	})
}
