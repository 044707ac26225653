package paper

import (
	"fmt"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
	"github.com/loggp/loggp/reports"
)

// term is a symbol of equations (1) to (9) with its column in the file.
type term struct{ symbol, column string }

var terms = []term{{"o_s", "n_os"}, {"L", "n_L"}, {"o_r", "n_or"}, {"(k−1) G", "n_G_k_minus_1"}, {"s_s", "n_ss"}, {"s_r", "n_sr"}, {"(k−1) S", "n_S_k_minus_1"}}

// equations sets the equations as printed beside those that follow from the steps of the protocols, and from the models of long messages.
func (x *run) equations(src *source) reports.Artefact {
	a := reports.Artefact{ID: "equations", Caption: "Equations (1) to (9)", Words: []string{
		"(1) to (7) are found by adding up the steps of each protocol; (8) and (9) by setting one parameter of the model to 1 and all others to 0."}}
	for _, r := range src.equations {
		f := words(Subject{}, "", fmt.Sprintf("(%s) %s of %s", r["number"], r["symbol"], r["protocol"]), -1, printedSum(r), derived(r))
		f.Source = "Equation (" + r["number"] + ")"
		compare(&f, f.Text[0] == f.Text[1])
		a.Rows = append(a.Rows, f)
	}
	return a
}

// printedSum is the sum of a row.
func printedSum(r record) string {
	var n []string
	for _, t := range terms {
		n = append(n, r[t.column])
	}
	return sum(n)
}

// sum prints coefficients in the order of terms.
func sum(coefficients []string) string {
	var all []string
	for i, n := range coefficients {
		switch n {
		case "0":
		case "1":
			all = append(all, terms[i].symbol)
		default:
			all = append(all, n+" "+terms[i].symbol)
		}
	}
	return strings.Join(all, " + ")
}

// derived is the sum that the models have for the equation of a row.
func derived(r record) string {
	p := model.Named(r["protocol"])
	if p == nil {
		return sum(coefficients(strings.HasPrefix(r["protocol"], "intra")))
	}
	e := p.Equations()
	c := e.Sender
	if r["symbol"] != "T_s" {
		c = e.Delivery
	}
	var n []string
	for _, x := range c {
		n = append(n, fmt.Sprint(x))
	}
	return sum(append(n, "0", "0", "0"))
}

// coefficients are those of a long message inside a hypernode or between two.
func coefficients(inside bool) []string {
	const one = unit.Microsecond
	half := []model.Parameters{{SendO: model.Constant(one)}, {L: one}, {RecvO: model.Constant(one)}, {BigGap: unit.PerByte(one)}}
	var n []string
	ask := func(x model.LoGH) { n = append(n, fmt.Sprint(int64(x.OneWay(inside, 2)/one))) }
	for _, x := range half {
		ask(model.LoGH{Between: x})
	}
	for _, i := range []int{0, 2, 3} {
		ask(model.LoGH{Inside: half[i]})
	}
	return n
}
