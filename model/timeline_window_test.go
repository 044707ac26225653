package model_test

import (
	"reflect"
	"testing"

	"github.com/loggp/loggp/model"
)

// A window cuts what lasts beyond it, keeps messages whole, and begins at zero.
func TestTimelineWindow(t *testing.T) {
	r := &model.Timeline{
		Ranks: []model.Track{{Name: "rank 0", Calls: []model.Span{{Name: "Send", From: 0, To: 100}}, Spans: []model.Span{
			{Name: "a", From: 0, To: 10}, {Name: "b", From: 10, To: 30}, {Name: "c", From: 30, To: 60}, {Name: "d", From: 60, To: 100}}}},
		Resources: []model.Track{{Name: "early", Spans: []model.Span{{Name: "RM", From: 0, To: 20}}}, {Name: "late", Spans: []model.Span{{Name: "RM", From: 55, To: 70}}}},
		Flights: []model.Flight{{Name: "gone", Sent: 0, Depart: 1, Arrive: 19, TakenIn: 25}, {Name: "in", Sent: 10, Depart: 15, Arrive: 25, TakenIn: 30},
			{Name: "out", Sent: 50, Depart: 55, Arrive: 90, TakenIn: -1}, {Name: "after", Sent: 61, Depart: 61, Arrive: 62, TakenIn: 62}},
	}
	want := &model.Timeline{
		Ranks: []model.Track{{Name: "rank 0", Calls: []model.Span{{Name: "Send", From: 0, To: 40}}, Spans: []model.Span{
			{Name: "b", From: 0, To: 10}, {Name: "c", From: 10, To: 40}}}},
		Resources: []model.Track{{Name: "late", Spans: []model.Span{{Name: "RM", From: 35, To: 40}}}},
		Flights:   []model.Flight{{Name: "in", Sent: -10, Depart: -5, Arrive: 5, TakenIn: 10}, {Name: "out", Sent: 30, Depart: 35, Arrive: 70, TakenIn: -1}},
	}
	if got := r.Window(20, 60); !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v, want\n%+v", got, want)
	}
}

func TestTimelineSums(t *testing.T) {
	x := model.Track{Spans: []model.Span{{Name: "RM", Activity: model.WaitActivity, To: 5}, {Name: "match", From: 5, To: 7}, {Name: "copy", Activity: model.CopyActivity, From: 7, To: 10, Bytes: 3},
		{Name: "match", From: 10, To: 11, Count: 2}, {Name: "RM", Activity: model.WaitActivity, From: 11, To: 20}}}
	want := []model.SpanSum{{"match", model.SoftwareActivity, 3, 0, 3}, {"copy", model.CopyActivity, 1, 3, 3}, {"RM", model.WaitActivity, 2, 0, 14}}
	if got := x.SumSpans(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
