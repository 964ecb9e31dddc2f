package doctor

import (
	"fmt"
	"strings"
)

// clientChecks are about credentials and connections.
func clientChecks() []Check {
	return []Check{
		{
			ID: "READER_019", Title: "permission missing for a reader", Severity: Warning, run: permissions,
			Means: "A subject that a reader needs was tried with the doctor's own credentials, in a way that changes nothing, and the server denied it.",
			Why:   "A denied pull is answered with silence, and an inbox that may not be subscribed makes a deaf reader; clients show both only in an error handler.",
			Do:    "Permit the subjects that are named, for users that read.",
		},
		{
			ID: idSlow, Title: "slow connection", Severity: Warning, run: slow,
			Means: "A connection with inboxes had 1 MiB or more that the server could not write to it, at the first look and at the last, and took less than that in between; or it was closed as a slow consumer within the last hour.",
			Why:   "The server closes a connection that does not take what it is sent, with every reader on it; until then answers come late.",
			Do:    "Have the reader ask for less at a time, or look at its link and its handler.",
		},
	}
}

func permissions(s *subject) (found []Finding) {
	var needed, comfort []DryRun
	for _, d := range s.Dry {
		switch {
		case d.Denied == "":
		case d.Needed:
			needed = append(needed, d)
		default:
			comfort = append(comfort, d)
		}
	}
	add := func(severity Severity, text string, denied []DryRun) {
		var facts []Figure
		var subjects []string
		for _, d := range denied {
			facts = append(facts, figures("denied", fmt.Sprintf("%s %s (%s)", d.Operation, d.Subject, d.What))...)
			subjects = append(subjects, d.Subject)
		}
		found = append(found, Finding{
			Severity: severity, Stream: s.Stream, Consumer: s.Consumer, Text: text + ": " + strings.Join(subjects, ", "), Facts: facts,
			Do: steps("permit them in the user's permissions, with * and > where names change: the README lists the least set", "or run this with the credentials of the reader that you ask about: --creds, --context"),
		})
	}
	if len(needed) > 0 {
		add(Warning, "these credentials cannot read", needed)
	}
	if len(comfort) > 0 {
		add(Info, "these credentials can read with less comfort", comfort)
	}
	return found
}

// slowBytes is what a healthy connection does not have waiting for long.
const slowBytes = 1 << 20

func slow(s *subject) (found []Finding) {
	if s.Connections == nil {
		return nil
	}
	for _, c := range s.Connections.List {
		took := c.Sent - int64(c.Pending) - (c.Earlier - int64(c.Before))
		if len(c.Subs) == 0 || c.Pending < slowBytes || c.Before < slowBytes || took > int64(c.Pending) {
			continue
		}
		found = append(found, Finding{
			Severity: Warning, Text: fmt.Sprintf("connection %s does not take what it is sent: %d bytes wait", c, c.Pending),
			Facts: figures("pending_bytes", fmt.Sprintf("%d, then %d", c.Before, c.Pending), "taken_meanwhile", took, "connection", c.String(), "server", c.Server),
			Do:    steps("look whether its process gets time and its link has room", "have its readers ask for fewer bytes at a time (--batch; Pull.MaxBytes)", "use a connection of its own for each fast reader"),
		})
	}
	for _, c := range s.Connections.Closed {
		if c.Stop == nil || s.Ended.Sub(*c.Stop) > closedLately || !strings.HasPrefix(c.Reason, "Slow Consumer") {
			continue
		}
		found = append(found, Finding{
			Severity: Warning, Text: fmt.Sprintf("connection %s was closed %s ago: %s", c, age(s.Ended.Sub(*c.Stop)), c.Reason),
			Facts: figures("reason", c.Reason, "closed", stamp(*c.Stop), "connection", c.String()),
			Do:    steps("look whether its process gets time and its link has room", "have its readers ask for fewer bytes at a time (--batch; Pull.MaxBytes)"),
		})
	}
	return found
}
