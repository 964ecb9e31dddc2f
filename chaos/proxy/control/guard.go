package control

import (
	"crypto/sha256"
	"crypto/subtle"
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// guard decides who may ask anything at all.
type guard struct {
	token  [sha256.Size]byte
	asks   bool // for the token
	origin *http.CrossOriginProtection
}

func newGuard(token string) guard {
	return guard{token: sha256.Sum256([]byte(token)), asks: token != "", origin: http.NewCrossOriginProtection()}
}

// tokenHint is for people and for programs.
const tokenHint = "give it with --control-token or NATS_READER_CONTROL_TOKEN; over HTTP send Authorization: Bearer TOKEN"

// check gives why a request is turned away, or nil.
func (g *guard) check(r *http.Request) *problem {
	if g.asks {
		given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		sum := sha256.Sum256([]byte(strings.TrimSpace(given)))
		switch {
		case !bearer:
			return &problem{Status: http.StatusUnauthorized, Text: "a token is asked for", Hint: tokenHint}
		case subtle.ConstantTimeCompare(sum[:], g.token[:]) != 1:
			return &problem{Status: http.StatusUnauthorized, Text: "the token is not the one asked for", Hint: tokenHint}
		}
		return nil
	}
	// Without a token it is the loopback address that protects, and a browser on this machine is behind it.
	if !plainHost(r.Host) || g.origin.Check(r) != nil {
		return &problem{Status: http.StatusForbidden, Text: "the request comes from a web page or was sent to a name", Hint: "use the loopback address, or start the proxy with --control-token or NATS_READER_CONTROL_TOKEN"}
	}
	return nil
}

// plainHost says whether the Host of a request is an address or localhost: a name of somebody else's may be
// made to point here.
func plainHost(host string) bool {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	if host == "localhost" {
		return true
	}
	_, err := netip.ParseAddr(strings.Trim(host, "[]"))
	return err == nil
}
