package collective

// tree defines the edges along which ranks send, by their numbers from the root.
type tree interface {
	parent(at, ranks int) int // NoRank for the root

	// child returns child i of a rank, or NoRank. A broadcast sends to child 0 first, and a
	// reduction receives from it last.
	child(at, ranks, i int) int
}

// childCount returns the number of children of a rank.
func childCount(t tree, at, ranks int) int {
	n := 0
	for t.child(at, ranks, n) != NoRank {
		n++
	}
	return n
}

// rankOrNone returns a number if the rank exists, and otherwise NoRank.
func rankOrNone(ranks, number int) int {
	if number < ranks {
		return number
	}
	return NoRank
}

// knomialTree is a k-nomial tree whose value is the radix. For each zero digit below the lowest
// nonzero digit of a rank's number, to the base of the radix, its children differ in that digit.
// The farthest child is first.
type knomialTree int

func (t knomialTree) parent(at, _ int) int {
	if at == 0 {
		return NoRank
	}
	step := int(t)
	for at%step == 0 {
		step *= int(t)
	}
	return at - at%step
}

func (t knomialTree) child(at, ranks, i int) int {
	radix := int(t)
	step := 1
	for step < ranks && at%(step*radix) == 0 {
		step *= radix
	}
	for step /= radix; step > 0; step /= radix {
		here := min((ranks-1-at)/step, radix-1) // children at this distance
		if i < here {
			return at + (i+1)*step
		}
		i -= here
	}
	return NoRank
}

// highBitTree is a binomial tree in which the parent of a rank is the rank without its highest bit.
// The nearest child is first.
type highBitTree struct{}

func (highBitTree) parent(at, _ int) int {
	if at == 0 {
		return NoRank
	}
	return at - highBit(at)
}

func (highBitTree) child(at, ranks, i int) int {
	return rankOrNone(ranks, at+max(2*highBit(at), 1)<<i)
}

// highBit returns the highest power of two contained in a number, or 0.
func highBit(n int) int {
	bit := 0
	for b := 1; b <= n; b *= 2 {
		bit = b
	}
	return bit
}

// chainTree has a number of chains of neighbours below the root, given by its value. If they cannot
// be equal, the first ones have one rank more.
type chainTree int

// chains returns the number of chains, the number of ranks in each, and how many have one more.
func (t chainTree) chains(ranks int) (n, length, longer int) {
	n = max(min(int(t), ranks-1), 1)
	return n, (ranks - 1) / n, (ranks - 1) % n
}

// head returns the first rank of a chain.
func (t chainTree) head(ranks, chain int) int {
	_, length, longer := t.chains(ranks)
	return 1 + chain*length + min(chain, longer)
}

func (t chainTree) parent(at, ranks int) int {
	switch {
	case at == 0:
		return NoRank
	case at == t.head(ranks, t.chain(ranks, at)):
		return 0
	}
	return at - 1
}

// chain returns the index of the chain that contains a rank.
func (t chainTree) chain(ranks, at int) int {
	_, length, longer := t.chains(ranks)
	if long := longer * (length + 1); at-1 >= long {
		return longer + (at-1-long)/length
	}
	return (at - 1) / (length + 1)
}

func (t chainTree) child(at, ranks, i int) int {
	n, _, _ := t.chains(ranks)
	switch {
	case at == 0 && i < n:
		return rankOrNone(ranks, t.head(ranks, i))
	case at == 0 || i > 0 || at+1 >= ranks || t.chain(ranks, at+1) != t.chain(ranks, at):
		return NoRank
	}
	return at + 1
}

// binaryTree is a binary tree whose levels are filled in the order of ranks. Ranks of a level get
// children in turn, so the ranks below one child of the root are odd, and those below the other
// even.
type binaryTree struct{}

func (binaryTree) parent(at, _ int) int {
	if at == 0 {
		return NoRank
	}
	above := highBit(at+1) / 2 // ranks on the level above
	return above - 1 + (at+1)%above
}

func (binaryTree) child(at, ranks, i int) int {
	if i > 1 {
		return NoRank
	}
	return rankOrNone(ranks, at+(i+1)*highBit(at+1))
}

// inOrderTree is a binary tree below the last rank. The ranks of each subtree are consecutive, and
// its root is the last of them. A rank's own data follows that of child 1, which follows that of
// child 0.
type inOrderTree struct{}

func (inOrderTree) parent(at, ranks int) int {
	parent, _, _ := inOrderTree{}.subtreeOf(at, ranks)
	return parent
}

func (inOrderTree) child(at, ranks, i int) int {
	_, first, size := inOrderTree{}.subtreeOf(at, ranks)
	low := size / 2 // ranks below child 0
	switch {
	case i == 0 && low > 0 && size > 2:
		return first + low - 1
	case i == 0 && size == 2, i == 1 && size > 2:
		return at - 1
	}
	return NoRank
}

// subtreeOf returns the parent of a rank, and the first rank and the size of its subtree.
func (inOrderTree) subtreeOf(at, ranks int) (parent, first, size int) {
	parent, size = NoRank, ranks
	for root := ranks - 1; at != root; {
		parent = root
		low := size / 2
		if size == 2 {
			low = 0
		}
		if at < first+low {
			size = low
		} else {
			first, size = first+low, size-low-1
		}
		root = first + size - 1
	}
	return parent, first, size
}
