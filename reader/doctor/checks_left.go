package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// leftChecks are about consumers that are made too often, or left behind.
func leftChecks() []Check {
	return []Check{
		{
			ID: idStorm, Title: "replacement storm", Severity: Warning, run: storm,
			Means: "Consumers of one reader were made and made again during the watch: at least 5, at 20 a minute or more. Their names begin alike and count up, or are drawn by lot each time.",
			Why:   "Each try costs the server an election or a disk write, and a reader that makes a consumer every second reads little or nothing.",
			Do:    "Find out what ends the consumers: deleted by another, an inactive threshold below the pause between pulls, heartbeats that do not arrive.",
		},
		{
			ID: idOrphan, Title: "orphaned consumers", Severity: Warning, run: orphans,
			Means: "Consumers that no pull and no subscription was seen at: of a reader that reads with another one, of a process that is no longer connected, or several with names drawn by lot that have been idle for long and never lapse.",
			Why:   "Each costs the server memory and slows its start; on an interest or work-queue stream it keeps messages for ever; at max_consumers it keeps readers out.",
			Do:    "Delete them: --delete-orphans looks at each once more before it does. Give consumers stable names, or an inactive threshold.",
		},
		{
			ID: idOwners, Title: "several owners on one name", Severity: Warning, run: owners,
			Means: "Two clients made the same consumer during the watch, or pulls for a consumer without acks were heard from two processes.",
			Why:   "Each sees only a part of the messages, or deletes what the other reads from.",
			Do:    "Give each reader a name of its own, or let the server draw one.",
		},
	}
}

const (
	stormCreates = 5
	stormRate    = 20.0 // a minute
	stormDrawn   = 20   // whose names have nothing in common: may be of several readers
	drawn        = "names drawn by lot"
)

// storm counts who was made, by what the names have in common.
func storm(s *subject) (found []Finding) {
	type group struct {
		names          []string
		first, last    time.Time
		client, stream string
		stem           string
	}
	groups := map[[2]string]*group{}
	var order [][2]string
	for _, a := range s.Advisories {
		if a.Kind != "consumer_action" || a.Action != "create" || s.Consumer != "" && stemOf(a.Consumer) != stemOf(s.Consumer) {
			continue
		}
		key := [2]string{a.Stream, stemOf(a.Consumer)}
		g := groups[key]
		if g == nil {
			g = &group{first: a.Time, stream: a.Stream, stem: key[1]}
			groups[key], order = g, append(order, key)
		}
		g.names, g.last = append(g.names, a.Consumer), a.Time
	}
	for _, a := range s.Advisories {
		if g := groups[[2]string{a.Stream, stemOf(a.Consumer)}]; g != nil && a.Client != "" {
			g.client = a.Client
		}
	}
	watched := s.Ended.Sub(s.Began)
	for _, key := range order {
		g := groups[key]
		rate := float64(len(g.names)) / max(watched.Minutes(), 1.0/600)
		least := stormCreates
		switch {
		case g.stem == g.names[0]: // made again under one name: nobody counts up, READER_021 looks at it
			continue
		case g.stem == drawn || !strings.HasPrefix(g.names[0], g.stem):
			least = stormDrawn
		}
		if len(g.names) < least || rate < stormRate || keyValue(g.stream) {
			continue
		}
		facts := figures("made", fmt.Sprintf("%d in %s, %.0f a minute", len(g.names), age(watched), rate), "first_name", g.names[0], "last_name", g.names[len(g.names)-1])
		if g.client != "" {
			facts = append(facts, figures("made_by", g.client)...)
		}
		found = append(found, Finding{
			Severity: Warning, Stream: g.stream, Text: fmt.Sprintf("%d consumers named like %s were made in %s", len(g.names), g.names[0], age(watched)), Facts: facts,
			Do: steps(
				"read the reader's own log: it says why it gives each consumer up; nats-reader explain WORD tells what that means",
				"see who makes and who deletes them: $ nats events --js-advisory",
				"compare its heartbeat with the inactive threshold of what it makes: $ nats consumer info "+word(g.stream)+" "+word(g.names[len(g.names)-1]),
			),
		})
	}
	return found
}

// keyValue says that a stream is a bucket: each listing of its keys makes a consumer.
func keyValue(stream string) bool {
	return strings.HasPrefix(stream, "KV_") || strings.HasPrefix(stream, "OBJ_")
}

// stemOf is what the names of one reader's consumers have in common: without the
// number at the end, and without what was drawn by lot.
func stemOf(name string) string {
	base, _ := cutSerial(name)
	if base != name {
		return base
	}
	if byLot(name) {
		return drawn
	}
	parts := strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '_' })
	if len(parts) > 1 && byLot(parts[len(parts)-1]) {
		return strings.TrimSuffix(name, parts[len(parts)-1])
	}
	return name
}

// byLot says whether a word looks drawn: a nuid, a UUID or a hash, not a word or a number.
func byLot(word string) bool {
	if isNUID(word) {
		return true
	}
	if compact := strings.ReplaceAll(word, "-", ""); len(compact) >= 32 && strings.Trim(strings.ToLower(compact), "0123456789abcdef") == "" {
		return true
	}
	if len(word) < 8 || strings.Trim(word, nuidDigits) != "" {
		return false
	}
	kinds := 0
	for _, of := range []string{"0123456789", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz"} {
		if strings.ContainsAny(word, of) {
			kinds++
		}
	}
	hex := strings.Trim(strings.ToLower(word), "0123456789abcdef") == ""
	return kinds == 3 || hex && kinds >= 2
}

