package fleet

import (
	"fmt"
	"strings"
	"time"
)

func (r *Result) title() string {
	switch r.Kind {
	case Cost:
		return fmt.Sprintf("%s on %s, %s", counted(r.Readers, "idle reader"), counted(r.Streams, "stream"), counted(r.Connections, "connection"))
	case Steady:
		return fmt.Sprintf("%s on %s for %s, a sample every %s", counted(r.Readers, "idle reader"), counted(r.Streams, "stream"), r.For, r.Every)
	default:
		return fmt.Sprintf("one reader at full speed for %s, a sample every %s", r.For, r.Every)
	}
}

func (r *Result) where() string {
	m := r.Made
	at := "given server"
	switch {
	case m.Place == "lab" && m.Nodes > 1:
		at = fmt.Sprintf("%d nats-servers %s, each a process", m.Nodes, m.Server)
	case m.Place == "lab":
		at = fmt.Sprintf("nats-server %s in its own process", m.Server)
	default:
		at += ", " + m.Server
	}
	return fmt.Sprintf("%s; streams in %s, %s\n%s, %s, %s", at, m.Storage, counted(m.Replicas, "replica"), m.System, m.Go, counted(m.Cores, "core"))
}

// lastLine is the verdict with the figures that matter most, for who reads one line.
func (r *Result) lastLine() string {
	var wrong []string
	for _, f := range r.Findings {
		if !f.Held {
			wrong = append(wrong, fmt.Sprintf("%s: %s, want %s", f.What, f.Seen, f.Want))
		}
	}
	if len(wrong) > 0 {
		return string(r.Verdict) + ": " + strings.Join(wrong, "; ")
	}
	return fmt.Sprintf("%s: %d of %d findings", r.Verdict, len(r.Findings), len(r.Findings))
}

func (r *Result) sections() []section {
	var all []section
	switch r.Kind {
	case Cost:
		all = append(all, r.costWords(), r.idleWords())
		if len(r.Recoveries) > 0 {
			all = append(all, r.recoveryWords())
		}
	case Steady:
		all = append(all, r.idleWords(), r.trendWords())
	case Flow:
		all = append(all, r.speedWords(), r.trendWords())
	}
	return append(all, r.findingWords())
}

func (r *Result) costWords() section {
	s := section{title: "cost"}
	add := func(what, figure string) { s.rows = append(s.rows, []string{what, figure}) }
	add("all open, all at once", roundTime(r.Open.All).String())
	add("all had read a message", roundTime(r.Open.AllRead).String())
	add("API requests until then", counts(r.Open.API))
	add("goroutines a reader", fmt.Sprintf("%.2f", r.Cost.Goroutines))
	add("heap and stacks a reader", size(r.Cost.Memory))
	if r.Cost.Resident != 0 {
		add("rss a reader", size(r.Cost.Resident))
	}
	add("timers a reader", fmt.Sprintf("%.2f (counted on %d)", r.Cost.Timers, r.Cost.TimedOf))
	if r.Cost.Server > 0 {
		add("rss of the server", size(float64(r.Cost.Server)))
	}
	add("consumers a stream", r.Room.words())
	add("all closed", roundTime(r.Closed.Took).String())
	return s
}

func (r Room) words() string {
	text := fmt.Sprint(r.PerStream)
	if r.Limit > 0 {
		text += fmt.Sprintf(", %s allows %d", r.From, r.Limit)
	}
	if r.narrow() {
		text += ": replacements of all at once wait for each other"
	}
	return text
}

func (r *Result) idleWords() section {
	q := r.Idle
	server := "unknown"
	if q.OnServer >= 0 {
		server = fmt.Sprint(q.OnServer)
	}
	return section{title: "idle for " + roundTime(q.For).String(), rows: [][]string{
		{"API requests", counts(q.API)},
		{"API requests, as the server counts", server},
		{"pulls a reader and minute", fmt.Sprintf("%.2f", q.Pulls)},
		{"on the wire a minute", fmt.Sprintf("%s in, %s out", size(q.In), size(q.Out))},
		{"on the wire a reader and second", fmt.Sprintf("%.1f B in, %.1f B out", q.In/60/float64(r.Readers), q.Out/60/float64(r.Readers))},
	}}
}

