# Continuous integration: each change is measured and compared with a reference. The status and one line say whether it
# passes (0), fails (1), or cannot be told (3).
measure() { loggp measure --platform t3d --modes send --sizes 0,16,1KB,10KB "$@" >/dev/null; }
compare() {
	status=0
	loggp compare "$@" --fail-over 5% >table.txt 2>verdict.txt || status=$?
	cat verdict.txt
	test "$(wc -l <verdict.txt)" = 1
}

measure --reps 50 -o reference.csv
measure --reps 50 --seed 2 -o same.csv.gz
compare reference.csv same.csv.gz
test "$status" = 0
grep 'same.csv.gz against reference.csv: pass: none of .* times is slower by more than 5 %; the geometric mean changes by ' verdict.txt

measure --reps 50 --library lean -o slower.csv
compare reference.csv slower.csv
test "$status" = 1
grep 'slower.csv against reference.csv: fail: .* slower by more than 5 % with their whole interval, such as ' verdict.txt

measure --reps 5 --noise 20% --seed 1 -o noisy.csv
measure --reps 5 --noise 20% --seed 3 -o noisier.csv
compare noisy.csv noisier.csv
test "$status" = 3
grep 'noisier.csv against noisy.csv: cannot tell: .* but may be by less, such as .*Measure both sides again' verdict.txt

# A misspelled flag, and a file that is missing, are no verdict.
status=0
loggp compare reference.csv same.csv.gz --fail-ovr 5% 2>why.txt || status=$?
test "$status" = 2
grep 'did you mean --fail-over?' why.txt
status=0
loggp compare reference.csv none.csv --fail-over 5% 2>why.txt || status=$?
test "$status" = 1
if grep 'pass\|fail:\|cannot tell' why.txt; then exit 1; fi
