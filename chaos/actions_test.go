package chaos

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

func (s *stage) spec(text string) Spec {
	s.Helper()
	spec, err := ParseSpec(text)
	if err != nil {
		s.Fatal(err)
	}
	return spec
}

func (s *stage) consumers() (names []string) {
	s.Helper()
	stream, err := s.env.JS.Stream(s.Context(), s.env.Stream)
	if err != nil {
		s.Fatal(err)
	}
	list := stream.ConsumerNames(s.Context())
	for name := range list.Name() {
		names = append(names, name)
	}
	if list.Err() != nil {
		s.Fatal(list.Err())
	}
	return names
}

func (s *stage) paused(name string) (bool, *time.Time) {
	s.Helper()
	c, err := s.env.JS.Consumer(s.Context(), s.env.Stream, name)
	if err != nil {
		s.Fatal(err)
	}
	return c.CachedInfo().Paused, c.CachedInfo().Config.PauseUntil
}

func (s *stage) limit(consumers int) {
	s.Helper()
	_, err := s.env.JS.CreateStream(s.Context(), jetstream.StreamConfig{Name: "L", Subjects: []string{"l.>"}, MaxConsumers: consumers})
	if err != nil {
		s.Fatal(err)
	}
	s.env.Stream = "L"
}

func TestFillConsumers(t *testing.T) {
	s := newStage(t)
	s.limit(5)
	if _, err := s.env.JS.CreateConsumer(t.Context(), "L", jetstream.ConsumerConfig{Name: "mine", InactiveThreshold: time.Minute}); err != nil {
		t.Fatal(err)
	}
	r, told := s.run(t.Context(), func(f Firing) {
		if f.Phase != PhaseFired {
			return
		}
		_, err := s.env.JS.CreateConsumer(t.Context(), "L", jetstream.ConsumerConfig{Name: "another"})
		if !errors.Is(err, jetstream.ErrMaximumConsumersLimit) {
			t.Errorf("while the stream is full: got %v", err)
		}
	}, "fill-consumers@1ms+10ms")
	if !slices.Equal(told, []string{"fill-consumers fired", "fill-consumers ended"}) {
		t.Errorf("told %q, failed %v", told, r.Failed())
	}
	if left := s.consumers(); !slices.Equal(left, []string{"mine"}) {
		t.Errorf("consumers after the end: %q", left)
	}
}

func TestFillConsumersThatCannotAct(t *testing.T) {
	s := newStage(t)
	s.limit(1)
	if _, err := s.env.JS.CreateConsumer(t.Context(), "L", jetstream.ConsumerConfig{Name: "mine", InactiveThreshold: time.Minute}); err != nil {
		t.Fatal(err)
	}
	r, told := s.run(t.Context(), nil, "fill-consumers@1ms+1ms")
	if !slices.Equal(told, []string{"fill-consumers failed"}) || !strings.Contains(r.Failed()[0].Error(), "no slot left") {
		t.Errorf("told %q, failed %v", told, r.Failed())
	}
	if _, err := s.env.JS.CreateStream(t.Context(), jetstream.StreamConfig{Name: "W", Subjects: []string{"w.>"}, Retention: jetstream.WorkQueuePolicy}); err != nil {
		t.Fatal(err)
	}
	s.env.Stream = "W"
	if _, err := s.env.Preview(t.Context(), s.spec("fill-consumers")); err == nil || !strings.Contains(err.Error(), "retention") {
		t.Errorf("a work queue: got %v", err)
	}
}

// A dry run tells that nothing limits the consumers, as the fault itself does. A server bounds them from 2.15 on.
func TestFillConsumersWithoutLimit(t *testing.T) {
	s := newStage(t)
	s.limit(0)
	would, err := s.env.Preview(t.Context(), s.spec("fill-consumers"))
	if atLeast(s.env.JS.Conn().ConnectedServerVersion(), 2, 15) {
		if err != nil || !strings.Contains(strings.Join(would.Does, " "), "up to the limit of the account or the server") {
			t.Errorf("got %q, %v", would.Does, err)
		}
		return
	}
	if err == nil || !strings.Contains(err.Error(), "no max_consumers") {
		t.Errorf("got %v", err)
	}
}

func TestDeleteStream(t *testing.T) {
	s := newStage(t)
	_, told := s.run(t.Context(), nil, "delete-stream@1ms")
	if !slices.Equal(told, []string{"delete-stream fired"}) {
		t.Errorf("told %q", told)
	}
	if _, err := s.env.JS.Stream(t.Context(), stageStream); !errors.Is(err, jetstream.ErrStreamNotFound) {
		t.Errorf("got %v", err)
	}
}

// A pause that an operator had made is there again after ours.
func TestPauseGivesBackTheOneBefore(t *testing.T) {
	s := newStage(t)
	before := time.Now().Add(time.Hour)
	if _, err := s.env.JS.PauseConsumer(t.Context(), stageStream, s.consumer, before); err != nil {
		t.Fatal(err)
	}
	s.run(t.Context(), nil, "pause-consumer@1ms+20ms")
	if paused, until := s.paused(s.consumer); !paused || until == nil || !until.Equal(before) {
		t.Errorf("paused %v until %v, want %s", paused, until, before)
	}
}

