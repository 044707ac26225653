package paper

import (
	"fmt"
	"slices"
	"strings"

	"github.com/loggp/loggp/reports"
)

// claim decides a statement of claims.csv: whether it holds, by how it says that it is to be checked, and the numbers that decided. Where
// the statement names no platform the T3D decides, and the others' numbers stand beside it.
//
// Near, of a size, is our reading: within a factor of two.
type claim struct {
	id     string
	decide func(r *Results) (holds bool, evidence []string)
}

// claims are all of them, in files by what they are about.
var claims = []claim{
	{"AM-01", convexOverheads},
	{"AM-02", convexRates},
	{"AM-03", convexLatencies},
	{"AM-04", latencyOrder},
	{"AM-05", t3dVariesLittle},
	{"AM-06", synchronousContainsLatency},
	{"AM-07", standardLikeBuffered},
	{"AM-08", nowSynchronousCosts},
	{"AM-09", bufferedCheaperShort},
	{"AM-10", bufferedLikeSynchronousLong},
	{"AM-11", nowGrows},
	{"AM-12", nowOverT3D},
	{"AM-13", t3dSendsPay},
	{"AM-14", t3dReceivesPay},
	{"AM-15", nowReceivesPay},
	{"AM-16", intraLowest},
	{"AM-17", interSlightlyAbove},
	{"AM-18", intraFastest},
	{"AM-19", gapIsOverhead},
	{"AM-20", protocolsNegligible},
	{"AM-21", modelsAgreeShort},
	{"AM-22", readyIsStandard},
	{"AM-23", localOrNot},
	{"AM-24", synchronousOnFastNetwork},
	{"AM-25", latencyIsBound},
	{"AM-26", overheadsDominate},
	{"AM-27", librariesAlike},
	{"AM-28", synchronousNotDearer},
	{"AM-29", senderAndDelivery},
}

// disputes are what the source says against its own claims.
var disputes = map[string]string{
	"AM-01": "Table 4 itself has 15 at 100 B and 10 at 10000 B.",
	"AM-02": "The text says ten, table 4 has G/S = 5: the check takes both for the ends of a range.",
	"AM-05": "Little is read as what table 3 has: a factor of 4.3.",
	"AM-11": "The check reads ten as 5 to 15. From 16 to 10000 B table 3 has a factor of 1.1: the growth is to come beyond.",
	"AM-12": "Table 3 has 33 at 16 B and 8.5 at 10000 B: the check is for the latter.",
}

// worth is what verdicts are worth whose check proves less than it says.
var worth = map[string]string{
	"AM-20": "It names no platform: the protocol is forced on the T3D alone.",
	"AM-21": "An identity of two formulas: nothing is measured.",
	"AM-27": "What mpich costs on NOW is assumed, most of it as a tenth more than chimp: that the two are alike is what was put in.",
	"AM-29": "It names no platform: the protocols are forced on the T3D alone.",
}

// causes say why numbers of other platforms are against a claim that is decided on the T3D.
var causes = map[string]string{
	"AM-10": "There the wire of 10 Mbit/s is in the synchronous send, which waits for its message to go over it, and not in the copy that ends the buffered one. Figure 9, which the claim is from, is lost, and its caption names no platform.",
}

// note says what is to be known beside a verdict on a claim.
func note(id string, q *Results) string {
	all := []string{disputes[id], worth[id]}
	if len(q.otherwise) > 0 {
		var names []string
		for _, s := range q.otherwise {
			names = append(names, s.String())
		}
		all = append(all, fmt.Sprintf("It names no platform and is decided on T3D: on %s the numbers say otherwise.", strings.Join(names, ", ")), causes[id])
	}
	if len(q.edges) > 0 {
		all = append(all, sentence(strings.Join(q.edges, "; ")))
	}
	return joined(all...)
}

// joined joins sentences, of which some may be none.
func joined(sentences ...string) string {
	return strings.Join(slices.DeleteFunc(sentences, func(s string) bool { return s == "" }), " ")
}

// judge decides all claims of the source.
func judge(r *Results, source []record) ([]reports.Claim, error) {
	var all []reports.Claim
	for _, row := range source {
		i := indexOf(row["id"])
		if i < 0 {
			return nil, fmt.Errorf("claim %s: nothing decides it", row["id"])
		}
		c := reports.Claim{ID: row["id"], Text: row["claim"], Where: row["where"], Check: row["how_to_check"]}
		q := r.noting()
		holds, evidence := claims[i].decide(q)
		c.Evidence, c.Note = strings.Join(evidence, "; "), note(c.ID, q)
		switch {
		case len(q.absent) > 0:
			c.Verdict = reports.NotApplicable
			c.Note = "Not measured: " + some(q.absent) + "."
		case holds:
			c.Verdict = reports.Holds
		default:
			c.Verdict = reports.Fails
			c.Note = joined("What should be and is not: "+c.Check+".", c.Note)
		}
		all = append(all, c)
	}
	return all, nil
}

// some lists texts, each once, and of many the first.
func some(all []string) string {
	const most = 4
	all = slices.Compact(slices.Sorted(slices.Values(all)))
	if len(all) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
	}
	return strings.Join(all, ", ")
}

func indexOf(id string) int {
	for i := range claims {
		if claims[i].id == id {
			return i
		}
	}
	return -1
}

// within says whether every value is in a range, and prints them behind what they are.
func (r *Results) within(what string, low, high float64, values ...sized) (bool, []string) {
	ok := true
	text := what
	for i, v := range values {
		ok = r.inside(fmt.Sprintf("%v at %d B", v.Value, v.k), v.Value, low, high) && ok
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(" %v at %d B", v.Value, v.k)
	}
	return ok, []string{text}
}

// sized is a value of a size.
type sized struct {
	k int
	Value
}

// each returns a value of each size.
func each(sizes []int, f func(k int) Value) []sized {
	var all []sized
	for _, k := range sizes {
		all = append(all, sized{k, f(k)})
	}
	return all
}
