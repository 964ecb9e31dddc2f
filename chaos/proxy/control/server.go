package control

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"
)

// ErrTokenNeeded is returned by Listen for an address that other machines reach, where there is no token.
var ErrTokenNeeded = errors.New("an address that is not loopback needs a token")

// The limits of one connection.
const (
	headTimeout  = 5 * time.Second
	readTimeout  = 10 * time.Second
	writeTimeout = 30 * time.Second
	idleTimeout  = time.Minute
	maxHead      = 16 << 10
)

// Server is a Control that listens.
type Server struct {
	listener net.Listener
	http     *http.Server
	serving  sync.WaitGroup
}

// Listen serves the API on a TCP address, such as 127.0.0.1:8474 (port 0: any free one). Every address but
// a loopback one needs Options.Token: ErrTokenNeeded.
func (c *Control) Listen(ctx context.Context, addr string) (*Server, error) {
	if c.options.Token == "" {
		if err := onlyLoopback(addr); err != nil {
			return nil, fmt.Errorf("control: listen on %s: %w", addr, err)
		}
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("control: listen on %s: %w", addr, err)
	}
	s := &Server{listener: l, http: &http.Server{
		Handler: c, ReadHeaderTimeout: headTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: idleTimeout, MaxHeaderBytes: maxHead, ErrorLog: log.New(io.Discard, "", 0),
	}}
	s.serving.Go(func() { _ = s.http.Serve(l) }) // ends with Close
	return s, nil
}

// onlyLoopback refuses an address that is not the loopback one for certain. A name other than localhost may
// point anywhere.
func onlyLoopback(addr string) error {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.Unmap().IsLoopback() {
		return nil
	}
	return ErrTokenNeeded
}

// URL is where the API answers, such as http://127.0.0.1:8474.
func (s *Server) URL() string { return "http://" + s.listener.Addr().String() }

// Close stops listening, lets requests under way end until ctx does, and leaves no connection and no
// goroutine. Faults stay in force: Control.Close ends them.
func (s *Server) Close(ctx context.Context) error {
	err := s.http.Shutdown(ctx)
	if err != nil {
		err = errors.Join(err, s.http.Close())
	}
	s.serving.Wait()
	return err
}
