package commands

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/an-open-reader/nats-reader/reader"
)

// Bounds of what is done around a reader.
const (
	closeTimeout = 5 * time.Second
	waitForEver  = 10 * 365 * 24 * time.Hour
)

// openReader opens a reader within the time-out of the settings; a missing stream
// may be waited for without end.
func openReader(ctx context.Context, s settings, js jetstream.JetStream, cfg reader.Config) (*reader.Reader, error) {
	limit := s.timeout
	if cfg.WaitForStream {
		limit = waitForEver
	}
	open, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	r, err := reader.Open(open, js, cfg)
	if err == nil {
		return r, nil
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if errors.Is(err, reader.ErrStreamNotFound) && cfg.Stream != "" {
		return nil, streamNotFound(ctx, js, cfg.Stream, hintNoStream, err)
	}
	return nil, err
}

// closeReader leaves nothing of a reader on the server, also after an interrupt.
func closeReader(ctx context.Context, r *reader.Reader) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTimeout)
	defer cancel()
	return r.Close(ctx)
}

// passingOver are the servers that may pass over messages of a consumer with several
// filters while several publishers write, without a sign: 2.10.7 was measured to do so,
// 2.10.22 not to.
var passingOver = regexp.MustCompile(`^2\.10\.(\d|1\d|2[01])$`)

// warnFilters tells a filter that no subject of the stream can ever match, and several
// filters on a server that does not serve them well. Where the stream may not be looked
// at there is no warning.
func (p *program) warnFilters(ctx context.Context, js jetstream.JetStream, stream string, filters []string) {
	if version := js.Conn().ConnectedServerVersion(); len(filters) > 1 && passingOver.MatchString(version) {
		p.note("warning: nats-server %s may pass over messages of a consumer with several filters: read with one filter or none, or use 2.10.22 or newer", version)
	}
	if stream == "" || len(filters) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	s, err := js.Stream(ctx, stream)
	if err != nil {
		return
	}
	cfg := s.CachedInfo().Config
	if cfg.Mirror != nil || len(cfg.Sources) > 0 || cfg.SubjectTransform != nil || len(cfg.Subjects) == 0 {
		return // what it stores does not follow from its subjects
	}
	for _, f := range filters {
		if !overlapsAny(f, cfg.Subjects) {
			p.note("warning: filter %s is outside the subjects of stream %s (%s): it matches nothing", f, stream, strings.Join(cfg.Subjects, ", "))
		}
	}
}

func overlapsAny(filter string, subjects []string) bool {
	for _, s := range subjects {
		if overlap(filter, s) {
			return true
		}
	}
	return false
}

// readerTarget gives words for what is read, for notes.
func readerTarget(cfg reader.Config) string {
	if cfg.Stream == "" {
		return fmt.Sprintf("the stream of %s", strings.Join(cfg.Subjects, ", "))
	}
	return "stream " + cfg.Stream
}
