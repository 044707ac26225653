package loop_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device/devicetest"
	"github.com/loggp/loggp/impl/loop"
)

func TestWorld(t *testing.T)    { devicetest.TestWorld(t, loop.New) }
func TestDeadlock(t *testing.T) { devicetest.TestDeadlock(t, loop.New) }
