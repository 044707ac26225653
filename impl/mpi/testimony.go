package mpi

import (
	"encoding/json"

	"github.com/loggp/loggp/impl/device"
)

// testimony is what a rank leaves that ends in another process than Run's caller's.
type testimony struct {
	Error *Error      `json:",omitempty"`
	Abort *AbortError `json:",omitempty"`
	Wait  *Wait       `json:",omitempty"`
	Audit *audit      `json:",omitempty"` // of a rank that has ended well
}

// told returns a failure as a testimony.
func told(err error) testimony {
	switch e := err.(type) {
	case *Error:
		return testimony{Error: e}
	case *AbortError:
		return testimony{Abort: e}
	}
	return testimony{}
}

// failure is the inverse; nil of what is none.
func (t testimony) failure() error {
	switch {
	case t.Error != nil:
		return t.Error
	case t.Abort != nil:
		return t.Abort
	}
	return nil
}

// testify leaves it where the world wants it.
func testify(p device.Port, t testimony) {
	w, ok := p.(device.ErrorDetailer)
	if !ok {
		return
	}
	if words, err := json.Marshal(t); err == nil {
		w.SetErrorDetail(words)
	}
}

// recall returns what a rank has left, or nothing.
func recall(words []byte) (t testimony) {
	if json.Unmarshal(words, &t) != nil {
		return testimony{}
	}
	return t
}
