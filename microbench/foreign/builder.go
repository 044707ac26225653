package foreign

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/loggp/loggp/microbench/sample"
	"github.com/loggp/loggp/model/unit"
)

// Limits on the contents of a data set. Each sample of a tool that prints means is a series of its
// own.
const (
	maxLaunches = 1000    // of one size of one timer
	maxSeries   = 100_000 // of all files together
	maxFacts    = 1000    // of a file
	maxNotes    = 100     // of a file
)

// setBuilder collects the samples, facts and notes of files for a set.
type setBuilder struct {
	set      sample.Set
	launches map[sample.Key]int // number of launches of each key in earlier files, by key without launch
	notes    []Note

	tables []TableSummary

	// Of the current file.
	name           string
	input          *inputText
	formatWasGiven bool       // the format was given, not guessed
	rankCount      int        // ranks of collective operations; 0: unknown
	givenPlatform  string     // of Options
	givenRanks     int        // of Options
	key            sample.Key // platform, library, clock, place
	facts          []sample.Fact
	series         []sample.Series
	seriesIndex    map[sample.Key]int // in series
	launchesInFile map[sample.Key]int // launches of summaries in this file
	detailLists    []detailList
	leftOutTexts   []string
}

// detailList has a detail of each size of a timer, such as repetitions.
type detailList struct {
	what, mode, timer string
	ranks             int // of collective operations
	values            []sizeText
}

type sizeText struct {
	bytes int
	text  string
}

// readFile reads one file into the set.
func (b *setBuilder) readFile(name string, c fileText, f *Format, o Options) error {
	b.name, b.facts, b.series, b.detailLists, b.leftOutTexts = fileBase(name), nil, nil, nil, nil
	b.seriesIndex, b.launchesInFile = make(map[sample.Key]int), make(map[sample.Key]int)
	b.rankCount, b.givenRanks, b.formatWasGiven, b.givenPlatform = o.Ranks, o.Ranks, o.Format != nil, o.Platform
	b.key = sample.Key{
		Platform: cmp.Or(o.Platform, f.Name), Library: o.Library, Clock: "real", Place: cmp.Or(o.Place, "inter"), Protocol: autoProtocol,
	}
	in := &inputText{fileText: c, name: name, unreadText: c.text}
	b.input = in
	tables := len(b.tables)
	if f.readFile == nil {
		readTables(in, b, o.Format)
	} else {
		b.addFact(sample.ImportedAsFact, f.Name+": "+f.Description)
		f.readFile(in, b)
	}
	if in.err != nil {
		return in.err
	}
	for i := range b.tables[tables:] {
		b.tables[tables+i].File = name
	}
	if err := b.checkCollectiveRanks(); err != nil {
		return err
	}
	if len(b.series) == 0 {
		why := ""
		if len(b.leftOutTexts) > 0 {
			why = ": " + strings.Join(b.leftOutTexts, "; ")
		}
		return fmt.Errorf("%s: nothing that can be fitted%s", name, why)
	}
	b.addFile(f)
	return nil
}

// addFile adds the series of a file to the set, and its facts. The facts are not under
// sample.FileFact, because a data set does not record which series is from which file. So the
// coarsest resolution applies to all.
func (b *setBuilder) addFile(f *Format) {
	facts := []sample.Fact{
		{Key: "imported_from", Value: cleanFact(b.name)}, {Key: sample.RootsFact, Value: "1"},
	}
	facts = append(facts, b.facts...)
	for _, l := range b.detailLists {
		facts = append(facts, sample.Fact{Key: b.detailName(l), Value: l.String()})
	}
	for _, text := range b.leftOutTexts {
		facts = append(facts, sample.Fact{Key: "left_out", Value: cleanFact(text)})
		b.notes = append(b.notes, Note{b.name, text})
	}
	b.set.Facts = append(b.set.Facts, facts...)
	most := make(map[sample.Key]int)
	for _, s := range b.series {
		k := s.Key
		k.Launch = 0
		most[k] = max(most[k], s.Launch+1)
		s.Launch += b.launches[k]
		b.set.Series = append(b.set.Series, s)
	}
	for k, n := range most {
		b.launches[k] += n
	}
}

// checkCollectiveRanks drops times of collective operations with an unknown number of ranks. It
// fails if the file has nothing else.
func (b *setBuilder) checkCollectiveRanks() error {
	isUnknown := func(s sample.Series) bool { return sample.IsCollectiveTimer(s.Timer) && s.Ranks == 0 }
	var operations []string
	for _, s := range b.series {
		if isUnknown(s) && !slices.Contains(operations, s.Mode) {
			operations = append(operations, s.Mode)
		}
	}
	if operations == nil {
		return nil
	}
	const text = "the file does not say how many ranks took part in the collective operation: give --ranks"
	if b.series = slices.DeleteFunc(b.series, isUnknown); len(b.series) == 0 {
		return fmt.Errorf("%s: %s", b.name, text)
	}
	b.noteLeftOut("%s: %s", strings.Join(operations, ", "), text)
	return nil
}

// addRankFact adds the number of ranks of the collective operations in all files, if it is a single
// number.
func (b *setBuilder) addRankFact() {
	all := map[int]bool{}
	for _, s := range b.set.Series {
		if s.Ranks > 0 {
			all[s.Ranks] = true
		}
	}
	if len(all) != 1 {
		return
	}
	for ranks := range all {
		b.set.Facts = append(b.set.Facts, sample.Fact{Key: sample.RanksFact, Value: strconv.Itoa(ranks)})
	}
	for i := range b.set.Series {
		b.set.Series[i].Ranks = 0
	}
}

