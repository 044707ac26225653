package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

type buffer = bytes.Buffer

// Wrong use: the status, and what the complaint must say.
func TestMisuse(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "samples.csv", "# seed: 1\nplatform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us\nx,y,virtual,inter,send,auto,timer11,12x,0,0,1\n")
	const head = "platform,library,clock,place,mode,protocol,timer,bytes,launch,rep,time_us\n"
	for name, rows := range map[string]string{
		"one": "x,y,virtual,inter,send,auto,timer11,12,0,0,1\n", "modes": "z,y,virtual,inter,isend,auto,timer11,12,0,0,1\n",
		"sizes":  "z,y,virtual,inter,send,auto,timer11,13,0,0,1\nz,y,virtual,inter,send,auto,timer11,14,0,0,1\n",
		"forced": "z,y,virtual,inter,send,RTA,timer11,12,0,0,1\n", "good": "z,y,virtual,inter,send,auto,timer11,12,0,0,1\n",
	} {
		write(t, name+".csv", head+rows)
	}
	write(t, "params.csv", "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples\nx,y,inter,send,o_s,1,2,zero,1,1,us,m,3\n")
	write(t, "flat.csv", "platform,library,place,mode,parameter,bytes_from,bytes_to,value,ci_low,ci_high,unit,method,samples\nx,y,inter,send,o_s,1,2,1,1,1,us,m,3\nx,y,inter,send,o_s,1,2,0,0,0,us/B,m,3\n")
	write(t, "json.csv", "{\"facts\": {\"seed\": \"1\"}}\n")
	write(t, "bad.yaml", "name: bad\nmachine:\n  ranks: 3\n")
	for _, c := range []struct {
		args   string
		status int
		says   []string
	}{
		{"measure", 2, []string{"--platform", "t3d"}},
		{"run --platform start-x --place 4+x ring", 2, []string{"--place", `"x" is no number of ranks`, "such as 4+4"}},
		{"run --platform start-x --place 9 ring", 2, []string{"--place", "a node of start-x has 8 processors"}},
		{"run --platform start-x --place 1+1+1+1 ring", 2, []string{"--place", "4 nodes: start-x has 3"}},
		{"run --platform t3d --place 1+1 ring", 2, []string{"--place", "t3d has no nodes"}},
		{"run --platform start-x --place 8+8+8+1 ring", 2, []string{"placement 8+8+8+1", "4 nodes: start-x has 3"}},
		{"run --platform start-x --place 1+1 -n 3 ring", 2, []string{"--place 1+1: it has 2 ranks, and the run has 3"}},
		{"run --platform start-x --place 2,1+1 --profile ring", 2, []string{"--profile", "one placement"}},
		{"run --platform dgx-h100 -n 8 --buffers staged ring", 2, []string{"--buffers staged", "all 8 ranks are in one node of dgx-h100"}},
		{"measure --platform shm --hosts a", 2, []string{"--hosts", "--platform tcp"}},
		{"measure --platform mpi --hosts a", 2, []string{"--hosts", "it has no effect on the MPI of this machine"}},
		{"measure --platform t3d --expect 1", 2, []string{"--expect", "t3d is emulated"}},
		{"measure --platform tcp --listen 127.0.0.1", 2, []string{"--listen", "name them with --hosts"}},
		{"measure --platform tcp --hosts a,,b", 2, []string{"--hosts: a list of hosts"}},
		{"measure --platform tcp --hosts a --ranks 3", 2, []string{"--ranks 3", "are 2 ranks"}},
		{"measure --platform tcp --expect 64", 2, []string{"64 ranks beside this one", "from 1 to 63"}},
		{"measure --platform tcp --hosts a --ssh=", 2, []string{"--ssh: it names no command"}},
		{"launch", 2, []string{`--join "": missing port in address; name the address and port`}},
		{"launch --join x", 2, []string{`--join "x": missing port in address; name the address and port`}},
		{"launch --join :43211", 2, []string{`--join ":43211": missing host`}},
		{"launch --join host:0", 2, []string{`--join "host:0": port "0" is no number from 1 to 65535`}},
		{"launch --join 127.0.0.1:1", 2, []string{"--rank: name the rank that the other host shows"}},
		{"launch --join 127.0.0.1:1 --rank 0", 2, []string{"--rank 0: it must be from 1"}},
		{"launch --join 127.0.0.1:1 --rank 1 --token-file no", 1, []string{"--token-file: open no: no such file"}},
		{"measure --platform t3e", 2, []string{`"t3e"`, "The catalogue has"}},
		{"measure --platform t3d --library lam", 2, []string{`"lam"`, "chimp"}},
		{"measure --platform t3d --ranks 1", 2, []string{"--ranks 1", "at least two"}},
		{"measure --platform t3d --ranks 4096", 2, []string{"from 1 to 2048"}},
		{"measure --platform t3d --reps 0", 2, []string{"--reps 0", "above zero"}},
		{"measure --platform t3d --warmup -1", 2, []string{"--warmup", "-1", "0 or above"}},
		{"measure --platform t3d --noise 90%", 2, []string{"--noise 90%", "0% to 40%"}},
		{"measure --platform t3d --noise loud", 2, []string{"--noise", "on, off"}},
		{"measure --platform t3d --sizes 1,x", 2, []string{"--sizes", "x"}},
		{"measure --platform t3d --sizes 2GiB", 2, []string{"--sizes", "2GiB"}},
		{"measure --platform t3d --modes send,zsend", 2, []string{`"zsend"`, "issend"}},
		{"measure --platform t3d --protocol RTS", 2, []string{`"RTS"`, "RTA"}},
		{"measure --platform t3d --protocol T --modes ssend", 2, []string{"T cannot serve ssend"}},
		{"measure --platform t3d --level message --modes send", 2, []string{"--modes", "--level message"}},
		{"measure --platform t3d --level message --protocol T", 2, []string{"low-level", "T"}},
		{"measure --platform t3d --format xml", 2, []string{"table, csv, json"}},
		{"measure --platform t3d --place 0,4", 2, []string{"--place", "0 to 3", "no rank 4"}},
		{"measure --platform loggp --place intra", 2, []string{"--place", "no two of", "measure inter"}},
		{"measure --platform t3d --pairs all --place intra", 2, []string{"--pairs, --place", "one of them"}},
		{"measure --platform t3d --wait spin", 2, []string{"--wait", "shm", "t3d is emulated"}},
		{"measure --platform t3d --quick", 2, []string{"--quick", "shm", "mpi", "t3d is emulated"}},
		{"trace --platform mpi", 2, []string{"platform mpi", "not emulated", "measure"}},
		{"measure --platform sharedmemory", 2, []string{"catalogue", "t3d", "this machine is shm, tcp or mpi"}},
		{"measure --platform shm --noise 5%", 2, []string{"--noise", "emulated machines", "shm is this machine"}},
		{"measure --platform shm --wait often", 2, []string{"auto, spin or block"}},
		{"measure --platform shm --place 1,0", 2, []string{"--place 1,0", "rank 0 is the first"}},
		{"measure --platform shm --place inter", 2, []string{"--place", "measure intra"}},
		{"measure --platform shm --ranks 65", 2, []string{"from 1 to 64", "not 65"}},
		{"measure --platform shm --ranks 1", 2, []string{"--ranks 1", "at least two"}},
		{"measure --platform shm --library chimp", 2, []string{`"chimp"`, "loggp"}},
		{"measure --platform t3d --pairs some", 2, []string{"one or all"}},
		{"predict --platform t3d --place near", 2, []string{"--place", `"near"`, "0,3"}},
		{"predict --params flat.csv --mode send --protocol T", 2, []string{"--mode, --protocol", "leave out --protocol"}},
		{"predict --params flat.csv --explain", 2, []string{"--explain", "name a --protocol"}},
		{"predict --params flat.csv --protocol T", 1, []string{"flat.csv", "o_s of mode message", "loggp measure --level message"}},
		{"predict --params flat.csv --mode ssend", 1, []string{"flat.csv", "o_s of mode ssend"}},
		{"predict --params flat.csv --place intra", 2, []string{"--place", "no parameters of place intra"}},
		{"predict --params flat.csv --place 0,1", 2, []string{"--place 0,1", "does not say where", "--pairs all"}},
		{"predict --params flat.csv --place 0,x", 2, []string{"--place", `"0,x" is not two ranks`}},
		{"predict --params flat.csv --place 0,1,2", 2, []string{"--place", `"0,1,2" is not two ranks`}},
		{"predict --params flat.csv --place 0,1x", 2, []string{"--place", `"0,1x" is not two ranks`}},
		{"predict --params flat.csv --place 3,3", 2, []string{"--place 3,3", "name two"}},
		{"measure --platform t3d --delta 0us", 2, []string{"--delta 0us"}},
		{"measure --platform t3d --no-such-flag", 2, []string{"no-such-flag"}},
		{"measure --platform loggp:L=5", 2, []string{"L", "unit"}},
		{"measure --platform ./bad.yaml", 1, []string{"bad.yaml:3:"}},
		{"measure surplus", 2, []string{`unexpected argument "surplus": measure takes only flags`}},
		{"measure t3d", 2, []string{`unexpected argument "t3d"; did you mean --platform t3d?`}},
		{"measure --platform t3d surplus", 2, []string{`unexpected argument "surplus"`}},
		{"predict params.csv", 2, []string{`unexpected argument "params.csv"`, "--params"}},
		{"measure --plattform t3d", 2, []string{"unknown flag: --plattform; did you mean --platform?"}},
		{"measure --platform t3b", 2, []string{"did you mean t3d?"}},
		{"measure --platform t3d --modes sennd", 2, []string{"did you mean send?"}},
		{"mesure --platform t3d", 2, []string{`"mesure"`, `did you mean measure?`}},
		{"platforms t3d", 2, []string{"did you mean 'show t3d'?"}},
		{"platforms shwo t3d", 2, []string{`did you mean show?`}},
		{"calibrate t3d --to table-3* --modes send", 2, []string{"--modes", "all targets are published rows"}},
		{"run --platform t3d --noise stencil", 2, []string{"stencil was taken as the value of --noise: write --noise VALUE stencil"}},
		{"measure --platform tcpp", 2, []string{"did you mean tcp?"}},
		{"measure --platform t3d --library chip", 2, []string{"did you mean chimp?"}},
		{"measure --platform t3d --modes sned", 2, []string{"did you mean send?"}},
		{"measure --platform t3d --protocol RTT", 2, []string{"did you mean RTA?"}},
		{"measure --platform t3d --collective bcst", 2, []string{"did you mean bcast?"}},
		{"measure --platform t3d --collective bcast --algorithm linaer", 2, []string{"did you mean linear?"}},
		{"run --platform t3d stencl", 2, []string{"did you mean stencil?"}},
		{"run --platform t3d --collective bcast=binomail cg", 2, []string{"did you mean binomial?"}},
		{"run --platform t3d --patterns latncy patterns", 2, []string{"did you mean latency?"}},
		{"reproduce al-tawl", 2, []string{"did you mean altawil-moritz?"}},
		{"trace --platform t3d --mode sned", 2, []string{"did you mean send?"}},
		{"schedule bcst -n 4", 2, []string{"did you mean bcast?"}},
		{"schedule bcast -n 4 --algorithm binmial", 2, []string{"did you mean binomial?"}},
		{"export simgird x.csv", 2, []string{"did you mean simgrid?"}},
		{"import --place intr x.txt", 2, []string{"did you mean intra?"}},
		{"fit", 2, []string{"name at least one file of samples"}},
		{"fit samples.csv", 1, []string{"samples.csv:3:", "12x"}},
		{"fit none.csv", 1, []string{"none.csv", "no such file", "loggp measure -o FILE"}},
		{"import", 2, []string{"name at least one file"}},
		{"import osu", 2, []string{"import osu: name at least one file"}},
		{"import none.txt", 1, []string{"none.txt", "no such file"}},
		{"import good.csv", 1, []string{"good.csv: these are samples of loggp already"}},
		{"import flat.csv", 1, []string{"flat.csv: not the output of a known tool", "osu", "# OSU MPI", "skampi"}},
		{"import netpipe good.csv", 1, []string{"good.csv:1:"}},
		{"import good.csv --place near", 2, []string{"--place", `"near"`, "0-7"}},
		{"import good.csv -o none/x.csv", 2, []string{"no directory none"}},
		{"export", 2, []string{"name a format (logopsim, simgrid, json) and one file"}},
		{"export xml flat.csv", 2, []string{`no format "xml"`, "simgrid"}},
		{"export json none.csv", 1, []string{"none.csv", "no such file"}},
		{"export json params.csv", 1, []string{"params.csv:2:", "zero"}},
		{"export simgrid flat.csv", 1, []string{"flat.csv: x, y, inter, o_r", "timer12"}},
		{"export simgrid flat.csv -o none/x.xml", 2, []string{"no directory none"}},
		{"export simgrid flat.csv --eager much", 2, []string{"--eager much", "4KiB"}},
		{"export simgrid flat.csv --overheads all", 2, []string{"measured or small"}},
		{"predict", 2, []string{"--params, --platform"}},
		{"predict --params params.csv --platform t3d", 2, []string{"exactly one"}},
		{"predict --params params.csv", 1, []string{"params.csv:2:", "zero"}},
		{"predict --platform t3d --protocol T --mode synchronous", 2, []string{"--protocol T", "synchronous"}},
		{"predict --platform t3d --protocol T --mode ssend", 2, []string{"--protocol T", "synchronous"}},
		{"predict --platform t3d --mode sennd", 2, []string{"--mode", "did you mean send?"}},
		{"trace --platform t3d --mode synchronous --protocol T", 2, []string{"--protocol T", "synchronous"}},
		{"predict --platform t3d --mode syncronous", 2, []string{"--mode", "did you mean synchronous?"}},
		{"trace --platform t3d --mode isennd", 2, []string{"--mode", "did you mean isend?"}},
		{"run --platform t3d", 2, []string{"which program", "stencil"}},
		{"run --platform t3d dance", 2, []string{`"dance"`, "stencil"}},
		{"run stencil", 2, []string{"--platform", "t3d"}},
		{"run --platform t3d --operation -1s stencil", 2, []string{"--operation -1s", "50ns"}},
		{"run --platform t3d --collective bcast=lin cg", 2, []string{`bcast has no algorithm "lin"`, "linear, binomial, posted, binomial-posted, pipelined-1KiB", "two-level"}},
		{"run --platform t3d --collective dance=linear cg", 2, []string{`no operation "dance"`, "barrier, bcast"}},
		{"run --platform t3d --collective bcast cg", 2, []string{"--collective bcast: say by which algorithm, as bcast=linear"}},
		{"run --platform t3d --collective scan=linear --collective scan=linear cg", 2, []string{"scan is named twice"}},
		{"run --platform t3d --collective= cg", 2, []string{"--collective: name operations"}},
		{"run --platform t3d -n 6 --collective allgather=recursive-doubling cg", 2, []string{"is for a power of two of ranks, and these are 6 in 3 nodes: there are ring, bruck"}},
		{"run --platform now -n 6 --collective bcast=two-level cg", 2, []string{"some are in one node", "these are 6, each in a node of its own: there are linear, binomial"}},
		{"run --platform convex -n 6 --collective bcast=two-level cg", 2, []string{"these are 6 in one node"}},
		{"run --platform t3d --size 1 stencil", 1, []string{"stencil on t3d", "too few", "larger"}},
		{"predict --platform t3d --collective dance", 2, []string{"allgather", "scan"}},
		{"predict --platform t3d --collective bcast --protocol T", 2, []string{"--collective", "they have no effect on --collective"}},
		{"predict --platform t3d --collective bcast --ranks 100000", 2, []string{"--ranks 100000", "from 1 to 65536"}},
		{"predict --platform t3d --collective alltoall --ranks 65536", 2, []string{"--ranks 65536", "more than 4194304 messages by any algorithm"}},
		{"predict --platform t3d --tree", 2, []string{"--tree", "--collective bcast"}},
		{"predict --platform t3d --collective bcast --ranks 4 --sizes 8 --tree --format json", 2, []string{"--format", "--tree"}},
		{"run ./a.out --platform t3d -n 2", 2, []string{"--platform: behind ./a.out", "before the program"}},
		{"fit json.csv", 1, []string{"json.csv:1:1: this is JSON: samples are read as CSV"}},
		{"predict --platform convex --in-turn", 2, []string{"--in-turn", "--collective"}},
		{"predict --platform convex --collective bcast --per-node 4", 2, []string{"--per-node", "ranks per node"}},
		{"predict --platform convex --collective bcast --place inter --in-turn", 2, []string{"--in-turn", "equally far"}},
		{"predict --platform t3d --diagram x.png", 2, []string{"--diagram x.png", "SVG"}},
		{"compare", 2, []string{"--samples", "--params"}},
		{"compare --samples samples.csv", 1, []string{"samples.csv:3:"}},
		{"compare --samples one.csv", 1, []string{"it takes two", "x, y, inter", "loggp measure --platform NAME", "--params"}},
		{"compare --samples one.csv --samples modes.csv", 1, []string{"x has send at 12 bytes", "z has isend at 12 bytes", "same --modes and --sizes"}},
		{"compare --samples one.csv --samples sizes.csv", 1, []string{"z has send at 13,14 bytes", "same --modes and --sizes"}},
		{"compare --samples one.csv --samples forced.csv", 1, []string{"z has no mode at 12 bytes", "the library's choice of protocol"}},
		{"compare --samples one.csv --samples good.csv --sizes 12,16", 1, []string{"at 16 bytes", "common sizes are 12"}},
		{"compare --samples one.csv --samples good.csv --margin 20", 2, []string{"--margin 20", "%"}},
		{"compare --samples one.csv --samples good.csv --margin -5%", 2, []string{"--margin -5%", "from 0%"}},
		{"compare --samples one.csv --samples good.csv --sizes x", 2, []string{"--sizes"}},
		{"compare --samples one.csv --samples none.csv", 1, []string{"none.csv"}},
		{"compare --samples one.csv --params params.csv --margin 5%", 2, []string{"--margin", "without --params"}},
		{"reproduce --reps 20", 2, []string{"name one paper", "altawil-moritz"}},
		{"reproduce alexandrov", 2, []string{`"alexandrov"`, "altawil-moritz"}},
		{"reproduce altawil-moritz --reps 1", 2, []string{"--reps 1", "from 2 to"}},
		{"reproduce altawil-moritz --noise loud", 2, []string{"--noise", "on, off"}},
		{"reproduce altawil-moritz -o none/paper", 2, []string{"-o none/paper", "no directory none"}},
		{"reproduce altawil-moritz --format pdf", 2, []string{"table, csv, json, markdown, cells or claims"}},
		{"platforms validate bad.yaml", 1, []string{"bad.yaml:3:"}},
		{"platforms show nothing", 2, []string{`"nothing"`, "t3d"}},
		{"platforms show", 2, []string{"name one platform"}},
		{"measure --platform t3d --seed -1", 2, []string{"--seed", "a whole number, 0 or above"}},
		{"measure --platform t3d --reps many", 2, []string{"--reps", "a whole number"}},
		{"measure --platform t3d --modes send,send", 2, []string{"send is named twice"}},
		{"measure --platform t3d --modes send,message --protocol RTA", 2, []string{"low-level", "RTA"}},
		{"measure --platform t3d --sizes 1GiB", 2, []string{"--sizes", "256MiB"}},
		{"measure --platform t3d -o none/x.csv", 2, []string{"-o none/x.csv", "no directory none"}},
		{"reproduce altawil-moritz -o .", 2, []string{"-o .: ", "which no report wrote"}},
		{"report good.csv -o -", 2, []string{"-o -: this names a directory", "leave -o out"}},
		{"predict --params params.csv --ranks 4", 2, []string{"--ranks", "--platform"}},
		{"trace", 2, []string{"--platform", "t3d"}},
		{"trace --platform t3d --program pong", 2, []string{`"pong"`, "pingpong"}},
		{"trace --platform t3d --program ring --place intra", 2, []string{"--place", "all ranks"}},
		{"trace --platform t3d --program ring --mode ssend", 2, []string{"--mode", "chooses its own calls"}},
		{"trace --platform t3d --rounds 2", 2, []string{"--rounds", "it needs a program"}},
		{"trace --platform t3d --program ring --rounds 0", 2, []string{"--rounds 0", "above zero"}},
		{"trace --platform t3d --compute 1us", 2, []string{"--compute", "overlap"}},
		{"trace --platform t3d --mode rsend --late 1us", 2, []string{"--late", "posted"}},
		{"trace --platform t3d --late -1us", 2, []string{"--late -1us", "negative"}},
		{"trace --platform t3d --mode ssend --protocol T", 2, []string{"--protocol T", "synchronous"}},
		{"trace --platform t3d --protocol RTS", 2, []string{`"RTS"`, "RTA"}},
		{"trace --platform t3d --size many", 2, []string{"--size", "many"}},
		{"trace --platform t3d --size 1GiB", 2, []string{"--size"}},
		{"trace --platform t3d --window 5us", 2, []string{"--window 5us", "10us..50us"}},
		{"trace --platform t3d --window 1s..2s", 2, []string{"--window 1s..2s", "when all is over"}},
		{"trace --platform t3d --window 9us..5us", 2, []string{"before it ends"}},
		{"trace --platform t3d -o x.pdf", 2, []string{"-o x.pdf", ".json", ".svg"}},
		{"platforms shwo", 2, []string{`"shwo"`, "show?"}},
		{"schedule halo --root 1", 2, []string{"--root has no effect on halo"}},
		{"schedule barrier --size 8", 2, []string{"--size has no effect on barrier"}},
		{"schedule bcast --placement random", 2, []string{"--placement has no effect on bcast"}},
		{"schedule bcast --rounds 0", 2, []string{"--rounds 0"}},
		{"schedule merge x.goal y.goal --seed 3", 2, []string{"--seed has no effect on merge"}},
		{"schedule check x.goal -o y", 2, []string{"--output has no effect on check"}},
		{"schedule append good.csv good.csv -o good.csv", 2, []string{"would overwrite good.csv"}},
		{"schedule training --help", 2, []string{"STEP.yaml", "See 'loggp schedule --help'"}},
		{"measure --platform t3d --ranks 0", 2, []string{"--ranks 0: it must be at least 1"}},
		{"measure --platform t3d --collective barrier --sizes 8", 2, []string{"--sizes: a barrier has no data"}},
		{"measure --platform t3d --format json --verbose", 2, []string{"--verbose", "anyway"}},
		{"measure --platform t3d -o .", 2, []string{"-o .: this is a directory"}},
		{"fit good.csv -o x.json", 2, []string{"-o x.json", "written as CSV"}},
		{"report good.csv -o page --format csv", 2, []string{"--format: with -o nothing is printed"}},
		{"reproduce altawil-moritz -o good.csv", 2, []string{"-o good.csv: this is a file"}},
		{"reproduce --format claims", 2, []string{"name one paper"}},
		{"predict --platform t3d --ranks 1", 2, []string{"--ranks 1", "two"}},
		{"predict --platform t3d --collective barrier --sizes 8", 2, []string{"--sizes: a barrier has no data"}},
		{"predict --platform t3d --diagram none/x.svg", 2, []string{"--diagram none/x.svg", "no directory none"}},
		{"trace --platform t3d --seed 3", 2, []string{"--seed", "--noise"}},
		{"trace --platform t3d --program barrier --size 8", 2, []string{"--size", "barrier"}},
		{"trace --platform t3d --verbose -o x.svg", 2, []string{"--verbose: with -o nothing is printed"}},
		{"export json params.csv --bounds", 2, []string{"--bounds", "json"}},
		{"platforms show t3d --yaml --verbose", 2, []string{"--verbose", "--yaml"}},
		{"run --platform t3d ring extra", 2, []string{`unexpected argument "extra"`}},
		{"run --platform t3d --class B npb-is", 2, []string{"--class B", "S, W, A"}},
		{"run --platform t3d -n 4 --picture x.jpg volume", 2, []string{"--picture x.jpg", ".png"}},
		{"fit good.csv -output=p.csv", 2, []string{"-output: did you mean --output"}},
		{"measure -platform t3d", 2, []string{"-platform; did you mean --platform?"}},
		{"measure -platform=t3d", 2, []string{"did you mean --platform?"}},
		{"import one.csv good.csv one.csv", 2, []string{"one.csv is named twice"}},
		{"import osuu good.csv", 2, []string{`"osuu"`, "did you mean osu"}},
		{"completion basch", 2, []string{`"basch"`, "bash"}},
		{"completion bash now", 2, []string{"unexpected argument"}},
		{"help mesure", 2, []string{"did you mean measure?"}},
	} {
		var out, errs buffer
		status := runCommandLine(context.Background(), strings.Fields(c.args), &out, &errs)
		if status != c.status {
			t.Errorf("loggp %s: status %d, want %d; it said: %s", c.args, status, c.status, errs.String())
		}
		for _, s := range c.says {
			if !strings.Contains(errs.String(), s) {
				t.Errorf("loggp %s: the complaint does not have %q: %s", c.args, s, errs.String())
			}
		}
		if out.Len() > 0 {
			t.Errorf("loggp %s: printed on standard output: %s", c.args, out.String())
		}
	}
}

