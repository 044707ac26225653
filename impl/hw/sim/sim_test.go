package sim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/loggp/loggp/model/unit"
)

func run(t *testing.T, k *Kernel) error {
	t.Helper()
	defer k.Close()
	return k.Run(t.Context())
}

// Equal times happen in the order of scheduling, whatever mixture of sleeps and wakes they come
// from.
func TestEqualTimesKeepTheirOrder(t *testing.T) {
	var k Kernel
	var log []string
	first := k.Go(func(p *Proc) {
		p.Park()
		log = append(log, fmt.Sprint("woken ", int64(p.Now())))
	})
	for i := range 3 {
		k.Go(func(p *Proc) {
			p.Sleep(10)
			log = append(log, fmt.Sprint(i, " ", int64(p.Now())))
			if i == 0 {
				first.Wake()
			}
			p.Sleep(5)
			log = append(log, fmt.Sprint(i, " ", int64(p.Now())))
		})
	}
	if err := run(t, &k); err != nil {
		t.Fatal(err)
	}
	want := []string{"0 10", "woken 10", "1 10", "2 10", "0 15", "1 15", "2 15"}
	if !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
}

// A process that is never woken is found, named, and unwound with its deferred calls.
func TestStalledProcessIsUnwound(t *testing.T) {
	var k Kernel
	unwound := false
	stuck := k.Go(func(p *Proc) {
		defer func() { unwound = true }()
		p.Sleep(3)
		p.Park()
	})
	k.Go(func(p *Proc) { p.Sleep(10) })
	if err := k.Run(t.Context()); !errors.Is(err, ErrStalled) {
		t.Fatalf("got %v, want ErrStalled", err)
	}
	if got := slices.Collect(k.ParkedProcs); !slices.Equal(got, []*Proc{stuck}) {
		t.Errorf("%d processes reported as parked, want the one", len(got))
	}
	k.Close()
	if !unwound {
		t.Error("the deferred call of the stuck process did not run")
	}
}

func TestFailEndsTheRun(t *testing.T) {
	var k Kernel
	boom := errors.New("boom")
	k.Go(func(p *Proc) { p.Sleep(5); k.Fail(boom); k.Fail(errors.New("later")) })
	k.Go(func(p *Proc) {
		for {
			p.Sleep(1)
		}
	})
	if err := run(t, &k); err != boom {
		t.Fatalf("got %v, want the first failure", err)
	}
}

// A process that never lets another run must still notice that the user wants to stop.
func TestContextEndsAnEndlessSleeper(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var k Kernel
	defer k.Close()
	k.Go(func(p *Proc) {
		for {
			p.Sleep(1)
		}
	})
	if err := k.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}

// A process that calls runtime.Goexit ends the run and nothing else: its caller goes on, and the
// others are unwound, also if one of them does the same in a deferred call.
func TestGoexit(t *testing.T) {
	var k Kernel
	unwound := 0
	for range 3 {
		k.Go(func(p *Proc) {
			defer func() {
				unwound++
				runtime.Goexit()
			}()
			p.Park()
		})
	}
	k.Go(func(p *Proc) {
		p.Sleep(5)
		runtime.Goexit()
	})
	if err := run(t, &k); !errors.Is(err, ErrExited) || k.Now() != 5 || unwound != 3 {
		t.Errorf("error %v at %v, %d of 3 unwound; want %v at 5 ps", err, k.Now(), unwound, ErrExited)
	}
}

func TestPastEventPanics(t *testing.T) {
	var k Kernel
	k.now = 10
	defer func() {
		if recover() == nil {
			t.Error("an event in the past was taken")
		}
	}()
	k.Schedule(9, &Proc{}, 0)
}

func TestServerServesInTurn(t *testing.T) {
	var s Server
	for _, c := range []struct{ at, d, start unit.Time }{{10, 5, 10}, {12, 5, 15}, {30, 1, 30}, {30, 0, 31}} {
		if got := s.Reserve(c.at, c.d); got != c.start {
			t.Errorf("Reserve(%d, %d) = %d, want %d", c.at, c.d, got, c.start)
		}
	}
	if s.FreeAt() != 31 {
		t.Errorf("free at %d, want 31", s.FreeAt())
	}
}

