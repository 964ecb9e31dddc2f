package reader_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"strings"
	"time"

	"github.com/an-open-reader/nats-reader/reader"
)

func ExampleReader_Next() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", StopAtEnd: true})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close(ctx)
	for {
		m, err := r.Next(ctx)
		if errors.Is(err, io.EOF) {
			break // what was in the stream at Open is read
		}
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(m.Data))
	}
	fmt.Println(r.Err())
	// Output:
	// apples
	// pears
	// plums
	// EOF
}

// Messages in batches, for a sink that takes many at a time.
func ExampleReader_NextBatch() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", StopAtEnd: true})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close(ctx)
	batch := make([]reader.Message, 100)
	for {
		n, err := r.NextBatch(ctx, batch) // waits for one, takes what is there
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		for _, m := range batch[:n] {
			fmt.Println(m.Sequence, string(m.Data))
		}
	}
	// Output:
	// 1 apples
	// 2 pears
	// 3 plums
}

func ExampleReader_Messages() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Start: reader.FromSequence(2)})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close(ctx)
	for m, err := range r.Messages(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(string(m.Data))
		if m.NumPending == 0 {
			break // a reader without an end waits for the next message
		}
	}
	// Output:
	// pears
	// plums
}

// A durable reads at least once: what is not acknowledged comes again, to this reader or the next.
func ExampleMessage_Ack() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	read := func(n int) {
		r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Durable: "billing"})
		if err != nil {
			log.Fatal(err)
		}
		defer r.Close(ctx) // the durable stays; what was not handed out goes to others at once
		for range n {
			m, err := r.Next(ctx)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(string(m.Data))
			if err := m.DoubleAck(ctx); err != nil { // Ack does not wait for the server's word
				log.Fatal(err)
			}
		}
	}
	read(2)
	read(1)
	// Output:
	// apples
	// pears
	// plums
}

// A graceful end: nothing more is pulled, what was pulled is handled, the last acknowledgement has arrived.
func ExampleReader_Drain() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	// In a program: signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	signalled, terminate := context.WithCancel(ctx)
	defer terminate()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Durable: "billing"})
	if err != nil {
		log.Fatal(err)
	}
	drained := make(chan error, 1)
	context.AfterFunc(signalled, func() {
		limit, cancel := context.WithTimeout(context.WithoutCancel(signalled), 10*time.Second)
		defer cancel()
		drained <- r.Drain(limit) // the loop below ends by io.EOF
	})
	for m, err := range r.Messages(ctx) { // not signalled: it would end with messages in the buffer
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println("handled", string(m.Data))
		if err := m.DoubleAck(ctx); err != nil {
			log.Fatal(err)
		}
		if m.Sequence == 3 {
			terminate() // the signal comes
		}
	}
	fmt.Println("drained", <-drained, r.Err())
	// Output:
	// handled apples
	// handled pears
	// handled plums
	// drained <nil> EOF
}

// Close ends every waiting call at once and leaves nothing on the server.
func ExampleReader_Close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Start: reader.FromNew()})
	if err != nil {
		log.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := r.Next(ctx)
		waiting <- err
	}()
	if err := r.Close(ctx); err != nil { // it says what is left, if anything
		log.Fatal(err)
	}
	fmt.Println(errors.Is(<-waiting, reader.ErrClosed))
	info, err := js.Stream(ctx, "ORDERS")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("consumers:", info.CachedInfo().State.Consumers)
	// Output:
	// true
	// consumers: 0
}

// An operator wants a new consumer; the reader goes on without a gap.
func ExampleReader_Replace() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS"})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close(ctx)
	if err := r.Replace(ctx); err != nil {
		log.Fatal(err) // the session in use is as it was
	}
	m, err := r.Next(ctx)
	fmt.Println(r.Status().Session.Number, string(m.Data), err)
	// Output: 2 apples <nil>
}

// Status is a snapshot for a health check or a page: it asks nobody.
func ExampleReader_Status() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS"})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close(ctx)
	for range 3 {
		if _, err := r.Next(ctx); err != nil {
			log.Fatal(err)
		}
	}
	s := r.Status()
	healthy := s.State != reader.StateRecovering && s.State != reader.StateDisconnected
	fmt.Println("delivered", s.Delivered, "pending", s.Pending, "missed", s.Missed, "healthy", healthy)
	// Output: delivered 3 pending 0 missed 0 healthy true
}

// Every event of a reader as a line of slog.
func ExampleLogObserver() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	js, stop := exampleStream(ctx)
	defer stop()

	var lines bytes.Buffer // one goroutine calls an observer
	logger := slog.New(slog.NewTextHandler(&lines, nil))
	ended := make(chan struct{})
	observe := reader.LogObserver(logger)
	r, err := reader.Open(ctx, js, reader.Config{Stream: "ORDERS", Observer: func(e reader.Event) {
		observe(e)
		if e.Kind == "closed" {
			close(ended)
		}
	}})
	if err != nil {
		log.Fatal(err)
	}
	if err := r.Close(ctx); err != nil {
		log.Fatal(err)
	}
	<-ended
	fmt.Println(strings.Contains(lines.String(), "session_opened"), strings.Contains(lines.String(), "level=INFO"))
	// Output: true true
}
