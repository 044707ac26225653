# Tiers: which processors are near each other, found from the times of all pairs, and the parameters of each tier.
loggp measure --platform convex --pairs all --reps 3 -o pairs.csv >measured.txt
grep '^Tiers of convex, mpich: 120 pairs of 16 ranks$' measured.txt
grep '^intra .* 0-7; 8-15' measured.txt

loggp fit pairs.csv -o tiers.csv >fitted.txt
grep '^H is the number of groups of tier intra' fitted.txt
loggp predict --params tiers.csv --place 0,9 --sizes 16 >far.txt
loggp predict --params tiers.csv --place 0,1 --sizes 16 >near.txt
grep 'inter' far.txt
grep 'intra' near.txt