// recoveryWords has a column for each end: there are few of them, and much is said of each.
func (r *Result) recoveryWords() section {
	s := section{title: "after the end of the server, in seconds from it", head: []string{"end"}}
	cluster := r.Made.Nodes > 1
	if cluster {
		s.title = "after the end of a node, in seconds from it; * held the readers' connection"
	}
	add := func(what string, of func(Recovery) string) {
		row := []string{what}
		for _, v := range r.Recoveries {
			row = append(row, of(v))
		}
		s.rows = append(s.rows, row)
	}
	for _, v := range r.Recoveries {
		name := v.name()
		if cluster && v.Connection {
			name += " *"
		}
		s.head = append(s.head, name)
	}
	if !cluster {
		add("ready", func(v Recovery) string { return seconds(v.Down) })
	}
	add("half proven", func(v Recovery) string { return seconds(v.HalfProven) })
	add("all proven", func(v Recovery) string { return seconds(v.AllProven) })
	add("all read", func(v Recovery) string {
		if v.NotRead > 0 {
			return fmt.Sprintf("%d never did", v.NotRead)
		}
		return seconds(v.Read)
	})
	if cluster {
		add("back: all read after ready", func(v Recovery) string { return seconds(v.Back) })
	} else {
		add("all read after ready", func(v Recovery) string { return seconds(v.ReadReady) })
	}
	add("deaf longest", func(v Recovery) string { return seconds(v.Deaf) })
	add("requests a reader", func(v Recovery) string { return fmt.Sprintf("%.2f", float64(sum(v.API))/float64(r.Readers)) })
	add("new sessions", func(v Recovery) string { return fmt.Sprint(v.Replaced) })
	add("healed", func(v Recovery) string { return fmt.Sprint(v.Healed) })
	add("consumers", func(v Recovery) string { return fmt.Sprint(v.Consumers) })
	add("orphans", func(v Recovery) string { return fmt.Sprint(v.Orphans) })
	return s
}

// seconds writes a time of a table; "-": there is none.
func seconds(d time.Duration) string {
	if d == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", d.Seconds())
}

func (r *Result) speedWords() section {
	v := r.Speed
	bound := "none"
	if v.Bound > 0 {
		bound = fmt.Sprintf("%d messages a second", v.Bound)
	}
	return section{title: "full speed", rows: [][]string{
		{"read", fmt.Sprintf("%d messages of %s", v.Read, size(float64(v.Size)))},
		{"speed", fmt.Sprintf("%.0f messages a second, %.1f MB a second", v.Rate, v.MB)},
		{"bound", bound},
		{"lost, missed, unread", fmt.Sprintf("%d, %d, %d", v.Lost, v.Missed, v.Unread)},
		{"most stored", size(float64(v.Store))},
		{"sessions", fmt.Sprint(v.Sessions)},
	}}
}

func (r *Result) trendWords() section {
	s := section{
		title: "medians of the first and the last third, after a fifth of warm-up", head: []string{"series", "first", "last", "allowed up to", "is"},
	}
	for _, t := range r.Trends {
		is := Flat
		if t.Grows {
			is = Grows
		}
		s.rows = append(s.rows, []string{t.What, t.figure(t.First), t.figure(t.Last), t.figure(t.First + t.Allowed), string(is)})
	}
	return s
}

func (r *Result) findingWords() section {
	s := section{title: "findings", head: []string{"what", "seen", "want", "holds"}}
	for _, f := range r.Findings {
		holds := "yes"
		if !f.Held {
			holds = "NO"
		}
		s.rows = append(s.rows, []string{f.What, f.Seen, f.Want, holds})
	}
	return s
}

// counted is a number and its noun.
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
