# Two libraries on one machine: which is faster where, and a check for continuous integration.
loggp measure --platform t3d --library chimp --modes send --reps 20 -o chimp.csv >/dev/null
loggp measure --platform t3d --library lean --modes send --reps 20 -o lean.csv.gz >/dev/null

loggp compare chimp.csv lean.csv.gz >changes.txt
grep '^Change from chimp.csv to lean.csv.gz' changes.txt
grep '^rtt  *send' changes.txt # the round trip

loggp compare --samples chimp.csv --samples lean.csv.gz >side-by-side.txt
grep '^one-way: half a round trip' side-by-side.txt

# The check fails, and says where.
if loggp compare chimp.csv lean.csv.gz --fail-over 5% >/dev/null 2>why.txt; then
	exit 1
fi
grep 'lean.csv.gz against chimp.csv: fail: .* times are slower by more than 5 % with their whole interval' why.txt
loggp compare chimp.csv chimp.csv --fail-over 5% >/dev/null