// seriesOf returns the series of a timer of a mode at a size.
func (b *setBuilder) seriesOf(mode, timer string, bytes, launch int) *sample.Series {
	k := b.key
	k.Mode, k.Timer, k.Bytes, k.Launch = mode, timer, bytes, launch
	if sample.IsCollectiveTimer(timer) {
		k.Ranks = b.rankCount
	}
	i, ok := b.seriesIndex[k]
	if !ok {
		if len(b.set.Series)+len(b.series) >= maxSeries {
			b.input.errorf(b.input.lineNumber, "more than %d sizes and launches: import fewer files at once, or fewer repetitions of a size", maxSeries)
			return &sample.Series{}
		}
		i = len(b.series)
		b.seriesIndex[k] = i
		b.series = append(b.series, sample.Series{Key: k})
	}
	return &b.series[i]
}

// hasTimer reports whether a timer has samples.
func (b *setBuilder) hasTimer(timer string) bool {
	return slices.ContainsFunc(b.series, func(s sample.Series) bool { return s.Timer == timer })
}

// addSample adds a single repetition.
func (b *setBuilder) addSample(mode, timer string, bytes int, t unit.Time) {
	s := b.seriesOf(mode, timer, bytes, 0)
	s.Times = append(s.Times, t)
}

// addSummary adds the only value that a tool prints for a size as one sample. A repeated size
// counts as another launch.
func (b *setBuilder) addSummary(mode, timer string, bytes int, t unit.Time) {
	k := b.key
	k.Mode, k.Timer, k.Bytes, k.Ranks = mode, timer, bytes, b.rankCount
	if b.launchesInFile[k] >= maxLaunches {
		b.input.errorf(b.input.lineNumber, "%s of %s at %d bytes comes more than %d times in one file", timer, mode, bytes, maxLaunches)
		return
	}
	s := b.seriesOf(mode, timer, bytes, b.launchesInFile[k])
	b.launchesInFile[k]++
	s.Times = append(s.Times, t)
}

// addFact adds a fact about the run, if its value is known.
func (b *setBuilder) addFact(key, value string) {
	if f := (sample.Fact{Key: key, Value: cleanFact(value)}); f.Value != "" && len(b.facts) < maxFacts && !slices.Contains(b.facts, f) {
		b.facts = append(b.facts, f)
	}
}

// noteResolution records the resolution of the imported times.
func (b *setBuilder) noteResolution(t unit.Time) { b.addFact(sample.ResolutionFact, t.MicrosString()) }

// noteLeftOut records what was omitted and why, once.
func (b *setBuilder) noteLeftOut(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); len(b.leftOutTexts) < maxNotes && !slices.Contains(b.leftOutTexts, text) {
		b.leftOutTexts = append(b.leftOutTexts, text)
	}
}

// addDetail records further information that a tool prints about the value of a size.
func (b *setBuilder) addDetail(what, mode, timer string, bytes int, text string) {
	ranks := 0
	if sample.IsCollectiveTimer(timer) {
		ranks = b.rankCount
	}
	i := slices.IndexFunc(b.detailLists, func(l detailList) bool { return l.isOfTimer(what, mode, timer) && l.ranks == ranks })
	if i < 0 {
		i = len(b.detailLists)
		b.detailLists = append(b.detailLists, detailList{what: what, mode: mode, timer: timer, ranks: ranks})
	}
	b.detailLists[i].values = append(b.detailLists[i].values, sizeText{bytes, text})
}

func (l detailList) isOfTimer(what, mode, timer string) bool {
	return l.what == what && l.mode == mode && l.timer == timer
}

// detailName names a list, with the number of ranks if there are several numbers.
func (b *setBuilder) detailName(l detailList) string {
	name := l.what + " of " + l.timer + " " + l.mode
	if slices.ContainsFunc(b.detailLists, func(x detailList) bool { return x.isOfTimer(l.what, l.mode, l.timer) && x.ranks != l.ranks }) {
		name += fmt.Sprintf(" of %d ranks", l.ranks)
	}
	return name
}

// String writes the values of a list and groups equal neighbours: 0-32768 B: 1000, 65536 B: 640.
func (l detailList) String() string {
	const most = 50_000 // a fact must not be longer
	var out strings.Builder
	for i := 0; i < len(l.values); {
		j := i
		for j+1 < len(l.values) && l.values[j+1].text == l.values[i].text {
			j++
		}
		sizes := strconv.Itoa(l.values[i].bytes)
		if j > i {
			sizes += "-" + strconv.Itoa(l.values[j].bytes)
		}
		part := sizes + " B: " + l.values[i].text
		if out.Len()+len(part) > most {
			return out.String() + ", ..."
		}
		if i > 0 {
			out.WriteString(", ")
		}
		out.WriteString(part)
		i = j + 1
	}
	return out.String()
}

// cleanFact converts a text from a file to a line that a fact can contain.
func cleanFact(s string) string {
	const most = 500
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '\ufffd' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, " "))
	s = strings.Join(strings.Fields(s), " ")
	if len(s) > most {
		s = strings.TrimSpace(strings.ToValidUTF8(s[:most], ""))
	}
	return s
}
