package main

import (
	"bytes"
	"os"
	"testing"
)

func TestGeneratedFileIsUpToDate(t *testing.T) {
	want, err := generateHandlers()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../handlers_generated.go")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("handlers_generated.go differs from what the generator writes: run go generate ./impl/program/cprog")
	}
}
