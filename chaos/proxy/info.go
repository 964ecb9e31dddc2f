package proxy

import (
	"bytes"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// serverInfo is the part of a server's INFO that the proxy needs.
type serverInfo struct {
	Version      string `json:"version"`
	TLSRequired  bool   `json:"tls_required"`
	TLSAvailable bool   `json:"tls_available"`
}

// stripMembers removes the named members from a JSON object. All else stays byte for byte. It returns
// object itself when it has none of them.
func stripMembers(object []byte, names []string) ([]byte, error) {
	if !slices.ContainsFunc(names, func(n string) bool { return bytes.Contains(object, []byte(n)) }) {
		return object, nil
	}
	members, err := splitObject(object)
	if err != nil {
		return nil, err
	}
	kept := make([][]byte, 0, len(members))
	for _, m := range members {
		if !slices.Contains(names, m.name) {
			kept = append(kept, m.text)
		}
	}
	if len(kept) == len(members) {
		return object, nil
	}
	out := append([]byte{'{'}, bytes.Join(kept, []byte{','})...)
	return append(out, '}'), nil
}

type member struct {
	name string
	text []byte // everything between the separators
}

// splitObject cuts a JSON object at the separators of its own members.
func splitObject(object []byte) ([]member, error) {
	dec := json.NewDecoder(bytes.NewReader(object))
	open, err := dec.Token()
	if err != nil {
		return nil, fmt.Errorf("read INFO: %w", err)
	}
	if open != json.Delim('{') {
		return nil, fmt.Errorf("read INFO: %v where an object was expected", open)
	}
	var members []member
	start := dec.InputOffset()
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, fmt.Errorf("read INFO: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("read INFO: %w", err)
		}
		end := dec.InputOffset()
		text := object[start:end]
		if n := len(members); n > 0 {
			// Only white space stands between a value and the comma after it.
			comma := bytes.IndexByte(text, ',')
			members[n-1].text = object[start-int64(len(members[n-1].text)) : start+int64(comma)]
			text = text[comma+1:]
		}
		name, _ := key.(string)
		members = append(members, member{name: name, text: text})
		start = end
	}
	if _, err := dec.Token(); err != nil {
		return nil, fmt.Errorf("read INFO: %w", err)
	}
	end := dec.InputOffset()
	if end != int64(len(object)) {
		return nil, fmt.Errorf("read INFO: %q follows the object", excerpt(object[end:]))
	}
	if n := len(members); n > 0 {
		members[n-1].text = object[start-int64(len(members[n-1].text)) : end-1]
	}
	return members, nil
}

// forClients returns the object of an INFO as clients of the proxy get it: with the proxy's own TLS, and without
// what would lead them past it. One that cannot be read is the client's to judge.
func (p *Proxy) forClients(object []byte) []byte {
	stripped, err := stripMembers(object, []string{"connect_urls", "ws_connect_urls", "tls_required", "tls_verify", "tls_available"})
	if err != nil {
		return object
	}
	if p.options.ServerTLS != nil {
		stripped = withMember(stripped, `"tls_required":true`, behindTLS)
		if p.options.ServerTLS.ClientAuth >= tls.RequireAnyClientCert {
			stripped = withMember(stripped, `"tls_verify":true`, behindTLS)
		}
	}
	if own := p.URL(); p.options.OwnURLs && own != "" {
		url, err := json.Marshal(strings.TrimPrefix(own, "nats://"))
		if err == nil {
			stripped = withMember(stripped, `"connect_urls":[`+string(url)+`]`, behindURLs)
		}
	}
	return stripped
}

// The members that servers write behind those that the proxy puts in.
var (
	behindLDM  = []string{"compression", "connect_info", "remote_account", "acc_is_sys", "api_lvl", "import", "export", "xkey"}
	behindURLs = append([]string{"ws_connect_urls", "ldm"}, behindLDM...)
	behindTLS  = append([]string{
		"max_payload", "jetstream", "ip", "client_id", "client_ip", "nonce", "cluster", "cluster_dynamic", "domain", "connect_urls",
	}, behindURLs...)
)

// withMember puts a member into an object, before the first of those that stand behind it.
func withMember(object []byte, text string, behind []string) []byte {
	members, err := splitObject(object)
	if err != nil {
		return object
	}
	at := slices.IndexFunc(members, func(m member) bool { return slices.Contains(behind, m.name) })
	if at < 0 {
		at = len(members)
	}
	members = slices.Insert(members, at, member{text: []byte(text)})
	var texts [][]byte
	for _, m := range members {
		texts = append(texts, m.text)
	}
	return append(append([]byte{'{'}, bytes.Join(texts, []byte{','})...), '}')
}
