package chaos

import "fmt"

// CheckSchedule says which faults cannot act together: a server's process takes one
// at a time.
func CheckSchedule(specs []Spec) error {
	for i, s := range specs {
		if !s.onProcess() {
			continue
		}
		for _, other := range specs[:i] {
			first, second := other, s
			if second.At < first.At {
				first, second = s, other
			}
			if other.onProcess() && second.At < first.At+first.Length() {
				return fmt.Errorf("fault %s begins before the end of %s, and a server's process takes one at a time: make it @%s or later",
					second, first, first.At+first.Length())
			}
		}
	}
	return nil
}

// onProcess says whether a fault takes the server's process. One on some nodes leaves
// the others to other faults, and a reload is no matter of the process.
func (s Spec) onProcess() bool {
	f, _ := FindFault(s.Name)
	reload := s.Name == "disable-jetstream" || s.Name == "revoke-permission"
	return f.Layer == LayerProcess && !f.Clustered && s.Params["node"] == "" && !reload
}
