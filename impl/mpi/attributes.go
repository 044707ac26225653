package mpi

import (
	"slices"

	"github.com/loggp/loggp/impl/engine"
)

// Keyval names an attribute that communicators may have, and says what becomes of it when they are copied and freed.
type Keyval struct {
	copy   func(c *Comm, value any) (copied any, keep bool)
	delete func(c *Comm, value any)
	freed  bool
}

// NewKeyval makes a name (MPI_Keyval_create). copy is called by Dup and says what the new communicator gets, if anything; nil: nothing. delete is called
// when an attribute is deleted, replaced, or freed with its communicator; it may be nil.
func NewKeyval(copy func(c *Comm, value any) (copied any, keep bool), delete func(c *Comm, value any)) *Keyval {
	return &Keyval{copy: copy, delete: delete}
}

// Keep copies an attribute as it is (MPI_DUP_FN).
func Keep(_ *Comm, value any) (any, bool) { return value, true }

// Free ends the use of the name for new attributes (MPI_Keyval_free). Those that there are stay.
func (k *Keyval) Free() { k.freed = true }

// The attributes that every communicator has.
var (
	TagUB         = &Keyval{} // the largest tag, an int
	Host          = &Keyval{} // the rank of a host process, ProcNull as there is none
	IO            = &Keyval{} // the rank that can do input and output: AnySource, as all can
	WtimeIsGlobal = &Keyval{} // whether all clocks show the same, as far as is known: false
)

// attributes are kept in the order in which they were set.
type attributes []attribute

type attribute struct {
	key   *Keyval
	value any
}

func (a attributes) find(k *Keyval) int {
	return slices.IndexFunc(a, func(x attribute) bool { return x.key == k })
}

// SetAttribute gives the communicator an attribute, in place of what it had of that name (MPI_Attr_put).
func (c *Comm) SetAttribute(k *Keyval, value any) {
	c.enter("SetAttribute")
	c.checkKey(k)
	a := &c.extra().attributes
	if i := a.find(k); i >= 0 {
		c.forget(k, (*a)[i].value)
		(*a)[i].value = value
		return
	}
	*a = append(*a, attribute{k, value})
}

// Attribute returns an attribute, if the communicator has it (MPI_Attr_get).
func (c *Comm) Attribute(k *Keyval) (any, bool) {
	c.enter("Attribute")
	switch k {
	case TagUB:
		return MaxTag, true
	case Host:
		return ProcNull, true
	case IO:
		return AnySource, true
	case WtimeIsGlobal:
		return false, true
	}
	if c.more == nil {
		return nil, false
	}
	i := c.more.attributes.find(k)
	if i < 0 {
		return nil, false
	}
	return c.more.attributes[i].value, true
}

// DeleteAttribute takes an attribute away (MPI_Attr_delete).
func (c *Comm) DeleteAttribute(k *Keyval) {
	c.enter("DeleteAttribute")
	a := &c.extra().attributes
	i := a.find(k)
	if i < 0 {
		c.e.Fail(engine.ErrArg, "the communicator has no such attribute")
	}
	value := (*a)[i].value
	*a = slices.Delete(*a, i, i+1)
	c.forget(k, value)
}

func (c *Comm) forget(k *Keyval, value any) {
	if k.delete != nil {
		k.delete(c, value)
	}
}

// checkKey complains of a name under which nothing can be set.
func (c *Comm) checkKey(k *Keyval) {
	switch {
	case k == nil || k.freed:
		c.e.Fail(engine.ErrArg, "the key was freed, or is none")
	case k == TagUB || k == Host || k == IO || k == WtimeIsGlobal:
		c.e.Fail(engine.ErrArg, "the attribute is the library's")
	}
}

// copyTo gives another communicator those that want to be copied.
func (a attributes) copyTo(from, to *Comm) {
	for _, x := range a {
		if x.key.copy == nil {
			continue
		}
		if v, keep := x.key.copy(from, x.value); keep {
			to.extra().attributes = append(to.extra().attributes, attribute{x.key, v})
		}
	}
}

// deleteAll deletes all, the last first.
func (a attributes) deleteAll(c *Comm) {
	for _, x := range slices.Backward(a) {
		c.forget(x.key, x.value)
	}
}
