package foreign

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strings"
)

// ncclReport is what nccl-tests -J writes (src/util.cu, version 2 of its files), without what is
// not used. A report of a run that was killed ends early.
type ncclReport struct {
	Version int
	Args    []string
	Config  struct {
		Devices []struct {
			Rank       int
			DeviceInfo string `json:"device_info"`
		}
	}
	Results []struct {
		Size, Count       jsonWord
		Type, Redop, Root string
		OutOfPlace        *ncclTimes `json:"out_of_place"`
		InPlace           *ncclTimes `json:"in_place"`
	}
}

// ncclTimes are the results of one row, out of place or in place.
type ncclTimes struct {
	Time   jsonWord // microseconds
	AlgBW  jsonWord `json:"alg_bw"` // GB/s
	BusBW  jsonWord `json:"bus_bw"` // GB/s
	NWrong jsonWord // empty: not checked
}

// jsonWord is a number or a string, as it stands there. null is an empty one: numbers that are none
// are written as the string "nan".
type jsonWord string

func (w *jsonWord) UnmarshalJSON(b []byte) error {
	if *w = jsonWord(strings.Trim(string(b), `"`)); *w == "null" {
		*w = ""
	}
	return nil
}

// ncclTableOfJSON returns the table that nccl-tests prints for a report in JSON, row by row, so
// that one reader reads both. isReport is false for other texts.
func ncclTableOfJSON(name, text string) (table string, isReport bool, err error) {
	if !strings.HasPrefix(strings.TrimSpace(text), "{") || !strings.Contains(text, `"nccl_version"`) || !strings.Contains(text, `"args"`) {
		return "", false, nil
	}
	var r ncclReport
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		var syntax *json.SyntaxError
		var wrong *json.UnmarshalTypeError
		at := int64(len(text))
		if errors.As(err, &syntax) {
			at = syntax.Offset
		} else if errors.As(err, &wrong) {
			at = wrong.Offset
		}
		before := text[:min(at, int64(len(text)))]
		return "", true, fmt.Errorf("%s:%d:%d: a report of nccl-tests in JSON that cannot be read: %w", name, strings.Count(before, "\n")+1, len(before)-strings.LastIndexByte(before, '\n'), err)
	}
	if len(r.Results) == 0 {
		return "", true, fmt.Errorf("%s: a report of nccl-tests in JSON without results: the run has ended before the first", name)
	}
	var b strings.Builder
	fmt.Fprintln(&b, "# nThread 1 nGpus 1 minBytes 0")
	if len(r.Args) > 0 {
		fmt.Fprintf(&b, "# Collective test starting: %s\n", path.Base(r.Args[0]))
	}
	for _, d := range r.Config.Devices {
		fmt.Fprintf(&b, "#  Rank %d Group 0 Pid 0 on host device 0 [] %s\n", d.Rank, strings.Join(strings.Fields(d.DeviceInfo), " "))
	}
	fmt.Fprintln(&b, "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong")
	for i, x := range r.Results {
		times := x.OutOfPlace
		if times == nil {
			times = x.InPlace
		}
		if times == nil || times.Time == "" {
			return "", true, fmt.Errorf("%s: result %d of the report, of %s B, has no time: processor times (-C) are not read", name, i+1, x.Size)
		}
		fmt.Fprintf(&b, "%s %s %s %s %s", x.Size, x.Count, x.Type, strings.TrimSpace(x.Redop), strings.TrimSpace(x.Root))
		for _, t := range []*ncclTimes{times, x.InPlace} {
			if t == nil {
				t = times
			}
			wrong := strings.TrimSuffix(cmp.Or(string(t.NWrong), "N/A"), ".000000")
			fmt.Fprintf(&b, " %s %s %s %s", t.Time, t.AlgBW, t.BusBW, wrong)
		}
		b.WriteByte('\n')
	}
	return b.String(), true, nil
}
