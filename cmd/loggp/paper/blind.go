package paper

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/loggp/loggp/reports/study"
)

// blindFile is what was predicted of published numbers and claims that the authors of the emulation
// did not know, with the commit that predicted it. Nothing may change it: what is calibrated later
// is shown beside it.
const blindFile = "blind.csv"

// claimRowPrefix begins the name of a claim where rows of tables have names.
const claimRowPrefix = "claims "

// readBlindPredictions reads the blind predictions of a paper, if it has any. Each is of a row or a
// claim of the paper.
func (p *Paper) readBlindPredictions(dir fs.FS) error {
	_, records, err := readRecords(dir, blindFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	p.blind, p.blindVerdicts = map[string]*study.BlindPrediction{}, map[string]string{}
	rows := p.rowNames()
	for _, r := range records {
		name := r.cells["row"]
		switch {
		case p.blind[name] != nil || p.blindVerdicts[name] != "":
			return fmt.Errorf("%s: a second prediction of %q", r.position, name)
		case r.cells["commit"] == "":
			return fmt.Errorf("%s: the commit that predicted %q is missing", r.position, name)
		case p.hasClaim(name):
			verdict := r.cells["predicted"]
			if !slices.Contains([]string{study.VerdictHolds, study.VerdictFails, study.VerdictUndecided, "NA"}, verdict) {
				return fmt.Errorf("%s: %q is neither a verdict nor NA", r.position, verdict)
			}
			p.blindVerdicts[name] = verdict
		case rows[name]:
			value, err := r.parseNumber("predicted")
			if err != nil {
				return err
			}
			p.blind[name] = &study.BlindPrediction{Value: value, Commit: r.cells["commit"]}
		default:
			return fmt.Errorf("%s: no table has a published number %q, and there is no such claim", r.position, name)
		}
	}
	return nil
}
