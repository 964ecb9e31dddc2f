package proxy

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func pipes() (*pipeEnd, *pipeEnd) { return newPipe(pipeAddr("a"), pipeAddr("b")) }

func TestPipeCarriesEverything(t *testing.T) {
	a, b := pipes()
	defer a.Close()
	r := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 3<<20)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	go func() {
		for _, chunk := range chunked(data, rand.New(rand.NewPCG(3, 4)), 300<<10) {
			if _, err := a.Write(chunk); err != nil {
				t.Error(err)
			}
		}
		a.CloseWrite()
	}()
	var got []byte
	buf := make([]byte, 200<<10)
	for {
		n, err := b.Read(buf[:1+r.IntN(len(buf)-1)])
		got = append(got, buf[:n]...)
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got, data) {
		t.Fatalf("%d bytes read are not the %d written", len(got), len(data))
	}
	if _, err := b.Write([]byte("x")); err != nil {
		t.Errorf("the other direction: %v", err)
	}
}

func TestPipeBuffersInBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipes()
		a.SetWriteDeadline(time.Now().Add(time.Second))
		n, err := a.Write(make([]byte, 2*pipeBuffer))
		if n != pipeBuffer || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("wrote %d: %v; want %d and a deadline", n, err, pipeBuffer)
		}
		a.SetWriteDeadline(time.Time{})
		done := make(chan error, 1)
		go func() { _, err := a.Write([]byte("more")); done <- err }()
		synctest.Wait()
		if n, err := b.Read(make([]byte, pipeBuffer)); n == 0 || err != nil {
			t.Fatal(n, err)
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	})
}

func TestPipeDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipes()
		read := func() <-chan error {
			done := make(chan error, 1)
			go func() { _, err := a.Read(make([]byte, 1)); done <- err }()
			synctest.Wait()
			return done
		}
		start := time.Now()
		a.SetDeadline(time.Now().Add(3 * time.Second))
		err := <-read()
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(start) != 3*time.Second {
			t.Fatalf("%v after %v, want a timeout after 3s", err, time.Since(start))
		}
		if err := <-read(); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatalf("after the deadline: %v", err)
		}
		a.SetReadDeadline(time.Time{})
		waiting := read()
		a.SetReadDeadline(time.Unix(1, 0)) // wakes a reader
		if err := <-waiting; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		a.SetReadDeadline(time.Now().Add(time.Second))
		a.SetReadDeadline(time.Now().Add(time.Hour)) // the first no longer counts
		waiting = read()
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if _, err := b.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if err := <-waiting; err != nil {
			t.Fatal(err)
		}
		a.Close()
		b.Close()
	})
}

func TestPipeEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipes()
		a.Write([]byte("last words"))
		blocked := make(chan error, 1)
		go func() { _, err := b.Write(make([]byte, 2*pipeBuffer)); blocked <- err }()
		synctest.Wait()
		a.Close()
		a.Close()
		if err := <-blocked; !errors.Is(err, syscall.EPIPE) {
			t.Errorf("a write to a closed peer: %v", err)
		}
		if got, err := io.ReadAll(b); err != nil || string(got) != "last words" {
			t.Errorf("read %q, %v", got, err)
		}
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a read after Close: %v", err)
		}
		if _, err := a.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write after Close: %v", err)
		}
		if n, err := b.Write(nil); n != 0 || err == nil {
			t.Errorf("an empty write to a closed peer: %d, %v", n, err)
		}
		b.Close()
	})
}
