# A paper: what there is to reproduce, the verdict on each claim, and the page.
loggp reproduce >papers.txt
grep '^altawil-moritz ' papers.txt

loggp reproduce altawil-moritz --reps 20 -o paper >verdicts.txt
grep '^nothing fitted ' verdicts.txt
grep '^AM-01 ' verdicts.txt
test -s paper/index.html
test -s paper/figure-7.svg
