# My OSU files: what the OSU micro-benchmarks printed elsewhere becomes samples, parameters, a page, and a prediction.
cat >latency.txt <<'END'
# OSU MPI Latency Test v7.4
# Datatype: MPI_CHAR.
# Size       Avg Latency(us)
1                       1.02
8                       1.03
64                      1.10
512                     1.66
4096                    3.32
16384                   6.80
65536                  14.10
262144                 39.90
1048576               142.00
END
loggp import latency.txt --platform-name cluster -o cluster.csv
loggp fit cluster.csv -o params.csv >fitted.txt
grep '^LogGP parameters of cluster' fitted.txt
loggp predict --params params.csv --sizes 8,64KiB >predicted.txt
grep '^ *8 ' predicted.txt
loggp report cluster.csv -o page

# Beside another machine.
loggp measure --platform t3d --modes send --sizes 8,64,512,4096 --reps 10 -o t3d.csv >/dev/null
loggp compare --samples cluster.csv --samples t3d.csv >beside.txt
grep '^one-way: half a round trip' beside.txt
