package program

import (
	"bufio"
	"bytes"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
)

// Programs as C source. Only messages, rings and barriers in the job's communicator are supported.
// Ranks print what each receive got, and Judge checks that.

// actionsInC are the names of the actions supported in C.
var actionsInC = []string{"message", "message again", "ring", "barrier"}

// unitsInC are the C names of units.
var unitsInC = []string{"MPI_BYTE", "MPI_SHORT", "MPI_INT", "MPI_DOUBLE", "MPI_UNSIGNED_LONG", "mixed"}

const headerInC = `#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int me, units[6];
static MPI_Datatype mixed;

static void *text(int bytes, int seed) {
	unsigned char *b = malloc(bytes + 1);
	unsigned x = (unsigned)seed * 2654435761u + 1;
	for (int i = 0; i < bytes; i++) {
		x = x * 1664525u + 1013904223u;
		b[i] = x >> 24;
	}
	return b;
}

static void *room(int n, MPI_Datatype type) {
	MPI_Aint lb, extent;
	MPI_Type_get_extent(type, &lb, &extent);
	return calloc(n + 1, extent);
}

static void *filled(int n, MPI_Datatype type, int seed) {
	int size, at = 0;
	MPI_Type_size(type, &size);
	void *b = room(n, type), *t = text(n * size, seed);
	MPI_Unpack(t, n * size, &at, b, n, type, MPI_COMM_WORLD);
	free(t);
	return b;
}

static void got(int receive, void *b, MPI_Datatype type, MPI_Status *s) {
	int n, size, at = 0;
	unsigned long long hash = 14695981039346656037ull;
	MPI_Get_count(s, type, &n);
	MPI_Type_size(type, &size);
	unsigned char *packed = malloc(n * size + 1);
	MPI_Pack(b, n, type, packed, n * size, &at, MPI_COMM_WORLD);
	for (int i = 0; i < at; i++) hash = (hash ^ packed[i]) * 1099511628211ull;
	printf("%d %d %d %d %d %llx\n", me, receive, s->MPI_SOURCE, s->MPI_TAG, at, hash);
	free(packed);
}

static void end(MPI_Request *r, MPI_Status *s, int how) {
	int flag = 0, index;
	switch (how) {
	case 0: MPI_Wait(r, s); break;
	case 1: while (!flag) MPI_Test(r, &flag, s); break;
	case 2: MPI_Waitall(1, r, s); break;
	case 3: MPI_Waitany(1, r, &index, s); break;
	case 4: MPI_Waitsome(1, r, &flag, &index, s); break;
	default: while (!flag) MPI_Testany(1, r, &index, &flag, s);
	}
}
`

const footerInC = `
int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &me);
	MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){8, 0, 20}, (MPI_Datatype[]){MPI_DOUBLE, MPI_INT, MPI_SIGNED_CHAR}, &mixed);
	MPI_Type_commit(&mixed);
	static char buffer[1 << 22];
	MPI_Buffer_attach(buffer, sizeof buffer);
	programs[atoi(argv[1])]();
	void *b;
	int n;
	MPI_Buffer_detach(&b, &n);
	MPI_Type_free(&mixed);
	MPI_Finalize();
	return 0;
}
`

// SourceInC writes programs as a single C program, whose argument selects one of them.
func SourceInC(programs []*Program) string {
	var b strings.Builder
	b.WriteString(headerInC)
	for i, p := range programs {
		for r := range p.Ranks {
			fmt.Fprintf(&b, "\nstatic void program_%d_%d(void) {\n", i, r)
			p.writeRankInC(&b, r)
			b.WriteString("}\n")
		}
		fmt.Fprintf(&b, "\nstatic void program_%d(void) {\n\tswitch (me) {\n", i)
		for r := range p.Ranks {
			fmt.Fprintf(&b, "\tcase %d: program_%d_%[1]d(); break;\n", r, i)
		}
		b.WriteString("\t}\n}\n")
	}
	b.WriteString("\nstatic void (*const programs[])(void) = {")
	for i := range programs {
		fmt.Fprintf(&b, "program_%d, ", i)
	}
	b.WriteString("};\n" + footerInC)
	return b.String()
}

// stepsInC returns the steps of a rank that are supported in C.
func (p *Program) stepsInC(rank int) []*step {
	q := *p
	q.Actions = slices.DeleteFunc(slices.Clone(p.Actions), func(a *action) bool {
		return !slices.Contains(actionsInC, a.name) || a.comm != nil && a.comm.id > 0
	})
	return q.stepsOf(rank)
}

