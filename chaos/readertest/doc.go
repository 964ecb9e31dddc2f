// Package readertest puts a real nats-server and a fault proxy under other people's tests, in five lines:
//
//	bed := readertest.New(t, readertest.Options{})     // server and proxy, gone with the test
//	bed.Stream("ORDERS", "orders.>")                   // a stream on it
//	nc := bed.Connect()                                // the client under test, through the proxy
//	bed.Inject("drop-subscription")                    // a fault of the wire, undone with the test
//	bed.Kill(); bed.Restart()                          // faults of the process
//
// The client under test connects with Connect, or from any language to URL. Direct is a connection past the
// proxy, for what the test itself does: no fault of the wire reaches it.
//
// With Publish and Judge a test also knows whether its client lost, repeated or reordered anything: Publish
// writes payloads that are ids, and Judge compares them with those that the client has seen.
//
// The server is a child process of the test binary, so that Kill, Freeze and Restart are real. That needs
// one line in TestMain, and New says so where it is missing:
//
//	func TestMain(m *testing.M) {
//		lab.Main()
//		os.Exit(m.Run())
//	}
//
// Every method that can fail ends the test with a clear line; none returns an error.
package readertest
