package reader

import (
	"fmt"
	"strings"
	"time"
)

// Defaults of Config's zero values.
const (
	defaultPrefix     = "reader"
	defaultGrace      = 15 * time.Second
	defaultInitial    = 200 * time.Millisecond
	defaultMax        = 2 * time.Second
	defaultMultiplier = 2.0
	defaultJitter     = 0.2
	defaultAttempt    = 2 * time.Second
	defaultMessages   = 4096
	defaultDurable    = 100
	defaultBytes      = 8 << 20
	defaultExpires    = 30 * time.Second
	defaultHeartbeat  = 2 * time.Second
	defaultThreshold  = 30 * time.Second
	longestName       = 255 // JSMaxNameLen of nats-server
	shortestHeartbeat = time.Millisecond
)

func bad(field, format string, a ...any) error {
	return fmt.Errorf("%w: %s: %s", ErrConfig, field, fmt.Sprintf(format, a...))
}

// complete gives the configuration with every default filled in, or says which
// field cannot work.
func (c Config) complete() (Config, error) {
	c = c.withDefaults()
	for _, check := range []func(*Config) error{
		(*Config).checkNames, (*Config).checkStart, (*Config).checkPolicies, (*Config).checkRetry, (*Config).checkPull, (*Config).checkPairs,
	} {
		if err := check(&c); err != nil {
			return c, err
		}
	}
	if least := 3*c.Pull.Heartbeat + c.Retry.Max; c.InactiveThreshold < least {
		c.InactiveThreshold = least
	}
	return c, nil
}

func or[T comparable](v, def T) T {
	var zero T
	if v == zero {
		return def
	}
	return v
}

func (c Config) withDefaults() Config {
	c.NamePrefix = or(c.NamePrefix, defaultPrefix)
	c.StreamGrace = or(c.StreamGrace, defaultGrace)
	c.InactiveThreshold = or(c.InactiveThreshold, defaultThreshold)
	r := &c.Retry
	r.Initial, r.Max = or(r.Initial, min(defaultInitial, or(r.Max, defaultMax))), or(r.Max, max(defaultMax, r.Initial))
	r.Multiplier, r.Jitter = or(r.Multiplier, defaultMultiplier), or(r.Jitter, defaultJitter)
	r.AttemptTimeout = or(r.AttemptTimeout, defaultAttempt)
	p := &c.Pull
	messages := defaultMessages
	if c.Durable != "" {
		messages = defaultDurable
	}
	p.MaxMessages, p.MaxBytes = or(p.MaxMessages, messages), or(p.MaxBytes, defaultBytes)
	p.Expires = or(p.Expires, defaultExpires)
	p.Heartbeat = or(p.Heartbeat, min(defaultHeartbeat, p.Expires/2))
	return c
}

func (c *Config) checkNames() error {
	for _, n := range []struct{ field, name string }{
		{"Stream", c.Stream}, {"Durable", c.Durable}, {"Name", c.Name}, {"NamePrefix", c.NamePrefix},
	} {
		if strings.ContainsAny(n.name, " \t\r\n.*>/\\") {
			return bad(n.field, "%q: a name has no blank, dot, slash or wildcard", n.name)
		}
		if len(n.name) > longestName {
			return bad(n.field, "a name of %d bytes: the server takes %d", len(n.name), longestName)
		}
	}
	if c.Stream == "" && len(c.Subjects) == 0 {
		return bad("Stream", "name a stream, or a subject to find it by")
	}
	for _, s := range c.Subjects {
		if s == "" || strings.ContainsAny(s, " \t\r\n") || strings.HasPrefix(s, ".") || strings.HasSuffix(s, ".") || strings.Contains(s, "..") {
			return bad("Subjects", "%q is not a subject", s)
		}
		if i := strings.Index(s, ">"); i >= 0 && i != len(s)-1 {
			return bad("Subjects", "%q: > stands for the rest and comes last", s)
		}
	}
	return nil
}

func (c *Config) checkStart() error {
	s := c.Start
	switch {
	case s.kind == startSequence && s.sequence == 0:
		return bad("Start", "FromSequence(0): sequences begin at 1")
	case s.kind == startTime && s.time.IsZero():
		return bad("Start", "FromTime needs a time")
	case s.kind == startPosition && s.position.Stream != "" && c.Stream != "" && s.position.Stream != c.Stream:
		return bad("Start", "the position is of stream %s, not %s", s.position.Stream, c.Stream)
	}
	return nil
}

func (c *Config) checkPolicies() error {
	switch {
	case c.OnError < OnErrorWait || c.OnError > OnErrorFinish:
		return bad("OnError", "%d is none of wait, raise, finish", c.OnError)
	case c.OnMissed < OnMissedReplay || c.OnMissed > OnMissedSkip:
		return bad("OnMissed", "%d is none of replay, skip", c.OnMissed)
	case c.OnReset < OnResetRestart || c.OnReset > OnResetFail:
		return bad("OnReset", "%d is none of restart, follow new, fail", c.OnReset)
	case c.Replicas < 0:
		return bad("Replicas", "%d is negative", c.Replicas)
	}
	return nil
}

func (c *Config) checkRetry() error {
	r := c.Retry
	switch {
	case r.Initial <= 0:
		return bad("Retry.Initial", "%s is not positive", r.Initial)
	case r.Max < r.Initial:
		return bad("Retry.Max", "%s is shorter than Retry.Initial %s", r.Max, r.Initial)
	case r.Multiplier < 1:
		return bad("Retry.Multiplier", "%g is less than 1", r.Multiplier)
	case r.Jitter > 1:
		return bad("Retry.Jitter", "%g is more than 1", r.Jitter)
	case r.AttemptTimeout <= 0:
		return bad("Retry.AttemptTimeout", "%s is not positive", r.AttemptTimeout)
	}
	return nil
}

func (c *Config) checkPull() error {
	p := c.Pull
	switch {
	case p.MaxMessages < 0:
		return bad("Pull.MaxMessages", "%d is negative", p.MaxMessages)
	case p.MaxBytes < 0:
		return bad("Pull.MaxBytes", "%d is negative", p.MaxBytes)
	case p.Expires <= 0:
		return bad("Pull.Expires", "%s is not positive", p.Expires)
	case p.Heartbeat < shortestHeartbeat:
		return bad("Pull.Heartbeat", "%s is shorter than %s", p.Heartbeat, shortestHeartbeat)
	case p.Heartbeat > p.Expires/2:
		return bad("Pull.Heartbeat", "%s is more than half of Pull.Expires %s: the server refuses such a pull", p.Heartbeat, p.Expires)
	case c.InactiveThreshold < 0:
		return bad("InactiveThreshold", "%s is negative", c.InactiveThreshold)
	}
	return nil
}

func (c *Config) checkPairs() error {
	switch {
	case c.Durable != "" && c.Name != "":
		return bad("Name", "a durable has its own name: set Durable or Name, not both")
	case c.Durable != "" && c.OnMissed == OnMissedSkip:
		return bad("OnMissed", "a durable skips nothing: its position is the server's")
	case c.Durable != "" && c.Start.kind == startPosition:
		return bad("Start", "a durable keeps its own position on the server: FromPosition is for private readers")
	case c.StopAtEnd && c.OnMissed == OnMissedSkip:
		return bad("OnMissed", "skipping to the end and StopAtEnd exclude each other")
	}
	return nil
}