func (p *Program) writeRankInC(w io.Writer, rank int) {
	steps := p.stepsInC(rank)
	var last []func()
	for _, s := range steps {
		for _, m := range s.receives {
			fmt.Fprintf(w, "\tMPI_Status s%d;\n\tMPI_Request r%[1]d = MPI_REQUEST_NULL;\n\tvoid *b%[1]d = room(%d, %s);\n", m.id, m.receivePlacement.count*m.receivePlacement.unitsPerElement, m.unitInC())
			last = append(last, func() { fmt.Fprintf(w, "\tgot(%d, b%[1]d, %s, &s%[1]d);\n\tfree(b%[1]d);\n", m.id, m.unitInC()) })
		}
		for _, m := range s.sends {
			fmt.Fprintf(w, "\tMPI_Status t%d;\n\tMPI_Request q%[1]d = MPI_REQUEST_NULL;\n\tvoid *a%[1]d = filled(%d, %s, %[1]d);\n", m.id, m.unitCount, m.unitInC())
		}
	}
	freed := ""
	for _, s := range steps {
		if s.position%5 == 1 {
			fmt.Fprintf(w, "\tusleep(%d);\n", 1+s.position%37)
		}
		switch {
		case s.waitsFor != nil && s.waitsForReceive:
			fmt.Fprintf(w, "\tend(&r%d, &s%[1]d, %d);\n", s.waitsFor.id, s.waitsFor.variants[1]%6)
		case s.waitsFor != nil:
			fmt.Fprintf(w, "\tend(&q%d, &t%[1]d, %d);\n", s.waitsFor.id, s.waitsFor.variants[0]%6)
		case s.name == "barrier":
			fmt.Fprintf(w, "\tMPI_Barrier(MPI_COMM_WORLD);\n")
		case len(s.sends) > 0 && len(s.receives) > 0:
			out, in := s.sends[0], s.receives[0]
			fmt.Fprintf(w, "\tMPI_Sendrecv(%s, %s, MPI_COMM_WORLD, &s%d);\n", out.sendArgumentsInC(), in.receiveArgumentsInC(), in.id)
		case s.name == "start":
			m := s.sends[0]
			fmt.Fprintf(w, "\tMPI_I%ssend(%s, MPI_COMM_WORLD, &q%d);\n", [...]string{"", "s", "r", "b"}[m.mode], m.sendArgumentsInC(), m.id)
			if m.isRequestFreed {
				freed += fmt.Sprintf("\tMPI_Wait(&q%d, MPI_STATUS_IGNORE);\n", m.id)
			}
		case len(s.sends) > 0:
			m := s.sends[0]
			fmt.Fprintf(w, "\tMPI_%s(%s, MPI_COMM_WORLD);\n", [...]string{"Send", "Ssend", "Rsend", "Bsend"}[m.mode], m.sendArgumentsInC())
		case s.name == "post":
			m := s.receives[0]
			fmt.Fprintf(w, "\tMPI_Irecv(%s, MPI_COMM_WORLD, &r%d);\n", m.receiveArgumentsInC(), m.id)
		case len(s.receives) > 0:
			m := s.receives[0]
			if m.variants[0]%3 == 0 {
				src, tag := m.receiveArguments()
				fmt.Fprintf(w, "\tMPI_Probe(%s, %s, MPI_COMM_WORLD, &s%d);\n", numberOrWildcard(src, "MPI_ANY_SOURCE"), numberOrWildcard(tag, "MPI_ANY_TAG"), m.id)
			}
			fmt.Fprintf(w, "\tMPI_Recv(%s, MPI_COMM_WORLD, &s%d);\n", m.receiveArgumentsInC(), m.id)
		}
	}
	io.WriteString(w, freed)
	for _, f := range last {
		f()
	}
}

func (m *message) unitInC() string { return unitsInC[slices.Index(unitLayouts, m.unit)] }

func (m *message) sendArgumentsInC() string {
	return fmt.Sprintf("a%d, %d, %s, %d, %d", m.id, m.unitCount, m.unitInC(), m.destination(), m.tag)
}

func (m *message) receiveArgumentsInC() string {
	src, tag := m.receiveArguments()
	return fmt.Sprintf("b%d, %d, %s, %s, %s", m.id, m.receivePlacement.count*m.receivePlacement.unitsPerElement, m.unitInC(), numberOrWildcard(src, "MPI_ANY_SOURCE"), numberOrWildcard(tag, "MPI_ANY_TAG"))
}

func numberOrWildcard(n int, any string) string {
	if n < 0 {
		return any
	}
	return fmt.Sprint(n)
}

// CheckOutputOfC returns an error unless the ranks of the C program can have received what they
// printed.
func (p *Program) CheckOutputOfC(printed []byte) error {
	got := make([][]*receiveRecord, p.Ranks)
	lines := bufio.NewScanner(bytes.NewReader(printed))
	for lines.Scan() {
		var me, id, source, tag, size int
		var hash uint64
		if _, err := fmt.Sscanf(lines.Text(), "%d %d %d %d %d %x", &me, &id, &source, &tag, &size, &hash); err != nil || me < 0 || me >= p.Ranks {
			return fmt.Errorf("it printed %q", lines.Text())
		}
		g := &receiveRecord{}
		g.status.Source, g.status.Tag, g.status.Bytes = source, tag, size
		for r := range p.Ranks {
			for _, s := range p.stepsInC(r) {
				for _, m := range s.receives {
					if m.id == id && m.dst == me {
						g.message = m
					}
				}
				for _, m := range s.sends {
					if b := m.payload(); m.dst == me && len(b) == size && hashOf(b) == hash {
						g.data = b
					}
				}
			}
		}
		if g.message == nil {
			return fmt.Errorf("rank %d has no receive %d", me, id)
		}
		got[me] = append(got[me], g)
	}
	for me := range got {
		sent := make([][]*message, p.Ranks)
		for r := range sent {
			for _, s := range p.stepsInC(r) {
				for _, m := range s.sends {
					if m.dst == me {
						sent[r] = append(sent[r], m)
					}
				}
			}
		}
		if err := checkMatching(sent, got[me]); err != nil {
			return fmt.Errorf("rank %d: %w", me, err)
		}
	}
	return nil
}

func hashOf(b []byte) uint64 {
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}
