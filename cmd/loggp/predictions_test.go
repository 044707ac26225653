package main

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

// Files of docs/predictions were written before the values were known, and are not written again.
func TestPredictionsAreFrozen(t *testing.T) {
	for file, want := range map[string]string{"t3d.csv": "b098e08375261585", "modern.csv": "6aa96d9688795ba1", "nccl.csv": "8f30f77bafe0d2c7"} {
		b, err := os.ReadFile("../../docs/predictions/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b))[:16]; got != want {
			t.Errorf("docs/predictions/%s was changed (hash %s, want %s). It holds what was predicted before the values were known: undo the change", file, got, want)
		}
	}
}
