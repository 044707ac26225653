package schedule

import "errors"

// CheckEnds returns an error if an operation of the schedule never ends, or if the schedule does
// what a simulation warns of.
func (s *Schedule) CheckEnds() error {
	res, err := s.Simulate(Options{Params: DefaultParams})
	if err != nil {
		return err
	}
	var doubts []error
	for _, w := range res.Warnings {
		doubts = append(doubts, errors.New(w.Text))
	}
	return errors.Join(doubts...)
}
