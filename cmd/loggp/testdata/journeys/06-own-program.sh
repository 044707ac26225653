# My own Go program, in a module of its own: the one of docs/program.md. SOURCE is a clone of loggp; without one,
# 'go get github.com/loggp/loggp' takes the place of the next four commands.
go mod init example
go mod edit -require github.com/loggp/loggp@v0.0.0 -replace "github.com/loggp/loggp=$SOURCE"
sed -n '/^require/,$p' "$SOURCE/go.mod" >>go.mod
cp "$SOURCE/go.sum" .

sed -n '/^```go$/,/^```$/p' "$SOURCE/docs/program.md" | grep -v '^```' >main.go
go run -mod=mod . >statistics.txt
grep '8 ranks on t3d, chimp' statistics.txt
grep 'Recv ' statistics.txt
grep '8 ranks on t3d' timeline/index.html >/dev/null
