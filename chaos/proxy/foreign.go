package proxy

import (
	"bytes"
	"errors"
	"regexp"
)

// maxGreeting bounds what is read of a client that begins with HTTP before it is judged.
const maxGreeting = 16 << 10

var (
	httpRequest = regexp.MustCompile(`^[A-Z]{3,7} [^ \r\n]+ HTTP/1\.[01]\r?\n`)
	webSocket   = regexp.MustCompile(`(?i)\nupgrade:[ \t]*websocket[ \t]*\r?\n`)
)

// What a client of another protocol begins with.
var (
	errWebSocket = errors.New("WebSocket is not spoken by this proxy: connect with nats:// or tls://")
	errHTTP      = errors.New("the client speaks HTTP: this port is for NATS clients, and an HTTP control has one of its own")
	errTLS       = errors.New("the client speaks TLS and this proxy none: connect with nats://, or give Options.ServerTLS.Certificates, " +
		"and Options.ServerTLSFirst for clients that do TLS first")
)

// foreign recognises another protocol in the first bytes of a client, which are no frame. It returns errMore while it
// takes more of them to tell, and why when they are of none that it knows.
func foreign(b []byte, why error) error {
	get := []byte("GET ")
	switch {
	case len(b) > 2 && b[0] == 0x16 && b[1] == 3: // a handshake record
		return errTLS
	case len(b) < len(get) && bytes.HasPrefix(get, b):
		return errMore
	case !bytes.HasPrefix(b, get):
		if httpRequest.Match(b) {
			return errHTTP
		}
		return why
	case bytes.IndexByte(b, '\n') >= 0 && !httpRequest.Match(b):
		return why
	case webSocket.Match(b):
		return errWebSocket
	case bytes.Contains(b, []byte("\r\n\r\n")):
		return errHTTP
	case len(b) < maxGreeting:
		return errMore
	default:
		return why
	}
}

// refuseForeign ends a connection whose client would not understand a server.
func (f *flow) refuseForeign(why error) {
	f.c.refuse(why.Error())
	f.discard, f.opaque = true, true
	f.r, f.run = f.w, f.w
	f.c.sayRefusal()
}
