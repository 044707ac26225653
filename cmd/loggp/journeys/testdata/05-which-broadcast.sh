# Which broadcast: by the model, by measurement, and in a program.
loggp predict --platform t3d --collective bcast --ranks 16 --sizes 8,32KiB >predicted.txt
grep '^  *8 B  *binomial' predicted.txt

loggp measure --platform t3d -n 16 --collective bcast --sizes 8,32KiB -o bcast.csv >measured.txt
grep '^The fastest algorithms of 16 ranks on t3d, chimp' measured.txt
loggp compare --samples bcast.csv >errors.txt
grep 'predicted' errors.txt
loggp report bcast.csv -o bcast

loggp run --platform t3d -n 8 --collective allreduce=ring --size 12 --rounds 4 cg >run.txt
grep 'allreduce uses ring' run.txt
