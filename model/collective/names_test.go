package collective

import "testing"

// Operations have their own names and those of NCCL, and no others.
func TestOperationNamed(t *testing.T) {
	for name, want := range map[string]Operation{"allreduce": Allreduce, "all_reduce": Allreduce, "broadcast": Bcast, "bcast": Bcast, "all_to_all": Alltoall, "barrier": Barrier} {
		if o, ok := OperationNamed(name); !ok || o != want {
			t.Errorf("%s is %v, %v, want %v", name, o, ok, want)
		}
	}
	if _, ok := OperationNamed("all-all"); ok {
		t.Error("all-all is an operation")
	}
}
