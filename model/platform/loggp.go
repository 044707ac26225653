package platform

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model"
	"github.com/loggp/loggp/model/unit"
)

// loggpReader reads the machine of the model. Its keys are the letters of the papers.
func (r *fileReader) loggpReader() (model.Network, nodeReader) {
	to := &model.LogGP{}
	return to, r.readMapping(
		requiredField("L", r.readTime(&to.L)),
		requiredField("o_s", r.readTime(&to.SendOverhead)),
		requiredField("o_r", r.readTime(&to.RecvOverhead)),
		requiredField("g", r.readTime(&to.Gap)),
		requiredField("G", r.perByte(&to.GapPerByte)),
	)
}

// loggpName is the platform of the catalogue whose parameters can be given with its name.
const loggpName = "loggp"

// specSource is the source of a parameter that was given with the name.
const specSource = "given with the platform's name"

// specParameters are the parameters that can be given, in the order in which errors list them: the
// key, its path in the file, and a function that sets it.
var specParameters = []struct {
	key, path string
	set       func(p *Platform, value string) error
}{
	{"L", "machine.loggp.L", func(p *Platform, s string) error { return parseTimeInto(&p.loggpNetwork().L, s) }},
	{"o_s", "machine.loggp.o_s", func(p *Platform, s string) error { return parseTimeInto(&p.loggpNetwork().SendOverhead, s) }},
	{"o_r", "machine.loggp.o_r", func(p *Platform, s string) error { return parseTimeInto(&p.loggpNetwork().RecvOverhead, s) }},
	{"g", "machine.loggp.g", func(p *Platform, s string) error { return parseTimeInto(&p.loggpNetwork().Gap, s) }},
	{"G", "machine.loggp.G", func(p *Platform, s string) (err error) {
		g := &p.loggpNetwork().GapPerByte
		if *g, err = unit.ParsePerByte(s); err != nil {
			return err
		}
		return checkRange(s, *g, 0, maxPerByte, unit.PerByte.String)
	}},
	{"ranks", "machine.ranks.default", func(p *Platform, s string) (err error) {
		r := &p.Machine.Ranks
		if r.Default, err = strconv.Atoi(s); err != nil {
			return fmt.Errorf("count %q: write a whole number", s)
		}
		return checkRange(s, r.Default, r.Min, r.Max, strconv.Itoa)
	}},
}

// loggpNetwork returns the network of the synthetic platform.
func (p *Platform) loggpNetwork() *model.LogGP { return p.Machine.Network.(*model.LogGP) }

func parseTimeInto(to *unit.Time, s string) (err error) {
	if *to, err = unit.ParseTime(s); err != nil {
		return err
	}
	return checkRange(s, *to, 0, maxTime, unit.Time.String)
}

// parseSpec returns the synthetic platform with other parameters than those of the catalogue:
//
//	loggp:L=5us,o_s=2us,o_r=3us,g=4us,G=0.01us/B,ranks=8
//
// A parameter that is left out has the value of the catalogue. The machine's name is the spec
// without spaces, so measurements on it have the parameters in their name.
func parseSpec(spec string) (*Platform, error) {
	p, err := Load(loggpName)
	if err != nil {
		return nil, err
	}
	p.File, p.Machine.Name = spec, strings.ReplaceAll(spec, " ", "")
	p.Hash = hashFile([]byte(p.Hash + p.Machine.Name))
	seen := map[string]bool{}
	at := len(loggpName) + 2 // the column after the comma or colon
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
			err = p.setParameter(key, value, start)
		}
		if err != nil {
			return nil, fmt.Errorf("platform %q: item %d, at column %d: %q: %w", spec, i+1, start, item, err)
		}
		seen[key] = true
	}
	return p, nil
}

// setParameter sets a parameter of the synthetic platform and its provenance.
func (p *Platform) setParameter(key, value string, column int) error {
	var keys []string
	for _, x := range specParameters {
		keys = append(keys, x.key)
		if x.key != key {
			continue
		}
		if err := x.set(p, value); err != nil {
			return err
		}
		for i := range p.Numbers {
			if n := &p.Numbers[i]; n.Path == x.path {
				*n = Number{Path: n.Path, Quantity: n.Quantity, Value: value, Basis: BasisAssumed, Source: specSource, Line: 1, Column: column}
			}
		}
		return nil
	}
	return fmt.Errorf("unknown parameter %q: write one of %s", key, strings.Join(keys, ", "))
}
