# Numbers for my own programs: CSV for Python and gnuplot, JSON for jq. What is not installed is left out, and said; CI has
# gnuplot.
loggp measure --platform t3d --modes send,ssend --sizes 0,16,1KB,10KB --reps 20 -o samples.csv --format csv >messages.csv
loggp measure --platform t3d --modes send,ssend --sizes 0,16,1KB,10KB --reps 20 --format json >measured.json
loggp fit samples.csv --format json --table parameters >parameters.json
loggp run --platform t3d -n 4 --profile --format csv --table calls cg >calls.csv

# gnuplot: "set datafile separator ','; plot 'messages.csv' using 'bytes':'latency_us'" wants one line of names, without
# spaces, and numbers alone below it.
head -1 messages.csv | grep '^bytes,latency_us,'
sed 1d messages.csv | awk -F, '{ for (i = 1; i <= NF; i++) if ($i !~ /^[-+0-9.e]*$/) exit 1 } END { if (NR != 4) exit 1 }'
if command -v gnuplot >/dev/null; then
	gnuplot -e "set datafile separator ','; set terminal dumb; unset key; set xrange [-1000:11000]; set yrange [0:300]; plot 'messages.csv' using 'bytes':'latency_us'" >plot.txt 2>messages.txt
	test ! -s messages.txt
	test "$(tr -dc A <plot.txt | wc -c)" = 3 # points: those of 0 and 16 bytes are one
elif [ -n "${CI:-}" ]; then
	echo "CI has no gnuplot: .ci/gnuplot installs it" >&2
	exit 1
else
	echo "not tested: gnuplot is not installed" >&2
fi

if command -v python3 >/dev/null && python3 -c ''; then
	python3 - <<'END'
import csv, json

messages = list(csv.DictReader(open("messages.csv")))
assert [int(m["bytes"]) for m in messages] == [0, 16, 1000, 10000], messages
assert all(float(m["latency_us"]) > 0 for m in messages), messages
calls = {c["call"]: c for c in csv.DictReader(open("calls.csv"))}
assert any("Allreduce" in name and float(c["time_us"]) > 0 for name, c in calls.items()), calls
series = [r for r in csv.DictReader(r for r in open("samples.csv") if not r.startswith("#"))]
times = [float(t) for r in series if r["timer"] == "rtt" and r["mode"] == "send" and r["bytes"] == "16" for t in r["times_us"].split()]
assert len(times) >= 10 and abs(sorted(times)[len(times) // 2] / 2 - float(messages[1]["latency_us"])) < 0.1, times
tables = {t["name"]: t["rows"] for s in json.load(open("measured.json"))["sections"] for t in s.get("tables", [])}
assert tables["messages"][1]["latency_us"] == float(messages[1]["latency_us"]), tables["messages"]
END
fi

if command -v jq >/dev/null; then
	jq -e '[.sections[].tables[]? | select(.name == "messages") | .rows[].latency_us | numbers] | length == 4' measured.json
	jq -e '.[] | select(.mode == "send" and .parameter == "o_s" and .unit == "us") | .value > 0 and .ci_low <= .value' parameters.json
	# No number is text because of its unit.
	jq -e '[.. | strings | select(test("^[-+~]?[0-9.]+ ?(ps|ns|us|ms|s|B|KB|MB|KiB|MiB|MB/s|us/B|%)$"))] == []' measured.json
fi
