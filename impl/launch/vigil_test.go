package launch

import (
	"testing"
	"time"

	"github.com/loggp/loggp/impl/auth"
)

// A vigil in made time: when it asks, and when the other side is given up.
func TestVigil(t *testing.T) {
	const ms = time.Millisecond
	never := func(time.Duration) bool { return false }
	always := func(time.Duration) bool { return true }
	from := func(begin time.Duration) func(time.Duration) bool {
		return func(at time.Duration) bool { return at >= begin }
	}
	each := func(heed time.Duration) func(time.Duration) time.Duration {
		return func(at time.Duration) time.Duration { return at + heed }
	}
	for _, c := range []struct {
		name   string
		due    func(at time.Duration) bool
		next   func(at time.Duration) time.Duration // look
		trip   time.Duration
		asked  int
		gone   time.Duration // not later
		before time.Duration // not before; 0: it is not given up in ten seconds
	}{
		{"all is well", never, each(heed), ms, 0, 0, 0},
		{"an answer is under way at each look", func(at time.Duration) bool { return at/heed%2 == 0 }, each(heed), ms, 33, 0, 0},
		// The kernel asks a second after it has heard the last.
		{"switched off", from(1000 * ms), each(heed), ms, 1, 1800 * ms, 1600 * ms},
		{"far away", from(1000 * ms), each(heed), 400 * ms, 1, 2900 * ms, 2600 * ms},
		{"lost twice and repeated", func(at time.Duration) bool { return at >= 1000*ms && at < 1550*ms }, each(heed), ms, 1, 0, 0},
		// This process is stopped for seconds, again and again: what has come meanwhile is seen at the second look.
		{"stopped itself", always, each(2 * time.Second), ms, 5, 0, 0},
		{"stopped once, with the other gone", always, func(at time.Duration) time.Duration {
			if at == 3*heed {
				return at + 5*time.Second
			}
			return at + heed
		}, ms, 2, 6300 * ms, 6000 * ms},
	} {
		var v vigil
		asked, ended := 0, time.Duration(0)
		for at := heed; at < 10*time.Second && ended == 0; at = c.next(at) {
			ask, gone := v.look(at, c.due(at), c.trip)
			if ask {
				asked++
			}
			if gone {
				ended = at
			}
		}
		if asked != c.asked || c.before == 0 && ended != 0 || c.before > 0 && (ended < c.before || ended > c.gone) {
			t.Errorf("%s: asked %d times, not %d, and given up after %v, not from %v to %v", c.name, asked, c.asked, ended, c.before, c.gone)
		}
	}
}

// What is said where an answer is due means nothing to who hears it, and may be said at any time.
func TestNothingIsSaid(t *testing.T) {
	token := auth.NewToken()
	d, err := auth.Listen("127.0.0.1:0", token, controlID(1))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	dialed, err := auth.Dial(t.Context(), d.Addr().String(), token, controlID(1))
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := d.Accept(t.Context(), controlID(1))
	if err != nil {
		t.Fatal(err)
	}
	far, near := newControl(dialed), newControl(accepted)
	defer far.close()
	defer near.close()
	for _, w := range []word{{}, {Report: &report{}}, {}, {Over: true}} {
		if err := far.say(w); err != nil {
			t.Fatal(err)
		}
	}
	reports := 0
	if d := (&agent{control: near}).attend(nil, new(bool), func(report) { reports++ }); d != nil || reports != 1 {
		t.Errorf("%d reports, and %v", reports, d)
	}
	for _, kind := range []string{nothing, nothing, leaves} {
		if err := near.say(order{Kind: kind}); err != nil {
			t.Fatal(err)
		}
	}
	if err := (&Agent{Rank: 1}).obey(far); err != nil {
		t.Error(err)
	}
}
