package model_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/loggp/loggp/model"
)

func TestParsePlacement(t *testing.T) {
	for text, want := range map[string]model.Placement{
		"4+4": {4, 4}, "2x4": {4, 4}, "1+2x3+5": {1, 3, 3, 5}, "8": {8},
	} {
		if got, err := model.ParsePlacement(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	for text, says := range map[string]string{
		"": "no number", "4+x": "no number", "0x4": "no number", "4x0": "no number", "-1x4": "no number", "2x3x4": "no number",
		"zz": "such as 4+4", "2000000x1": "more than 1048576 nodes", "1048576x1+1": "more than 1048576 nodes",
	} {
		if _, err := model.ParsePlacement(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
