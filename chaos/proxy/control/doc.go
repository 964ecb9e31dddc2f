// Package control lets programs in any language put faults into force on a running proxy and take them
// out again, over HTTP with JSON, in the shape of toxiproxy's API.
//
//	GET    /proxies       what is proxied, and which faults are in force
//	POST   /faults        {"fault":"drop-message(nth=3)","for":"10s"} puts one into force and gives its id
//	DELETE /faults/{id}   takes it out again
//	POST   /reset         takes all out
//	GET    /firings       what the faults did; ?fault_id=3&limit=100 chooses
//	GET    /version
//
// Every answer is a JSON object with a schema field. An error is one clear line and, where it helps, a hint:
//
//	{"schema":"nats-reader/error/v1","status":400,"error":"fault \"drop-mesage\": no such fault","hint":"did you mean drop-message?"}
//
// What must stay true:
//
//   - Only a Control that has a token listens on an address that other machines reach.
//   - Where there is a token, a request without it does nothing and learns nothing.
//   - Without a token no web page that happens to be open in a browser can act: requests that a browser
//     sends from another origin, and those to a name that is no address, are refused.
//   - A fault with a duration ends by itself, whatever becomes of the client that asked for it.
//   - Ids begin with 1 in each run of a control: a request with the Nats-Reader-Run header of an earlier answer is
//     refused (410) by a proxy that was started since, so that nobody's fault is taken for another.
//   - Close leaves no fault in force, no connection and no goroutine.
package control
