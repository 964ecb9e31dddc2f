package lab

// Cut says how a node is cut off from the others. Clients reach it as before.
type Cut string

// The ways to cut a node off.
const (
	CutNone  Cut = ""
	CutBoth  Cut = "both"  // routes stay open, nothing arrives in either direction
	CutIn    Cut = "in"    // nothing arrives at the node; what it says is heard
	CutOut   Cut = "out"   // nothing of the node is heard; the others reach it
	CutReset Cut = "reset" // routes are reset and cannot be opened: both sides know at once
)

// Cuts are the ways to cut a node off, for flags and parameters.
func Cuts() []string {
	return []string{string(CutBoth), string(CutIn), string(CutOut), string(CutReset)}
}

// Partition cuts the node's routes off; a later call replaces the way, and CutNone
// heals. What a held route did not deliver arrives when it is healed, unless a
// server gave the route up meanwhile.
func (n *Node) Partition(how Cut) { n.cluster.partition(n, how) }

// Heal ends the partition of the node. One of another node stays.
func (n *Node) Heal() { n.cluster.partition(n, CutNone) }

// Partitioned says how the node is cut off.
func (n *Node) Partitioned() Cut {
	n.cluster.mu.Lock()
	defer n.cluster.mu.Unlock()
	return n.cluster.cuts[n.index]
}

// partition settles every cable: two nodes may be cut off at a time, and one that
// is healed may not open what the other holds.
func (c *Cluster) partition(n *Node, how Cut) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cuts[n.index] = how
	for _, r := range c.routes {
		from, to := c.cuts[r.from], c.cuts[r.to]
		r.cut(silent(from, to), silent(to, from), from == CutReset || to == CutReset)
	}
}

// silent says whether nothing gets from one node to another.
func silent(from, to Cut) bool {
	return from == CutBoth || from == CutOut || to == CutBoth || to == CutIn
}
