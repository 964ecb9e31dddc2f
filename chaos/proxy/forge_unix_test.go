//go:build unix

package proxy_test

import (
	"strings"
	"syscall"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/an-open-reader/nats-reader/chaos/lab"
)

// The forged INFO of lame duck mode is the one that the server sends when it is told to go.
func TestForgedLameDuck(t *testing.T) {
	for name, config := range map[string]string{
		"plain": "",
		"user":  "authorization { user: a, password: x }",
	} {
		t.Run(name, func(t *testing.T) {
			b := newBedWith(t, lab.Options{Config: config, ReadyOptions: []nats.Option{nats.UserInfo("a", "x")}})
			connect := strings.Replace(plainConnect, "{", `{"user":"a","pass":"x",`, 1)
			c := rawVia(t, connect)(b.proxy.Dialer().Dial("", ""))
			old := rawVia(t, strings.Replace(connect, `"protocol":1`, `"protocol":0`, 1))(b.proxy.Dialer().Dial("", ""))
			c.step()
			b.apply("lame-duck")
			forged := c.await("INFO {", `"ldm":true`)
			if err := syscall.Kill(b.server.PID(), syscall.SIGUSR2); err != nil {
				t.Fatal(err)
			}
			if real := c.await("INFO {", `"ldm":true`); real != forged {
				t.Errorf("the server says\n%q\nforged is\n%q", real, forged)
			}
			if frames := old.step(); len(frames) != 0 {
				t.Errorf("a client of protocol 0 is told %q", frames)
			}
		})
	}
}
