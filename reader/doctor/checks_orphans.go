package doctor

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// unused says that nobody was seen at a consumer in any look.
func (c *Consumer) unused() bool {
	return c.watched() && !c.moved() && !c.paused() && c.last().AckFloor.Consumer == c.first().AckFloor.Consumer &&
		c.every(func(at Sample) bool { return at.Waiting == 0 && !at.PushBound })
}

// Orphan is a consumer that may be deleted: nobody uses it, and it is none that was
// made lately and may yet be used.
type Orphan struct {
	Stream   string
	Consumer string
	Created  time.Time
	Why      string
	state    Sample
}

// Orphans are those of the orphaned consumers that may be deleted, as the facts
// show them; young counts those that were idle for less than JudgeOptions.IdleAfter.
func Orphans(f Facts, o JudgeOptions) (all []Orphan, young int) {
	s := subjectOf(&f, o)
	for i := range s.Consumers {
		c := &s.Consumers[i]
		switch left := s.orphan(c); {
		case left.why == "":
		case left.young:
			young++
		default:
			if left.lapses {
				left.why += "; it would lapse by itself"
			}
			all = append(all, Orphan{c.Stream, c.Name, c.Created, left.why, c.last()})
		}
	}
	return all, young
}

// orphanhood says why a consumer counts as left behind; without a why it does not.
type orphanhood struct {
	why    string
	lapses bool // the server deletes it by itself
	young  bool // it may yet be used: nobody has, for less than idleAfter
}

// soon is how long after its last pull a consumer may stay and be no nuisance:
// nats.go's ordered consumers ask for 5 minutes.
const soon = 10 * time.Minute

func (s *subject) orphan(c *Consumer) orphanhood {
	if !c.unused() || s.deaf[c] || c.span() <= 0 || s.outlived(c) || len(s.heard(c)) > 0 {
		return orphanhood{}
	}
	lapses := c.Config.InactiveThreshold > 0
	if c.ours() && s.holders.complete && s.holders.holds(c) == nil {
		return orphanhood{why: "its reader is not connected", lapses: lapses}
	}
	if c.owner() == "" && !c.durable() {
		if by, sure := s.holders.maker(c); by == nil && sure {
			return orphanhood{why: "the process that made it is not connected", lapses: lapses}
		}
		if s.letGo(c) {
			return orphanhood{why: "the process that made it reads the stream with another one", lapses: lapses}
		}
	}
	if n := s.siblings(c); c.owner() == "" && !lapses && n >= 3 {
		return orphanhood{why: fmt.Sprintf("one of %d idle consumers with names drawn by lot, and it never lapses", n), young: c.idle() <= s.idleAfter}
	}
	return orphanhood{}
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
		stream string
		orphanhood
	}
	groups := map[key][]*Consumer{}
	var order []key
	for i := range s.Consumers {
		c := &s.Consumers[i]
		left := s.orphan(c)
		if left.why == "" {
			continue
		}
		k := key{c.Stream, left}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], c)
	}
	for _, k := range order {
		all := groups[k]
		oldest := slices.MinFunc(all, func(a, b *Consumer) int { return a.Created.Compare(b.Created) })
		longest := slices.MaxFunc(all, func(a, b *Consumer) int { return cmp.Compare(a.Config.InactiveThreshold, b.Config.InactiveThreshold) }).Config.InactiveThreshold
		severity, end, flag := Warning, "", ""
		switch {
		case k.lapses:
			end = fmt.Sprintf("; the server deletes it %s after its last pull", longest)
			if longest <= soon {
				severity = Info
			}
		case k.young:
			severity, end = Info, fmt.Sprintf("; it was idle for less than %s so far", s.idleAfter)
			flag = " --idle-after 1s"
		}
		f := Finding{
			Severity: severity, Stream: k.stream, Text: fmt.Sprintf("%s nobody uses: %s%s", plural(len(all), "consumer"), k.why, end),
			Facts: append(figures("consumers", len(all), "oldest", oldest.Name, "made", age(s.Ended.Sub(oldest.Created))+" ago", "idle", age(oldest.idle()), "num_waiting", "0 in every look"), nameFigures(all)...),
			Do: steps(
				"make sure that nobody means to come back to them: "+infoCommand(oldest),
				"have each looked at once more, and deleted: $ nats-reader doctor "+word(k.stream)+" --delete-orphans --target-name "+word(k.stream)+flag,
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
