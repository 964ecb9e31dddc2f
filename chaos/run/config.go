package run

import (
	"time"

	"github.com/an-open-reader/nats-reader/chaos/oracle"
	"github.com/an-open-reader/nats-reader/chaos/plan"
	"github.com/an-open-reader/nats-reader/chaos/target"
	"github.com/an-open-reader/nats-reader/reader"
)

// retryInitial is the reader's first pause, where it has no other.
const retryInitial = 200 * time.Millisecond

// readerConfig is the reader of a plan; stream and subjects are the target's to set.
func readerConfig(t plan.Target) reader.Config {
	c := reader.Config{
		Durable: t.Durable, Name: t.Consumer, WaitForStream: t.WaitForStream, StreamGrace: t.StreamGrace,
		InactiveThreshold: t.InactiveThreshold, KeepConnection: t.KeepConnection, Replicas: t.Replicas,
		Pull:  reader.Pull{MaxMessages: t.Batch, MaxBytes: t.MaxBytes, Expires: t.Expires, Heartbeat: t.Heartbeat},
		Retry: reader.RetryPolicy{Max: t.RetryMax, TotalTimeout: t.RetryTimeout, AttemptTimeout: t.AttemptTimeout},
	}
	if t.RetryMax > 0 && t.RetryMax < retryInitial {
		c.Retry.Initial = t.RetryMax // the first pause is not longer than the longest
	}
	switch t.OnError {
	case "raise":
		c.OnError = reader.OnErrorRaise
	case "finish":
		c.OnError = reader.OnErrorFinish
	}
	if t.OnMissed == "skip" {
		c.OnMissed = reader.OnMissedSkip
	}
	switch t.OnReset {
	case "follow-new":
		c.OnReset = reader.OnResetFollowNew
	case "fail":
		c.OnReset = reader.OnResetFail
	}
	switch t.Start {
	case plan.StartNew:
		c.Start = reader.FromNew()
	case plan.StartLast:
		c.Start = reader.FromLast()
	case plan.StartLastPerSubject:
		c.Start = reader.FromLastPerSubject()
	case plan.StartAll:
	}
	return c
}

// rules are what a target is judged by.
func rules(p plan.Plan, t target.Traits) oracle.Rules {
	return oracle.Rules{
		Measure: oracle.ByIDs, Filtered: len(p.Target.Subjects) > 0, AtLeastOnce: t.Durable || p.Target.Durable != "",
		Blind: !t.Ours, NeverEnds: true, Limits: p.Contract,
		Deafness: p.Allowance(),
	}
}
