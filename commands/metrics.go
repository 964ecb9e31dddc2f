package commands

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/urfave/cli/v2"

	"github.com/an-open-reader/nats-reader/reader/readerprom"
)

const flagMetrics = "metrics"

// Bounds of the HTTP of metrics: a client that is slow, or says nothing, holds nothing up.
const (
	metricsHeader  = 5 * time.Second
	metricsRequest = 10 * time.Second
	metricsAnswer  = 30 * time.Second
	metricsIdle    = 2 * time.Minute
	metricsEnd     = 2 * time.Second // for what is under way at the end
	metricsAtOnce  = 8               // scrapes under way
)

// loopback is where a port without a host is.
const loopback = "127.0.0.1"

func metricsFlag() cli.Flag {
	return &cli.StringFlag{Name: flagMetrics, Usage: "`ADDRESS` of /metrics, /readyz and /livez; :PORT is that of " + loopback, DefaultText: "none"}
}

// metrics is what --metrics shows while a command runs; nil: it was not given. Every method
// may be called on nil, and does nothing there.
type metrics struct {
	readers  *readerprom.Collector
	runs     *runMetrics
	registry *prometheus.Registry
}

// metricsOf begins to serve metrics where the command line asks for them. end is to be called
// at the end of the command, and returns when nothing of it is left.
func (p *program) metricsOf(ctx context.Context, c *cli.Context) (m *metrics, end func(), err error) {
	if !c.IsSet(flagMetrics) {
		return nil, func() {}, nil
	}
	address, err := metricsAddress(c.String(flagMetrics))
	if err != nil {
		return nil, nil, err
	}
	m = newMetrics(p.version)
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, nil, cannotListen(flagMetrics, address, err)
	}
	at := listener.Addr().String()
	p.note("metrics at http://%s/metrics, with /readyz and /livez", at)
	if tcp, ok := listener.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		p.note("warning: flag --%s: whoever reaches %s can read them, without a login", flagMetrics, at)
	}
	return m, m.serve(ctx, listener), nil
}

// metricsAddress reads the value of --metrics. A port alone is that of loopback.
func metricsAddress(text string) (string, error) {
	bad := func(why string) error {
		return usage{problem: fmt.Sprintf("flag --%s: %q is no address: %s", flagMetrics, text, why), hint: "write --" + flagMetrics + " 127.0.0.1:9464, :9464, or port 0 for any free one"}
	}
	address := text
	if !strings.Contains(address, ":") && strings.Trim(address, "0123456789") == "" {
		address = ":" + address
	}
	host, port, err := net.SplitHostPort(address)
	switch n, wrong := strconv.ParseUint(port, 10, 16); {
	case text == "":
		return "", bad("it is empty")
	case err != nil && strings.Contains(err.Error(), "missing port"):
		return "", bad("a port is missing")
	case err != nil:
		return "", bad(strings.TrimPrefix(err.Error(), "address "+address+": "))
	case wrong != nil || strconv.FormatUint(n, 10) != port:
		return "", bad(fmt.Sprintf("%q is no port", port))
	case strings.ContainsAny(host, "/@ \t"):
		return "", bad("a host and a port are all it takes")
	case host == "":
		host = loopback
	}
	return net.JoinHostPort(host, port), nil
}

func newMetrics(version string) *metrics {
	m := &metrics{readers: readerprom.New(readerprom.Options{}), runs: newRunMetrics(), registry: prometheus.NewRegistry()}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "nats_reader_build_info", Help: "Always 1; the labels tell the program.",
		ConstLabels: prometheus.Labels{"version": version, "go": runtime.Version()},
	})
	build.Set(1)
	m.registry.MustRegister(build, m.readers, m.runs, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// handler is all that is served.
func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{EnableOpenMetrics: true, MaxRequestsInFlight: metricsAtOnce, Registry: m.registry}))
	mux.Handle("/readyz", m.readers.Readyz())
	mux.Handle("/livez", m.readers.Livez())
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		io.WriteString(w, "/metrics\n/readyz\n/livez\n") //nolint:errcheck // whoever asked has gone
	})
	return mux
}

// serve answers on a goroutine of its own until end is called, which may be called again.
func (m *metrics) serve(ctx context.Context, l net.Listener) (end func()) {
	server := &http.Server{
		Handler: m.handler(), ReadHeaderTimeout: metricsHeader, ReadTimeout: metricsRequest, WriteTimeout: metricsAnswer,
		IdleTimeout: metricsIdle, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ErrorLog:    log.New(io.Discard, "", 0), // what clients do wrong is told to them; a screen would be spoilt
	}
	var serving sync.WaitGroup
	serving.Go(func() { server.Serve(l) }) //nolint:errcheck // it ends by Shutdown alone
	return func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), metricsEnd)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			server.Close() //nolint:errcheck // what is under way is cut
		}
		serving.Wait()
	}
}
