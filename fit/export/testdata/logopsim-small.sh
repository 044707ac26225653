#!/bin/sh
# LogGOPS parameters of toy & co, lib, inter, mode send, for LogGOPSim. Usage: sh THIS SCHEDULE.bin
#
# LogGOPSim computes in whole numbers. One is a nanosecond here.
# One way, k bytes take o + L + (k-1)*max(G,O) + o; LogGP says o_s + L + (k-1)*G + o_r.
#
# -L 2500 ns: rtt/2-o_s-o_r
# -o 1250 ns: (o_s + o_r)/2 at 8 bytes, o_s being 1000 ns and o_r 1500 ns
# -g 1700 ns: train
# -G 2 ns: rtt/2, a byte
# -O 0 ns: overheads of small messages at all sizes, as asked for
# -S 100 bytes: given

LogGOPSim -f "$1" -L 2500 -o 1250 -g 1700 -G 2 -O 0 -S 100