// BenchmarkSwitch is one sleep that does change coroutines.
func BenchmarkSwitch(b *testing.B) {
	for _, procs := range []int{2, 1024} {
		b.Run(fmt.Sprintf("procs=%d", procs), func(b *testing.B) {
			var k Kernel
			defer k.Close()
			for i := range procs {
				k.Go(func(p *Proc) {
					for j := i; j < b.N; j += procs {
						p.Sleep(unit.Time(procs))
					}
				})
			}
			b.ResetTimer()
			if err := k.Run(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A process that sleeps beyond the latest time, and an event after it, fail the run, also where the
// sum overflows, and whether or not something else is to happen meanwhile.
func TestTimeEnds(t *testing.T) {
	for _, other := range []bool{false, true} {
		for name, body := range map[string]func(k *Kernel, p *Proc){
			"sleep":     func(k *Kernel, p *Proc) { p.Sleep(Latest); p.Sleep(1) },
			"sleeps":    func(k *Kernel, p *Proc) { p.Sleep(Latest - 10); p.Sleep(Latest) },
			"longest":   func(k *Kernel, p *Proc) { p.Sleep(5); p.Sleep(unit.LongestTime) },
			"event":     func(k *Kernel, p *Proc) { k.Schedule(Latest+1, p, 0); p.Park() },
			"overflown": func(k *Kernel, p *Proc) { k.Schedule(-unit.LongestTime, p, 0); p.Park() },
		} {
			var k Kernel
			k.Go(func(p *Proc) {
				body(&k, p)
				t.Errorf("%s: it goes on at %v", name, p.Now())
			})
			if other {
				k.Go(func(p *Proc) { p.Sleep(Latest / 2) })
			}
			if err := run(t, &k); !errors.Is(err, ErrTooLate) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	var k Kernel
	k.Go(func(p *Proc) { p.Sleep(Latest - 1); p.Sleep(1) })
	if err := run(t, &k); err != nil || k.Now() != Latest {
		t.Errorf("%v at %v", err, k.Now())
	}
}

// waiter is a Waiter that logs its calls, and sleeps and parks within some of them.
type waiter struct {
	p         *Proc
	callsLeft int
	log       *[]string
}

func (w *waiter) ContinueWait() bool {
	*w.log = append(*w.log, fmt.Sprint("call ", int64(w.p.Now())))
	w.callsLeft--
	if w.callsLeft == 1 {
		w.p.Sleep(7)
		w.p.Park()
		*w.log = append(*w.log, fmt.Sprint("continued ", int64(w.p.Now())))
	}
	return w.callsLeft == 0
}

// A Waiter sees each wake of its process, and may sleep and park as the process itself. The process
// is not resumed until the Waiter has ended the wait.
func TestWaiterContinuesTheWait(t *testing.T) {
	var k Kernel
	var log []string
	parked := k.Go(func(p *Proc) {
		p.ParkUntil(&waiter{p, 3, &log})
		log = append(log, fmt.Sprint("resumed ", int64(p.Now())))
	})
	k.Go(func(p *Proc) {
		for range 6 {
			p.Sleep(5)
			parked.Wake()
		}
	})
	if err := run(t, &k); err != nil {
		t.Fatal(err)
	}
	want := []string{"call 5", "call 10", "continued 20", "call 25", "resumed 25"}
	if !slices.Equal(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
	if n := len(k.loops); n > 2 {
		t.Errorf("%d loops", n)
	}
}

// A Waiter that is parked is unwound with its deferred calls, and its process too.
func TestParkedWaiterIsUnwound(t *testing.T) {
	var k Kernel
	unwound := 0
	stuck := k.Go(func(p *Proc) {
		defer func() { unwound++ }()
		p.ParkUntil(waiterFunc(func() bool {
			defer func() { unwound++ }()
			p.Park()
			return true
		}))
	})
	k.Go(func(p *Proc) { p.Sleep(1); stuck.Wake() })
	if err := run(t, &k); !errors.Is(err, ErrStalled) {
		t.Fatalf("got %v, want ErrStalled", err)
	}
	if unwound != 2 {
		t.Errorf("%d deferred calls ran, not 2", unwound)
	}
}

type waiterFunc func() bool

func (f waiterFunc) ContinueWait() bool { return f() }
