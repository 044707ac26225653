package paper

import (
	"fmt"
)

// Claims about from where on calls that do not block pay.

// crossing returns the smallest size from which a blocking call costs more than 1.2 times the one that does not block (1.2 is the margin of
// the checks), and the ratios there and at the size before. It is 0 where it never does.
func crossing(ratio func(k int) Value) (from int, evidence string) {
	var before string
	for _, k := range figureSizes {
		v := ratio(k)
		if v.V > 1.2 {
			return k, fmt.Sprintf("%v at %d B%s", v, k, before)
		}
		before = fmt.Sprintf(", %v at %d B", v, k)
	}
	return 0, "never more than 1.2" + before
}

// pays decides whether the crossing of a subject is in a range.
func pays(r *Results, s Subject, what string, low, high int, ratio func(s Subject, k int) Value) (bool, string) {
	k, text := crossing(func(k int) Value { return ratio(s, k) })
	return low <= k && k <= high, fmt.Sprintf("%v: %s over that which does not block is %s", s, what, text)
}

func (r *Results) sendRatio(s Subject, k int) Value {
	return r.send(s, "send", k).over(r.send(s, "isend", k))
}

func (r *Results) receiveRatio(s Subject, k int) Value {
	return r.receive(s, "send", k).over(r.receive(s, "isend", k))
}

func t3dSendsPay(r *Results) (bool, []string) {
	ok, text := pays(r, t3d, "a blocking send", 500, 1000, r.sendRatio)
	return ok, []string{text}
}

func t3dReceivesPay(r *Results) (bool, []string) {
	ok, text := pays(r, t3d, "a blocking receive", 1000, 4000, r.receiveRatio)
	return ok, []string{text}
}

func nowReceivesPay(r *Results) (bool, []string) {
	ok, text := pays(r, now, "a blocking receive", 500, 2000, r.receiveRatio)
	return ok, []string{text}
}
