package lab

// Serve lets a test act as a foreign nats-server binary.
func Serve(args []string) int { return serve(args) }

// KeeperPID is the process between this one and the server.
func (s *Server) KeeperPID() int { return s.hold.cmd.Process.Pid }

// Complaint is what is taken from a log into an error.
var Complaint = complaint

// Cable is what carries the routes of a cluster.
type Cable struct{ *cable }

// LayCable lets a test use one by itself.
func LayCable(target string) (Cable, error) {
	c, err := layCable(target)
	return Cable{c}, err
}

// Addr is where it listens.
func (c Cable) Addr() string { return c.addr() }

// Cut holds or tears it.
func (c Cable) Cut(heldThere, heldBack, torn bool) { c.cut(heldThere, heldBack, torn) }

// Close ends it.
func (c Cable) Close() { c.close() }
