package loggp

import (
	"fmt"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports/doc"
)

// addExpectedError adds to a document the expected error of times of a library on an emulated
// machine, if the platform's file states it. collective says that the document is about collective
// operations, for which there is no calibration.
func addExpectedError(d *doc.Document, l *model.Library, collective bool) {
	if l == nil || l.ExpectedError == 0 {
		return
	}
	text := fmt.Sprintf("Nine in ten times of single messages by %s were predicted within %s when the platform was calibrated without them.", l.Name, unit.Percent(l.ExpectedError))
	if collective {
		text += " Collective operations and programs add errors of their own: contention, other ranks' delays, and the algorithms that the library is taken to have."
	}
	d.AddSection(doc.Section{ID: "expected-error", Title: "Errors to expect", Text: []string{text}})
}
