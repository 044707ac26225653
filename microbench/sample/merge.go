package sample

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/loggp/loggp/model/input"
)

// settingFacts are the facts that say where a file was measured, on what machine and between which
// of its ranks. Two files with other values are not of one place.
var settingFacts = []string{PlatformSumFact, RanksFact, NoiseFact, PairFact, WaitFact, PinFact}

// ReadFile reads data sets from files and joins them into one, in the order of the paths. A file
// without samples is an error.
//
// Of several files each keeps its facts, under a fact "file" that names it. They must agree on the
// fact "roots", which says how to read a series, and those that have samples of the same platform,
// library and place, on "platform_sum", "ranks", "noise", "pair", "wait" and "pin", as far as both
// have them. A series that two files share with the same times is there once. If the times differ,
// and the clock is real, the two are taken for different launches: all launches of the later file
// are counted on from those of the files before. With a virtual clock that is an error: more
// repetitions belong into one file.
func ReadFile(paths ...string) (*Set, error) {
	var files []file
	for _, path := range paths {
		f, err := readFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	return joinFiles(files)
}

// joinFiles makes one set of files. A single file stays as it is.
func joinFiles(files []file) (*Set, error) {
	if len(files) == 1 {
		return files[0].Set, nil
	}
	all := &merger{index: make(map[Key]seriesOrigin), hasCell: make(map[Key]bool)}
	for i, f := range files {
		for _, before := range files[:i] {
			if err := f.checkAgreement(before); err != nil {
				return nil, err
			}
		}
		if err := all.addFile(f); err != nil {
			return nil, err
		}
	}
	return &all.set, nil
}

// file is a set and where it is from.
type file struct {
	path string
	*Set
}

func readFile(path string) (file, error) {
	f, err := input.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return file{}, fmt.Errorf("read samples: %w; 'loggp measure -o FILE' writes such a file, 'loggp import' one of results of other benchmarks", err)
	}
	if err != nil {
		return file{}, fmt.Errorf("read samples: %w", err)
	}
	defer f.Close()
	s, err := Read(f, path)
	if err == nil && s.SampleCount() == 0 {
		err = fmt.Errorf("%s: no samples", path)
	}
	return file{path, s}, err
}

// checkAgreement is an error if the series of two files cannot stand in one set.
func (f file) checkAgreement(before file) error {
	if a, b := before.rootsValue(), f.rootsValue(); a != b {
		return fmt.Errorf("%s: the fact \"roots\" is %s, but %s in %s: series of the two cannot be joined", f.path, b, a, before.path)
	}
	where := f.sharedSubject(before.Set)
	if where == nil {
		return nil
	}
	if key := before.differingSetting(f); key != "" {
		a, _ := before.Fact(key)
		b, _ := f.Fact(key)
		return fmt.Errorf("%s: the fact %q is %q, but %q in %s: both have samples of %s, %s, %s, which are then not of one place: take the files one by one",
			f.path, key, b, a, before.path, where.Platform, where.Library, where.Place)
	}
	return nil
}

// sharedSubject returns the first series of a platform, library and place that both sets have
// samples of, or nil.
func (s *Set) sharedSubject(with *Set) *Series {
	type subject struct{ platform, library, place string }
	has := make(map[subject]bool)
	for _, x := range with.Series {
		has[subject{x.Platform, x.Library, x.Place}] = true
	}
	for i, x := range s.Series {
		if has[subject{x.Platform, x.Library, x.Place}] {
			return &s.Series[i]
		}
	}
	return nil
}

func (s *Set) rootsValue() string {
	if v, ok := s.Fact(RootsFact); ok {
		return v
	}
	return "1"
}

// merger joins files.
type merger struct {
	set       Set
	fileCount int // joined so far
	index     map[Key]seriesOrigin
	hasCell   map[Key]bool // whether there is a series, disturbed or not
}

// seriesOrigin is the place of a series in the set, and the file that it is from.
type seriesOrigin struct {
	index int
	file  file
}

