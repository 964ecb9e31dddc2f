package lab

import (
	"errors"
	"fmt"
	"net"
	"strconv"
)

// loopback is the only address a server of the lab listens on.
const loopback = "127.0.0.1"

// ports are the two a server keeps for life.
type ports struct {
	client, monitor *heldPort
}

// holdPorts takes a free port for monitoring and the wanted one for clients;
// 0 is a free one too.
func holdPorts(client int) (ports, error) {
	c, err := holdPort(client)
	if err != nil {
		return ports{}, fmt.Errorf("port %d on %s is not free (choose another, or 0 for a free one): %w", client, loopback, err)
	}
	m, err := holdPort(0)
	if err != nil {
		c.release()
		return ports{}, fmt.Errorf("no free port on %s: %w", loopback, err)
	}
	return ports{c, m}, nil
}

func (p ports) release() {
	if p.client != nil {
		p.client.release()
	}
	if p.monitor != nil {
		p.monitor.release()
	}
}

// tryListen tells whether a server can listen on the port, and on which if it
// is 0.
func tryListen(port int) (int, error) {
	l, err := net.Listen("tcp4", net.JoinHostPort(loopback, strconv.Itoa(port)))
	if err != nil {
		// The address is said by the caller.
		if op := (*net.OpError)(nil); errors.As(err, &op) {
			err = op.Err
		}
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
