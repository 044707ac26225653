package platform

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// loggp reads the machine of the model. Its keys are the letters of the papers.
func (r *reader) loggp() (model.Network, reading) {
	to := &model.LogGP{}
	return to, r.mapping(
		must("L", r.time(&to.L)),
		must("o_s", r.time(&to.SendO)),
		must("o_r", r.time(&to.RecvO)),
		must("g", r.time(&to.Gap)),
		must("G", r.perByte(&to.BigGap)),
	)
}

// synthetic is the platform of the catalogue whose parameters can be given with its name.
const synthetic = "loggp"

// given is the source of a parameter that was given with the name.
const given = "given with the platform's name"

// parameters are the parameters that can be given, in the order in which errors list them: the key,
// its path in the file, and a function that sets it.
var parameters = []struct {
	key, path string
	set       func(p *Platform, value string) error
}{
	{"L", "machine.loggp.L", func(p *Platform, s string) error { return setTime(&p.loggp().L, s) }},
	{"o_s", "machine.loggp.o_s", func(p *Platform, s string) error { return setTime(&p.loggp().SendO, s) }},
	{"o_r", "machine.loggp.o_r", func(p *Platform, s string) error { return setTime(&p.loggp().RecvO, s) }},
	{"g", "machine.loggp.g", func(p *Platform, s string) error { return setTime(&p.loggp().Gap, s) }},
	{"G", "machine.loggp.G", func(p *Platform, s string) (err error) {
		g := &p.loggp().BigGap
		if *g, err = unit.ParsePerByte(s); err != nil {
			return err
		}
		return within(s, *g, 0, maxPerByte, unit.PerByte.String)
	}},
	{"ranks", "machine.ranks.default", func(p *Platform, s string) (err error) {
		r := &p.Machine.Ranks
		if r.Default, err = strconv.Atoi(s); err != nil {
			return fmt.Errorf("count %q: write a whole number", s)
		}
		return within(s, r.Default, r.Min, r.Max, strconv.Itoa)
	}},
}

// loggp returns the network of the synthetic platform.
func (p *Platform) loggp() *model.LogGP { return p.Machine.Network.(*model.LogGP) }

func setTime(to *unit.Time, s string) (err error) {
	if *to, err = unit.ParseTime(s); err != nil {
		return err
	}
	return within(s, *to, 0, maxTime, unit.Time.String)
}

// fromSpec returns the synthetic platform with other parameters than those of the catalogue:
//
//	loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B,ranks=8
//
// A parameter that is left out has the value of the catalogue. The machine's name is the spec
// without spaces, so measurements on it have the parameters in their name.
func fromSpec(spec string) (*Platform, error) {
	p, err := Load(synthetic)
	if err != nil {
		return nil, err
	}
	p.File, p.Machine.Name = spec, strings.ReplaceAll(spec, " ", "")
	p.Sum = sum([]byte(p.Sum + p.Machine.Name))
	seen := map[string]bool{}
	at := len(synthetic) + 2 // the column after the comma or colon
	for i, item := range strings.Split(spec[at-1:], ",") {
		start := at + len(item) - len(strings.TrimLeft(item, " "))
		at += len(item) + 1
		item = strings.TrimSpace(item)
		key, value, ok := strings.Cut(item, "=")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			err = fmt.Errorf("write a parameter and its value, such as L=5us")
		case seen[key]:
			err = fmt.Errorf("%s is there already: leave one", key)
		default:
			err = p.set(key, value, start)
		}
		if err != nil {
			return nil, fmt.Errorf("platform %q: item %d, at column %d: %q: %w", spec, i+1, start, item, err)
		}
		seen[key] = true
	}
	return p, nil
}

// set sets a parameter of the synthetic platform and its provenance.
func (p *Platform) set(key, value string, column int) error {
	var keys []string
	for _, x := range parameters {
		keys = append(keys, x.key)
		if x.key != key {
			continue
		}
		if err := x.set(p, value); err != nil {
			return err
		}
		for i := range p.Numbers {
			if n := &p.Numbers[i]; n.Path == x.path {
				*n = Number{Path: n.Path, Quantity: n.Quantity, Value: value, Basis: Assumed, Source: given, Line: 1, Column: column}
			}
		}
		return nil
	}
	return fmt.Errorf("unknown parameter %q: write one of %s", key, strings.Join(keys, ", "))
}
