package commands

import (
	"strings"
	"testing"
)

func TestRedactTakesEverySecretOut(t *testing.T) {
	for _, text := range []string{
		"nats://ann:secret@host:4222",
		"nats://secret@host",
		"nats://ann:secret@a:1,nats://bob:secret@b:2",
		`parse "nats://ann:se/cret@host": invalid port`,
		"nats://ann:p@secret@host:4222",
		"tls://ann:secret@[::1]:4222/",
		"dial ann:secret@host:4222: refused",
		"servers=ann:secret@host",
		"no server at secret@host:4222: refused",
		"no server at secret@[::1]:4222: refused",
		"seed SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY",
		"jwt eyJ0eXAiOiJKV1QiLCJhbGciOiJlZDI1NTE5LW5rZXkifQ.eyJqdGkiOiJTRUNSRVQifQ.c2VjcmV0LXNpZw",
	} {
		got := redact(text)
		for _, secret := range []string{"secret", "cret@", "SUACSSL", "c2VjcmV0", "ann:", "bob:"} {
			if strings.Contains(got, secret) {
				t.Errorf("redact(%q) = %q still holds %q", text, got, secret)
			}
		}
		if !strings.Contains(got, hidden) {
			t.Errorf("redact(%q) = %q hides nothing", text, got)
		}
	}
}

func TestRedactLeavesTheRest(t *testing.T) {
	for _, text := range []string{
		"no server at nats://127.0.0.1:4222: connection refused",
		"fault drop-message(nth=3)@5s+10s",
		"stream S at sequence 5: mail me at ann@example.org",
		"2026-01-31T12:00:00Z",
		"half-open@10s+5s on 127.0.0.1:4222",
	} {
		if got := redact(text); got != text {
			t.Errorf("redact(%q) = %q", text, got)
		}
	}
}

func TestHasLogin(t *testing.T) {
	for servers, want := range map[string]bool{
		"nats://a:1": false, "a:1": false, "nats://u@a": true, "u:p@a:1": true, "nats://a,nats://t@b": true, "": false,
	} {
		if got := hasLogin(servers); got != want {
			t.Errorf("hasLogin(%q) = %t", servers, got)
		}
	}
}
