# A first result: what a message costs on a machine of the catalogue, as a table, a file and a page.
loggp platforms >platforms.txt
grep '^ *t3d  *chimp' platforms.txt

loggp measure --platform t3d --modes send,isend --max-size 10K --reps 20 -o t3d.csv >measured.txt
head -n 1 measured.txt | grep '^A message of 4 B takes 22\.' # the answer first
grep '^Latency and bandwidth, t3d, chimp, between nodes$' measured.txt
grep -A 4 'size  *latency  *p99  bandwidth  messages/s' measured.txt | grep '0 B  *22\.'
grep '^LogGP parameters of t3d, chimp' measured.txt

loggp report t3d.csv -o page
grep 'A message of' page/index.html >answer.txt # the sentence that answers the question stands first
