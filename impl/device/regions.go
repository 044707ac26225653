package device

// Regions keeps the memory that a rank exposes, for implementations of Memory. The zero value has
// none. Its users lock it where they need to.
//
// The lower 32 bits of a key are the number of a place. Places are counted from 0 and used again.
type Regions struct {
	places []region // a key is one of them and, above 32 bits, how often that had been used before
	free   []uint32
}

type region struct {
	b     []byte
	use   uint32
	valid bool
}

// Expose adds memory and returns its key, as Memory says.
func (r *Regions) Expose(b []byte) Key {
	last := len(r.free) - 1
	if last < 0 {
		r.places = append(r.places, region{b, 0, true})
		return Key(len(r.places) - 1)
	}
	i := r.free[last]
	r.free = r.free[:last]
	x := &r.places[i]
	x.b, x.valid = b, true
	return Key(x.use)<<32 | Key(i)
}

// Withdraw removes what a key names, and reports whether that was anything.
func (r *Regions) Withdraw(k Key) bool {
	x := r.find(k)
	if x == nil {
		return false
	}
	*x = region{use: x.use + 1}
	r.free = append(r.free, uint32(k))
	return true
}

// Reach returns n bytes at an offset of what a key names, and reports whether they all lie there.
func (r *Regions) Reach(k Key, off, n int) ([]byte, bool) {
	x := r.find(k)
	if x == nil || off < 0 || off > len(x.b) || n > len(x.b)-off {
		return nil, false
	}
	return x.b[off : off+n], true
}

// find returns what a key names, or nil.
func (r *Regions) find(k Key) *region {
	i := k & 0xffffffff
	if i >= Key(len(r.places)) || !r.places[i].valid || r.places[i].use != uint32(k>>32) {
		return nil
	}
	return &r.places[i]
}
