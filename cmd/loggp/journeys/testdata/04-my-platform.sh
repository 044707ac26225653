# My platform file: a copy of one of the catalogue with another processor.
loggp platforms show t3d --yaml >mine.yaml
sed -i.old 's/^name: t3d/name: mine/; s/150 MHz/300 MHz/' mine.yaml
loggp platforms validate mine.yaml >valid.txt
grep '^mine.yaml is valid: ' valid.txt

loggp measure --platform mine.yaml --modes send --max-size 1K --reps 10 >mine.txt
grep '^Latency and bandwidth, mine, chimp, between nodes$' mine.txt

# A mistake is found with its line and column.
sed 's/^name: .*/name: Not A Name/' mine.yaml >wrong.yaml
if loggp platforms validate wrong.yaml 2>why.txt; then
	exit 1
fi
grep 'wrong.yaml:[0-9]*:[0-9]*: ' why.txt
