package doctor

import (
	"fmt"
	"strings"
	"time"
)

// cursorChecks are about where a consumer stands in its stream, and what it takes of it.
func cursorChecks() []Check {
	return []Check{
		{
			ID: "READER_011", Title: "consumer ahead of its stream", Severity: Critical, run: ahead,
			Means: "The consumer stands at a stream sequence above the stream's last.",
			Why:   "The stream was made again, or its store was lost or restored from a backup. Servers from 2.11 on deliver nothing until the stream has come that far, with healthy heartbeats and nothing pending: all until then is skipped.",
			Do:    "Make the consumer again, from the place where the stream's new life begins.",
		},
		{
			ID: "READER_012", Title: "cursor past messages it should have read", Severity: Warning, run: passedOver,
			Means: "The stream holds more messages that match its filters, at or before its place, than it ever delivered; it was made to deliver all. Or its filters match messages after its place, and it says that nothing waits.",
			Why:   "What a consumer has passed over it never delivers. A filter that was changed does that, and on servers from 2.10.22 to 2.14.0 a purge of the subjects of one of several filters.",
			Do:    "Read the messages in question with another consumer, or make this one again.",
		},
		{
			ID: "READER_013", Title: "filter matches nothing", Severity: Warning, run: unmatched,
			Means: "No subject of the stream can match a filter of the consumer.",
			Why:   "The server accepts such a filter, and never delivers anything for it.",
			Do:    "Correct the filter, or add the subject to the stream.",
		},
		{
			ID: "READER_014", Title: "paused", Severity: Info, run: paused,
			Means: "An operator paused the consumer.",
			Why:   "It delivers nothing until then; its pulls are answered as if nothing waited.",
			Do:    "Nothing, or resume it: nats consumer resume STREAM CONSUMER.",
		},
	}
}

func ahead(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		stream := s.streams[c.Stream]
		if stream == nil || stream.Created.IsZero() || len(c.Samples) == 0 || c.Gone {
			continue
		}
		// The stream was looked at after the consumer: it can only have grown.
		at, last := c.last().Delivered.Stream, stream.Last.LastSeq
		if at <= last || !stream.Last.Time.After(c.last().Time) {
			continue
		}
		facts := figures("delivered", fmt.Sprintf("stream sequence %d", at), "last_sequence", last, "stream_made", stamp(stream.Created), "consumer_made", stamp(c.Created), "num_pending", c.last().Pending)
		why := "the stream was rolled back, or lost its store"
		switch {
		case stream.Created.After(c.Created):
			why = "the stream was made after the consumer"
		case c.Config.StartSequence > last:
			why = fmt.Sprintf("it was made to start at %d: for another life of the stream", c.Config.StartSequence)
		}
		found = append(found, on(c, Critical, fmt.Sprintf("it stands at stream sequence %d, the stream ends at %d: %s", at, last, why), facts,
			"find out from where its reader has to read the stream again: $ nats stream info "+word(c.Stream),
			"stop the reader, delete the consumer, start the reader from there: $ nats consumer rm "+word(c.Stream)+" "+word(c.Name),
			"a reader of nats-reader does so by itself (--on-reset)"))
	}
	return found
}

func passedOver(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		stream := s.streams[c.Stream]
		if c.Matching == nil || stream == nil || len(c.Samples) == 0 || c.Gone {
			continue
		}
		last := c.last()
		all := c.Config.DeliverPolicy == "all" || c.Config.DeliverPolicy == ""
		if !all || *c.Matching <= last.Pending {
			continue
		}
		read := *c.Matching - last.Pending
		if read <= last.Delivered.Consumer {
			continue
		}
		found = append(found, on(c, Warning, fmt.Sprintf("%d messages that its filters match lie before its place, and it has delivered %d in all", read, last.Delivered.Consumer),
			figures("matching_in_stream", *c.Matching, "num_pending", last.Pending, "delivered", last.Delivered.Consumer, "filters", strings.Join(c.Config.Filters(), ", "), "server", s.Server.Version),
			"if its filters were changed, or it was reset, and only new messages were wanted, this is no fault",
			fmt.Sprintf("read what it passed over: $ nats-reader read %s %s --until-end", word(c.Stream), quoted(c.Config.Filters())),
			"or make the consumer again, so that it begins at the start"))
	}
	return found
}

func quoted(filters []string) string {
	var out []string
	for _, f := range filters {
		out = append(out, word(f))
	}
	return strings.Join(out, " ")
}

func unmatched(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		stream := s.streams[c.Stream]
		if stream == nil || len(stream.Config.Subjects) == 0 || stream.Config.Mirror != nil || len(stream.Config.Sources) > 0 || stream.Config.Transform != nil {
			continue
		}
		var bad []string
		for _, f := range c.Config.Filters() {
			if f != "" && !overlaps(f, stream.Config.Subjects) {
				bad = append(bad, f)
			}
		}
		if len(bad) == 0 {
			continue
		}
		found = append(found, on(c, Warning, fmt.Sprintf("its filter %s matches no subject of the stream", strings.Join(bad, ", ")),
			figures("filter", strings.Join(bad, ", "), "stream_subjects", strings.Join(stream.Config.Subjects, ", "), "num_pending", pending(c)),
			"correct the filter in the reader: "+infoCommand(c),
			"or add the subject to the stream: $ nats stream edit "+word(c.Stream)+" --subjects …"))
	}
	return found
}

func pending(c *Consumer) uint64 {
	if len(c.Samples) == 0 {
		return 0
	}
	return c.last().Pending
}

func paused(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if len(c.Samples) == 0 || !c.last().Paused {
			continue
		}
		until := c.last().Time.Add(c.last().PauseRemaining)
		if c.Config.PauseUntil != nil {
			until = *c.Config.PauseUntil
		}
		f := on(c, Info, "paused until "+stamp(until), figures("pause_until", stamp(until), "remaining", age(c.last().PauseRemaining), "num_pending", c.last().Pending),
			"nothing: it goes on by itself", "or resume it now: $ nats consumer resume "+word(c.Stream)+" "+word(c.Name))
		f.Cause = "paused"
		found = append(found, f)
	}
	return found
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
