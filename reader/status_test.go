package reader_test

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

func TestStatusAndEventsAsJSON(t *testing.T) {
	t.Parallel()
	b := withStream(t)
	b.publish(1, 3)
	cfg := hasty(calm())
	cfg.Retry.TotalTimeout = time.Minute
	r := b.open(cfg)
	b.expect(r, 1, 3)
	failed := b.count("replace_failed") + 1
	undo := b.fault("api-timeout")
	b.must(b.admin.DeleteConsumer(b.ctx, b.stream, r.Status().Session.Consumer))
	b.await("replace_failed", failed)
	data, err := json.Marshal(r.Status())
	undo()
	b.must(err)
	var s map[string]any
	b.must(json.Unmarshal(data, &s))
	for _, field := range []string{"schema", "state", "since", "session", "cursor", "position", "delivered", "bytes", "pending", "buffered",
		"replaced", "missed", "duplicates_dropped", "gaps", "pulls", "api_requests", "orphans", "retry", "last_error", "stream_created", "events_dropped"} {
		if _, ok := s[field]; !ok {
			t.Errorf("no %s in %s", field, data)
		}
	}
	if retry := s["retry"].(map[string]any); retry["budget_left"] == nil || retry["budget_left_ns"] == nil || retry["attempt"] == nil {
		t.Errorf("retry %v", retry)
	}
	e, err := json.Marshal(b.await("replace_failed", failed))
	b.must(err)
	for _, part := range []string{`"kind":"replace_failed"`, `"cause":"consumer_deleted"`, `"took_ns":`, `"schema":`, `"time":"`} {
		if !strings.Contains(string(e), part) {
			t.Errorf("no %s in %s", part, e)
		}
	}
}

func TestLogObserver(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	o := reader.LogObserver(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: slog.LevelDebug})))
	for _, e := range []reader.Event{
		{Kind: "session_opened", Session: 1, Consumer: "c"}, {Kind: "gap", Session: 1, From: 3, To: 4, Count: 2},
		{Kind: "failed", Err: reader.ErrStreamNotFound}, {Kind: "api_request", Request: "stream_info"},
	} {
		o(e)
	}
	for _, part := range []string{
		"level=INFO msg=session_opened session=1 consumer=c", "level=WARN msg=gap session=1 from=3 to=4 count=2",
		`level=ERROR msg=failed session=0 error="stream not found"`, "level=DEBUG msg=api_request session=0 request=stream_info",
	} {
		if !strings.Contains(out.String(), part) {
			t.Errorf("no %q in\n%s", part, out.String())
		}
	}
}
