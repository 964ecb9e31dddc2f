package proxy

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBlackHole(t *testing.T) {
	for _, c := range []struct{ fault, up, down string }{
		{"black-hole", "", ""},
		{"black-hole(direction=up)", "", "PONG\r\n"},
		{"black-hole(direction=down)", "PING\r\n", ""},
		{"black-hole(conn=rea*)", "", ""},
		{"black-hole(conn=writer)", "PING\r\n", "PONG\r\n"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := through(t, Options{})
				defer e.close()
				e.send(e.client, "CONNECT {\"name\":\"reader\"}\r\n")
				e.got(e.server)
				undo := e.apply(c.fault)
				e.send(e.client, "PING\r\n")
				e.send(e.server, "PONG\r\n")
				e.want(e.server, c.up)
				e.want(e.client, c.down)
				undo()
				undo()
				e.want(e.server, "PING\r\n"[len(c.up):])
				e.want(e.client, "PONG\r\n"[len(c.down):])
				e.send(e.client, "PING\r\n")
				e.want(e.server, "PING\r\n")
			})
		})
	}
}

// A client that tells a name the fault asks for gets no byte further.
func TestBlackHoleForANameThatComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		undo := e.apply("black-hole(conn=reader)")
		e.send(e.server, "INFO {}\r\n")
		e.want(e.client, "INFO {}\r\n")
		e.send(e.client, "CONNECT {\"name\":\"reader\"}\r\nPING\r\n")
		e.want(e.server, "")
		if f := e.p.Firings(); len(f) != 1 || f[0].Frame.Client != "reader" {
			t.Errorf("firings %+v", f)
		}
		undo()
		e.want(e.server, "CONNECT {\"name\":\"reader\"}\r\nPING\r\n")
	})
}

// A connection that ends within a frame gets no other frame in its place.
func TestEndWithinAFrame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.apply("drop-message(last=1m)")
		e.send(e.server, delivery(1, "held"))
		e.send(e.server, "MSG other 2 10\r\n0123")
		e.server.CloseWrite()
		got, err := io.ReadAll(e.client)
		if err != nil || string(got) != "MSG other 2 10\r\n0123" {
			t.Fatalf("arrived %q, %v", got, err)
		}
	})
}

// The bytes of a black hole wait with the sender, in bounded memory.
func TestBlackHoleReadsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.apply("black-hole(direction=down,for=1m)")
		if err := e.server.SetWriteDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		sent := 0
		for {
			n, err := e.server.Write([]byte(delivery(1, strings.Repeat("z", 60<<10))))
			sent += n
			if err != nil {
				break
			}
		}
		if sent > pipeBuffer+2*fullBuffer {
			t.Fatalf("the proxy took %d bytes while nothing moves", sent)
		}
		time.Sleep(time.Minute)
		e.server.CloseWrite()
		got, err := io.ReadAll(e.client)
		if err != nil || len(got) != sent {
			t.Fatalf("%d of %d bytes arrived after the end (%v)", len(got), sent, err)
		}
	})
}

func TestCutEndsBothSidesInOrder(t *testing.T) {
	for _, while := range []string{"idle", "within a payload", "in a black hole", "with a client that does not read"} {
		t.Run(while, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := through(t, Options{})
				defer e.close()
				switch while {
				case "within a payload":
					e.send(e.server, "MSG a 1 10\r\n0123")
				case "in a black hole":
					e.apply("black-hole")
				case "with a client that does not read":
					go e.server.Write(make([]byte, 4*pipeBuffer))
					synctest.Wait()
				}
				e.apply("cut")
				for _, end := range []*pipeEnd{e.client, e.server} {
					if _, err := io.Copy(io.Discard, end); err != nil {
						t.Fatalf("end with %v, want EOF", err)
					}
				}
				time.Sleep(2 * linger)
				if n := e.p.Traffic().Connections; n != 0 {
					t.Errorf("%d connections are left", n)
				}
				if f := e.p.Firings(); f[len(f)-1].Fault != "cut" || f[len(f)-1].Frame.Conn != 1 {
					t.Errorf("firings %+v", f)
				}
			})
		})
	}
}

func TestHalfOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := through(t, Options{})
		defer e.close()
		e.send(e.client, "PUB a 5\r\n01")
		e.got(e.server)
		undo := e.apply("half-open")
		if _, err := io.Copy(io.Discard, e.client); err != nil {
			t.Fatalf("the client's end: %v, want EOF", err)
		}
		e.client.Close()
		for range 20 { // more than every buffer between
			e.send(e.server, delivery(1, strings.Repeat("z", 60<<10)))
		}
		e.want(e.server, "")
		time.Sleep(time.Hour)
		e.send(e.server, "PING\r\n")
		undo()
		if _, err := io.Copy(io.Discard, e.server); err != nil {
			t.Fatalf("the server's end: %v, want EOF", err)
		}
	})
}

func TestEndsPropagate(t *testing.T) {
	t.Run("server", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := through(t, Options{})
			defer e.close()
			e.send(e.server, "-ERR 'Authorization Violation'\r\n")
			e.server.Close()
			got, err := io.ReadAll(e.client)
			if err != nil || string(got) != "-ERR 'Authorization Violation'\r\n" {
				t.Fatalf("the client reads %q, %v", got, err)
			}
			e.client.Close()
			synctest.Wait()
			if n := e.p.Traffic().Connections; n != 0 {
				t.Errorf("%d connections are left", n)
			}
		})
	})
	t.Run("client", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := through(t, Options{})
			defer e.close()
			e.send(e.client, "PUB a 1\r\nx\r\nPUB b 2\r\nx")
			e.client.Close()
			got, err := io.ReadAll(e.server)
			if err != nil || string(got) != "PUB a 1\r\nx\r\nPUB b 2\r\nx" {
				t.Fatalf("the server reads %q, %v", got, err)
			}
			e.server.Close()
			synctest.Wait()
			if n := e.p.Traffic().Connections; n != 0 {
				t.Errorf("%d connections are left", n)
			}
		})
	})
	t.Run("proxy", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			e := through(t, Options{})
			e.apply("black-hole")
			e.close()
			e.close()
			if _, err := io.ReadAll(e.client); err != nil {
				t.Fatal(err)
			}
			if _, err := e.p.Apply(Fault{Name: "cut"}); !errors.Is(err, ErrClosed) {
				t.Errorf("Apply after Close: %v", err)
			}
			if _, err := e.p.Listen("127.0.0.1:0"); !errors.Is(err, ErrClosed) {
				t.Errorf("Listen after Close: %v", err)
			}
			if _, err := e.p.Dialer().Dial("tcp", "x"); !errors.Is(err, ErrClosed) {
				t.Errorf("Dial after Close: %v", err)
			}
		})
	})
}
