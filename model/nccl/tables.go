package nccl

import (
	"bufio"
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Tables are the constants of a version of NCCL. Files in folder tables have them, each line with
// the source of its numbers above it.
type Tables struct {
	name string

	callLatencies      [numAlgorithms][numProtocols]float64           // latency of a call in us
	hopLatencyTable    [numLinks][numAlgorithms][numProtocols]float64 // latency of a hop in us
	llOfGPU            map[string]float64                             // GB/s of all channels by LL within a node
	llOfCPU            map[string][]float64                           // of them between two nodes, and more
	channelBandwidths  map[string][]float64                           // GB/s of a channel, by what and GPU, for one node, two, more
	nvlsShares         map[string]float64                             // part of the links that NVLS reaches, by GPU
	proxyOverheads     map[string]float64                             // us of a step of a proxy, by processor
	treeCorrections    [numProtocols][]float64                        // of the bandwidth of trees, from 64 B on
	patternCorrections map[string]float64                             // of that bandwidth, by GPU
	peersLL            float64                                        // bytes of the longest send that goes by LL
	stepBytes          [numProtocols]float64                          // bytes
	threadCounts       [numProtocols]float64                          // of a channel
	threadBytes        [numProtocols]float64                          // of a thread for which another channel is used
	gpus, hostOf       []string
}

// linkKind is what a hop passes.
type linkKind uint8

const (
	nvlinkHop linkKind = iota
	networkHop
	numLinks
)

//go:embed tables/*.txt
var tableFiles embed.FS

var allTables = []*Tables{readTables("nccl-2.28")}

// TableNames are the names of all versions.
func TableNames() []string {
	var names []string
	for _, t := range allTables {
		names = append(names, t.name)
	}
	return names
}

// FindTables returns those of a name, or nil.
func FindTables(name string) *Tables {
	if i := slices.IndexFunc(allTables, func(t *Tables) bool { return t.name == name }); i >= 0 {
		return allTables[i]
	}
	return nil
}

// readTables reads an embedded file. It panics on a mistake there.
func readTables(name string) *Tables {
	f, err := tableFiles.Open("tables/" + name + ".txt")
	if err != nil {
		panic(err)
	}
	defer f.Close()
	t := &Tables{name: name, llOfGPU: map[string]float64{}, llOfCPU: map[string][]float64{}, channelBandwidths: map[string][]float64{}, nvlsShares: map[string]float64{}, patternCorrections: map[string]float64{}, proxyOverheads: map[string]float64{}}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if words := strings.Fields(text); len(words) > 0 && !t.readLine(words) {
			panic(fmt.Sprintf("nccl: tables/%s.txt:%d: %q", name, n, text))
		}
	}
	return t
}

// readLine reads a line: words, and then numbers. A number that is - is 0.
func (t *Tables) readLine(words []string) bool {
	split := len(words)
	for split > 0 {
		if _, err := strconv.ParseFloat(words[split-1], 64); err != nil && words[split-1] != "-" {
			break
		}
		split--
	}
	var x []float64
	for _, w := range words[split:] {
		v, _ := strconv.ParseFloat(w, 64)
		x = append(x, v)
	}
	words = words[:split]
	byProtocol := func(to *[numProtocols]float64) bool { return copy(to[:], x) == len(x) && len(x) == int(numProtocols) }
	algorithm := Algorithm(max(0, slices.Index(algorithmNames, words[len(words)-1])))
	switch key := words[0]; key {
	case "base":
		return byProtocol(&t.callLatencies[algorithm])
	case "hop":
		return byProtocol(&t.hopLatencyTable[slices.Index([]string{"nvlink", "network"}, words[1])][algorithm])
	case "ll":
		if words[1] == "processor" {
			t.llOfCPU[words[2]] = x
			return len(x) == 2
		}
		t.llOfGPU[words[2]] = x[0]
		return len(x) == 1
	case "channel":
		t.channelBandwidths[words[1]+" "+words[2]] = x
		return len(x) == 3
	case "nvls":
		t.nvlsShares[words[1]], t.gpus = x[0], append(t.gpus, words[1])
		return len(x) == 1
	case "overhead":
		t.proxyOverheads[words[1]], t.hostOf = x[0], append(t.hostOf, words[1])
		return len(x) == 1
	case "correction":
		t.treeCorrections[slices.Index(protocolNames[:], words[1])] = x
		return len(x) == 24
	case "pattern":
		t.patternCorrections[words[1]] = x[0]
		return len(x) == 1
	case "peers":
		t.peersLL = x[0]
		return len(x) == 1
	case "step":
		return byProtocol(&t.stepBytes)
	case "threads":
		return byProtocol(&t.threadCounts)
	case "threshold":
		return byProtocol(&t.threadBytes)
	}
	return false
}

// GPUs and Processors are the kinds that the tables know.
func (t *Tables) GPUs() []string       { return t.gpus }
func (t *Tables) Processors() []string { return t.hostOf }