// What fails leaves nothing behind: neither the file that was asked for nor a part of it.
func TestNothingHalfWritten(t *testing.T) {
	t.Chdir(t.TempDir())
	write(t, "samples.csv", "platform,library\n")
	write(t, "old.csv", "old")
	for _, args := range []string{
		"fit samples.csv -o new.csv", "fit samples.csv -o old.csv", "measure --platform t3d --reps 0 -o new.csv",
		"measure --platform t3d --sizes 16 --modes send --reps 1 -o none/new.csv", "report samples.csv -o page",
		"import osu samples.csv -o new.csv", "import samples.csv -o old.csv", "export simgrid samples.csv -o new.csv",
	} {
		var out, errs buffer
		if status := runCommandLine(context.Background(), strings.Fields(args), &out, &errs); status == exitSuccess {
			t.Errorf("loggp %s succeeded", args)
		}
	}
	sees(t, ".", "old.csv", "samples.csv")
	if b, _ := os.ReadFile("old.csv"); string(b) != "old" {
		t.Errorf("old.csv was changed to %q", b)
	}
}

// Ctrl-C ends a long measurement or reproduction soon, with a word, and leaves nothing.
func TestInterrupt(t *testing.T) {
	for _, command := range []string{
		"measure --platform t3d --reps 1000000 -o samples.csv",
		"reproduce altawil-moritz --reps 1000000 -o paper",
		"measure --platform shm --budget 1h -o samples.csv",                                     // in its first launch
		"measure --platform shm --launches 1000 --reps 1 --sizes 0 --modes send -o samples.csv", // in a later one
		"measure --platform t3d -n 8 --collective all --reps 15000 -o samples.csv",
		"measure --platform shm --collective all --budget 1h -o samples.csv",
	} {
		t.Run(command, func(t *testing.T) {
			t.Chdir(t.TempDir())
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			var out, errs buffer
			begin := time.Now()
			status := runCommandLine(ctx, strings.Fields(command), &out, &errs)
			if status != exitFailure || !strings.Contains(errs.String(), "interrupted") || out.Len() > 0 {
				t.Errorf("status %d: %s%s", status, out.String(), errs.String())
			}
			if d := time.Since(begin); d > 20*time.Second {
				t.Errorf("it took %v to end", d)
			}
			sees(t, ".")
		})
	}
}

