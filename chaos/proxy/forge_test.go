package proxy_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/an-open-reader/nats-reader/chaos/lab"
	"github.com/an-open-reader/nats-reader/chaos/proxy"
)

// version returns whether the server in use is of at least major.minor.
func (b *bed) newer(major, minor int) bool {
	b.t.Helper()
	version, err := b.server.Version(b.ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	var a, m int
	if _, err := fmt.Sscanf(version, "%d.%d.", &a, &m); err != nil {
		b.t.Fatalf("version %q: %v", version, err)
	}
	return a > major || (a == major && m >= minor)
}

// The errors that api-error knows are those of the server.
func TestKnownFailures(t *testing.T) {
	real := make(map[int]*server.ApiError)
	for _, e := range server.ApiErrors {
		real[int(e.ErrCode)] = e
	}
	for errCode, known := range proxy.KnownFailures() {
		e := real[errCode]
		if e == nil || e.Code != known.Code || e.Description != known.Description {
			t.Errorf("%+v; the server has %+v", known, e)
		}
	}
}

// A forged error is byte for byte the one that the server gives to the same request.
func TestForgedErrors(t *testing.T) {
	b := newBedWith(t, lab.Options{Config: `
		accounts {
			WITH { jetstream: enabled, users: [ { user: with, password: x } ] }
			WITHOUT { users: [ { user: without, password: x } ] }
		}
		no_auth_user: with`})
	with := b.raw()
	without := rawVia(t, strings.Replace(plainConnect, "{", `{"user":"without","pass":"x",`, 1))(b.proxy.Dialer().Dial("", ""))
	with.request("$JS.API.STREAM.CREATE.THERE", `{"name":"THERE","subjects":["there"]}`)
	both := func(c *raw, operation, body, fault string) {
		t.Helper()
		real := c.request("$JS.API."+operation, body)
		undo := b.apply(fault)
		defer undo()
		before := len(b.proxy.Firings())
		if forged := c.request("$JS.API."+operation, body); forged != real {
			t.Errorf("%s: the server says\n%q\nforged is\n%q", operation, real, forged)
		}
		firings := b.proxy.Firings()[before:]
		if len(firings) != 1 || firings[0].Frame.Subject != "$JS.API."+operation || firings[0].Frame.Fate != proxy.Dropped {
			t.Errorf("%s: fired %+v", operation, firings)
		}
	}
	create := `{"stream_name":"S","config":{"name":"C","ack_policy":"none","filter_subject":"f.x"}}`
	absent := map[string]string{
		"STREAM.INFO.S": "", "STREAM.DELETE.S": "", "STREAM.PURGE.S": "", "STREAM.MSG.DELETE.S": `{"seq":1}`,
		"STREAM.MSG.GET.S": `{"seq":1}`, "CONSUMER.CREATE.S": create, "CONSUMER.CREATE.S.C.f.x": create,
		"CONSUMER.DURABLE.CREATE.S.C": `{"stream_name":"S","config":{"durable_name":"C","ack_policy":"none"}}`, "CONSUMER.NAMES.S": "", "CONSUMER.LIST.S": "", "CONSUMER.INFO.S.C": "", "CONSUMER.DELETE.S.C": "",
	}
	if b.newer(2, 11) {
		absent["CONSUMER.PAUSE.S.C"] = ""
		absent["CONSUMER.UNPIN.S.C"] = `{"group":"g"}`
	}
	for operation, body := range absent {
		both(with, operation, body, "api-error(err_code=10059)")
	}
	for operation, body := range absent {
		both(without, operation, body, "api-error(err_code=10039,subject=>)")
	}
	for _, operation := range []string{
		"INFO", "STREAM.CREATE.S", "STREAM.UPDATE.S", "STREAM.NAMES", "STREAM.LIST", "STREAM.SNAPSHOT.S", "STREAM.RESTORE.S",
	} {
		both(without, operation, "", "api-error(err_code=10039)")
	}
	for _, operation := range []string{"STREAM.PEER.REMOVE.S", "STREAM.LEADER.STEPDOWN.S", "CONSUMER.LEADER.STEPDOWN.S.C"} {
		both(with, operation, "", "api-error(err_code=10010)")
	}
	both(with, "CONSUMER.INFO.THERE.C", "", "api-error(err_code=10014,subject=CONSUMER.INFO.*.*)")
	// asIs compares a refusal whose text holds what only the server knows.
	asIs := func(operation, body string) {
		t.Helper()
		_, answer, _ := strings.Cut(with.request("$JS.API."+operation, body), "\r\n")
		var refused struct {
			Error proxy.Failure `json:"error"`
		}
		if err := json.Unmarshal([]byte(answer), &refused); err != nil || refused.Error.ErrCode == 0 {
			t.Fatalf("%q: %v", answer, err)
		}
		both(with, operation, body, fmt.Sprintf("api-error(err_code=%d,code=%d,text=%q)",
			refused.Error.ErrCode, refused.Error.Code, refused.Error.Description))
	}
	asIs("STREAM.UPDATE.S", `{"name":"a.b"}`) // it holds a letter that JSON escapes
	asIs("CONSUMER.CREATE.THERE.BAD", `{"stream_name":`)
	if b.newer(2, 14) { // an older one does not answer
		with.request("$JS.API.CONSUMER.CREATE.THERE.NEW", `{"stream_name":"THERE","config":{"name":"NEW","ack_policy":"none","deliver_policy":"new"}}`)
		asIs("CONSUMER.RESET.THERE.NEW", `{"seq":1}`)
	}
}

// A forged status is byte for byte the one that the server gives to the same pull.
func TestForgedStatuses(t *testing.T) {
	b := newBed(t)
	js := b.stream(b.direct(), 0)
	c := b.raw()
	c.send("SUB X.* 1\r\n")
	c.step()
	n := 0
	pull := func(consumer, body string) (reply string) {
		n++
		reply = fmt.Sprintf("X.%d", n)
		c.publish("$JS.API.CONSUMER.MSG.NEXT.ORDERS."+consumer, reply, body)
		return reply
	}
	create := func(name, config string) {
		t.Helper()
		answer := c.request("$JS.API.CONSUMER.CREATE.ORDERS."+name, fmt.Sprintf(
			`{"stream_name":"ORDERS","config":{"name":%q,"ack_policy":"none","inactive_threshold":60000000000,%s}}`, name, config))
		if strings.Contains(answer, `"error"`) {
			t.Fatal(answer)
		}
	}
	remove := func(name string) { c.request("$JS.API.CONSUMER.DELETE.ORDERS."+name, "") }
	same := func(what, real, realReply, forged, forgedReply string) {
		t.Helper()
		if strings.Replace(real, realReply+" ", forgedReply+" ", 1) != forged {
			t.Errorf("%s: the server says\n%q\nforged is\n%q", what, real, forged)
		}
	}
	// answered compares the server's answer to a pull with the one that is forged in its place.
	answered := func(consumer, body, fault string) {
		t.Helper()
		reply := pull(consumer, body)
		real := c.await("HMSG " + reply + " ")
		undo := b.apply(fault)
		defer undo()
		again := pull(consumer, body)
		same(fault, real, reply, c.await("HMSG "+again+" "), again)
	}
	create("empty", `"max_batch":10`)
	answered("empty", `{"batch":1,"no_wait":true}`, "forge-status(code=404,on=pulls)")
	answered("empty", `{"batch":5,"max_bytes":4096,"expires":50000000}`, "forge-status(code=408,on=pulls)")
	answered("empty", `{"batch":11}`, "forge-status(text=Exceeded MaxRequestBatch of 10,on=pulls)")
	answered("empty", `{"batch":1,"idle_heartbeat":1000000000}`, "forge-status(code=400,text=Bad Request - heartbeat value too large,on=pulls)")

	answered("empty", `{"batch":`, "forge-status(code=400,text=Bad Request - unexpected end of JSON input,on=pulls)")

	create("narrow", `"max_expires":5000000000,"max_bytes":1000,"max_waiting":1`)
	answered("narrow", `{"batch":1,"expires":6000000000}`, "forge-status(text=Exceeded MaxRequestExpires of 5s,on=pulls)")
	answered("narrow", `{"batch":1,"expires":1000000000,"max_bytes":5000}`, "forge-status(text=Exceeded MaxRequestMaxBytes of 1000,on=pulls)")
	pull("narrow", `{"batch":1}`)
	answered("narrow", `{"batch":1,"expires":1000000000}`, "forge-status(text=Exceeded MaxWaiting,on=pulls)")

	create("pushed", `"deliver_subject":"pushed.here"`)
	answered("pushed", `{"batch":1,"no_wait":true}`, "forge-status(text=Consumer is push based,on=pulls)")

	b.publish(js, 3)
	create("full", `"deliver_policy":"all"`)
	answered("full", `{"batch":7,"max_bytes":10,"expires":5000000000}`, "forge-status(text=Message Size Exceeds MaxBytes,on=pulls)")

	// What is left is known for a pull that nothing was sent for; else it is told.
	create("first", `"deliver_policy":"all"`)
	const whole = `{"batch":1,"max_bytes":4096,"expires":5000000000}`
	reply := pull("first", whole)
	completed := c.await("HMSG "+reply+" ", " 409 Batch Completed")
	left := completed[strings.Index(completed, "Nats-Pending-Messages"):strings.Index(completed, "\r\n\r\n")]
	undo := b.apply(fmt.Sprintf("forge-status(text=Batch Completed,headers=%q,on=pulls)", strings.ReplaceAll(left, "\r\n", "\n")))
	again := pull("first", whole)
	same("completed", completed, reply, c.await("HMSG "+again+" "), again)
	undo()

	// Heartbeats tell what was delivered before them.
	reply = pull("full", `{"batch":9,"expires":60000000000,"idle_heartbeat":100000000}`)
	c.await("MSG ORDERS.new ", ".3.3.")
	real := c.await("HMSG "+reply+" ", "100 Idle Heartbeat")
	b.apply("mute-heartbeats(sid=1)")
	b.apply("forge-status(code=100)")
	same("heartbeat", real, reply, c.await("HMSG "+reply+" ", "100 Idle Heartbeat"), reply)
	b.proxy.Reset()
	if !strings.Contains(real, "Nats-Last-Consumer: 3\r\nNats-Last-Stream: 3\r\n") {
		t.Errorf("the heartbeat %q is not about the third message", real)
	}

	// One that waits is answered twice: by the proxy, and by the server when it ends.
	b.apply("forge-status")
	forged := c.await("HMSG "+reply+" ", " 409 ")
	c.publish("$JS.API.CONSUMER.DELETE.ORDERS.full", "nobody", "")
	same("deleted", c.await("HMSG "+reply+" ", " 409 "), reply, forged, reply)

	if b.newer(2, 11) {
		create("grouped", `"priority_groups":["g"],"priority_policy":"pinned_client"`)
		answered("grouped", `{"batch":1}`, "forge-status(code=400,text=Bad Request - Priority Group missing,on=pulls)")
		pull("grouped", `{"batch":1,"expires":5000000000,"group":"g"}`)
		b.publish(js, 1)
		c.await("MSG ORDERS.new ") // that pull is pinned
		answered("grouped", `{"batch":3,"expires":5000000000,"group":"g","id":"x"}`, "forge-status(code=423,text=Nats-Pin-Id mismatch,on=pulls)")
	}

	create("gone", `"max_batch":10`)
	remove("gone")
	if b.newer(2, 11) {
		answered("gone", `{"batch":1,"no_wait":true}`, "forge-status(code=503,on=pulls)")
	}

	create("last", `"max_batch":10,"deliver_policy":"new"`)
	reply = pull("last", `{"batch":5,"expires":60000000000}`)
	c.step()
	b.apply("forge-status(text=Server Shutdown)")
	forged = c.await("HMSG " + reply + " ")
	if err := b.server.Term(b.ctx); err != nil {
		t.Fatal(err)
	}
	same("shutdown", c.await("HMSG "+reply+" "), reply, forged, reply)
}

// What is refused is refused in the server's words, to a verbose client too.
func TestForgedViolations(t *testing.T) {
	for _, verbose := range []string{"false", "true"} {
		t.Run("verbose="+verbose, func(t *testing.T) {
			b := newBedWith(t, lab.Options{Config: `
				accounts {
					FREE { jetstream: enabled, users: [ { user: free, password: x } ] }
					BOUND { users: [ { user: bound, password: x, permissions: { publish: { deny: "no.>" }, subscribe: { deny: "no.>" } } } ] }
				}
				no_auth_user: free`})
			dial := func(user string, conn net.Conn, err error) *raw {
				return rawVia(t, strings.NewReplacer("{", fmt.Sprintf(`{"user":%q,"pass":"x",`, user), `"verbose":false`, `"verbose":`+verbose).
					Replace(plainConnect))(conn, err)
			}
			realConn, realErr := net.Dial("tcp", b.proxy.Upstream())
			real := dial("bound", realConn, realErr)
			forgedConn, forgedErr := b.proxy.Dialer().Dial("", "")
			forged := dial("free", forgedConn, forgedErr)
			undo := b.apply("permission-denied(subject=no.>)")
			real.step() // the INFO that newer servers send after CONNECT
			forged.step()
			frames := []string{
				"PUB no.x 1\r\nx\r\n", "PUB no.x reply 1\r\nx\r\n", "HPUB no.y.z 12 13\r\nNATS/1.0\r\n\r\nx\r\n", "SUB no.y 1\r\n",
				"SUB no.y workers 2\r\n", "SUB yes 3\r\n", "PUB yes 1\r\nx\r\n", "UNSUB 3\r\n", "SUB no.* 4\r\n",
			}
			for _, frame := range frames {
				real.send(frame)
				forged.send(frame)
				if r, f := fmt.Sprintf("%q", real.step()), fmt.Sprintf("%q", forged.step()); r != f {
					t.Errorf("%q: the server says\n%s\nforged is\n%s", frame, r, f)
				}
			}
			if n := len(b.proxy.Firings()); n != 6 {
				t.Errorf("%d firings, want 6", n)
			}
			undo()
			forged.send("SUB no.y 9\r\nPUB no.y 1\r\nx\r\n")
			forged.await("MSG no.y 9 1\r\nx\r\n")
		})
	}
}

func TestForgedStaleConnection(t *testing.T) {
	b := newBedWith(t, lab.Options{NoJetStream: true, Config: `ping_interval: "500ms", ping_max: 1`})
	last := func(conn net.Conn, err error) string {
		c := rawVia(t, plainConnect)(conn, err)
		c.send("SUB a 1\r\n")
		all := ""
		for {
			f, err := c.read() // a PING is not answered
			if err != nil {
				return all + "<" + err.Error() + ">"
			}
			if f != "PING\r\n" && !strings.HasPrefix(f, "INFO ") {
				all += f
			}
			if f == "PING\r\n" && conn.RemoteAddr().Network() == "memory" {
				b.apply("stale-connection")
			}
		}
	}
	real := last(net.Dial("tcp", b.proxy.Upstream()))
	forged := last(b.proxy.Dialer().Dial("", ""))
	if real != forged || !strings.Contains(forged, "-ERR 'Stale Connection'\r\n<EOF>") {
		t.Errorf("the server says %q, forged is %q", real, forged)
	}
	if f := b.proxy.Firings(); len(f) != 1 || f[0].Frame.Verb != proxy.ERR || f[0].Frame.Text != "'Stale Connection'" {
		t.Errorf("fired %+v", f)
	}
}
