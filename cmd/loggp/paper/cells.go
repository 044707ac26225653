package paper

import (
	"strconv"

	"github.com/loggp/loggp/cmd/loggp/paper/expr"
	"github.com/loggp/loggp/model/unit"
)

// cells are quantities by their keys, such as o_s(t3d,isend,16). Times are microseconds.
type cells map[string]expr.Value

// key returns the key of what a timer shows. A protocol that was forced stands at the end.
func (s *site) key(name, mode, protocol string, bytes int) string {
	arguments := []string{s.ID, mode, strconv.Itoa(bytes)}
	if protocol != auto {
		arguments = append(arguments, protocol)
	}
	return expr.Key(name, arguments...)
}

// auto is the protocol that the library's rules choose.
const auto = "auto"

// env returns an environment in which expressions are evaluated.
func (p *Paper) env(c cells) *expr.Env {
	return &expr.Env{Define: p.define, Value: func(key string) (expr.Value, bool) {
		v, ok := c[key]
		return v, ok
	}}
}

// micros is a time that is known.
func micros(t unit.Time) expr.Value { return expr.Exactly(t.Micros()) }
