# My machine: what would disturb a measurement, then processes that share its memory, quickly, and a page.
loggp doctor --quick >doctor.txt
grep '^What measurements on this machine depend on' doctor.txt

loggp measure --platform shm --quick --launches 1 --reps 5 -o here.csv >here.txt
grep '^Latency and bandwidth, shm, loggp, within a node$' here.txt
grep '^send ' here.txt

loggp report here.csv -o here
test -s here/index.html

# The same times as CSV, for a program of my own, without a file in between.
loggp measure --platform t3d --modes send --max-size 1K --reps 10 -o - | loggp fit - --format csv >params.csv
grep '^t3d,chimp,inter,send,o_s,' params.csv
