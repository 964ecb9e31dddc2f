package lab_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// withoutAnn is an amendment: it wins over the config before it.
func withoutAnn() string { return strings.TrimSpace(mayNotPublish) }

func TestAmendments(t *testing.T) {
	s := start(t, lab.Options{Config: mayPublish, ReadyOptions: []nats.Option{nats.UserInfo("ann", "a")}})
	pid := s.PID()
	step := func(what string, want bool) {
		t.Helper()
		if denied(t, s) != want {
			t.Fatalf("%s: denied is not %v", what, want)
		}
	}
	first, err := s.Amend(patient(t), withoutAnn)
	must(t, err)
	step("amended", true)
	second, err := s.Amend(patient(t), func() string { return "# nothing" })
	must(t, err)
	must(t, first(patient(t)))
	step("the first is gone, another is in force", false)
	must(t, second(patient(t)))
	must(t, second(patient(t))) // again: harmless
	step("none", false)
	if _, err := s.Amend(patient(t), func() string { return "nonsense: {" }); err == nil || !strings.Contains(err.Error(), "refuses the config") {
		t.Errorf("nonsense: got %v", err)
	}
	step("after nonsense", false)
	if s.PID() != pid {
		t.Error("it is another process")
	}
}

// An amendment ends whatever has become of the server meanwhile.
func TestAmendmentsOfAServerThatIsAway(t *testing.T) {
	for name, away := range map[string]struct {
		leave, back func(*lab.Server, context.Context) error
	}{
		"killed": {(*lab.Server).Kill, (*lab.Server).Start},
		"frozen": {func(s *lab.Server, _ context.Context) error { return s.Freeze() }, func(s *lab.Server, _ context.Context) error { return s.Thaw() }},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, lab.Options{Config: mayPublish, ReadyOptions: []nats.Option{nats.UserInfo("ann", "a")}})
			undo, err := s.Amend(patient(t), withoutAnn)
			must(t, err)
			must(t, away.leave(s, patient(t)))
			must(t, undo(patient(t)))
			must(t, away.back(s, patient(t)))
			eventually(t, "ann may publish again", func() bool { return !denied(t, s) })
		})
	}
}

// A server whose JetStream is switched off starts without it, and has it again, with
// what is stored, when the amendment ends.
func TestAmendmentThatSwitchesJetStreamOff(t *testing.T) {
	s := start(t, lab.Options{})
	nc := connect(t, s)
	js, err := jetstream.New(nc)
	must(t, err)
	_, err = js.CreateStream(patient(t), jetstream.StreamConfig{Name: "S", Subjects: []string{"s"}})
	must(t, err)
	undo, err := s.Amend(patient(t), func() string { return "jetstream: disabled\n" })
	must(t, err)
	must(t, s.Kill(patient(t)))
	must(t, s.Start(patient(t)))
	eventually(t, "the client is back", nc.IsConnected)
	if _, err := js.Stream(patient(t), "S"); err == nil {
		t.Error("JetStream answers while it is off")
	}
	must(t, undo(patient(t)))
	eventually(t, "the stream is back", func() bool {
		_, err := js.Stream(patient(t), "S")
		return err == nil
	})
}