func TestPauseOfSomebodyElseStays(t *testing.T) {
	s := newStage(t)
	theirs := time.Now().Add(2 * time.Hour)
	s.run(t.Context(), func(f Firing) {
		if f.Phase != PhaseFired {
			return
		}
		if _, err := s.env.JS.PauseConsumer(t.Context(), stageStream, s.consumer, theirs); err != nil {
			t.Error(err)
		}
	}, "pause-consumer@1ms+20ms")
	if paused, until := s.paused(s.consumer); !paused || until == nil || !until.Equal(theirs) {
		t.Errorf("paused %v until %v, want %s", paused, until, theirs)
	}
}

func TestPreviewChangesNothing(t *testing.T) {
	s := newStage(t)
	s.publish(5)
	s.env.Consumer, s.env.Status = s.consumer, nil
	for text, want := range map[string][2]string{
		"delete-consumer":              {"$JS.API.CONSUMER.DELETE.S.ours (ours, 5 pending)", ""},
		"pause-consumer":               {"$JS.API.CONSUMER.PAUSE.S.ours until ", "$JS.API.CONSUMER.PAUSE.S.ours (resumed)"},
		"fill-consumers":               {"$JS.API.CONSUMER.CREATE.S.nats-reader-fill-", "$JS.API.CONSUMER.DELETE.S.nats-reader-fill-"},
		"purge-stream":                 {"$JS.API.STREAM.PURGE.S (5 messages)", ""},
		"purge-stream(keep=2)":         {"$JS.API.STREAM.PURGE.S (5 messages, but for the newest 2)", ""},
		"delete-stream":                {"$JS.API.STREAM.DELETE.S (5 messages, 1 consumer)", ""},
		"recreate-stream(first=1000)":  {"$JS.API.STREAM.DELETE.S (5 messages, 1 consumer)", "$JS.API.STREAM.CREATE.S (empty, the configuration of before, first sequence 1000)"},
		"purge-stream(subject=s.x)@1s": {"$JS.API.STREAM.PURGE.S (those of its 5 messages with subject s.x)", ""},
	} {
		p, err := s.env.Preview(t.Context(), s.spec(text))
		if version := s.env.JS.Conn().ConnectedServerVersion(); text == "pause-consumer" && strings.HasPrefix(version, "2.10.") {
			if err == nil || !strings.Contains(err.Error(), "nats-server "+version+" cannot pause a consumer") {
				t.Errorf("%s on %s: %v", text, version, err)
			}
			continue
		}
		if err != nil || len(p.Needs) != 0 {
			t.Errorf("%s: %v, needs %q", text, err, p.Needs)
			continue
		}
		if got := strings.Join(p.Does, "\n"); !strings.HasPrefix(got, want[0]) {
			t.Errorf("%s does %q, want %q", text, got, want[0])
		}
		if got := strings.Join(p.Ends, "\n"); !strings.HasPrefix(got, want[1]) || (got == "") != (want[1] == "") {
			t.Errorf("%s ends by %q, want %q", text, got, want[1])
		}
	}
	stream, err := s.env.JS.Stream(t.Context(), stageStream)
	if err != nil {
		t.Fatal(err)
	}
	if n := stream.CachedInfo().State.Msgs; n != 5 || len(s.consumers()) != 1 {
		t.Errorf("after the previews: %d messages, consumers %q", n, s.consumers())
	}
	if paused, _ := s.paused("ours"); paused {
		t.Error("a preview paused the consumer")
	}
}

func TestStreamOfOthersIsSpared(t *testing.T) {
	s := newStage(t)
	s.env.Lab = nil
	for _, text := range []string{"fill-consumers", "step-down-stream"} {
		if err := s.env.Allow(s.spec(text)); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--allow-server-faults") {
			t.Errorf("%s: got %v", text, err)
		}
	}
	if err := s.env.Allow(s.spec("delete-stream")); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--target-name") {
		t.Errorf("delete-stream: got %v", err)
	}
	s.makeConsumer(jetstream.ConsumerConfig{Durable: "d"})
	s.env.Consumer, s.env.Status = "d", nil
	for _, c := range []struct {
		allow         bool
		target, fault string
		needs         []string
	}{
		{false, "", "fill-consumers", []string{"--allow-server-faults"}},
		{false, "", "purge-stream", []string{"--allow-server-faults", "--target-name S"}},
		{false, "S", "purge-stream", []string{"--allow-server-faults"}},
		{true, "T", "purge-stream", []string{"--target-name S"}},
		{true, "S", "purge-stream", nil},
		{true, "", "fill-consumers", nil},
		{false, "", "pause-consumer", []string{"--allow-server-faults"}},
		{false, "", "delete-consumer", []string{"--allow-server-faults", "--target-name d"}},
		{true, "", "delete-consumer", []string{"--target-name d"}},
		{true, "d", "delete-consumer", nil},
	} {
		if c.fault == "pause-consumer" && !atLeast(s.env.JS.Conn().ConnectedServerVersion(), 2, 11) {
			continue
		}
		s.env.AllowServerFaults, s.env.TargetName = c.allow, c.target
		p, err := s.env.Preview(t.Context(), s.spec(c.fault))
		if err != nil || len(p.Does) == 0 || !slices.Equal(p.Needs, c.needs) {
			t.Errorf("%+v: the preview does %q, needs %q: %v", c, p.Does, p.Needs, err)
		}
		// What a preview only tells is refused where it would be done, in the same words.
		err = s.env.Allow(s.spec(c.fault))
		if err == nil {
			_, err = s.env.plan(t.Context(), s.spec(c.fault))
		}
		if (err == nil) != (len(c.needs) == 0) {
			t.Errorf("%+v: got %v", c, err)
		}
		if err != nil && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.needs[0])) {
			t.Errorf("%+v: refused with %v", c, err)
		}
	}
}

