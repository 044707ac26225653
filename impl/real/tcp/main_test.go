package tcp_test

import (
	"testing"

	"github.com/loggp/loggp/impl/device"
	"github.com/loggp/loggp/impl/real/launch"
	"github.com/loggp/loggp/impl/real/launch/launchtest"
	"github.com/loggp/loggp/impl/real/tcp"
)

func TestMain(m *testing.M) { launchtest.Main(m, open, nil) }

func open(c launch.Config) (device.World, error) { return tcp.New(c, tcp.Options{}) }

func openWithDatagrams(c launch.Config) (device.World, error) {
	return tcp.New(c, tcp.Options{Datagrams: true, DatagramLoss: 0.3})
}
