package model

import "github.com/loggp/loggp/model/unit"

// CongestionControl reduces the rate of senders before buffers fill, as DCQCN does on RoCE:
// switches mark packets that leave a long queue, receivers notify the sender, and the sender slows
// down and recovers in steps. Zhu et al. 2015, Congestion Control for Large-Scale RDMA Deployments,
// SIGCOMM, sections 3 and 5.
type CongestionControl struct {
	MarkFrom, MarkAll int       // bytes that wait for a link: fewer mark no packet, more mark all
	Probability       float64   // of a mark where just fewer than MarkAll wait; it rises linearly
	NoticeInterval    unit.Time // from a notice to the next one for the same sender, at least
	Gain              float64   // weight of the newest notice in the estimate of congestion
	Period            unit.Time // of a step of the recovery
	Increase          unit.Rate // of the rate to recover, with each step after the first ones
}

// RecoverySteps is how many steps halve the distance to the rate before a reduction, until that
// rate rises as well.
const RecoverySteps = 5

// MarkProbability returns the probability of a mark for each packet that leaves a queue of so many
// bytes.
func (c *CongestionControl) MarkProbability(queue int) float64 {
	switch {
	case queue <= c.MarkFrom:
		return 0
	case queue > c.MarkAll:
		return 1
	}
	return c.Probability * float64(queue-c.MarkFrom) / float64(c.MarkAll-c.MarkFrom)
}

// LossRecovery says that switches drop bytes that find a buffer full, and senders recover by
// go-back-N, as RDMA interfaces do on Ethernet without priority flow control: InfiniBand
// Architecture Specification 1.4, volume 1, section 9.7.5; Mittal et al. 2018, Revisiting Network
// Support for RDMA, SIGCOMM, section 2.
type LossRecovery struct {
	Timeout unit.Time // from the departure of bytes until they are sent again, if nothing was heard of them
}
