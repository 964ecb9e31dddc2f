package doctor

import (
	"fmt"
	"strconv"
	"strings"
)

// placeChecks are about the servers that hold streams and consumers, and their limits.
func placeChecks() []Check {
	return []Check{
		{
			ID: "READER_015", Title: "no leader or no quorum", Severity: Critical, run: leaderless,
			Means: "A stream or consumer has no leader, does not answer, or was answered with 10008, 10118 or 10119. A warning: a follower is offline or not current; or, as the system account (--system-context, --system-creds, --system-user) or a monitoring port (--monitor) tells, its replica lacks what the leader had when the watch began.",
			Why:   "Nothing is delivered without a leader, pulls are answered with silence or 503, and nothing can be made again.",
			Do:    "Bring the missing nodes back. An election takes 5 to 9 seconds: look again before anything is forced.",
		},
		{
			ID: "READER_016", Title: "consumer limit reached", Severity: Warning, run: slots,
			Means: "The stream has as many consumers as max_consumers of it or of the account allows, or 1000 on 2.15 and newer where nothing is set; or nine tenths of 10 or more.",
			Why:   "Creates are refused with 10026: a reader that replaces its consumer, the new one first, finds no room.",
			Do:    "Delete orphans, or raise the limit.",
		},
		{
			ID: "READER_018", Title: "JetStream is off or full", Severity: Critical, run: resources,
			Means: "The JetStream API says that it is not enabled, nobody answers it, or the account or server has used its memory or storage up. A warning from nine tenths on.",
			Why:   "Nothing is stored and nothing is made: readers get only time-outs and 503.",
			Do:    "Enable JetStream, free space, or raise the limit.",
		},
		{
			ID: "READER_020", Title: "one replica on a replicated stream", Severity: Warning, run: unreplicated,
			Means: "A durable of a stream with several replicas has one replica, or is kept in memory.",
			Why:   "While its one node is down nobody can read from it, pull or ask; with its memory its place is lost.",
			Do:    "Give it the stream's replicas.",
		},
	}
}

func leaderless(s *subject) (found []Finding) {
	var meta string
	switch e := s.JetStream.Error; {
	case e != nil && lacksLeader(e):
		meta = "JetStream as a whole is answered with: " + e.String()
	case s.JetStream.Silent:
		meta = "the JetStream API does not answer"
	}
	if meta != "" {
		found = append(found, Finding{Severity: Critical, Text: meta, Facts: figures("asked", s.API+"INFO", "server", s.Server.Version), Do: steps(leaderSteps("$ nats account info", "")...)})
	}
	for i := range s.Streams {
		t := &s.Streams[i]
		var text string
		facts := figures("replicas", t.Config.Replicas)
		switch {
		case t.Silent:
			text = "the stream does not answer"
		case t.Error != nil && lacksLeader(t.Error):
			text = "the stream is answered with: " + t.Error.String()
		case t.Group != nil && t.Group.Name != "" && t.Group.Leader == "":
			text = "the stream has no leader"
		}
		if text != "" {
			found = append(found, Finding{Severity: Critical, Stream: t.Name, Text: text, Facts: append(facts, t.Group.figures()...), Do: steps(leaderSteps("$ nats stream info "+word(t.Name), "")...)})
			continue
		}
		behind, apart := t.Group.behind(), s.disagreement(t)
		if len(behind) == 0 && len(apart.texts) == 0 {
			continue
		}
		f := Finding{Severity: Warning, Stream: t.Name, Facts: append(append(facts, t.Group.figures()...), apart.facts...)}
		var texts []string
		if len(behind) > 0 {
			texts = append(texts, "followers are offline or not current: "+strings.Join(behind, ", "))
		} else {
			f.Cause = "replicas_differ"
		}
		if len(apart.texts) > 0 {
			texts = append(texts, "replicas do not agree: "+strings.Join(apart.texts, ", "))
		}
		f.Text = strings.Join(texts, "; ")
		f.Do = steps("look at these nodes: $ nats server list", "wait for them to catch up before another node is stopped, or leads: $ nats stream info "+word(t.Name))
		if len(behind) == 0 {
			f.Do = append(f.Do, steps("if it is the same after minutes, restart that node while the others hold a quorum: it catches up with the leader")...)
		}
		found = append(found, f)
	}
	for i := range s.Consumers {
		c := &s.Consumers[i]
		var text string
		switch {
		case c.Silent:
			text = "the consumer does not answer"
		case c.Error != nil && lacksLeader(c.Error):
			text = "the consumer is answered with: " + c.Error.String()
		case c.Group != nil && c.Group.Name != "" && c.Group.Leader == "":
			text = "the consumer has no leader"
		default:
			continue
		}
		step := "where there is a quorum, elect another leader: $ nats consumer cluster step-down " + word(c.Stream) + " " + word(c.Name)
		found = append(found, on(c, Critical, text, append(figures("looks_answered", len(c.Samples)), c.Group.figures()...), leaderSteps(infoCommand(c), step)...))
	}
	return found
}

