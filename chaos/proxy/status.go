package proxy

import "bytes"

const headerLine = "NATS/1.0"

// statusOf reads the status of a header block: `NATS/1.0 409 Consumer Deleted` gives 409 and its text.
// A block without a status gives 0.
func statusOf(headers []byte) (code int, text []byte) {
	if len(headers) < len(headerLine) || string(headers[:len(headerLine)]) != headerLine {
		return 0, nil
	}
	rest := headers[len(headerLine):]
	if end := bytes.IndexByte(rest, '\r'); end >= 0 {
		rest = rest[:end]
	}
	rest = bytes.Trim(rest, " \t")
	if len(rest) < 3 {
		return 0, nil
	}
	code, ok := number(rest[:3])
	if !ok {
		return 0, nil
	}
	return code, bytes.TrimLeft(rest[3:], " \t")
}
