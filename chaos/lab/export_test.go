package lab

// Serve lets a test act as a foreign nats-server binary.
func Serve(args []string) int { return serve(args) }

// KeeperPID is the process between this one and the server.
func (s *Server) KeeperPID() int { return s.hold.cmd.Process.Pid }

// Complaint is what is taken from a log into an error.
var Complaint = complaint