func leaderSteps(look, elect string) []string {
	steps := []string{"look again after 10 seconds: an election may be under way: " + look, "see which nodes are missing: $ nats server list", "bring them back; do not delete what has no quorum: it comes back with its nodes"}
	if elect != "" {
		steps = append(steps, elect)
	}
	return steps
}

// lacksLeader says whether an error means that no node can speak for what was asked.
func lacksLeader(e *APIError) bool {
	switch e.ErrCode {
	case 10004, 10007, 10008, 10009, 10118, 10119, 10194, 10195:
		return true
	}
	return false
}

func (e *APIError) String() string {
	return fmt.Sprintf("%s (%d/%d)", e.Description, e.Code, e.ErrCode)
}

func (g *Group) figures() []Figure {
	if g == nil || g.Name == "" { // a server by itself
		return nil
	}
	all := figures("cluster", g.Name, "leader", map[bool]string{true: "none", false: g.Leader}[g.Leader == ""])
	for _, p := range g.Replicas {
		state := "current"
		switch {
		case p.Offline:
			state = "offline"
		case !p.Current:
			state = fmt.Sprintf("not current, %d operations behind, heard of %s ago", p.Lag, age(p.Active))
		}
		all = append(all, figures("follower "+p.Name, state)...)
	}
	return all
}

func (g *Group) behind() (names []string) {
	if g == nil {
		return nil
	}
	for _, p := range g.Replicas {
		if p.Offline || !p.Current {
			names = append(names, p.Name)
		}
	}
	return names
}

// ownLimit is what servers of 2.15 and newer allow on a stream where nothing is set.
const ownLimit = 1000

func slots(s *subject) (found []Finding) {
	for i := range s.Streams {
		t := &s.Streams[i]
		limit, whose := t.Config.MaxConsumers, "max_consumers of the stream"
		if own := s.Account.Limits.MaxConsumers; own > 0 && (limit <= 0 || own < limit) {
			limit, whose = own, "max_consumers of the account, on each stream"
		}
		if limit <= 0 && atLeast(s.Server.Version, 2, 15) {
			limit, whose = ownLimit, "the default of 2.15 and newer"
		}
		n := t.Last.Consumers
		if limit <= 0 || n < limit && (limit < 10 || n*10 < limit*9) {
			continue
		}
		text := fmt.Sprintf("%d of %d consumers are in use", n, limit)
		severity := Warning
		if n >= limit && limit == 1 {
			severity = Info // made for one consumer, and it has it
		}
		found = append(found, Finding{
			Severity: severity, Stream: t.Name, Text: text, Facts: figures("consumer_count", n, "limit", limit, "set_by", whose),
			Do: steps(
				"see which of them nobody uses: $ nats-reader doctor "+word(t.Name)+" --only "+idOrphan,
				"raise the limit: $ nats stream edit "+word(t.Name)+" --max-consumers N",
				"a reader of nats-reader goes on without room for a second consumer: it binds a new inbox to the one it has",
			),
		})
	}
	return found
}

// atLeast compares versions; one that cannot be read is not.
func atLeast(version string, major, minor int) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	x, err := strconv.Atoi(parts[0])
	y, err2 := strconv.Atoi(parts[1])
	return err == nil && err2 == nil && (x > major || x == major && y >= minor)
}

func unreplicated(s *subject) (found []Finding) {
	for i := range s.Consumers {
		c := &s.Consumers[i]
		stream := s.streams[c.Stream]
		if stream == nil || stream.Config.Replicas < 2 || !c.durable() || c.Config.Replicas != 1 && !c.Config.Memory {
			continue
		}
		what := "one replica"
		if c.Config.Memory {
			what = "kept in memory"
		}
		found = append(found, on(c, Warning, fmt.Sprintf("the stream has %d replicas, its durable is %s", stream.Config.Replicas, what),
			figures("stream_replicas", stream.Config.Replicas, "num_replicas", c.Config.Replicas, "mem_storage", c.Config.Memory),
			fmt.Sprintf("give it the replicas; one that is kept in memory must be made again: $ nats consumer edit %s %s --replicas %d", word(c.Stream), word(c.Name), stream.Config.Replicas)))
	}
	return found
}
