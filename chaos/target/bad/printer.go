package bad

import (
	"fmt"
	"os"
)

// printer prints what a program of its kind makes of the messages.
type printer struct {
	kind Kind
	n    int    // of the message
	held string // Swap's
}

func (p *printer) message(id string) error {
	p.n++
	if p.kind == Nothing {
		return nil
	}
	if p.n == At+1 && p.held != "" {
		return print(id+"\n", p.held+"\n")
	}
	if p.n < At || p.n > At && p.kind != Stop {
		return print(id + "\n")
	}
	switch p.kind {
	case Skip, Stop:
		return nil
	case Twice:
		return print(id+"\n", id+"\n")
	case Swap:
		p.held = id
		return nil
	case Invent:
		return print(id+"\n", "nobody-1\n")
	case Exit:
		fmt.Fprintln(os.Stderr, "bad: that is enough")
		os.Exit(ExitCode)
	case Die:
		self, err := os.FindProcess(os.Getpid())
		if err != nil {
			return err
		}
		if err := self.Kill(); err != nil {
			return err
		}
		select {} // until it arrives
	case Garbage:
		return print(id+"\n", "\x00\xff\x1b[31m not an id at all \xc3\x28\n")
	case Flood:
		for {
			if err := print("this is no id, and there is much more of it\n"); err != nil {
				return err
			}
		}
	case Unending:
		for {
			if err := print("and-so-on-"); err != nil {
				return err
			}
		}
	}
	return print(id + "\n")
}

// print writes at once: what is not flushed is not printed.
func print(texts ...string) error {
	for _, t := range texts {
		if _, err := os.Stdout.WriteString(t); err != nil {
			return err
		}
	}
	return nil
}
