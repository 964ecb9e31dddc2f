package lab

import (
	"os"
	"syscall"
)

// heldPort is a socket that is bound to a port of the loopback address but
// does not listen. With SO_REUSEADDR on both, Linux lets the server bind and
// listen beside it (Go sets it on every listener), while no outgoing
// connection and nobody who asks for "any free port" is given the port, also
// when the server is down: a restart finds its port.
type heldPort struct {
	port int
	fd   int
}

func holdPort(port int) (*heldPort, error) {
	if port != 0 {
		if _, err := tryListen(port); err != nil {
			return nil, err
		}
	}
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	bound, err := bindLoopback(fd, port)
	if err != nil {
		syscall.Close(fd)
		return nil, err
	}
	return &heldPort{port: bound, fd: fd}, nil
}

func bindLoopback(fd, port int) (int, error) {
	if err := syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return 0, os.NewSyscallError("setsockopt", err)
	}
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		return 0, os.NewSyscallError("bind", err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		return 0, os.NewSyscallError("getsockname", err)
	}
	return name.(*syscall.SockaddrInet4).Port, nil
}

func (h *heldPort) release() { syscall.Close(h.fd) }
