package lab

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/nats-io/nats.go"
)

const (
	// probeTimeout bounds one question to a server that may not answer yet.
	probeTimeout = 2 * time.Second
	// apiInfo is the first JetStream request: about the account.
	apiInfo = "$JS.API.INFO"
	// codeNotEnabled and codeNotEnabledForAccount are final answers: the config
	// wants no JetStream there.
	codeNotEnabled           = 10076
	codeNotEnabledForAccount = 10039
)

// awaitReady returns nil when the server is ready (a node of a cluster: when it
// lets clients in; Cluster.AwaitReady is for the rest), errRunOver when it ended
// before, an error at once when it is up but will never let the lab in, and
// when ctx ends what was still missing.
func (s *Server) awaitReady(ctx context.Context, r *run) error {
	missing := errors.New("no answer on /healthz")
	err := poll(ctx, r, func() (bool, error) {
		if err := s.healthy(ctx); err != nil && s.opts.member == nil {
			missing = err
			return false, nil
		}
		err := s.answers(ctx, s.opts.member == nil)
		if err == nil {
			return true, nil
		}
		missing = err
		if refused(err) {
			return false, fmt.Errorf("the server is up but does not let the lab ask whether it is ready (Options.ReadyOptions): %w", err)
		}
		return false, nil
	})
	if cause := context.Cause(ctx); err != nil && cause != nil && errors.Is(err, cause) {
		return fmt.Errorf("%w: %w; its log: %s", err, missing, s.words(r.mark))
	}
	return err
}

// healthy asks /healthz.
func (s *Server) healthy(ctx context.Context) error {
	_, err := s.monitor(ctx, "/healthz")
	return err
}

// monitor asks a monitoring endpoint; an answer other than 200 is an error
// with its text.
func (s *Server) monitor(ctx context.Context, path string) (json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.MonitorURL()+path, nil)
	if err != nil {
		return nil, err
	}
	// A connection per request: none of them outlives the server or this call.
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, Proxy: nil}}
	answer, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	var body json.RawMessage
	if err := json.NewDecoder(answer.Body).Decode(&body); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s says %s: %s", path, answer.Status, body)
	}
	return body, nil
}

// answers connects as Options.ReadyOptions say and asks for the account's
// JetStream, or just for a PONG where there is none or it is not wanted.
func (s *Server) answers(ctx context.Context, jetStream bool) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	denied := make(chan error, 1)
	options := append([]nats.Option{nats.Name("nats-reader lab: ready?")}, s.opts.ReadyOptions...)
	options = append(options, nats.NoReconnect(), nats.RetryOnFailedConnect(false), nats.Timeout(probeTimeout),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) {
			select {
			case denied <- err:
				cancel() // no answer will come
			default:
			}
		}))
	nc, err := nats.Connect(s.URL(), options...)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer nc.Close()
	if s.opts.NoJetStream || !jetStream {
		return nc.FlushWithContext(ctx)
	}
	answer, err := nc.RequestWithContext(ctx, apiInfo, nil)
	if errors.Is(err, nats.ErrNoResponders) && s.withoutJetStream(ctx) {
		return nil // an amendment has switched it off, and its undo waits for this start
	}
	if err != nil {
		select {
		case err = <-denied:
		default:
		}
		return fmt.Errorf("%s: %w", apiInfo, err)
	}
	return accountReady(answer.Data)
}

// withoutJetStream says whether the server, which lets clients in by now, runs with
// JetStream switched off.
func (s *Server) withoutJetStream(ctx context.Context) bool {
	v, err := s.varz(ctx)
	return err == nil && v.JetStream.Config == nil
}

// accountReady reads the answer to the account request.
func accountReady(data []byte) error {
	var info struct {
		Error *struct {
			Code        int    `json:"code"`
			ErrCode     int    `json:"err_code"`
			Description string `json:"description"`
		} `json:"error"`
	}
	if err := json.Unmarshal(data, &info); err != nil {
		return fmt.Errorf("%s: %w", apiInfo, err)
	}
	if info.Error == nil || info.Error.ErrCode == codeNotEnabled || info.Error.ErrCode == codeNotEnabledForAccount {
		return nil
	}
	return fmt.Errorf("%s: %d/%d %s", apiInfo, info.Error.Code, info.Error.ErrCode, info.Error.Description)
}

// refused says that the server will never answer otherwise: it wants another
// user, other rights, or another TLS set-up on our side.
func refused(err error) bool {
	var (
		verification *tls.CertificateVerificationError
		unknown      x509.UnknownAuthorityError
		host         x509.HostnameError
		alert        tls.AlertError
	)
	for _, final := range []error{nats.ErrAuthorization, nats.ErrAuthExpired, nats.ErrPermissionViolation,
		nats.ErrSecureConnRequired, nats.ErrSecureConnWanted, nats.ErrNkeysNotSupported, nats.ErrUserButNoSigCB} {
		if errors.Is(err, final) {
			return true
		}
	}
	return errors.As(err, &verification) || errors.As(err, &unknown) || errors.As(err, &host) || errors.As(err, &alert)
}
