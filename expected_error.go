package loggp

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// addExpectedError adds to a document the expected error of times of a library on an emulated
// machine, if the platform's file states it: of single messages, or of collective operations of
// NCCL. composed says that the document is about more than these, such as other collective
// operations, programs and steps of training, for which there is no calibration.
func addExpectedError(d *doc.Document, l *model.Library, composed bool) {
	if l == nil || l.ExpectedError == 0 {
		return
	}
	what, more := "single messages", " Collective operations and programs add errors of their own: contention, other ranks' delays, and the algorithms that the library is taken to have."
	if l.CarriedBy() == model.NCCLEngine {
		what, more = "collective operations", " Several operations at the same time, and computing beside them, add errors of their own."
	}
	text := fmt.Sprintf("Nine in ten times of %s by %s were predicted within %s when the platform was calibrated without them.", what, l.Name, unit.Percent(l.ExpectedError))
	if composed {
		text += more
	}
	d.AddSection(doc.Section{ID: "expected-error", Title: "Errors to expect", Text: []string{text}})
}

// addPlatformError adds the expected error of a library of a platform to a document about a
// workload on it. "" is no platform, and its first library.
func addPlatformError(d *doc.Document, platformName, library string) error {
	if platformName == "" || isThisMachine(platformName) {
		return nil
	}
	p, err := LoadPlatform(platformName)
	if err != nil {
		return err
	}
	l, err := p.Library(library)
	if err == nil {
		addExpectedError(d, l, true)
	}
	return err
}
