package queue

import (
	"fmt"
	"testing"

	"github.com/loggp/loggp/impl/engine"
	"github.com/loggp/loggp/impl/engine/enginetest"
	"github.com/loggp/loggp/model"
)

// TestEngine executes the laws of package engine.
func TestEngine(t *testing.T) {
	enginetest.Test(t, enginetest.Subject{
		Name:          "queue",
		NewJobEngines: New,
		Library:       func() *model.Library { return &model.Library{Name: "queue", Engine: model.QueueEngine} },
		CheckNothingHeld: func(e engine.Engine) error {
			if e := e.(*Engine); e.inbox.Posted.Len() != 0 || e.inbox.Unexpected.Len() != 0 {
				return fmt.Errorf("%d receives and %d messages are in the queues", e.inbox.Posted.Len(), e.inbox.Unexpected.Len())
			}
			return nil
		},
	})
}
