#!/bin/sh
# LogGOPS parameters of toy & co, lib, inter, mode send, for LogGOPSim. Usage: sh THIS SCHEDULE.bin
#
# LogGOPSim computes in whole numbers. One is a picosecond here, since some of these would be off by more than 1 % in nanoseconds:
# multiply the times of computation (calc, in ns by convention) in the schedule by 1000, and divide its results by 1000.
# One way, k bytes take o + L + (k-1)*max(G,O) + o; LogGP says o_s + L + (k-1)*G + o_r.
#
# -L 2500 ns: rtt/2-o_s-o_r
# -o 1250 ns: (o_s + o_r)/2 at 8 bytes, o_s being 1000 ns and o_r 1500 ns
# -g 1700 ns: train
# -G 2 ns: rtt/2, a byte
# -O 0.315166 ns: (o_s + o_r)/2 grows by it a byte from 8 to 4096 bytes
# -S 4096 bytes: o_s jumps by 20.06 us from 4096 to 5000 bytes, more than a round trip of 10 us

LogGOPSim -f "$1" -L 2500000 -o 1250000 -g 1700000 -G 2000 -O 315 -S 4096