// addFile adds the facts and the series of a file.
func (m *merger) addFile(f file) error {
	m.set.Facts = append(append(m.set.Facts, Fact{FileFact, f.path}), f.Facts...)
	launches := 0
	for i := range m.set.Series {
		launches = max(launches, m.set.Series[i].Launch+1)
	}
	there := func(b *Series) bool { // with the same times
		j, ok := m.index[b.Key]
		return ok && slices.Equal(m.set.Series[j.index].Times, b.Times)
	}
	count := 0 // added to the launches of the file
	for i := range f.Series {
		b := &f.Series[i]
		j, ok := m.index[b.Key]
		switch {
		case there(b):
		case !ok && !(b.Clock == "real" && m.hasCell[b.withoutDisturbed()]):
		case b.Clock != "real":
			return f.measuredTwiceError(j.file, b.Key)
		default:
			count = launches
		}
	}
	var added []Series
	for _, b := range f.Series {
		if there(&b) {
			continue
		}
		if b.Clock == "real" {
			b.Launch += count
		}
		b.File = m.fileCount
		added = append(added, b)
	}
	for _, b := range added {
		m.index[b.Key], m.hasCell[b.withoutDisturbed()] = seriesOrigin{len(m.set.Series), f}, true
		m.set.Series = append(m.set.Series, b)
	}
	m.fileCount++
	return nil
}

// withoutDisturbed returns what was measured in which launch, disturbed or not.
func (k Key) withoutDisturbed() Key {
	k.Disturbed = false
	return k
}

// measuredTwiceError is the error of what two files have measured on the same emulated machine,
// with other times.
func (f file) measuredTwiceError(before file, k Key) error {
	why := "by other versions of the program, or on other machines of one name"
	for _, x := range []struct{ key, plural string }{{"seed", "seeds"}, {"reps", "repetitions"}, {"warmup", "rounds of warm-up"}} {
		a, inA := before.Fact(x.key)
		b, inB := f.Fact(x.key)
		if inA && inB && a != b {
			why = fmt.Sprintf("with other %s, %s and %s", x.plural, a, b)
			break
		}
	}
	return fmt.Errorf("%s: %v was measured twice, %s, in %s too: measure once, with more repetitions if they are too few, or take the files one by one",
		f.path, k, why, before.path)
}

// Machine is what was measured on one machine, in one setting: the samples of one file, or of
// several.
type Machine struct {
	Files []string
	*Set
	read []file // of Files, before they were joined
}

// JoinMachines makes one machine of several by the rules of ReadFile, of their files one machine
// after the other.
func JoinMachines(machines ...Machine) (Machine, error) {
	if len(machines) == 1 {
		return machines[0], nil
	}
	var all Machine
	for _, m := range machines {
		all.Files, all.read = append(all.Files, m.Files...), append(all.read, m.read...)
	}
	var err error
	all.Set, err = joinFiles(all.read)
	return all, err
}

// ReadMachines reads data sets from files, to be compared. Files with samples of the same platform,
// by the same clock, that agree on the facts "roots", "platform_sum", "ranks", "noise" and "pair",
// as far as both have them, are joined as by ReadFile; others stay apart, each with its own facts.
// Machines are in the order of their first files.
func ReadMachines(paths ...string) ([]Machine, error) {
	var machines [][]file
	for _, path := range paths {
		f, err := readFile(path)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(machines, func(m []file) bool { return f.belongsTo(m) })
		if i < 0 {
			i, machines = len(machines), append(machines, nil)
		}
		machines[i] = append(machines[i], f)
	}
	var out []Machine
	for _, files := range machines {
		m := Machine{read: files}
		for _, f := range files {
			m.Files = append(m.Files, f.path)
		}
		set, err := joinFiles(files)
		if err != nil {
			return nil, err
		}
		m.Set = set
		out = append(out, m)
	}
	return out, nil
}

// belongsTo says whether a file is of the same machine as others: of the platform and clock of one
// of them, and against none.
func (f file) belongsTo(to []file) bool {
	type what struct{ platform, clock string }
	has := make(map[what]bool)
	for _, before := range to {
		if before.rootsValue() != f.rootsValue() || before.differingSetting(f) != "" {
			return false
		}
		for _, x := range before.Series {
			has[what{x.Platform, x.Clock}] = true
		}
	}
	return slices.ContainsFunc(f.Series, func(x Series) bool { return has[what{x.Platform, x.Clock}] })
}

// differingSetting returns the first of the settings on which two files do not agree, or "".
func (f file) differingSetting(with file) string {
	for _, key := range settingFacts {
		a, inA := f.Fact(key)
		b, inB := with.Fact(key)
		if inA && inB && a != b {
			return key
		}
	}
	return ""
}
