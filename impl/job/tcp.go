package job

import (
	"context"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/library/ccmpi"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/tcp"
	"github.com/loggp/loggp/model"
)

// TCPPlatform is the platform of this machine with ranks as processes that are connected by
// TCP.
const TCPPlatform = "tcp"

var tcpTransport = transport{
	description: "ranks are processes that are connected by TCP, by the loopback interface",
	maxRanks:    launch.MaxRanks,
	newLibrary: func() *model.Library {
		return newLoggpLibrary(128<<10, "messages to 128 KiB at once, longer ones when the receiver asks for them")
	},
	openWorld: func(j *Job, ctx context.Context) (device.World, error) {
		return tcp.New(j.processLaunchConfig(ctx), tcp.Options{Datagrams: j.Library.Compiled != nil})
	},
	facts: tcp.Facts,
}

// newTCPCompiledCommunicationLibrary is the library by which ranks that are connected by
// TCP multicast, and exchange in phases.
func newTCPCompiledCommunicationLibrary() *model.Library {
	l := tcpTransport.newLibrary()
	options := ccmpi.Defaults
	l.Name, l.Compiled = "cc-mpi", &options
	l.Description = "CC-MPI: collective operations by reliable multicast over UDP, and in phases over TCP; other messages as loggp"
	return l
}
