package plan

import "time"

// parameterDraws draw the parameters of one fault. What has no line here is drawn with
// the catalogue's defaults. They are those that a reader can heal under while they last,
// or after it.
var parameterDraws = map[string]func(l lots, p map[string]string){
	"swallow-sub":       someFrames,
	"api-timeout":       requests,
	"lose-reply":        requests,
	"api-error":         func(l lots, p map[string]string) { requests(l, p); p["err_code"] = l.one("err_code", apiErrors...) },
	"mute-heartbeats":   someFrames,
	"duplicate-message": someFrames,
	"delay-api": func(l lots, p map[string]string) {
		requests(l, p)
		p["delay"] = l.between("delay", 100*time.Millisecond, 3*time.Second).String()
		p["what"] = l.one("what", "answer", "request")
	},
	"drop-message": func(l lots, p map[string]string) {
		p["nth"], p["limit"] = l.number("nth", 1, 20), "1"
	},
	"reorder-messages": func(l lots, p map[string]string) {
		someFrames(l, p)
		p["behind"] = l.number("behind", 1, 10)
	},
	"drop-status": func(l lots, p map[string]string) {
		p["code"] = l.one("code", "100", "404", "408", "409", "503")
	},
	"forge-status": func(l lots, p map[string]string) {
		p["code"] = l.one("code", "400", "404", "408", "409", "412", "423", "503")
		if p["code"] == "409" {
			p["text"] = l.one("text", "Consumer Deleted", "Leadership Change", "Server Shutdown", "Batch Completed", "Exceeded MaxWaiting")
		}
		p["on"], p["limit"] = l.one("on", "waiting", "pulls"), l.number("limit", 1, 3)
	},
	"permission-denied": func(l lots, p map[string]string) {
		p["subject"] = l.one("subject", "$JS.API.>", "$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.CONSUMER.CREATE.>", "$JS.API.STREAM.INFO.>")
	},
	"black-hole": func(l lots, p map[string]string) { p["direction"] = l.one("direction", "up", "down", "both") },
	"latency": func(l lots, p map[string]string) {
		delay := l.between("delay", 10*time.Millisecond, 500*time.Millisecond)
		p["delay"], p["jitter"] = delay.String(), (delay / 4).String()
	},
	"bandwidth": func(l lots, p map[string]string) { p["rate"] = l.number("rate", 50_000, 1_000_000) },
	"stop-node": func(l lots, p map[string]string) { p["lame-duck"] = l.one("lame-duck", "true", "false") },
	"partition": func(l lots, p map[string]string) { p["how"] = l.one("how", "both", "in", "out", "reset") },
	"revoke-permission": func(l lots, p map[string]string) {
		p["subject"] = l.one("subject", "$JS.API.CONSUMER.MSG.NEXT.>", "$JS.API.CONSUMER.CREATE.>", "$JS.API.CONSUMER.DELETE.>", "$JS.API.>")
	},
}

// apiErrors are forged answers that no reader may take for the end: no quorum, no slot,
// consumer gone, insufficient resources.
var apiErrors = []string{"10008", "10026", "10014", "10023"}

// someFrames lets a fault act on some of the frames that it could act on.
func someFrames(l lots, p map[string]string) {
	switch l.below("frames", 4) {
	case 0:
		p["nth"] = l.number("nth", 1, 20)
	case 1:
		p["every"] = l.number("every", 2, 10)
	case 2:
		p["limit"] = l.number("limit", 1, 5)
	}
}

// requests lets a fault act on some requests of the JetStream API.
func requests(l lots, p map[string]string) {
	if subject := l.one("subject", "", "", "CONSUMER.>", "CONSUMER.CREATE.>", "CONSUMER.INFO.>", "CONSUMER.DELETE.>"); subject != "" {
		p["subject"] = subject
	}
}
