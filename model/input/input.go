// Package input opens files of users: plain or packed by gzip, and of bounded size, so that no file
// takes the memory of the machine. What a file means is its reader's business.
package input

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/loggp/loggp/model/unit"
)

// DefaultMaxBytes is the most bytes of text that a file may have, unpacked, unless SetMaxBytes says
// otherwise.
const DefaultMaxBytes = 512 << 20

// RaiseHint says how a user raises the bound.
const RaiseHint = "--max-input allows more"

var maxBytes atomic.Int64 // 0: DefaultMaxBytes

// SetMaxBytes sets the bound for all files, like a resource limit of the process; 0: the default.
func SetMaxBytes(n int64) { maxBytes.Store(n) }

// MaxBytes returns the bound. Readers derive from it how many items of a kind they accept, such as
// facts above a table or operations of a schedule.
func MaxBytes() int64 {
	if n := maxBytes.Load(); n > 0 {
		return n
	}
	return DefaultMaxBytes
}

// TooLongError is the error of a file with more text than the bound.
type TooLongError struct {
	Name  string
	Limit int64
}

func (e *TooLongError) Error() string {
	return fmt.Sprintf("%s: more than %s of text, unpacked; %s", e.Name, unit.Bytes(int(e.Limit)), RaiseHint)
}

// Standard is the name of standard input.
const Standard = "-"

// openedStandard is the standard input that has been opened, which has no text left for another
// reader.
var openedStandard atomic.Pointer[os.File]

// Open opens a file for reading: standard input if its name is -. What is packed by gzip is
// unpacked, whatever the name. Reading beyond the bound is an error, and so is opening standard
// input twice.
func Open(path string) (io.ReadCloser, error) {
	f, name := os.Stdin, "standard input"
	if path != Standard {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, err
		}
		name = path
	} else if openedStandard.Swap(f) == f {
		return nil, errors.New("standard input can be read only once: write it to a file, and name that")
	}
	in, err := Unpack(f, name)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &file{in, f}, nil
}

// file is a file that is read unpacked.
type file struct {
	io.Reader
	file *os.File
}

func (f *file) Close() error { return f.file.Close() }

// Unpack returns the text of a file, of which it reads no more than the bound. name stands for the
// file in errors.
func Unpack(packed io.Reader, name string) (io.Reader, error) {
	in := bufio.NewReaderSize(packed, 64<<10)
	head, _ := in.Peek(2)                       // an error comes again
	if !bytes.Equal(head, []byte{0x1f, 0x8b}) { // RFC 1952, section 2.3.1
		return &bounded{in, name, MaxBytes(), 0}, nil
	}
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, cutShort(err))
	}
	return &bounded{z, name, MaxBytes(), 0}, nil
}

// bounded reads up to a limit.
type bounded struct {
	in          io.Reader
	name        string
	limit, read int64
}

func (b *bounded) Read(p []byte) (int, error) {
	left := b.limit + 1 - b.read
	if left == 0 {
		return 0, &TooLongError{b.name, b.limit}
	}
	if int64(len(p)) > left {
		p = p[:left]
	}
	n, err := b.in.Read(p)
	if b.read += int64(n); b.read > b.limit {
		return n - 1, &TooLongError{b.name, b.limit}
	}
	return n, cutShort(err)
}

// cutShort explains the error of a compressed file that ends too early.
func cutShort(err error) error {
	if err == io.ErrUnexpectedEOF {
		return errors.New("the compressed file is cut short")
	}
	return err
}
