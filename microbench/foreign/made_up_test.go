package foreign

import (
	"strings"
	"testing"
	"unicode/utf16"
)

// utf16be returns a text as Windows writes it in the other byte order.
func utf16be(text string, mark bool) string {
	var b strings.Builder
	if mark {
		b.WriteString("\xfe\xff")
	}
	for _, u := range utf16.Encode([]rune(text)) {
		b.WriteByte(byte(u >> 8))
		b.WriteByte(byte(u))
	}
	return b.String()
}

// prefixed returns lines with a label before each.
func prefixed(label, text string) string {
	return label + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n"+label) + "\n"
}

const shortLatency = "# OSU MPI Latency Test v7.5\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1                       1.67\n1024                    2.41\n"

var shortRows = []string{"|send rtt 1: 3.34", "|send rtt 1024: 4.82"}

// Logs and tables of the kinds that users have, made up from the formats of the tools.
var madeUpFiles = []fieldFile{
	{name: "UTF-16 without a mark", text: utf16be(shortLatency, false), rows: shortRows},
	{name: "UTF-16BE, CRLF", text: utf16be(strings.ReplaceAll(shortLatency, "\n", "\r\n"), true), rows: shortRows},
	{name: "UTF-8 with a mark", text: "\ufeff" + shortLatency, rows: shortRows},
	{name: "colours", text: strings.Replace(shortLatency, "1024 ", "\x1b[1;32m1024\x1b[0m ", 1), rows: shortRows},
	{name: "Open MPI 5 tags", text: prefixed("[prterun-node17-4711@1,0]<stdout>: ", shortLatency), rows: shortRows},
	{name: "Open MPI 5 detailed tags", text: prefixed("[prterun-node17-4711@1,0][node17:815]<stdout>: ", shortLatency), rows: shortRows},
	{name: "Open MPI 4 with time stamps", text: prefixed("Tue Mar  3 10:11:12 2026[1,0]<stdout>:", shortLatency), rows: shortRows},
	{name: "GitHub time stamps", text: prefixed("2026-03-04T10:11:12.1234567Z ", shortLatency), rows: shortRows},
	{name: "ts and srun", text: prefixed("Mar 04 10:11:12 0: ", shortLatency), rows: shortRows},
	{name: "bracketed time stamps", text: prefixed("[2026-03-04 10:11:12] ", shortLatency), rows: shortRows},
	{name: "pdsh", text: prefixed("node-17: ", shortLatency), rows: shortRows},
	{name: "docker compose", text: prefixed("mpi-launcher-1  | ", shortLatency), rows: shortRows},
	{name: "quoted mail in a code fence", text: "Hi,\n```\n" + prefixed("> ", shortLatency) + "```\nBest\n", rows: shortRows, notes: []string{`2 lines that are no results: line 1 "Hi,"; line 9 "Best"`}},
	{name: "progress by carriage return", text: strings.Replace(shortLatency, "1024 ", "running 10%\rrunning 90%\r1024 ", 1), rows: shortRows},
	{name: "several ranks write at once", text: strings.Replace(shortLatency, "1024                    2.41", "1024                    2.41[node1:77] libibverbs: Warning: no userspace driver", 1),
		rows: shortRows[:1], notes: []string{"line 5: 7 columns"}},
	{name: "cut in a number", text: shortLatency + "65536                   9.8", rows: shortRows, notes: []string{`line 6: "9.8" has fewer digits than in the rows above`}},
	{name: "a message of 4 GiB", text: shortLatency + "4294967296              987.65\n", rows: shortRows, notes: []string{"line 6: messages of 4294967296 bytes are longer than samples can have"}},
	{name: "no line end", text: shortLatency + "65536                   9.87", rows: append(append([]string{}, shortRows...), "|send rtt 65536: 19.74")},
	{name: "datatypes", text: shortLatency + "# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n4 1.70\n1024 2.50\n# Datatype: MPI_FLOAT.\n# Size       Avg Latency(us)\n4 1.80\n1024 2.60\n",
		rows: append(append([]string{}, shortRows...), "(MPI_INT)|send rtt 4: 3.4", "(MPI_INT)|send rtt 1024: 5", "(MPI_FLOAT)|send rtt 4: 3.6", "(MPI_FLOAT)|send rtt 1024: 5.2")},
	{name: "datatypes with titles", text: shortLatency + strings.Replace(shortLatency, "MPI_CHAR", "MPI_INT", 1) + strings.Replace(shortLatency, "MPI_CHAR", "MPI_FLOAT", 1),
		rows: append(append([]string{}, shortRows...), "(MPI_INT)|send rtt 1: 3.34", "(MPI_INT)|send rtt 1024: 4.82", "(MPI_FLOAT)|send rtt 1: 3.34", "(MPI_FLOAT)|send rtt 1024: 4.82")},
	{name: "two versions of a library", text: "openmpi@4.1.6%gcc@13.2.0 osu_latency\n" + shortLatency + "openmpi@5.0.5%gcc@13.2.0 osu_latency\n" + shortLatency + "mpich@4.2.1 osu_latency\n" + shortLatency,
		rows: append(append(named("openmpi-4.1.6", shortRows...), named("openmpi-5.0.5", shortRows...)...), named("mpich", shortRows...)...)},
	{name: "ranks from command lines", text: "+ srun -N 2 --ntasks-per-node=8 ./osu_allreduce -m 4:8\n# OSU MPI Allreduce Latency Test v7.5\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n4 11.69\n" +
		"[user@login1 ~]$ mpirun -n 144 -N 36 -hostfile ~/h.txt osu_bcast -x 10 -i 10\n[inst:1] SET UCX_NET_DEVICES=mlx5_2:1\n\n# OSU MPI Broadcast Latency Test v7.5\n# Size       Avg Latency(us)\n4 9.5\n[user@login1 ~]$ exit\n",
		rows: []string{"|allreduce coll_mean 4 (16 ranks): 11.69", "|bcast coll_mean 4 (144 ranks): 9.5"}, notes: []string{"Allreduce Latency: without", "Broadcast Latency: without", "2 lines that are no results"}},
	{name: "collective without ranks beside latency", text: shortLatency + "# OSU MPI Barrier Latency Test v7.5\n# Avg Latency(us)\n3.21\n", rows: shortRows,
		notes: []string{"Barrier Latency: without", "barrier: the file does not say how many ranks"}},
	{name: "OSU v-collectives and reduce_scatter", options: Options{Ranks: 8}, text: "# OSU MPI All-to-Allv Personalized Exchange Latency Test v7.4\n# Size       Avg Latency(us)   Min Latency(us)   Max Latency(us)  Iterations\n1 5.11 4.90 5.33 1000\n" +
		"# OSU MPI-ROCM Reduce_scatter Latency Test v7.4\n# Datatype: MPI_INT.\n# Size       Avg Latency(us)\n32 7.5\n# OSU MPI Neighborhood Allgather Latency Test v7.4\n# Size       Avg Latency(us)\n1 2.2\n",
		rows:  []string{"|alltoallv coll_mean 1: 5.11", "|alltoallv coll_min 1: 4.9", "|alltoallv coll_max 1: 5.33", "(device buffers)|reduce_scatter coll_mean 32: 7.5"},
		notes: []string{"Reduce_scatter Latency: without", "Neighborhood Allgather Latency: a neighbourhood collective"}},
	{name: "OSU persistent collectives, and bandwidth of GB/s", options: ranks4, text: "# OSU MPI Broadcast Persistent Latency Test v7.5\n# Size       Avg Latency(us)        Validation\n4 3.5 Pass\n8 3.6 Fail\n# OMB-Py MPI Bandwidth Test\n# Size (B)  Bandwidth (GB/s)\n1000 2.00\n",
		rows: []string{"|bcast_init coll_mean 4: 3.5", "|isend stream 1000: 0.5"}, notes: []string{"Broadcast Persistent Latency: without", "line 4: Validation is Fail", "osu_bw has windows"}},
	{name: "OSU and IMB in one log", text: shortLatency + "#    Intel(R) MPI Benchmarks 2021.7, MPI-1 part\n# Benchmarking PingPong \n# #processes = 2 \n       #bytes #repetitions      t[usec]   Mbytes/sec\n            0         1000         1.59         0.00\n",
		rows: append(append([]string{}, shortRows...), "|send rtt 0: 3.18")},
	{name: "IMB among several numbers of processes, with a time-out", text: "# Benchmarking Bcast \n# #processes = 2 \n# ( 6 additional processes waiting in MPI_Barrier)\n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n            8         1000         1.10         1.20         1.15\n" +
		"\n# Benchmarking Bcast \n# #processes = 8 \n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n            8         1000         3.10         3.90         3.51\n" +
		"      4194304 time-out.; Time limit (secs_per_sample * msg_sizes_len) is over; use \"-time X\" or SECS_PER_SAMPLE_LIMIT (IMB_settings.h) to increase time limit.\n" +
		"# Benchmarking Barrier \n# #processes = 8 \n #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]\n         1000         2.00         2.20         2.10\n",
		rows: []string{"|bcast coll_mean 8 (2 ranks): 1.15", "|bcast coll_min 8 (2 ranks): 1.1", "|bcast coll_max 8 (2 ranks): 1.2", "|bcast coll_mean 8 (8 ranks): 3.51", "|bcast coll_min 8 (8 ranks): 3.1", "|bcast coll_max 8 (8 ranks): 3.9",
			"|barrier coll_mean 0 (8 ranks): 2.1", "|barrier coll_min 0 (8 ranks): 2", "|barrier coll_max 0 (8 ranks): 2.2"}, notes: []string{"line 11: "},
		facts: []string{"repetitions of coll_max bcast of 2 ranks=8 B: 1000", "repetitions of coll_max bcast of 8 ranks=8 B: 1000"}},
	{name: "IMB -multi, defects, NBC", text: "# Benchmarking Multi-PingPong \n# ( 4 groups of 2 processes each running simultaneously ) \n# Group 0:   0   1 \n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]  Mbytes/sec\n            0         1000         0.51         0.60         0.55         0.00\n" +
		"# Benchmarking Ibcast \n# #processes = 4 \n       #bytes #repetitions  t_ovrl[usec]  t_pure[usec]   t_CPU[usec]   overlap[%]\n            8         1000         3.51         2.60         2.55         64.00\n" +
		"# Benchmarking Alltoall \n# #processes = 4 \n       #bytes #repetitions  t_min[usec]  t_max[usec]  t_avg[usec]      defects\n            8         1000         3.10         3.90         3.51         0.00\n           16         1000         3.10         3.90         3.51         2.00\n",
		rows:  []string{"|alltoall coll_mean 8: 3.51", "|alltoall coll_min 8: 3.1", "|alltoall coll_max 8: 3.9"},
		notes: []string{"Multi-PingPong: several groups of processes at once (1 row)", "Ibcast: there is no timer of ours for it (1 row)", "line 14: defects is 2.00"}},
	{name: "NCCL allgather by name, of eight", text: "# nccl-tests version 2.17.6 nccl-headers=22807 nccl-library=22807\n# Collective test starting: all_gather_perf\n# nThread 1 nGpus 1 minBytes 8 maxBytes 16 step: 2(factor) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0\n# Using devices\n" +
		"#  Rank  0 Group  0 Pid  1 on n1 device  0 [0000:0f:00] NVIDIA A100\n#  Rank  7 Group  0 Pid  8 on n1 device  7 [0000:1f:00] NVIDIA A100\nNCCL version 2.28.7+cuda12.8\n" +
		"#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong\n#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)       \n" +
		"        1024            32     float    none      -1    14.66    0.07    0.06      0    14.05    0.07    0.06      0\n     1048576         32768     float    none      -1    25.29   41.46   36.28      0    24.96   42.01   36.76    N/A\n        2048            64     float    none      -1    15.66    0.07    0.06      3    14.05    0.07    0.06      0\n# Out of bounds values : 1 FAILED\n",
		rows:  named("nccl (device buffers)", "|allgather coll_mean 128: 14.66", "|allgather coll_mean 131072: 25.29"),
		notes: []string{"in-place times", "slowest rank", "line 12: #wrong is 3", "1 line that is no result"}},
	{name: "NCCL without a name, old columns", options: Options{Ranks: 4}, text: "#                                                     out-of-place                       in-place\n#       size         count    type   redop     time   algbw   busbw  error     time   algbw   busbw  error\n#        (B)    (elements)                     (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n" +
		"     1048576        262144   float     sum    105.9    9.90   14.85  2e-07    105.7    9.92   14.88  2e-07\n", rows: named("nccl (device buffers)", "|allreduce coll_mean 1048576: 105.9"), notes: []string{"in-place", "slowest"}},
	{name: "NCCL allgather or alltoall", options: Options{Ranks: 4}, text: "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong\n     1048576        262144     float    none      -1    105.9    9.90    7.42      0    105.7    9.92    7.44      0\n",
		err: "no line says whether it is all_gather or alltoall: add a line"},
	{name: "ib_write_bw, with a warning", text: "$ ib_write_bw -d mlx5_0 10.0.0.1\n---------------------------------------------------------------------------------------\n                    RDMA_Write BW Test\n Dual-port       : OFF\t\tDevice         : mlx5_0\n TX depth        : 128\n local address: LID 0x01 QPN 0x004c PSN 0x3a0d1f\n" +
		"---------------------------------------------------------------------------------------\n #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\nConflicting CPU frequency values detected: 5008.116000 != 3295.212000. CPU Frequency is not max.\n 65536      1000             46567.34            46557.03\t\t     0.744912\n---------------------------------------------------------------------------------------\n",
		rows: named("verbs", "|rdma_write stream 65536: 1.34244"), notes: []string{"1 line that is no result: line 9"}},
	{name: "ib_read_lat and ib_send_bw of both directions", text: "                    RDMA_Read Latency Test\n #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec] \n 2       1000          1.90           4.34         2.01     \t       2.05        \t0.06   \t\t2.09    \t\t3.34   \n" +
		"                    Send Bidirectional BW Test\n #bytes     #iterations    BW peak[Gb/sec]    BW average[Gb/sec]   MsgRate[Mpps]\n 4096       1000             180.00             163.84   \t\t     5.000000\n",
		rows: named("verbs", "|rdma_read get 2: 2.01", "|message stream-both 4096: 0.4")},
	{name: "fabtests of a stream, and of a tagged ping-pong", text: "bytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec\n64      10k     625k        0.01s     64.00       1.00       1.00\n4k      10k     39m         0.02s   2048.00       2.00       0.50\n" +
		"$ fi_rdm_tagged_pingpong -p verbs 10.0.0.1\nbytes   iters   total       time     MB/sec    usec/xfer   Mxfers/sec\n64      10k     1.2m        0.04s     30.11       2.13       0.47\n",
		rows: named("libfabric", "|message stream 64: 1", "|message stream 4096: 2", "|tagged rtt 64: 4.26")},
	{name: "ucx_perftest by command", text: "[root@n1 bin]# ./ucx_perftest 10.0.0.1 -t tag_lat -s 30000\n[1741244344.655540] [n1:1963139:0]        perftest.c:800  UCX  WARN  CPU affinity is not set (bound to 48 cpus).\n" +
		"+--------------+--------------+------------------------------+---------------------+-----------------------+\n|              |              |        latency (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |\n+--------------+--------------+----------+---------+---------+----------+----------+-----------+-----------+\n|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |\n" +
		"[thread 0]             31045     15.993    16.106    16.106     1776.36    1776.36       62088       62088\nFinal:                 62188     16.024    16.055    16.081     1781.98    1779.17       62285       62187\n",
		rows: named("ucx", "|tag rtt 30000: 32.162"), notes: []string{"1 line that is no result: line 2"}},
	{name: "ucx_perftest with its box", text: "+------------------------------------------------------------------------------------------+\n| API:          protocol layer                                                             |\n| Test:         tag match bandwidth                                                        |\n| Send memory:  cuda                                                                       |\n| Recv memory:  cuda                                                                       |\n| Message size: 1048576                                                                    |\n+------------------------------------------------------------------------------------------+\n" +
		"|              |              |       overhead (usec)        |   bandwidth (MB/s)  |  message rate (msg/s) |\n|    Stage     | # iterations | 50.0%ile | average | overall |  average |  overall |  average  |  overall  |\nFinal:                  1000      0.240    80.00    80.00    12500.00   12500.00       12500       12500\n",
		rows: named("ucx (device buffers)", "|tag stream 1048576: 80")},
	{name: "mpiBench", text: "START mpiBench v1.5\nBarrier             \tBytes:\t       0\tIters:\t    1000\tAvg:\t  4.5000\tMin:\t  4.4000\tMax:\t  4.6000\tComm: MPI_COMM_WORLD\tRanks: 64\nAllreduce           \tBytes:\t       8\tIters:\t    1000\tAvg:\t 12.3456\tMin:\t 12.1000\tMax:\t 12.6000\tComm: MPI_COMM_WORLD\tRanks: 64\nEND mpiBench\n",
		rows: []string{"|barrier coll_mean 0: 4.5", "|barrier coll_min 0: 4.4", "|barrier coll_max 0: 4.6", "|allreduce coll_mean 8: 12.3456", "|allreduce coll_min 8: 12.1", "|allreduce coll_max 8: 12.6"}, notes: []string{"2 lines that are no results"}, facts: []string{"ranks=64"}},
	{name: "ReproMPI summary of doubles", text: "#@nprocs=16\n#@datatype=MPI_DOUBLE\ntest nrep count mean_runtime_sec median_runtime_sec min_runtime_sec max_runtime_sec\nMPI_Bcast 100 4 0.0000035 0.0000031 0.0000030 0.0000099\n", rows: []string{"|bcast coll_max 32: 3.1"}},
	{name: "GPCNeT with congestion", text: "Network Tests v1.3\n  Test with 64 MPI ranks (32 nodes)\n\n  Legend\n   RR = random ring communication pattern\n   BW+Sync = bandwidth with barrier\n+---+\n|   Isolated Network Tests  |\n|                            Name |          Min |          Max |          Avg |   Avg(Worst) |          99% |        99.9% |        Units |\n" +
		"|          RR Two-sided Lat (8 B) |          1.2 |         22.2 |          1.5 |          4.7 |          3.6 |          5.1 |         usec |\n| RR Two-sided BW+Sync (131072 B) |        100.0 |        200.0 |        150.0 |        110.0 |        101.0 |        100.5 |   MiB/s/rank |\n" +
		"|   Network Tests running with Congestion Tests (   RR Two-sided Lat Network Test)   |\n|                            Name |          Min |          Max |          Avg |   Avg(Worst) |          99% |        99.9% |        Units |\n|          RR Two-sided Lat (8 B) |          1.3 |         99.2 |          9.5 |         44.7 |         33.6 |         55.1 |         usec |\n",
		rows: []string{"|random_ring coll_mean 8: 1.5", "(with congestion)|random_ring coll_mean 8: 9.5"}, notes: []string{"slowest rank", "RR Two-sided BW+Sync: it is no time (1 row)"}},
}

func TestMadeUpFiles(t *testing.T) {
	for _, c := range madeUpFiles {
		c.check(t)
	}
}
