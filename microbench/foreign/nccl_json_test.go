package foreign

import (
	"fmt"
	"strings"
	"testing"
)

// ncclJSON is a report in the form of src/util.cu of nccl-tests 2.17, with made-up times.
const ncclJSON = `{"version":2,"start_time":"2026-01-02 03:04:05","args":["./build/all_gather_perf","-b","8","-J","out.json"],"env":["HOME=\/root","X=algbw"],"nccl_version":22803,` +
	`"config":{"nthreads":1,"ngpus":1,"devices":[{"rank":0,"group":0,"pid":7,"hostname":"a","device":0,"device_hex":"0000:1b:00","device_info":"NVIDIA H100 80GB HBM3"},{"rank":1,"group":0,"pid":8,"hostname":"a","device":1,"device_hex":"0000:43:00","device_info":"NVIDIA H100 80GB HBM3"}]},` +
	`"results":[{"size":64,"count":8,"type":"float","redop":"none","root":"    -1","out_of_place":{"time":8.970000,"alg_bw":0.007135,"bus_bw":0.003567,"nwrong":0.000000},"in_place":{"time":8.830000,"alg_bw":0.007248,"bus_bw":0.003624,"nwrong":null},"actual_iterations":20,"experiment_name":"all_gather_perf"},` +
	`{"size":1048576,"count":131072,"type":"float","redop":"none","root":"    -1","out_of_place":{"time":105.900000,"alg_bw":9.901567,"bus_bw":4.950784,"nwrong":3.000000},"in_place":{"time":105.700000,"alg_bw":"nan","bus_bw":4.960151,"nwrong":0.000000},"actual_iterations":20,"experiment_name":"all_gather_perf"}],` +
	`"out_of_bounds":{"count":1,"okay":"false"},"average_bus_bandwidth":{"bandwidth":2.477000,"okay":"unchecked"},"errors":[],"end_time":"2026-01-02 03:04:06"}`

// A report in JSON is read like the table of the same run: sizes by block, wrong rows left out.
func TestNCCLReportInJSON(t *testing.T) {
	set, report, err := Import([]File{{Name: "out.json", Reader: strings.NewReader(ncclJSON)}}, Options{Platform: "h100"})
	if err != nil {
		t.Fatal(err)
	}
	if len(set.Series) != 1 {
		t.Fatalf("%+v, %+v", set.Series, report)
	}
	if x := set.Series[0]; x.Mode != "allgather" || !strings.HasPrefix(x.Library, "nccl") || x.Bytes != 32 || len(x.Times) != 1 || x.Times[0].Micros() != 8.97 {
		t.Errorf("%+v", x)
	}
	if got := fmt.Sprint(report.Tables, report.Notes); !strings.Contains(got, "wrong") {
		t.Errorf("the row with 3 wrong values is not mentioned: %s", got)
	}
}

// Reports that end early, have no results or other times say where and what.
func TestNCCLReportsThatCannotBeRead(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{ncclJSON[:700], "out.json:1:701: a report of nccl-tests in JSON that cannot be read"},
		{strings.Replace(ncclJSON, `"results":[`, `"results":[],"other":[`, 1), "out.json: a report of nccl-tests in JSON without results"},
		{strings.Replace(ncclJSON, `"time":8.97`, `"cpu_time":8.97`, 1), "out.json: result 1 of the report, of 64 B, has no time: processor times"},
	} {
		_, _, err := Import([]File{{Name: "out.json", Reader: strings.NewReader(c.text)}}, Options{Platform: "h100"})
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%v, want %s", err, c.want)
		}
	}
}