// unused says that nobody was seen at a consumer in any look.
func (c *Consumer) unused() bool {
	return c.watched() && !c.moved() && !c.paused() && c.last().AckFloor.Consumer == c.first().AckFloor.Consumer &&
		c.every(func(at Sample) bool { return at.Waiting == 0 && !at.PushBound })
}

// Orphan is a consumer that --delete-orphans may delete.
type Orphan struct {
	Stream   string
	Consumer string
	Created  time.Time
	Why      string
	state    Sample
}

// Orphans are those of the orphaned consumers that may be deleted, as the facts
// show them.
func Orphans(f Facts, o JudgeOptions) []Orphan {
	s := subjectOf(&f, o)
	var all []Orphan
	for i := range s.Consumers {
		if why, lapses := s.orphan(&s.Consumers[i]); why != "" {
			c := &s.Consumers[i]
			if lapses {
				why += "; it would lapse by itself"
			}
			all = append(all, Orphan{c.Stream, c.Name, c.Created, why, c.last()})
		}
	}
	return all
}

// orphan says why a consumer counts as left behind; "": it does not. lapses: the
// server deletes it by itself.
func (s *subject) orphan(c *Consumer) (why string, lapses bool) {
	if !c.unused() || s.deaf[c] || c.span() <= 0 || s.outlived(c) || len(s.heard(c)) > 0 {
		return "", false
	}
	lapses = c.Config.InactiveThreshold > 0
	if c.ours() && s.holders.complete && s.holders.holds(c) == nil {
		return "its reader is not connected", lapses
	}
	if c.owner() == "" && !c.durable() {
		if by, sure := s.holders.maker(c); by == nil && sure {
			return "the process that made it is not connected", lapses
		}
	}
	if c.owner() == "" && !lapses && c.idle() > s.idleAfter && s.siblings(c) >= 3 {
		return fmt.Sprintf("one of %d idle consumers with names drawn by lot, and it never lapses", s.siblings(c)), false
	}
	return "", false
}

// siblings counts the unused consumers that are named like one whose name was
// drawn by lot, itself included; 0: its name was not.
func (s *subject) siblings(c *Consumer) int {
	stem := stemOf(c.Name)
	if base, _ := cutSerial(c.Name); stem == base { // as it is, or with a number: workers are named so
		return 0
	}
	return s.alike[[2]string{c.Stream, stem}]
}

// orphans tells them by stream and reason, not one by one.
func orphans(s *subject) (found []Finding) {
	type key struct {
		stream, why string
		lapses      bool
	}
	groups := map[key][]*Consumer{}
	var order []key
	for i := range s.Consumers {
		c := &s.Consumers[i]
		why, lapses := s.orphan(c)
		if why == "" {
			continue
		}
		k := key{c.Stream, why, lapses}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], c)
	}
	for _, k := range order {
		all := groups[k]
		oldest := slices.MinFunc(all, func(a, b *Consumer) int { return a.Created.Compare(b.Created) })
		severity, end := Warning, ""
		if k.lapses {
			severity, end = Info, fmt.Sprintf("; the server deletes it %s after its last pull", oldest.Config.InactiveThreshold)
		}
		f := Finding{
			Severity: severity, Stream: k.stream, Text: fmt.Sprintf("%s nobody uses: %s%s", plural(len(all), "consumer"), k.why, end),
			Facts: append(figures("consumers", len(all), "oldest", oldest.Name, "made", age(s.Ended.Sub(oldest.Created))+" ago", "idle", age(oldest.idle()), "num_waiting", "0 in every look"), nameFigures(all)...),
			Do: steps(
				"make sure that nobody means to come back to them: "+infoCommand(oldest),
				"have each looked at once more, and deleted: $ nats-reader doctor "+word(k.stream)+" --delete-orphans --target-name "+word(k.stream),
				"give the reader a stable name, or its consumers an inactive_threshold",
			),
		}
		if len(all) == 1 {
			f.Consumer = oldest.Name
		}
		found = append(found, f)
	}
	return found
}

func nameFigures(all []*Consumer) []Figure {
	const most = 8
	var names []string
	for _, c := range all[:min(len(all), most)] {
		names = append(names, c.Name)
	}
	if len(all) > most {
		names = append(names, fmt.Sprintf("and %d more", len(all)-most))
	}
	return figures("names", strings.Join(names, ", "))
}

// owners: the same consumer is made, or read, by two.
func owners(s *subject) (found []Finding) {
	makers := map[[2]string][]string{}
	for _, a := range s.Advisories {
		key := [2]string{a.Stream, a.Consumer}
		if a.Kind == "api_audit" && a.Action == "create" && a.Client != "" && !slices.Contains(makers[key], a.Client) {
			makers[key] = append(makers[key], a.Client)
		}
	}
	for i := range s.Consumers {
		c := &s.Consumers[i]
		who, how := makers[[2]string{c.Stream, c.Name}], "made it during the watch"
		if c.acked() {
			who = nil // several workers of one durable make it, each, and share it
		}
		if len(who) < 2 && !c.acked() {
			who, how = nil, "pull from it"
			for _, p := range s.heard(c) {
				for token := range strings.SplitSeq(p.Inbox, ".") {
					if isNUID(token) && !slices.Contains(who, token[:nuidProcess]) {
						who = append(who, token[:nuidProcess])
					}
				}
			}
		}
		if len(who) < 2 {
			continue
		}
		found = append(found, on(c, Warning, fmt.Sprintf("%d clients %s, and it has no acks to share messages by", len(who), how),
			figures("clients", strings.Join(who, ", "), "ack_policy", cmp.Or(c.Config.AckPolicy, "none")),
			"give each reader a name of its own", infoCommand(c), "see who makes and who deletes it: $ nats events --js-advisory"))
	}
	return found
}
