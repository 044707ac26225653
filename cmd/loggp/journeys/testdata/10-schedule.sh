# A schedule: made, checked, simulated by LogGOPS, and run by an emulated machine.
loggp schedule halo -n 16 --size 8KiB --rounds 4 --compute 50us -o halo.goal
loggp schedule check halo.goal

loggp simulate halo.goal --tolerance 5% >simulated.txt
grep '^finishing time ' simulated.txt
loggp simulate halo.goal --loggops L=5us,o=1us,g=1us,G=1ns -o line

loggp compare --platform t3d --schedule halo.goal >near.txt
grep '^Accuracy of LogGOPS' near.txt

# The same without files in between.
loggp schedule bcast --algorithm binomial -n 64 --size 4KiB | loggp simulate - --format csv | grep '^finishing_time_ns,'
