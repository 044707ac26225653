# Why does my program take so long? A C program on 64 ranks, one of which computes longer than the others.
cp "$SOURCE/impl/program/cprog/testdata/jacobi.c" .
loggp cc -g -O2 jacobi.c -o jacobi
loggp run --platform t3d -n 64 --profile -o page ./jacobi 5 17 2>calls.txt
grep 'ranks wait in MPI_Allreduce for rank 17, which computes 1.4 times as long' page/index.html >/dev/null
grep '^MPI_Waitall ' calls.txt
