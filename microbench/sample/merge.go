package sample

import (
	"fmt"
	"os"
	"slices"
)

// ReadFile reads data sets from files and joins them into one, in the order of the paths.
//
// Of several files each keeps its facts, under a fact "file" that names it. They must agree on the fact "roots",
// which says how to read a series. A series that two files share with the same times is there once. If the times
// differ, and the clock is real, the two are taken for different launches: all launches of the later file are counted on
// from those of the files before. With a virtual clock there is one truth, and a second one is an error.
func ReadFile(paths ...string) (*Set, error) {
	all := &Set{}
	for i, path := range paths {
		s, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if i == 0 && len(paths) == 1 {
			return s, nil
		}
		if i > 0 {
			if err := all.agree(s, path); err != nil {
				return nil, err
			}
		}
		all.Facts = append(append(all.Facts, Fact{File, path}), s.Facts...)
		if err := all.join(s, path); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func readFile(path string) (*Set, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read samples: %w", err)
	}
	defer f.Close()
	return Read(f, path)
}

// agree is an error if the series of s have another order of roots than those of all.
func (all *Set) agree(s *Set, path string) error {
	a, b := all.roots(), s.roots()
	if a != b {
		return fmt.Errorf("%s: the fact \"roots\" is %s, but %s in the files before: series of the two cannot be joined", path, b, a)
	}
	return nil
}

func (s *Set) roots() string {
	if v, ok := s.Fact(Roots); ok {
		return v
	}
	return "1"
}

// join adds the series of s.
func (all *Set) join(s *Set, path string) error {
	index := make(map[Key]int, len(all.Series))
	launches := 0
	for i := range all.Series {
		index[all.Series[i].Key] = i
		launches = max(launches, all.Series[i].Launch+1)
	}
	shared := func(k Key) (int, bool) { i, ok := index[k]; return i, ok }
	same := func(a, b *Series) bool { return slices.Equal(a.Times, b.Times) }

	count := 0 // added to the launches of s
	for i := range s.Series {
		b := &s.Series[i]
		j, ok := shared(b.Key)
		switch {
		case !ok || same(&all.Series[j], b):
		case b.Clock != "real":
			return fmt.Errorf("%s: other times than in the files before for %v: with a virtual clock one of them is wrong", path, b.Key)
		default:
			count = launches
		}
	}
	for _, b := range s.Series {
		if j, ok := shared(b.Key); ok && same(&all.Series[j], &b) {
			continue
		}
		if b.Clock == "real" {
			b.Launch += count
		}
		all.Series = append(all.Series, b)
	}
	return nil
}
