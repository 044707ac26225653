# My own Go programs, in a module of their own: those of docs/program.md. SOURCE is a clone of loggp; without one,
# 'go get github.com/loggp/loggp' takes the place of the next four commands.
go mod init example
go mod edit -require github.com/loggp/loggp@v0.0.0 -replace "github.com/loggp/loggp=$SOURCE"
sed -n '/^require/,$p' "$SOURCE/go.mod" >>go.mod
cp "$SOURCE/go.sum" .

# Other modules may import every package of loggp.
go list -mod=mod -f '{{if ne .Name "main"}}{{.ImportPath}}{{end}}' github.com/loggp/loggp/... >packages.txt
grep -x github.com/loggp/loggp packages.txt
if grep -w internal packages.txt; then exit 1; fi

# program writes the program of the page whose first line is the name of its file.
program() { awk -v first="// $1" '/^```/ { on = 0 } $0 == first { on = 1 } on' "$SOURCE/docs/program.md" >"$1"; }

program main.go
go run -mod=mod . >statistics.txt
grep '8 ranks on t3d, chimp' statistics.txt
grep 'Recv ' statistics.txt
grep '8 ranks on t3d' timeline/index.html >/dev/null

mkdir message
program message/main.go
loggp measure --platform loggp --modes send,isend --reps 10 -o samples.csv >/dev/null
go run -mod=mod ./message >times.txt
sed -n '/^predicted /,/^simulated /p' "$SOURCE/docs/program.md" | diff - times.txt
