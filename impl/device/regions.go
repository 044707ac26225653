package device

// Regions keeps the memory that a rank exposes, for implementations of Memory. The zero value has
// none. Its users lock it where they need to.
//
// The lower 32 bits of a key are the number of a place. Places are counted from 0 and used again.
type Regions struct {
	regions     []region // a key is one of them and, above 32 bits, how often that had been used before
	freeIndices []uint32
}

type region struct {
	bytes      []byte
	generation uint32
	isExposed  bool
}

// Expose adds memory and returns its key, as Memory says.
func (r *Regions) Expose(b []byte) Key {
	last := len(r.freeIndices) - 1
	if last < 0 {
		r.regions = append(r.regions, region{b, 0, true})
		return Key(len(r.regions) - 1)
	}
	i := r.freeIndices[last]
	r.freeIndices = r.freeIndices[:last]
	x := &r.regions[i]
	x.bytes, x.isExposed = b, true
	return Key(x.generation)<<32 | Key(i)
}

// Withdraw removes what a key names, and reports whether that was anything.
func (r *Regions) Withdraw(k Key) bool {
	x := r.find(k)
	if x == nil {
		return false
	}
	*x = region{generation: x.generation + 1}
	r.freeIndices = append(r.freeIndices, uint32(k))
	return true
}

// Access returns n bytes at an offset of what a key names, and reports whether they all lie there.
func (r *Regions) Access(k Key, off, n int) ([]byte, bool) {
	x := r.find(k)
	if x == nil || off < 0 || off > len(x.bytes) || n > len(x.bytes)-off {
		return nil, false
	}
	return x.bytes[off : off+n], true
}

// find returns what a key names, or nil.
func (r *Regions) find(k Key) *region {
	i := k & 0xffffffff
	if i >= Key(len(r.regions)) || !r.regions[i].isExposed || r.regions[i].generation != uint32(k>>32) {
		return nil
	}
	return &r.regions[i]
}
