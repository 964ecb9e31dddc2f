package proxy

import (
	"bytes"
	"strconv"
)

const headerLine = "NATS/1.0"

// The words of the statuses that servers send to pulls.
const (
	heartbeatCode   = 100
	heartbeatText   = "Idle Heartbeat"
	lastConsumer    = "Nats-Last-Consumer"
	lastStream      = "Nats-Last-Stream"
	pendingMessages = "Nats-Pending-Messages"
	pendingBytes    = "Nats-Pending-Bytes"
	deadSubject     = "Nats-Subject"
)

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

// usualText returns what servers mostly say with a code to a pull.
func usualText(code int) string {
	return map[int]string{
		heartbeatCode: heartbeatText, 400: "Bad Request", 404: "No Messages", 408: "Request Timeout",
		409: "Consumer Deleted", 412: "Required Api Level", 423: "Nats-Wrong-Pin-Id",
	}[code]
}

// statusLine is the first line of a block.
func statusLine(code int, text string) string {
	if text == "" {
		return headerLine + " " + strconv.Itoa(code) + "\r\n"
	}
	return headerLine + " " + strconv.Itoa(code) + " " + text + "\r\n"
}

// statusHeaders returns the header lines that a server of this version sends with a status to a pull. newer
// compares its version.
func statusHeaders(code int, text string, p *waitingPull, newer func(major, minor int) bool) string {
	line := func(name, value string) string { return name + ": " + value + "\r\n" }
	switch {
	case code == heartbeatCode && text == heartbeatText:
		return line(lastConsumer, strconv.FormatUint(p.consumer, 10)) + line(lastStream, strconv.FormatUint(p.stream, 10))
	case code == 503 && newer(2, 12):
		return line(deadSubject, p.subject)
	case code == 408 && (text == "Request Timeout" || text == "Interest Expired"),
		code == 409 && (text == "Batch Completed" || text == "Message Size Exceeds MaxBytes" || text == "Server Shutdown"),
		code == 423 && text == "Nats-Wrong-Pin-Id" && newer(2, 12):
		return line(pendingMessages, strconv.Itoa(p.messages)) + line(pendingBytes, strconv.Itoa(p.bytes))
	default:
		return ""
	}
}
