package doctor

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
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
		names                []string
		client, stream, stem string
		used                 int // of those that are there, how many are read from
	}
	groups := map[[2]string]*group{}
	var order [][2]string
	for _, a := range s.made() {
		if a.Kind != "consumer_action" || a.Action != "create" || s.Consumer != "" && stemOf(a.Consumer) != stemOf(s.Consumer) {
			continue
		}
		key := [2]string{a.Stream, stemOf(a.Consumer)}
		g := groups[key]
		if g == nil {
			g = &group{stream: a.Stream, stem: key[1]}
			groups[key], order = g, append(order, key)
		}
		g.names = append(g.names, a.Consumer)
	}
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if g := groups[[2]string{c.Stream, stemOf(c.Name)}]; g != nil && c.used() {
			g.used++
		}
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
		if len(g.names) < least || rate < stormRate || keyValue(g.stream) || 2*g.used > len(g.names) { // some readers that were started
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

// made are the advisories, and what the looks saw made that no advisory told of.
func (s *subject) made() []Advisory {
	all := s.Advisories
	told := map[[2]string]bool{}
	for _, a := range all {
		told[[2]string{a.Stream, a.Consumer}] = true
	}
	for i := range s.Consumers {
		c := &s.Consumers[i]
		if c.Created.After(s.Began) && !told[[2]string{c.Stream, c.Name}] {
			all = append(all[:len(all):len(all)], Advisory{Time: c.Created, Kind: "consumer_action", Action: "create", Stream: c.Stream, Consumer: c.Name})
		}
	}
	return all
}

// used says that somebody reads from it, as far as it was looked at.
func (c *Consumer) used() bool {
	return len(c.Samples) > 0 && !c.Gone && (c.moved() || c.some(func(at Sample) bool { return at.Waiting > 0 || at.PushBound }))
}

// keyValue says that a stream is a bucket: each listing of its keys makes a consumer.
func keyValue(stream string) bool {
	return strings.HasPrefix(stream, "KV_") || strings.HasPrefix(stream, "OBJ_")
}

// stemOf is what the names of one reader's consumers have in common: without the
// number at the end, and without what was drawn by lot.
func stemOf(name string) string {
	base, _ := cutSerial(name)
	if at := uuidAtEnd.FindStringIndex(name); at != nil && at[0] > 0 {
		return name[:at[0]]
	}
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

var uuidAtEnd = regexp.MustCompile(`[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$`)

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
