//go:build !linux

package lab

// heldPort is a port that was free a moment ago: these systems offer no way to
// hold one beside a listener.
type heldPort struct{ port int }

func holdPort(port int) (*heldPort, error) {
	free, err := tryListen(port)
	if err != nil {
		return nil, err
	}
	return &heldPort{port: free}, nil
}

func (h *heldPort) release() {}
