package readerprom_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/an-open-reader/nats-reader/chaos/readertest"
	"github.com/an-open-reader/nats-reader/reader"
	"github.com/an-open-reader/nats-reader/reader/readerprom"
)

// A program with one reader, its metrics and its probes.
func Example() {
	ctx := context.Background()
	err := readertest.Run(ctx, readertest.Options{}, func(bed *readertest.Bed) { // a server for the example
		bed.Stream("ORDERS", "orders.>")
		bed.Publish(3)
		js, err := jetstream.New(bed.Connect())
		if err != nil {
			log.Fatal(err)
		}

		metrics := readerprom.New(readerprom.Options{})
		registry := prometheus.NewRegistry()
		registry.MustRegister(metrics)
		mux := http.NewServeMux()
		mux.Handle("/metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
		mux.Handle("/readyz", metrics.Readyz())
		mux.Handle("/livez", metrics.Livez())

		cfg, err := metrics.Observe("orders", reader.Config{Stream: "ORDERS"})
		if err != nil {
			log.Fatal(err)
		}
		r, err := reader.Open(ctx, js, cfg)
		if err != nil {
			log.Fatal(err)
		}
		defer r.Close(ctx)
		if err := metrics.Add("orders", r); err != nil {
			log.Fatal(err)
		}
		defer metrics.Remove("orders") // it is closed on purpose
		for range 3 {
			if _, err := r.Next(ctx); err != nil {
				log.Fatal(err)
			}
		}

		server := httptest.NewServer(mux)
		defer server.Close()
		for line := range strings.Lines(get(server.URL + "/metrics")) {
			if strings.HasPrefix(line, "nats_reader_delivered_messages_total") {
				fmt.Print(line)
			}
		}
		state, _, _ := strings.Cut(get(server.URL+"/readyz"), ": orders: ") // then reading, or idle
		fmt.Println(state)
	})
	if err != nil {
		log.Fatal(err)
	}
	// Output:
	// nats_reader_delivered_messages_total{reader="orders",stream="ORDERS"} 3
	// ready
}

func get(url string) string {
	resp, err := http.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		log.Fatal(err)
	}
	return string(body)
}
