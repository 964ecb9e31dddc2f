package doctor

import "fmt"

// resources: JetStream is off, or has nothing left.
func resources(s *subject) (found []Finding) {
	add := func(severity Severity, text string, facts []Figure, do ...string) {
		found = append(found, Finding{Severity: severity, Text: text, Facts: facts, Do: steps(do...)})
	}
	switch e := s.JetStream.Error; {
	case s.JetStream.Off:
		add(Critical, "nobody answers the JetStream API: the server runs without JetStream, or the API's prefix or domain is another", figures("asked", s.API+"INFO", "server", s.Server.Version),
			"check --js-domain and --js-api-prefix", "start the server with JetStream (-js, or jetstream {} in its configuration)")
	case e != nil && (e.ErrCode == 10039 || e.ErrCode == 10076):
		add(Critical, "JetStream is not enabled: "+e.String(), figures("server", s.Server.Version),
			"connect to an account that has JetStream: --creds, --context", "or enable it in the account: jetstream: enabled, or $ nsc edit account --js-disk-storage …")
	}
	a := s.Account
	for _, u := range []struct {
		what, flag string
		used       uint64
		limit      int64
	}{
		{"storage", "max_file, or the account's disk storage", a.Storage, a.Limits.MaxStorage},
		{"memory", "max_mem, or the account's memory storage", a.Memory, a.Limits.MaxMemory},
	} {
		if !a.Known || u.limit <= 0 {
			continue
		}
		s.fullness("the account's "+u.what, u.used, u.limit, "raise "+u.flag, add)
	}
	if m := s.Monitor; m != nil {
		if m.Disabled {
			add(Critical, "the server says that its JetStream is disabled", figures("monitor", m.URL, "health", m.Health),
				"look at its log: a full disk disables JetStream until the server is restarted", "free space, then restart it")
		} else if m.Health != "" {
			add(Warning, "the server does not count itself healthy: "+m.Health, figures("monitor", m.URL, "health", m.Health), "$ nats server check connection", "look at its log")
		}
		if m.MaxStorage > 0 {
			s.fullness("the server's storage", m.Storage, m.MaxStorage, "raise max_file of the server, or its disk", add)
		}
		if m.MaxMemory > 0 {
			s.fullness("the server's memory", m.Memory, m.MaxMemory, "raise max_mem of the server", add)
		}
	}
	for _, n := range s.Nodes {
		if n.Last == nil || len(n.Last.Streams) == 0 || s.Monitor != nil && n.Name == s.Monitor.Name {
			continue
		}
		if n.Last.MaxStorage > 0 {
			s.fullness("the storage of server "+n.Name, n.Last.Storage, n.Last.MaxStorage, "raise max_file of the server, or its disk", add)
		}
		if n.Last.MaxMemory > 0 {
			s.fullness("the memory of server "+n.Name, n.Last.Memory, n.Last.MaxMemory, "raise max_mem of the server", add)
		}
	}
	for i := range s.Streams {
		t := &s.Streams[i]
		if t.Config.Discard != "new" || t.Created.IsZero() {
			continue
		}
		switch {
		case t.Config.MaxBytes > 0 && t.Last.Bytes >= uint64(t.Config.MaxBytes):
			found = append(found, streamFull(t, figures("bytes", t.Last.Bytes, "max_bytes", t.Config.MaxBytes)))
		case t.Config.MaxMsgs > 0 && t.Last.Messages >= uint64(t.Config.MaxMsgs):
			found = append(found, streamFull(t, figures("messages", t.Last.Messages, "max_msgs", t.Config.MaxMsgs)))
		}
	}
	return found
}

// fullness tells how much of a limit is used, from nine tenths on.
func (s *subject) fullness(what string, used uint64, limit int64, raise string, add func(Severity, string, []Figure, ...string)) {
	percent := 100 * float64(used) / float64(limit)
	severity := Warning
	switch {
	case percent >= 99:
		severity = Critical
	case percent < 90:
		return
	}
	add(severity, fmt.Sprintf("%.0f %% of %s is used", percent, what), figures("used", used, "limit", limit),
		"see what takes it: $ nats stream report", "delete or purge what nobody needs", raise)
}

func streamFull(t *Stream, facts []Figure) Finding {
	return Finding{
		Severity: Warning, Stream: t.Name, Text: "the stream is full and refuses new messages (discard new)", Facts: facts,
		Do: steps("have readers acknowledge, or purge what nobody needs: $ nats stream purge "+word(t.Name)+" --keep N", "or raise the limit: $ nats stream edit "+word(t.Name)),
	}
}
