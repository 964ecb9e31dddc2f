package commands

import (
	"net/url"
	"regexp"
	"strings"
)

// hidden stands in for every secret.
const hidden = "xxxxx"

// userinfo finds the login part of a URL anywhere in a text. A "@" later in the
// same word belongs to it: the last one ends it.
var userinfo = regexp.MustCompile(`([A-Za-z][A-Za-z0-9+.-]*://)[^\s,"']*@`)

// loginWithoutScheme finds user:password@host where the scheme was left out,
// which nats.go accepts as a server; tokenWithoutScheme finds token@host:port, and
// leaves addresses of mail alone.
var (
	loginWithoutScheme = regexp.MustCompile(`(^|[\s,"'=])[^\s,:/@"'=]+:[^\s,/@"']+@([A-Za-z0-9.\[-])`)
	tokenWithoutScheme = regexp.MustCompile(`(^|[\s,"'=])[^\s,:/@"'=]+@([A-Za-z0-9.-]+:[0-9]|\[[0-9a-fA-F:.]+\])`)
)

// seeds are nkey seeds: the private half of a key.
var seeds = regexp.MustCompile(`\bS[UAONCXP][A-Z2-7]{50,}\b`)

// tokens are JWTs.
var tokens = regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+`)

// redact takes the secrets out of a text that is about to be shown: logins in
// URLs, nkey seeds and JWTs.
func redact(text string) string {
	text = userinfo.ReplaceAllString(text, "${1}"+hidden+"@")
	text = loginWithoutScheme.ReplaceAllString(text, "${1}"+hidden+"@${2}")
	text = tokenWithoutScheme.ReplaceAllString(text, "${1}"+hidden+"@${2}")
	text = seeds.ReplaceAllString(text, hidden)
	return tokens.ReplaceAllString(text, hidden)
}

// hasLogin says whether one of the comma-separated servers brings its own login.
func hasLogin(servers string) bool {
	for server := range strings.SplitSeq(servers, ",") {
		server = strings.TrimSpace(server)
		if !strings.Contains(server, "://") {
			server = "nats://" + server
		}
		if u, err := url.Parse(server); err == nil && u.User != nil {
			return true
		}
	}
	return false
}

// withoutLogin takes the logins out of comma-separated servers.
func withoutLogin(servers string) string { return loginsAs("", servers) }

// hideLogins puts xxxxx in the place of the logins of comma-separated servers, also
// where they are no URLs: then no pattern finds what is secret in them.
func hideLogins(servers string) string { return loginsAs(hidden+"@", servers) }

// loginsAs writes something else for each login, with the "@" behind it.
func loginsAs(other, servers string) string {
	var out []string
	for server := range strings.SplitSeq(servers, ",") {
		server = strings.TrimSpace(server)
		scheme, rest, found := strings.Cut(server, "://")
		if !found {
			scheme, rest = "", server
		} else {
			scheme += "://"
		}
		if at := strings.LastIndexByte(rest, '@'); at >= 0 {
			rest = other + rest[at+1:]
		}
		out = append(out, scheme+rest)
	}
	return strings.Join(out, ",")
}

// hostOf is the host and port of a URL.
func hostOf(address string) string {
	_, host, found := strings.Cut(address, "://")
	if !found {
		return address
	}
	return host
}