// The same command and seed give the same bytes, on one core too; another seed gives others.
func TestDeterminism(t *testing.T) {
	t.Chdir(t.TempDir())
	args := func(out string, more ...string) []string {
		return append(strings.Fields("measure --platform t3d --modes send,isend,ssend --sizes 0,700,20KB --reps 30 -o "+out), more...)
	}
	table := mustRun(t, args("a.csv")...)
	if again := mustRun(t, args("b.csv")...); again != table {
		t.Error("the same command printed another table")
	}
	before := runtime.GOMAXPROCS(1)
	if again := mustRun(t, args("c.csv")...); again != table {
		t.Error("one core printed another table")
	}
	mustRun(t, "fit", "a.csv", "-o", "p.csv")
	runtime.GOMAXPROCS(before)
	mustRun(t, "fit", "b.csv", "-o", "q.csv")
	mustRun(t, args("d.csv", "--seed", "2")...)
	read := func(name string) string {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	if read("a.csv") != read("b.csv") || read("a.csv") != read("c.csv") {
		t.Error("the same command wrote other samples")
	}
	if read("p.csv") != read("q.csv") {
		t.Error("the same samples gave other parameters")
	}
	if read("a.csv") == read("d.csv") {
		t.Error("another seed wrote the same samples")
	}
}

// Every verb's help has an example, and says what the verb does.
func TestHelp(t *testing.T) {
	for _, c := range newRootCommand().Commands() {
		out := mustRun(t, c.Name(), "--help")
		if !strings.Contains(out, "Examples:") || !strings.Contains(out, "Usage:") {
			t.Errorf("help of %s:\n%s", c.Name(), out)
		}
	}
	shown := mustRun(t, "--help")
	for _, group := range []string{
		"Measure:\n  measure doctor import", "Understand:\n  fit predict compare report export",
		"Run and simulate:\n  run cc c++ fc simulate schedule trace", "Machines and papers:\n  platforms calibrate reproduce",
	} {
		title, verbs, _ := strings.Cut(group, "\n")
		_, list, _ := strings.Cut(shown, "\n"+title+"\n")
		list, _, _ = strings.Cut(list, "\n\n")
		var names []string
		for _, line := range strings.Split(list, "\n") {
			name, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			names = append(names, name)
		}
		if got := strings.Join(names, " "); got != strings.TrimSpace(verbs) {
			t.Errorf("%s has %s, want%s", title, got, verbs)
		}
	}
	if out := mustRun(t, "completion", "bash"); !strings.Contains(out, "loggp") {
		t.Error("no completion for bash")
	}
	if out := mustRun(t, "__complete", "measure", "--platform", "t"); !strings.Contains(out, "t3d") {
		t.Errorf("completion of --platform: %s", out)
	}
}

// long skips a test that measures whole tables where short tests are asked for: the race detector
// makes it take minutes, and the same code runs under it in shorter tests.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("measures whole tables")
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// sees checks what is in a directory.
func sees(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("%s has %q, want %q", filepath.Clean(dir), got, want)
	}
}
