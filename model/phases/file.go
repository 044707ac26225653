package phases

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/model/input"
	"github.com/loggp/loggp/model/table"
)

// The files of this package: patterns, which say what exchanges move, and stored schedules, which
// say also in which phases they do. A schedule can be read as a pattern, too.

// exchangeRow is a message of an exchange. In an exchange without messages it has none: phase and
// source are -1.
type exchangeRow struct {
	exchange, phase int
	members         string
	Message
}

// exchangeSchema returns the columns of a file. Those that patterns may lack are optional there.
func exchangeSchema(name string, stored bool) table.Schema[exchangeRow] {
	exchange := table.Whole("exchange", func(r *exchangeRow) *int { return &r.exchange }, "the number of an exchange", 1<<30)
	members := table.Name("members", func(r *exchangeRow) *string { return &r.members }, nil)
	phase := table.WholeOrNone("phase", func(r *exchangeRow) *int { return &r.phase }, "the number of a phase")
	exchange.Optional, members.Optional, phase.Optional = !stored, !stored, !stored
	return table.Schema[exchangeRow]{Name: name, Columns: []table.Column[exchangeRow]{exchange, members, phase,
		table.WholeOrNone("source", func(r *exchangeRow) *int { return &r.Src }, "a rank"),
		table.WholeOrNone("destination", func(r *exchangeRow) *int { return &r.Dst }, "a rank"),
		table.WholeOrNone("bytes", func(r *exchangeRow) *int { return &r.Bytes }, "a number of bytes"),
	}, Check: func(r *exchangeRow) (string, error) {
		if (r.Src < 0) != (r.Dst < 0) || (r.Src < 0) != (r.Bytes < 0) {
			return "source", errors.New("a message has source, destination and bytes, and an exchange without messages has none of them")
		}
		return "", nil
	}}
}

var (
	patternSchema  = exchangeSchema("messages", false)
	scheduleSchema = exchangeSchema("messages in phases", true)
)

// ReadPattern reads the messages of one or more exchanges: source, destination and bytes, and if
// there are several exchanges the number of each. Members are all ranks unless the file names them;
// ranks 0 are as many as the file needs. name stands for it in errors.
func ReadPattern(in io.Reader, name string, ranks int) ([]Exchange, error) {
	rows, facts, err := patternSchema.Read(in, name)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		if n, err := strconv.Atoi(f.Value); f.Key == "ranks" && err == nil && ranks == 0 {
			ranks = n
		}
	}
	if ranks == 0 {
		for _, r := range rows {
			ranks = max(ranks, r.Src+1, r.Dst+1)
		}
	}
	var all []Exchange
	for i, r := range rows {
		if i == 0 || r.exchange != rows[i-1].exchange {
			x := Exchange{}
			if r.members == "" {
				for m := range ranks {
					x.Members = append(x.Members, m)
				}
			} else if x.Members, err = parseMembers(r.members); err != nil {
				return nil, fmt.Errorf("%s: exchange %d: %w", name, r.exchange, err)
			}
			all = append(all, x)
		}
		x := &all[len(all)-1]
		switch {
		case r.Src < 0 || r.Src == r.Dst || r.Bytes == 0:
			continue
		case !slices.Contains(x.Members, r.Src) || !slices.Contains(x.Members, r.Dst):
			return nil, fmt.Errorf("%s: exchange %d: a message from rank %d to rank %d: its members are %s", name, r.exchange, r.Src, r.Dst, formatRanks(x.Members))
		case slices.ContainsFunc(x.Messages, func(m Message) bool { return m.Src == r.Src && m.Dst == r.Dst }):
			return nil, fmt.Errorf("%s: exchange %d has two messages from rank %d to rank %d", name, r.exchange, r.Src, r.Dst)
		}
		x.Messages = append(x.Messages, r.Message)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no messages", name)
	}
	return all, nil
}

