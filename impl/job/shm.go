package job

import (
	"context"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/host"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/shm"
	"github.com/loggp/loggp/model"
)

// SharedMemoryPlatform is the platform of this machine with ranks as processes that share memory.
const SharedMemoryPlatform = "shm"

var sharedMemoryTransport = transport{
	description: "ranks are processes that share memory",
	maxRanks:    launch.MaxRanks,
	newLibrary: func() *model.Library {
		return newLoggpLibrary(4<<10, "messages to 4 KiB at once, longer ones are read by the receiver") // from there on the kernel's copy pays
	},
	openWorld: func(j *Job, ctx context.Context) (device.World, error) {
		return shm.New(j.processLaunchConfig(ctx), shm.Options{})
	},
	facts: func() []host.Fact { return nil },
}