func TestStepDownNeedsAnotherNode(t *testing.T) {
	s := newStage(t)
	for _, fault := range []string{"step-down-stream", "step-down-consumer"} {
		if _, err := s.env.Preview(t.Context(), s.spec(fault)); err == nil || !strings.Contains(err.Error(), "one replica") {
			t.Errorf("%s on a single server: got %v", fault, err)
		}
	}
}

func TestStepDownInACluster(t *testing.T) {
	s := newCluster(t)
	leaderOf := map[string]func(context.Context) string{
		"step-down-stream": func(ctx context.Context) string {
			stream, err := s.env.JS.Stream(ctx, stageStream)
			if err != nil {
				return ""
			}
			return stream.CachedInfo().Cluster.Leader
		},
		"step-down-consumer": func(ctx context.Context) string {
			c, err := s.env.JS.Consumer(ctx, stageStream, s.consumer)
			if err != nil {
				return ""
			}
			return c.CachedInfo().Cluster.Leader
		},
	}
	for fault, leader := range leaderOf {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		ask := func() string { // a request during an election may never be answered
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			return leader(ctx)
		}
		before := ask()
		for before == "" && ctx.Err() == nil {
			before = ask()
		}
		r, told := s.run(ctx, nil, fault)
		if !slices.Equal(told, []string{fault + " fired"}) {
			t.Errorf("told %q, failed %v", told, r.Failed())
		}
		for now := ask(); now == "" || now == before; now = ask() {
			if ctx.Err() != nil {
				t.Fatalf("%s: %q still leads", fault, now)
			}
		}
		cancel()
	}
}

// A consumer that pushes is one to faults, too.
func TestFaultsOnAPushConsumer(t *testing.T) {
	s := newStage(t)
	_, err := s.env.JS.CreatePushConsumer(t.Context(), "S", jetstream.ConsumerConfig{Name: "push", DeliverSubject: "deliver.here", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	s.env.Status, s.env.Consumer, s.env.AllowServerFaults, s.env.TargetName = nil, "push", true, "push"
	if _, err := s.env.Inject(t.Context(), s.spec("delete-consumer")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.env.JS.PushConsumer(t.Context(), "S", "push"); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("it is still there: %v", err)
	}
}

// A reader that is between two consumers has another one soon.
func TestFaultsWaitForTheReadersNextConsumer(t *testing.T) {
	s := newStage(t)
	looks := 0
	s.env.Status = func() reader.Status {
		if looks++; looks < 4 {
			return reader.Status{Session: reader.SessionStatus{Consumer: "gone"}}
		}
		return s.status()
	}
	if _, told := s.run(t.Context(), nil, "delete-consumer@0s"); !slices.Equal(told, []string{"delete-consumer fired"}) {
		t.Errorf("told %q", told)
	}
	if left := s.consumers(); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
	s.env.Status, s.env.Consumer = nil, "gone" // a consumer that somebody named
	if _, err := s.env.Inject(t.Context(), s.spec("delete-consumer")); !errors.Is(err, jetstream.ErrConsumerNotFound) {
		t.Errorf("a consumer that does not exist: %v", err)
	}
}

// What 2.10.7 says of a consumer that it has deleted is no failure, and other refusals are.
func TestFolderLeft(t *testing.T) {
	for text, want := range map[string]bool{
		"unlinkat /store/jetstream/$G/streams/S/obs/mine: directory not empty": true,
		"insufficient storage resources available":                             false,
	} {
		err := fmt.Errorf("nats: %w", &jetstream.APIError{Code: 500, ErrorCode: 10051, Description: text})
		if folderLeft(err) != want {
			t.Errorf("%s: %v", text, !want)
		}
	}
	if folderLeft(nil) || folderLeft(jetstream.ErrConsumerNotFound) {
		t.Error("no error, or another one, is taken for a folder that is left")
	}
}