// WriteSchedules writes what ReadSchedules reads.
func WriteSchedules(out io.Writer, all []*Schedule, facts ...table.Fact) error {
	var rows []exchangeRow
	for i, s := range all {
		who := formatRanks(s.memberRanks())
		if len(s.Phases) == 0 {
			rows = append(rows, exchangeRow{i, -1, who, Message{-1, -1, -1}})
		}
		for p, phase := range s.Phases {
			for _, m := range phase {
				rows = append(rows, exchangeRow{i, p, who, Message{s.Member(m.Src), s.Member(m.Dst), m.Bytes}})
			}
		}
	}
	return scheduleSchema.Write(out, facts, rows)
}

// ReadSchedulesFile reads the schedules of a file, as ReadSchedules does.
func ReadSchedulesFile(path string) ([]*Schedule, error) {
	f, err := input.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadSchedules(f, path)
}

// ReadSchedules reads stored schedules, and checks that no rank sends or receives twice in a phase
// but the last. name stands for the file in errors.
func ReadSchedules(in io.Reader, name string) ([]*Schedule, error) {
	r, err := scheduleSchema.Reader(in, name)
	if err != nil {
		return nil, err
	}
	var all []*Schedule
	var place map[int]int // of a rank of the job among the members
	last := -1
	for {
		if err := r.Next(); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		m := r.Row
		if m.exchange != last {
			if m.exchange != last+1 {
				return nil, r.Errorf("exchange", "exchange %d follows exchange %d: they are numbered from 0 on", m.exchange, last)
			}
			who, err := parseMembers(m.members)
			if err != nil {
				return nil, r.Errorf("members", "%w", err)
			}
			last, place = m.exchange, map[int]int{}
			for i, rank := range who {
				place[rank] = i
			}
			all = append(all, &Schedule{Ranks: len(who), Members: who})
		}
		s := all[len(all)-1]
		if m.Src < 0 {
			continue
		}
		src, known := place[m.Src]
		dst, also := place[m.Dst]
		switch n := len(s.Phases); {
		case !known || !also || src == dst:
			return nil, r.Errorf("source", "a message from rank %d to rank %d: it goes from one member to another, and they are %s", m.Src, m.Dst, m.members)
		case m.phase == n && s.Conflicts:
			return nil, r.Errorf("phase", "a rank sends or receives twice in phase %d, which only the last phase of an exchange may have", n-1)
		case m.phase == n:
			s.Phases = append(s.Phases, nil)
		case m.phase != n-1:
			return nil, r.Errorf("phase", "phase %d follows phase %d: they are numbered from 0 on", m.phase, n-1)
		}
		p := &s.Phases[m.phase]
		for _, x := range *p {
			if x.Src == src && x.Dst == dst {
				return nil, r.Errorf("source", "a second message from rank %d to rank %d in phase %d", m.Src, m.Dst, m.phase)
			}
			s.Conflicts = s.Conflicts || x.Src == src || x.Dst == dst
		}
		*p = append(*p, Message{src, dst, m.Bytes})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: no schedules", name)
	}
	return all, nil
}

// formatRanks writes ranks: such as "0-7" or "0 4 8-11".
func formatRanks(ranks []int) string {
	var b strings.Builder
	for i := 0; i < len(ranks); {
		n := i + 1
		for n < len(ranks) && ranks[n] == ranks[n-1]+1 {
			n++
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(ranks[i]))
		if n > i+1 {
			b.WriteString("-" + strconv.Itoa(ranks[n-1]))
		}
		i = n
	}
	return b.String()
}

// maxMembers bounds what a file may ask for.
const maxMembers = 1 << 20

// parseMembers reads what members writes.
func parseMembers(text string) ([]int, error) {
	var all []int
	seen := map[int]bool{}
	for word := range strings.FieldsSeq(text) {
		from, to, several := strings.Cut(word, "-")
		a, wrong := strconv.Atoi(from)
		b := a
		if several && wrong == nil {
			b, wrong = strconv.Atoi(to)
		}
		if wrong != nil || a < 0 || b < a || b >= maxMembers {
			return nil, fmt.Errorf("members %q: they are ranks such as 0-7 or 0 4 8-11", text)
		}
		for ; a <= b; a++ {
			if seen[a] {
				return nil, fmt.Errorf("members %q: rank %d stands twice", text, a)
			}
			seen[a] = true
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("no members: they are ranks such as 0-7 or 0 4 8-11")
	}
	return all, nil
}
